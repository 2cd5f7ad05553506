import shutil
from pathlib import Path

import pytest
from made_exhibits import keep_made_choice
from made_run import keep_made_run
from test_report import HOSTILE, Page

from virl.errors import BadInput
from virl.journal import gallery as gallery_page
from virl.journal.gallery import CORNER_PX, card_map, pictures_of, write_gallery
from virl.journal.journal import read_journal, write_result
from virl.journal.records import EndRecord, Result
from virl.journal.report import write_report
from virl.pages.exhibits import MapExhibit, MapPoint
from virl.pages.ground import MapGround
from virl.platform.city.claims import CheckedClaim, ToldTruth
from virl.serve.watch.feed import RunFeed


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three finished runs, one of them without a report; one goes on, and one is damaged."""
    folder = tmp_path_factory.mktemp("all") / "runs"
    first = keep_made_run(folder / "hiro-1", size=64)
    write_report(first)
    for name in ("deep/er/hiro-2", "deep/er/hiro-2/consulted/hiro", "broken"):
        shutil.copytree(first, folder / name)
    keep_made_choice(folder / "aria & co")
    keep_made_run(folder / "open", steps=3, ended=False, size=64)
    journal = folder / "broken" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"step":4', b'"step":5', 1))
    return folder


def test_finished_runs_are_shown_with_a_picture_and_a_link(runs: Path) -> None:
    [out], cards, _ = write_gallery([runs], runs / "gallery.html")
    page = Page(out)
    assert len(cards) == len(page.all("li", "run")) == 3
    links = [link["href"] for link in page.all("a")]
    assert sorted(links) == ["./deep/er/hiro-2/report.html", "./hiro-1/report.html"]
    assert all((runs / link).is_file() for link in links)
    assert len(page.all("img")) == 2
    assert len(page.all("div", "corner")) == 2
    assert len(page.all("g", "from")) == 2, "the start as on the report"
    assert len(page.all("g", "pick")) == 1
    assert page.text.count("Entered Noodle Bar Mei 201 m · free · ") == 2
    assert "free · 0.0 s · no report" in page.text


def test_the_map_in_a_corner_shows_the_walk_beside_the_place_that_was_found(runs: Path) -> None:
    found = MapExhibit(title="Found", points=(MapPoint(lat=0.001, lng=0.0, label="Bar", style="pick"),))
    *told, end = read_journal(runs / "hiro-1")
    assert isinstance(end, EndRecord)
    ended = end.model_copy(update={"exhibits": (found,)})
    drawn = card_map([*told, ended], MapGround(), CORNER_PX)
    assert drawn is not None
    assert max(len(path.points) for path in drawn.paths) == 21
    assert {(mark.kind, mark.shape) for mark in drawn.marks} >= {
        ("step from", "spot"),
        ("spot pick", "diamond"),
    }


def test_what_is_damaged_or_goes_on_is_left_out_with_the_reason(runs: Path) -> None:
    [out], _, left_out = write_gallery([runs], runs / "gallery.html")
    assert {one.folder.name for one in left_out} == {"broken", "open"}
    text = Page(out).text
    assert "line 6: is step 5 where 4 should be" in text
    assert "has not ended" in text


def test_a_claim_that_is_not_true_marks_the_run_alike_in_the_gallery_and_among_those_watched(
    tmp_path: Path,
) -> None:
    folder = keep_made_run(tmp_path / "hiro", size=64)
    result = Result.model_validate_json((folder / "result.json").read_bytes())
    for holds, ending in ((True, ("entered", "done")), (False, ("not true", "warn"))):
        truth = ToldTruth("Known.", (CheckedClaim("2 trash bins", "1 exists", holds),))
        write_result(folder, result.model_copy(update={"truth": truth}))
        [out], _, _ = write_gallery([tmp_path], tmp_path / "all.html")
        assert f'<span class="badge {ending[1]}">{ending[0]}</span>' in out.read_text()
        assert RunFeed(folder, lambda _: MapGround()).card()["ending"] == list(ending)


def test_links_lead_from_wherever_the_page_is(runs: Path, tmp_path: Path) -> None:
    [out], _, _ = write_gallery([runs / "hiro-1"], tmp_path / "pages" / "all.html")
    (link,) = (link["href"] for link in Page(out).all("a"))
    assert (out.parent / link).samefile(runs / "hiro-1" / "report.html")


def test_the_page_loads_nothing_and_words_stay_words(tmp_path: Path) -> None:
    keep_made_run(tmp_path / "runs" / "hiro", shop=HOSTILE, size=64)
    keep_made_choice(tmp_path / "runs" / "aria", HOSTILE)
    page = Page(write_gallery([tmp_path / "runs"], tmp_path / "gallery.html")[0][0])
    assert [script.get("src") for script in page.all("script")] == [None]
    assert "document.title" in page.text
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "./", "data:"))


def test_runs_that_link_to_each_other_in_a_circle_have_no_picture(tmp_path: Path) -> None:
    run = keep_made_run(tmp_path / "hiro", size=64)
    journal = run / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    (run / "consulted").mkdir()
    for name in ("a", "b", "c"):
        (run / "consulted" / name).symlink_to(run)
    assert pictures_of(run, (), MapGround()) == (None, None)


def test_no_runs_and_no_folder(tmp_path: Path) -> None:
    assert "No finished runs yet." in Page(write_gallery([tmp_path], tmp_path / "gallery.html")[0][0]).text
    with pytest.raises(BadInput, match="no such folder"):
        write_gallery([tmp_path / "missing"], tmp_path / "gallery.html")


def test_further_runs_are_on_further_pages(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery_page, "CARDS", 2)
    pages, cards, _ = write_gallery([runs], tmp_path / "all.html")
    assert [page.name for page in pages] == ["all.html", "all-2.html"]
    shown = [len(Page(page).all("li", "run")) for page in pages]
    assert (shown, len(cards)) == ([2, 1], 3)
    links = [[link["href"] for link in Page(page).all("a") if "report" not in link["href"]] for page in pages]
    assert links == [["./all-2.html"], ["./all.html"]]
