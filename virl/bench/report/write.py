"""Writes all that a report consists of into one folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from virl.bench.faults import CannotTry
from virl.bench.records import RESULTS
from virl.bench.report.own_page import write_own_pages
from virl.bench.report.page import write_page
from virl.bench.report.results import Failure, Results, make_results, spent_line
from virl.bench.report.runs import gather
from virl.bench.report.table import csv_table, latex_table, terminal_table
from virl.drawing.numbers import counted
from virl.errors import BadInput
from virl.files import write_whole
from virl.plain_text import plain_lines

CSV, LATEX = "results.csv", "results.tex"
MOST_FAILURES = 5
"""Failures that the terminal tells; the page and `results.json` have all. Chosen."""


@dataclass(frozen=True, slots=True)
class Reports:
    """Where the report is."""

    results: Path
    page: Path


def write_reports(
    folders: Sequence[Path], console: Console, out: Path | None = None, *, published: bool = False
) -> Reports:
    """Write `results.json`, `results.csv`, `results.tex` and the pages, and print the table.

    Args:
        folders: of the runs; see `virl.bench.report.runs.gather` for what becomes of several.
        console: for the table.
        out: where to; by default the only folder.
        published: whether the table has published results too; the page and the files always do.

    Raises:
        BadInput: a folder holds no run, or several are given and `out` is not.
        CannotWrite: the disk refuses.
    """
    if out is None and len(folders) != 1:
        raise BadInput("several runs: give --out, a folder for the report")
    home = out or folders[0]
    gathered = gather(folders)
    results = make_results(gathered)
    for name, text in (
        (RESULTS, results.model_dump_json(indent=2) + "\n"),
        (CSV, plain_lines(csv_table(results))),
        (LATEX, plain_lines(latex_table(results))),
    ):
        write_whole(home / name, text.encode(), "report again")
    own = write_own_pages(home, gathered, results)
    page = write_page(home, gathered, results, own.links)
    console.print(terminal_table(results, console.width, published=published))
    for table in own.tables:
        console.print(table)
    for line in [*_lines(results, published=published), *own.missing]:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    return Reports(home / RESULTS, page)


def _lines(results: Results, *, published: bool) -> list[str]:
    """What a reader of the table has to know."""
    lines = list(dict.fromkeys(note for row in results.rows for note in row.notes))
    missing = sum(row.episodes.missing for row in results.rows if row.city)
    if missing:
        lines.append(f"{counted(missing, 'episode')} not run yet: continue with --resume")
    lines += [spent_line(spent, run) for run, spent in results.spent.items()]
    alike: dict[str, list[Failure]] = {}
    for failure in results.failures:
        alike.setdefault(_what_became(failure), []).append(failure)
    for what, failures in alike.items():
        count = "1 episode" if len(failures) == 1 else f"{len(failures)} episodes"
        lines.append(f"{count} {what}")
        lines += [f"  {one.id}: {one.reason}" for one in failures[:MOST_FAILURES]]
    if results.published and not published:
        lines.append(
            f"{counted(len(results.published), 'published result')} to compare with: on the page, or with "
            "`virl bench report DIR --published`"
        )
    return lines


def _what_became(failure: Failure) -> str:
    if failure.fault == CannotTry.__name__:
        return "cannot be run, not included in means"
    if failure.scored:
        return "failed, included in means with the score at the end; --resume retries"
    return "failed, not included in means; --resume retries"
