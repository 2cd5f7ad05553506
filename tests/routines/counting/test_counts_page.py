"""The report of a counting run: what a reader without scripts gets, and what the script is given."""

import json
import re
from html import unescape
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from made_street import FURNITURE, PANORAMAS, cover

from virl.errors import JournalBroken
from virl.journal.journal import read_journal, write_result
from virl.journal.records import ANY_RECORD, StepRecord
from virl.journal.report import end_of, write_report
from virl.platform.city.claims import CheckedClaim, CountClaim, ToldTruth
from virl.platform.perception.memory import VisualMemory
from virl.routines.counting import showing
from virl.routines.counting.finds import read_finds


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cover(tmp_path_factory.mktemp("runs") / "run")


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_things_are_marked_right_or_false_where_the_truth_is_known(run: Path, tmp_path: Path) -> None:
    folder = copytree(run, tmp_path / "run")
    end = end_of(read_journal(folder))
    assert end
    assert " holds" not in write_report(folder).read_text()
    counts = [one for one in end.result.claims if isinstance(one, CountClaim)]
    right = [tuple(range(1, len(one.positions))) for one in counts]  # the first of each kind is not there
    checked = tuple(
        CheckedClaim(one.thing, "", False, right=at) for one, at in zip(counts, right, strict=True)
    )
    write_result(folder, end.result.model_copy(update={"truth": ToldTruth("Known.", checked)}))
    page = write_report(folder).read_text()
    assert page.count('<span class="badge done">right</span>') == sum(map(len, right)) > 0
    assert page.count('<span class="badge warn">false</span>') == sum(bool(one.positions) for one in counts)


@pytest.mark.slow
def test_finds_are_read_back_with_steps_and_reasons(run: Path) -> None:
    finds = read_finds(run)
    assert sorted(find.label for find in finds) == sorted(thing.kind for thing in FURNITURE[:4])
    assert sorted(find.number for find in finds if find.label == "trash bin") == [1, 2, 3]
    for find in finds:
        first, *others = find.sights
        assert first.why.startswith("new: ")
        assert others
        assert all(sight.why.startswith("the same: geometry: ") for sight in others)
        assert [sight.step for sight in find.sights] == sorted(sight.step or 0 for sight in find.sights)
        assert find.best.seen.score == max(sight.seen.score for sight in find.sights)
        kept = [sight for sight in find.sights if sight.picture]
        assert kept[:3] == list(find.sights[:3])
        assert find.best in kept
        assert all((run / file).is_file() for sight in kept for file in (sight.crop, sight.picture))


def test_bins_side_by_side_are_told_apart_with_a_reason(run: Path) -> None:
    reasons = [sight.why for find in read_finds(run) for sight in find.sights if "not trash bin" in sight.why]
    assert any("standard deviations" in reason for reason in reasons)


def test_things_joined_later_are_one_find_under_both_ids(run: Path, tmp_path: Path) -> None:
    """Two ids of memory that turn out to be one: a line such as `merge` writes."""
    folder = tmp_path / "run"
    folder.mkdir()
    lines = (run / "memory/memory.jsonl").read_text().splitlines()
    kept, gone = (find for find in read_finds(run) if find.label == "trash bin" and find.number > 1)
    estimate = next(iter(json.loads(lines[1])["estimates"].values()))
    joined = {"kind": "joined", "seq": len(lines), "object_id": kept.id, "gone_id": gone.id}
    joined |= {"reason": "0.2 m apart", "estimate": estimate}
    (folder / "memory").mkdir()
    (folder / "memory/memory.jsonl").write_text("\n".join([*lines, json.dumps(joined)]) + "\n")
    (find,) = (find for find in read_finds(folder) if find.id == kept.id)
    assert find.former_ids == (gone.id,)
    assert find.joined == (f"{gone.title} turned out to be this one: 0.2 m apart",)
    assert len(find.sights) == len(kept.sights) + len(gone.sights)


@pytest.mark.slow
def test_the_table_counts_each_kind_also_those_not_found(run: Path) -> None:
    html = write_report(run).read_text()
    rows = re.findall(r'<tr><th scope="row">.*?</svg>\s*([\w ]+)</th>(.*?)</tr>', html, re.DOTALL)
    cells = {kind: re.findall(r'<td class="n">([\d.]+)</td>', row) for kind, row in rows}
    counts = {kind: int(row[0]) for kind, row in cells.items()}
    assert counts == {"trash bin": 3, "bench": 1, "fire hydrant": 0}
    hectares = 130 * 18 / 10_000
    assert float(cells["trash bin"][2]) == pytest.approx(3 / hectares, abs=0.06)


def test_every_thing_is_on_the_map_and_in_the_list(run: Path) -> None:
    html = write_report(run).read_text()
    ids = {f"thing-{find.id}" for find in read_finds(run)}
    assert set(re.findall(r'<li class="find k\d" id="([^"]+)"', html)) == ids
    assert set(re.findall(r'<a href="#([^"]+)" class="mark thing', html)) == ids


def test_a_small_run_is_one_file_that_loads_nothing(run: Path) -> None:
    html = write_report(run).read_text()
    assert "img-src data:;" in unescape(html)
    for sight in (sight for find in data_of(html)["finds"] for sight in find["sights"]):
        assert len(sight["pictures"]) in {0, 2}
        assert all(one is None or one.startswith("data:image/webp;base64,") for one in sight["pictures"])
    tiles = re.findall(r'<img src="(data:[^"]*)" alt="[^"]*, seen in', html)
    assert tiles
    assert [html.count(tile) for tile in tiles] == [1] * len(tiles), "one picture once"
    assert html.count("shown above") == len(read_finds(run)) - len(tiles)
    assert all(source.startswith("data:") for source in re.findall(r'<img src="([^"]*)"', html))


def test_a_large_run_has_thumbnails_and_names_the_files_beside_it(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = write_report(run).stat().st_size
    monkeypatch.setattr(showing, "EMBEDDED_VIEWS", 3)
    page = write_report(run)
    html = page.read_text()
    assert "img-src data: 'self';" in unescape(html)
    assert page.stat().st_size < small / 2
    for sight in (sight for find in data_of(html)["finds"] for sight in find["sights"]):
        assert all((run / file).is_file() for file in sight["pictures"])
    beside_the_map = 1
    assert len(re.findall(r'<img src="data:', html)) == len(read_finds(run)) + beside_the_map


def test_the_heat_map_has_three_levels_that_hold_every_thing(run: Path) -> None:
    levels = data_of(write_report(run).read_text())["heat"]
    assert [level["name"] for level in levels] == ["City", "District", "Block"]
    for level in levels:
        counts = [cell[3:] for cell in level["cells"]]
        assert [sum(kind) for kind in zip(*counts, strict=True)] == [3, 1, 0]


def test_panoramas_without_finds_are_summed_up(run: Path) -> None:
    html = write_report(run).read_text()
    told = len(re.findall(r'<li id="step-\d+">', html))
    summed = sum(int(count) for count in re.findall(r'<li class="quiet">(\d+) panorama', html))
    steps = [record for record in read_journal(run) if isinstance(record, StepRecord)]
    assert told + summed == PANORAMAS
    assert told <= sum(bool(step.objects) for step in steps) + 2


def test_a_run_in_which_nothing_was_found_says_so(tmp_path: Path) -> None:
    folder = cover(tmp_path / "run", count={"things": ["fire hydrant"]})
    html = write_report(folder).read_text()
    assert "<p>Nothing.</p>" in html
    assert data_of(html) == {"kinds": ["fire hydrant"], "finds": [], "heat": []}


def test_a_run_that_was_cut_off_has_a_report(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "journal.jsonl").write_bytes(lines[0])
    assert "No steps yet." in write_report(folder).read_text()
    (folder / "journal.jsonl").write_bytes(b"".join(lines[:4]))
    assert "Found so far" in re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", write_report(folder).read_text()))


@pytest.mark.slow
def test_words_of_the_world_stay_words(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    folder = cover(tmp_path / "run", name=hostile, count={"things": ["bench", hostile]})
    html = write_report(folder).read_text()
    assert len(re.findall(r"<script", html)) == 2
    assert hostile not in html
    assert data_of(html)["kinds"] == ["bench", hostile]


def test_a_survey_that_begins_with_something_else_is_named(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes((run / "journal.jsonl").read_bytes())
    (folder / "region.jsonl").write_text("not a plan")
    VisualMemory.open(folder / "memory")
    write_report(folder)  # as a kill in the first line leaves it
    (folder / "region.jsonl").write_text("not a plan\n")
    with pytest.raises(JournalBroken, match=r"region.jsonl, line 1: is not the plan of a survey"):
        write_report(folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("count", None),
        ("count", [3]),
        ("count", {"things": 7, "recheck": 0.5, "active": True}),
        ("count", {"things": ["bin"], "recheck": "often", "active": True}),
        ("senses", {"detector": 3, "matcher": "sift"}),
        ("route", [[1, 2]]),
    ],
)
def test_a_journal_from_elsewhere_with_a_wrong_start_is_one_line(
    run: Path, tmp_path: Path, field: str, value: object
) -> None:
    first, *others = (run / "journal.jsonl").read_text().splitlines()
    start = json.loads(first)
    start["character"][field] = value
    records = [ANY_RECORD.validate_json(line) for line in (json.dumps(start), *others)]
    with pytest.raises(
        JournalBroken, match=rf"journal\.jsonl, line 1: character\.{field}\b.*restore"
    ) as refused:
        showing.draw_page(run, records, None)
    assert "\n" not in str(refused.value)
