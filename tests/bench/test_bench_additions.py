"""What a report has of episodes' own files, and of models that are measured by different things."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from made_additions import NAME, Options
from rich.console import Console

from virl.bench.records import slug
from virl.bench.report.results import Results, split
from virl.bench.report.write import write_reports
from virl.bench.run import Engine, run_benchmark

OPTIONS = Options(count=2, cities=("north",))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    engine = Engine("threads", 2, pictures=False)
    run_benchmark(NAME, OPTIONS, tmp_path / "run", Console(quiet=True), engine=engine)
    return tmp_path / "run"


def links_of(page: Path) -> list[Path]:
    """Where the file links of a page lead."""
    return [
        (page.parent / unquote(part.split('"')[0])).resolve()
        for part in page.read_text().split('href="')[1:]
        if "said" in part.split('"')[0]
    ]


def test_an_episode_has_a_folder_of_its_own_and_its_page_links_to_the_files_in_it(out: Path) -> None:
    home = out / "episodes" / slug("sharp/north/case 1")
    assert (home / "run" / "what was said.txt").read_text() == "sharp/north/case 1"
    page = home / "index.html"
    assert links_of(page) == [home.resolve() / "run" / "what was said.txt"]
    assert "what &lt;it&gt; said" in page.read_text()
    assert "missing.txt" not in page.read_text()


def test_a_report_elsewhere_links_to_the_folder_of_the_run(out: Path, tmp_path: Path) -> None:
    write_reports([out], Console(quiet=True), tmp_path / "elsewhere")
    page = tmp_path / "elsewhere" / "episodes" / slug("sharp/north/case 1") / "index.html"
    (target,) = links_of(page)
    assert target.read_text() == "sharp/north/case 1"


def test_rows_without_a_common_metric_are_in_tables_of_their_own(out: Path) -> None:
    results = Results.model_validate_json((out / "results.json").read_text())
    sharp, blunt = split(results)
    assert ([row.model for row in sharp.rows], [row.model for row in blunt.rows]) == (["sharp"], ["blunt"])
    page = (out / "report.html").read_text()
    assert page.index("accuracy %") < page.index("<td>sharp<small>") < page.index("another measure %")
    assert (out / "results.tex").read_text().count(r"\begin{tabular}") == 2
    lines = (out / "results.csv").read_text().splitlines()
    assert [line.split(",")[2] + " " + line.split(",")[8] for line in lines[1:]] == [
        "sharp plain",
        "blunt other",
    ]


def test_rows_with_a_common_metric_are_in_one_table_and_those_without_values_in_the_first(out: Path) -> None:
    results = Results.model_validate_json((out / "results.json").read_text())
    sharp, blunt = results.rows
    bare = sharp.model_copy(update={"model": "bare", "values": {}})
    both = sharp.model_copy(update={"model": "both", "values": sharp.values | blunt.values})
    (one,) = split(results.model_copy(update={"rows": (sharp, blunt, both)}))
    assert [row.model for row in one.rows] == ["sharp", "blunt", "both"]
    first, second = split(results.model_copy(update={"rows": (blunt, sharp, bare)}))
    assert [row.model for row in first.rows] == ["blunt", "bare"]
    assert [row.model for row in second.rows] == ["sharp"]
    (none,) = split(results.model_copy(update={"rows": (bare,)}))
    assert [row.model for row in none.rows] == ["bare"]
