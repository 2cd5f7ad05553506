"""The pages that a benchmark writes itself, one for each run of a report."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import ConsoleRenderable

from virl.bench.benchmark import AnyBenchmark, PageHead
from virl.bench.files import slug
from virl.bench.report.results import MetricHead, Results, shown_metrics, shown_number, shown_share
from virl.bench.report.runs import Gathered, KeptRun
from virl.bench.statistics import Interval
from virl.errors import CannotWrite, VirlError


@dataclass(frozen=True, slots=True)
class OwnPages:
    """What was written."""

    links: tuple[tuple[str, str], ...] = ()
    """File beside the report, and text of the link."""
    missing: tuple[str, ...] = ()
    """Why a page could not be written, in a line each."""
    tables: tuple[ConsoleRenderable, ...] = ()
    """For the terminal."""


def write_own_pages(home: Path, gathered: Gathered, results: Results) -> OwnPages:
    """Write the page of each run into a folder, where the benchmark has one.

    Raises:
        CannotWrite: the disk refuses.
    """
    page = gathered.benchmark.page
    if page is None:
        return OwnPages()
    links: list[tuple[str, str]] = []
    missing: list[str] = []
    tables: list[ConsoleRenderable] = []
    for run in gathered.runs:
        path = Path(page.file)
        name = f"{path.stem}-{slug(run.name)}{path.suffix}" if run.name else page.file
        try:
            page.write(home / name, _head(gathered.benchmark, run, results), run.records, run.options)
        except CannotWrite:
            raise
        except VirlError as fault:
            missing.append(f"{home / name}: not written: {fault}")
        else:
            links.append((name, f"{page.title}{f' ({run.name})' if run.name else ''}"))
            tables += page.tables(run.records, run.options) if page.tables else ()
    return OwnPages(tuple(links), tuple(missing), tuple(tables))


def _head(benchmark: AnyBenchmark, run: KeptRun, results: Results) -> PageHead:
    metrics = shown_metrics(results)
    rows = [row for row in results.rows if row.run == run.name]
    names = list(dict.fromkeys(row.model for row in rows))
    return PageHead(
        title=f"{benchmark.title}: {', '.join(names)}",
        about=benchmark.about,
        columns=("agent", *(f"{one.heading}{' %' * one.percent}".replace("\n", " ") for one in metrics)),
        rows=(
            *(
                (
                    f"{row.model}\n{row.city or 'all'}, {shown_share(row.episodes)} episodes",
                    *(_cell(row.values.get(metric.key), metric) for metric in metrics),
                )
                for row in rows
            ),
            *(
                (
                    f"{paper.name}\npublished: {paper.source}",
                    *(
                        shown_number(paper.values[metric.key], metric) if metric.key in paper.values else "-"
                        for metric in metrics
                    ),
                )
                for paper in results.published
            ),
        ),
        attribution="; ".join(sorted({city.attribution for city in run.plan.cities.values()} - {""})),
        notes=tuple(dict.fromkeys(note for row in rows for note in row.notes)),
    )


def _cell(value: Interval | None, metric: MetricHead) -> str:
    """A mean and, in a second line, its interval."""
    if value is None:
        return "-"
    mean, low, high = (shown_number(number, metric) for number in value)
    return f"{mean}\n{low} to {high}"
