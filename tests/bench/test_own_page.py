"""Pages that a benchmark writes itself, episodes that failed and count all the same, rows of one data set."""

import json
from pathlib import Path
from typing import Any

import pytest
from made_failures import NAME, Options
from rich.console import Console

from virl.bench.report.write import write_reports
from virl.bench.run import Engine, run_benchmark

ENGINE = Engine("threads", 1, pictures=False)


@pytest.fixture
def options(tmp_path: Path) -> Options:
    tried = tmp_path / "tried"
    tried.mkdir()
    return Options(count=3, cities=("north",), models=("sharp",), folder=str(tried))


def run(options: Options, out: Path, *, resume: bool = False) -> tuple[dict[str, Any], str]:
    """The results, and what the terminal shows."""
    console = Console(width=200)
    with console.capture() as captured:
        run_benchmark(NAME, options, out, console, engine=ENGINE, resume=resume)
    return json.loads((out / "results.json").read_text()), captured.get()


def test_a_failure_with_a_result_counts_and_is_run_again(options: Options, tmp_path: Path) -> None:
    found, told = run(options, tmp_path / "out")
    assert found["rows"][0]["episodes"] == {"planned": 3, "done": 2, "failed": 1, "missing": 0}
    assert found["rows"][0]["values"]["plain"][0] == pytest.approx(2 / 3)  # of three, not of two
    assert found["rows"][0]["cost"] == {"requests": 6.0}
    (failure,) = found["failures"]
    assert (failure["fault"], failure["reason"], failure["scored"]) == ("MindFailed", "no usable reply", True)
    assert "1 episode failed, included in means" in told
    found, _ = run(options, tmp_path / "out", resume=True)
    assert found["rows"][0]["episodes"]["done"] == 3
    assert found["failures"] == []


def test_the_page_is_written_and_linked(options: Options, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, told = run(options, out)
    assert "cases of its own" in told
    assert "3 of 3" in told
    title, *rows, records = (out / "own.html").read_text().splitlines()
    assert title == "Made up, sharp: Too few episodes for a result (n = 3)"
    assert records == str([f"sharp/north/case {number}" for number in range(3)])
    assert any(row.startswith("north, episodes: 3, 1 failed|") for row in rows)
    assert '<a href="own.html">A page of &lt;its&gt; own</a>' in (out / "report.html").read_text()


def test_runs_side_by_side_have_a_page_each(options: Options, tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 1)):
        run(options.model_copy(update={"seed": seed}), tmp_path / name)
    write_reports([tmp_path / "a", tmp_path / "b"], Console(quiet=True), tmp_path / "both")
    pages = sorted(tmp_path.glob("both/own-*.html"))
    assert len(pages) == 2
    report = (tmp_path / "both" / "report.html").read_text()
    assert all(f'href="{page.name}"' in report for page in pages)


def test_a_page_that_cannot_be_written_is_told(options: Options, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, told = run(options.model_copy(update={"text": "no data"}), out)
    assert "own.html: not written: the data is not there" in told.replace("\n", "")
    assert "own.html" not in (out / "report.html").read_text()


def test_a_published_row_may_belong_to_one_data_set(options: Options, tmp_path: Path) -> None:
    found, _ = run(options, tmp_path / "out")
    assert [row["name"] for row in found["published"]] == ["everywhere", "in the north"]
