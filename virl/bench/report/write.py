"""Writes all that a report consists of into one folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, ConsoleRenderable

from virl.bench.benchmark import AnyBenchmark, PageHead
from virl.bench.episode import CannotTry
from virl.bench.records import RESULTS, slug
from virl.bench.report.headline import headline
from virl.bench.report.page import write_page
from virl.bench.report.results import (
    Failure,
    Results,
    make_results,
    published_numbers,
    shown_metrics,
    shown_share,
    spent_line,
)
from virl.bench.report.runs import KeptRun, ReportRuns, gather
from virl.bench.report.table import cell_text, csv_table, heading_of, latex_table, terminal_table
from virl.console import print_plain
from virl.errors import BadInput, CannotWrite, VirlError
from virl.files.writing import write_whole
from virl.pages.numbers import count_noun
from virl.plain_text import plain_lines

CSV, LATEX = "results.csv", "results.tex"
MOST_FAILURES = 5
"""Most failures that the terminal lists; the page and `results.json` have all. Chosen."""


@dataclass(frozen=True, slots=True)
class Reports:
    """The paths of a report's `results.json` and `report.html`."""

    results: Path
    page: Path


def write_reports(
    folders: Sequence[Path], console: Console, out: Path | None = None, *, published: bool = False
) -> Reports:
    """Write a report into `out`, else the only run's folder, and print its table; return the two main files.

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
    links, tables, missing = _write_own_pages(home, gathered, results)
    page = write_page(home, gathered, results, links)
    console.print(terminal_table(results, console.width, published=published))
    for table in tables:
        console.print(table)
    for line in [*_lines(results, published=published), *missing]:
        print_plain(console, line)
    return Reports(home / RESULTS, page)


def _lines(results: Results, *, published: bool) -> list[str]:
    """Return the lines printed below the table: notes, missing and failed episodes, and dollars paid."""
    lines = list(dict.fromkeys(note for row in results.rows for note in row.notes))
    missing = sum(row.episodes.missing for row in results.rows if row.city)
    if missing:
        lines.append(f"{count_noun(missing, 'episode')} not run yet: continue with --resume")
    lines += [spent_line(spent, run) for run, spent in results.spent.items()]
    alike: dict[str, list[Failure]] = {}
    for failure in results.failures:
        alike.setdefault(_describe_counting(failure), []).append(failure)
    for what, failures in alike.items():
        lines.append(f"{len(failures)} {'episode' if len(failures) == 1 else 'episodes'} {what}")
        lines += [f"  {one.id}: {one.reason}" for one in failures[:MOST_FAILURES]]
    if results.published and not published:
        lines.append(
            f"{count_noun(len(results.published), 'published result')} to compare with: on the page, or with "
            "`virl bench report DIR --published`"
        )
    return lines


def _describe_counting(failure: Failure) -> str:
    """Return words on whether a failed episode counts in the means and can be tried again."""
    if failure.fault == CannotTry.__name__:
        return "cannot be run, not included in means"
    if failure.scored:
        return "failed, included in means with the score at the end; --resume retries"
    return "failed, not included in means; --resume retries"


def _write_own_pages(
    home: Path, gathered: ReportRuns, results: Results
) -> tuple[list[tuple[str, str]], list[ConsoleRenderable], list[str]]:
    """Write the benchmark's own page of each run; return ((file, text) of links, tables, lines on faults)."""
    links: list[tuple[str, str]] = []
    tables: list[ConsoleRenderable] = []
    missing: list[str] = []
    page = gathered.benchmark.page
    if page is None:
        return links, tables, missing
    for run in gathered.runs:
        path = Path(page.file)
        name = f"{path.stem}-{slug(run.name)}{path.suffix}" if run.name else page.file
        try:
            page.write(home / name, _page_head(gathered.benchmark, run, results), run.records, run.options)
        except CannotWrite:
            raise
        except VirlError as fault:
            missing.append(f"{home / name}: not written: {fault}")
        else:
            links.append((name, f"{page.title}{f' ({run.name})' if run.name else ''}"))
            tables += page.tables(run.records, run.options) if page.tables else ()
    return links, tables, missing


def _page_head(benchmark: AnyBenchmark, run: KeptRun, results: Results) -> PageHead:
    """Return the head of a run's own page: title, table of measured and published rows, and notes."""
    metrics = shown_metrics(results)
    rows = [row for row in results.rows if row.run == run.name]
    models = dict.fromkeys(row.model for row in rows)
    names = list(models) if len(models) == 1 else []  # else the headline names the best one
    told, _ = headline(benchmark, results.model_copy(update={"rows": tuple(rows)}))
    return PageHead(
        title=": ".join([", ".join([benchmark.title, *names]), *([told] if told else [])]),
        about=benchmark.about,
        columns=("agent", *(heading_of(one).replace("\n", " ") for one in metrics)),
        rows=(
            *(
                (
                    f"{row.model}\n{results.title_of(row.city)}, episodes: {shown_share(row.episodes)}",
                    *(cell_text(row.values.get(one.key), one, row.units.get(one.key, 0)) for one in metrics),
                )
                for row in rows
            ),
            *(
                (f"{paper.name}\npublished: {paper.source}", *published_numbers(paper, metrics))
                for paper in results.published
            ),
        ),
        attribution="; ".join(sorted({city.attribution for city in run.plan.cities.values()} - {""})),
        notes=tuple(dict.fromkeys(note for row in rows for note in row.notes)),
    )
