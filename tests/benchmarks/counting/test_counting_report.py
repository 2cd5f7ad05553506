"""What the report of a counting run says, from records made by hand."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.counting.options import Options
from benchmarks.counting.score import METRICS, score, show
from benchmarks.counting.summary import tables, write_page
from benchmarks.counting.tally import CountTally, metrics
from benchmarks.counting.variants import cases_of
from virl.bench.benchmark import PageHead
from virl.bench.episode import Record
from virl.bench.statistics import estimate

OPTIONS = Options(things=("bench",))


def made(case: str, kind: str, right: int, model: str = "simulated") -> Record:
    """A walk with four benches to be found, of which so many are, and five reported."""
    counted = CountTally(5, right, 1, 4, right, 5 - right, 1, 4, 1, 0, right, right)
    reported = [
        {"label": "bench", "position": [51.5, -0.12], "views": 1, "outcome": "right", "thing": "bench-1"},
        {"label": "bench", "position": [51.5, -0.13], "views": 1, "outcome": "false", "thing": None},
    ]
    keys = [one.key for one in cases_of(OPTIONS.task.conditions)]
    data = {
        "kind": kind,
        "walked": [[51.5, -0.12], [51.5001, -0.12]],
        "panoramas": 2,
        "sightings": {"active": 5, "first look": 7},
        "required": ["bench-1", "bench-2"],
        "things": {"bench-1": ["bench", 51.5, -0.12], "bench-2": ["bench", 51.6, -0.12]},
        "tallies": {key: asdict(counted) for key in keys},
        "reported": dict.fromkeys(keys, reported),
    }
    return Record(f"{model}/virlton/{case}", case, "virlton", model, "done", data)


def test_the_columns_are_the_figures_of_the_rules() -> None:
    records = [made("route-01", "round", 4), made("route-02", "round", 1)]
    found = score(records, OPTIONS)
    assert set(found.tallies) == {metric.key for metric in METRICS}
    tallies = [CountTally(**next(iter(one.data["tallies"].values()))) for one in records]
    by_hand = metrics(tallies)
    for key in ("precision", "recall", "count_error", "duplicates", "repeats", "lost", "virl_accuracy"):
        assert estimate(found.tallies[key], is_share=True)[:] == pytest.approx(by_hand[key][:])
    assert found.tallies["precision"][0].hit == 4
    assert found.tallies["precision"][0].weight == 5
    assert any("looks around: 4" in note for note in found.notes)


def test_an_episode_shows_what_was_found_missed_and_reported_falsely() -> None:
    shown = show(made("route-01", "round", 4))
    assert shown.outcome == "2 things reported, 1 right, 0 duplicates, 1 false; 1 missed"
    assert shown.score == 0.5
    assert [(point.label, point.score) for point in shown.points] == [
        ("bench, found", 1.0),
        ("bench, missed", 0.0),
        ("bench, false", 0.0),
    ]
    assert len(shown.path) == 2


def test_an_episode_is_not_right_where_something_is_false() -> None:
    record = made("route-01", "round", 4)
    record.data["required"] = ["bench-1"]
    assert show(record).outcome == "2 things reported, 1 right, 0 duplicates, 1 false; 0 missed"
    assert show(record).score == pytest.approx(2 / 3)
    record.data["reported"] = {"all rules": []}
    assert show(record).score == 0


def test_the_page_has_routes_before_regions_and_the_tables_are_beside_it(tmp_path: Path) -> None:
    records = [made("region-01", "region", 2), made("route-01", "round", 4)]
    path = tmp_path / "counting.html"
    write_page(path, PageHead("Counting", "", (), ()), records, OPTIONS)
    page = path.read_text()
    assert page.index('"id":"route-01"') < page.index('"id":"region-01"')
    sections = json.loads((tmp_path / "counting.json").read_text())["sections"]
    assert [one["title"].partition(";")[0] for one in sections] == [
        "V-IRL's Table 6: accuracy and recall as V-IRL judges",
        "Rules of visual memory",
        "Rules of visual memory",
    ]
    assert sections[1]["rows"][0]["precision"]["mean"] == 0.6


def test_detectors_have_tables_of_their_own_and_failed_walks_are_left_out() -> None:
    failed = Record("x/virlton/route-02", "route-02", "virlton", "x", "failed", reason="no imagery")
    records = [made("route-01", "round", 4), made("route-01", "round", 2, "sharp"), failed]
    titles = [str(table.title) for table in tables(records, OPTIONS)]
    assert len(titles) == 6
    assert titles[0].startswith("simulated, virlton: V-IRL's")
    assert titles[3].startswith("sharp, virlton: V-IRL's")
    alone, *_ = tables(records[:1], OPTIONS)
    assert str(alone.title).startswith("V-IRL's")
