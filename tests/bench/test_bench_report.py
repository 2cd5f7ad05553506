import csv
import io
import json
import re
from html import unescape
from pathlib import Path

import PIL.Image
import pytest
from made_benchmark import NAME, Options
from rich.console import Console

from virl.bench.benchmark import Metric, Shown, ShownView
from virl.bench.episode import Record
from virl.bench.plan import CityPlan
from virl.bench.report.dots import group_plots, score_plot
from virl.bench.report.page import city_map
from virl.bench.report.results import Results, page_number
from virl.bench.report.table import terminal_table
from virl.bench.report.tiles import Scene, make_tiles
from virl.bench.report.write import write_reports
from virl.bench.run import Engine, Part, run_benchmark
from virl.errors import BadInput
from virl.geo.globe import LatLng

HOSTILE = (
    """</title></style><script>document.title="owned"</script><img src=x onerror=alert(1)>'" & \\ 50% $x_1"""
)
ENGINE = Engine("threads", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "hostile"
    options = Options(text=HOSTILE, trouble={"case 5": "bug"})
    run_benchmark(NAME, options, out, Console(quiet=True), engine=ENGINE)
    return out


@pytest.fixture(scope="module")
def found(folder: Path) -> Results:
    return Results.model_validate_json((folder / "results.json").read_text())


def test_the_results_are_of_the_schema(found: Results) -> None:
    assert found.schema_version == 1
    assert found.published[0].values == {"macro": 0.413}
    (macro, _) = found.compared
    assert (macro.model, macro.against_model, macro.difference.units) == ("blunt", "sharp", 10)
    confusion = next(row for row in found.rows if (row.model, row.city) == ("blunt", "")).confusions[0]
    assert confusion.counts == ((4.0, 0.0, 0.0), (2.0, 2.0, 0.0), (2.0, 0.0, 0.0))


def test_csv_holds_each_number_once(folder: Path) -> None:
    lines = list(csv.DictReader(io.StringIO((folder / "results.csv").read_text())))
    found = json.loads((folder / "results.json").read_text())
    measured = [line for line in lines if line["source"] == "measured"]
    assert len(measured) == 6 * 2
    row = next(row for row in found["rows"] if (row["model"], row["city"]) == ("blunt", "south"))
    line = next(
        one for one in measured if (one["model"], one["city"], one["metric"]) == ("blunt", "south", "macro")
    )
    assert [float(line[key]) for key in ("mean", "low", "high")] == row["values"]["macro"]
    assert line["failed"] == "1"
    paper = next(one for one in lines if one["source"].startswith("published"))
    assert (paper["mean"], paper["low"], paper["done"]) == ("0.413", "", "")


def test_a_metric_without_any_value_has_no_column(folder: Path, found: Results) -> None:
    assert [metric.key for metric in found.metrics] == ["macro", "plain", "never"]
    for name in ("results.csv", "results.tex", "report.html"):
        assert "never" not in (folder / name).read_text()


def test_latex_escapes_what_latex_reads(folder: Path) -> None:
    text = (folder / "results.tex").read_text()
    assert r"paper \& co" in text
    assert r"macro \%" in text
    body = text.split(r"\midrule")[1]
    assert {line.count("&") for line in body.replace(r"\&", "").splitlines() if line} == {4}


def test_the_page_begins_with_the_result_against_the_best_published(folder: Path, found: Results) -> None:
    best = next(row for row in found.rows if (row.model, row.city) == ("sharp", ""))
    mean, low, high = (f"{100 * value:.0f}" for value in best.values["macro"])
    (title,) = re.findall(r"<h1>(.*?)</h1>", (folder / "report.html").read_text())
    assert title == (
        f"sharp: {mean} % ({low} to {high}) macro, 10 episodes, against 41 % of the best published model"
    )


def test_what_is_of_too_few_units_says_so_and_small_groups_are_folded(found: Results) -> None:
    macro = found.metrics[0]
    plots = group_plots(found, macro)
    assert plots is not None
    large, small = plots
    assert large.parts[0][1] == ()
    assert sorted(row.units for row in small.parts[0][1]) == ["2", "4", "4"]
    dots = [one for row in small.parts[0][1] for one in row.dots if one]
    assert {one.interval for one in dots} == {"too few (n = 4)", "too few (n = 2)"}
    assert all(one.low == one.at == one.high for one in dots)


def test_notes_are_on_what_the_page_has_and_numbers_have_one_decimal(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "report.html").read_text()
    assert "Interval: paired bootstrap" in whole
    assert "Too few: a test needs" not in whole
    run_benchmark(NAME, Options(count=3), tmp_path, Console(quiet=True), part=Part(limit=2))
    few = (tmp_path / "report.html").read_text()
    assert "Too few: a test needs at least 10 units." in few
    assert "paired bootstrap" not in few
    assert "Episodes: " in few
    assert "Episodes: " not in whole
    assert "Line: 95 % interval" not in few
    assert page_number(0.456, Metric("plain", "plain", percent=False, digits=2)) == "0.5"


def test_what_others_published_on_other_data_stands_apart(found: Results) -> None:
    (paper,) = found.published
    here = paper.model_copy(update={"name": "here", "city": "north"})
    plot = score_plot(found.model_copy(update={"published": (paper, here)}), found.metrics[0])
    assert [(heading, [row.name for row in rows]) for heading, rows in plot.parts] == [
        ("", ["sharp", "blunt"]),
        ("Published, on the same data: A paper, table 3", ["here"]),
        ("Published, on other cities and data: A paper, table 3", ["paper & co"]),
    ]


def test_misses_have_pictures_as_hits_do(tmp_path: Path) -> None:
    PIL.Image.new("RGB", (64, 48)).save(tmp_path / "view.jpg")
    scenes = [
        Scene(
            Record("", str(number), "", "", "failed" if number == 9 else "done"),
            Shown("", float(number % 3 > 0), views=(ShownView("view.jpg"),)),
            f"{number}.html",
            tmp_path,
        )
        for number in range(30)
    ]
    tiles = make_tiles(scenes, lambda _: None, 12)
    assert all(tile.picture for tile in tiles)
    assert [tile.scene.state for tile in tiles] == ["failed", *["wrong"] * 3, *["right"] * 8]


def test_a_walk_that_stays_where_it_started_has_a_tile_too(tmp_path: Path) -> None:
    at = LatLng(41.0, -38.0)
    paths = ((at, LatLng(41.001, -38.0)), (at,))
    scenes = [
        Scene(Record("", str(n), "", "", "done"), Shown("", 0.0, path=path), f"{n}.html", tmp_path)
        for n, path in enumerate(paths)
    ]
    city = CityPlan(title="Made")
    tiles = make_tiles(scenes, lambda shown: city_map(city, [(shown, "")]), 12)
    assert [[mark.title for mark in tile.map.marks] if tile.map else [] for tile in tiles] == [
        ["start", "end of the walk"],
        ["start"],
    ]


def test_pages_load_nothing_and_run_only_their_own_script(folder: Path) -> None:
    pages = [folder / "report.html", *folder.glob("episodes/*/index.html")]
    assert len(pages) == 1 + 24
    for page in pages:
        text = page.read_text()
        assert "default-src 'none'" in unescape(text)
        assert text.count("<script") == text.count("</script>") == 1
        assert "<img src=x" not in text
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    assert "&lt;script&gt;" in pages[0].read_text()
    assert "published" in pages[0].read_text()


@pytest.mark.slow
def test_runs_side_by_side_are_told_apart_and_keep_their_pictures(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    run_benchmark(NAME, Options(seed=1), other, Console(quiet=True), engine=ENGINE)
    write_reports([folder, other], Console(quiet=True), tmp_path / "both")
    found = Results.model_validate_json((tmp_path / "both" / "results.json").read_text())
    assert {row.run for row in found.rows} == {"hostile", "other"}
    assert {(one.run, one.model) for one in found.compared} == {
        ("hostile", "blunt"),
        ("other", "sharp"),
        ("other", "blunt"),
    }
    pictures = list((tmp_path / "both").glob("episodes/*/view-0.jpg"))
    assert len(pictures) == 20 + 24


def test_several_runs_need_a_place_for_their_report(folder: Path) -> None:
    with pytest.raises(BadInput, match="--out"):
        write_reports([folder, folder], Console(quiet=True))


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=str(tmp_path)):
        write_reports([tmp_path], Console(quiet=True))


def test_a_picture_outside_of_the_run_is_not_shown(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run_benchmark(NAME, Options(count=1), out, Console(quiet=True), engine=ENGINE)
    path = out / "records.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    record = json.loads(first) | {"files": ["../../secret.jpg"]}
    path.write_text("".join([json.dumps(record) + "\n", *rest]))
    with pytest.raises(BadInput, match="outside"):
        write_reports([out], Console(quiet=True))


@pytest.mark.parametrize("width", [48, 60, 80, 100, 160])
def test_a_narrow_terminal_has_more_tables_but_whole_numbers(found: Results, width: int) -> None:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(terminal_table(found, width))
    text = console.export_text()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert "too few" in text, "as on the page"
    assert "(n = 5)" in text
    row = next(row for row in found.rows if (row.model, row.city) == ("sharp", ""))
    (macro, macro_low, macro_high), (plain, low, high) = row.values["macro"], row.values["plain"]
    assert f"{100 * macro:.1f} ({100 * macro_low:.0f}\N{EN DASH}{100 * macro_high:.0f})" in text
    assert f"{plain:.2f} ({low:.2f}\N{EN DASH}{high:.2f})" in text
    assert all(metric.heading in text for metric in found.metrics if metric.key in row.values)
    assert text.count("Made up") == 1, "one title"
    assert "In parentheses: 95 % interval." in text


@pytest.mark.slow
def test_published_results_are_a_table_of_their_own_where_they_are_asked_for(folder: Path) -> None:
    said = io.StringIO()
    write_reports([folder], Console(file=said, width=100))
    assert "paper & co" not in said.getvalue()
    assert "1 published result to compare with: on the page, or with `virl" in said.getvalue()
    write_reports([folder], Console(file=said, width=100), published=True)
    told = said.getvalue()
    assert told.index("published results, not measured here") < told.index("paper & co")
