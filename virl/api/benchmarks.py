"""Benchmarks from Python: run one, and use its results."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from virl.api.types import SharedSettings
from virl.bench.benchmark import find_benchmark
from virl.bench.engine.processes import is_main_importable
from virl.bench.records import RESULTS
from virl.bench.report.results import Results, RowResult
from virl.bench.report.runs import gather
from virl.bench.report.table import text_tables
from virl.bench.report.write import write_reports
from virl.bench.resources import Terms
from virl.bench.run import Engine, EngineName, Part
from virl.bench.run import run_benchmark as run_episodes
from virl.bench.statistics import Interval
from virl.console import SafeConsole
from virl.errors import check_keywords
from virl.files.json_reading import read_json_file
from virl.journal.recorded_run import to_table
from virl.mind.open import object_name
from virl.pages.notebooks import card, table
from virl.platform.city.city import City
from virl.resources import cache_home
from virl.settings.model import check_settings

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger(__name__)

LEGEND = "In parentheses: 95 % interval. Episodes that failed or did not run are in no mean."


@dataclass(frozen=True, slots=True)
class BenchmarkEpisode:
    """One episode that a benchmark tried, with its data and cost."""

    run: str
    """Name of the episode's run; empty if only one run was read."""
    model: str
    city: str
    case: str
    """Name of the question or task, the same for each model that was given it."""
    status: Literal["done", "failed"]
    data: Mapping[str, object]
    """Data from which the episode is scored, as the benchmark's page describes them."""
    cost: Mapping[str, float]
    seconds: float
    """Seconds that the last try took."""
    reason: str
    """Reason of the failure in one line; empty if the episode did not fail."""


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """The results of one run of a benchmark, or of several side by side."""

    results: Results
    """All of `results.json`: rows, comparisons, failures, published rows."""
    page: Path
    """Path of the report, one HTML file."""
    sources: tuple[Path, ...]
    """Folders of the runs."""

    @property
    def rows(self) -> tuple[RowResult, ...]:
        """A row of results for each model in each city, and over all its cities (`city` is empty)."""
        return self.results.rows

    @property
    def intervals(self) -> Mapping[tuple[str, str], Mapping[str, Interval]]:
        """Means with the ends of their 95 % intervals, by `(model, city)` and then by metric.

        With several runs, a model is `RUN/MODEL`. A metric that has no value is missing.
        """
        many = len(self.results.runs) > 1
        return {
            (f"{row.run}/{row.model}" if many else row.model, row.city): row.values  # noqa: PD011 - no pandas
            for row in self.rows
        }

    @property
    def episodes(self) -> tuple[BenchmarkEpisode, ...]:
        """Episodes that were tried, read from the folders of the runs."""
        return tuple(
            BenchmarkEpisode(
                run=run.name,
                model=one.model,
                city=one.city,
                case=one.case,
                status=one.status,
                data=one.data,
                cost=one.cost,
                seconds=one.seconds,
                reason=one.reason,
            )
            for run in gather(self.sources).runs
            for one in run.records
        )

    @property
    def folder(self) -> Path:
        """The folder of the report; for one run its own folder, which also has `records.jsonl`."""
        return self.page.parent

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with a row for each model and city, and one for all cities (`city` is empty).

        Each metric has three columns: `KEY` with the mean, `KEY_low` and `KEY_high` with the ends of its 95 %
        interval. Shares are in [0, 1]. What has no value is `NaN`.

        Raises:
            ModelUnavailable: pandas is missing.
        """
        rows = []
        for row in self.rows:
            run = {"run": row.run} if len(self.results.runs) > 1 else {}
            values: dict[str, float] = {}
            for key, interval in row.values.items():  # noqa: PD011 - no table of pandas
                values |= {key: interval.mean, f"{key}_low": interval.low, f"{key}_high": interval.high}
            rows.append({**run, "model": row.model, "city": row.city, **row.episodes.model_dump(), **values})
        return to_table(rows)

    def _repr_html_(self) -> str:
        """Return the table of results as HTML for notebooks."""
        tables = "".join(table(columns, rows) for columns, rows in text_tables(self.results))
        facts = [("report", self.page)]
        return card(self.results.title, facts, picture=tables, notes=(LEGEND, *self.results.attributions))


class BenchmarkSettings(SharedSettings, total=False):
    """The keyword arguments of `run_benchmark` besides the benchmark and its options."""

    limit: int
    """Number of first episodes that are run for each model in each city; by default all are run."""
    resume: bool
    """True to resume the run in `out`, and to try failed episodes again."""
    engine: EngineName
    """Way to run episodes: `threads`, `processes` or `ray`; by default the benchmark's own.

    By default `threads` for objects. A script without `if __name__ == "__main__":` gets threads for
    `processes`, with a warning."""
    workers: int
    """Number of episodes that run side by side."""
    attempts: int
    """Most tries of an episode that fails for a reason that may be temporary; 3 by default."""
    rate: float
    """Most requests a second to language models, over all episodes."""
    pictures: bool
    """True if the views of episodes are kept; true by default."""


def run_benchmark(
    name: str,
    options: Mapping[str, object] | None = None,
    *,
    out: str | Path | None = None,
    **settings: Unpack[BenchmarkSettings],
) -> BenchmarkReport:
    """Run a benchmark and return its results; each episode is saved as it ends.

    Args:
        name: as `virl bench list` prints it, or `MODULE:OBJECT` for one of your own.
        options: of the benchmark by their field names, such as `{"cities": ["virlton"], "models": ["ocr"]}`;
            `virl bench list NAME` prints them. In place of a name they take a city, a chat model of
            LangChain or a `Mind`, or a model of perception.
        out: folder of the run; by default `runs/NAME`.
        **settings: as `BenchmarkSettings` says.

    Raises:
        BadInput: an option does not fit, or `out` holds another run.
        VirlError: what the benchmark needs is missing, or the budget is spent.
        TypeError: there is no such argument.
    """
    check_keywords(run_benchmark, settings, BenchmarkSettings)
    objects: dict[str, object] = {}
    options = {field: _name_objects(value, objects) for field, value in (options or {}).items()}
    benchmark = find_benchmark(name)
    checked = check_settings(options, benchmark.options, source=f"options of {benchmark.name}")
    folder = Path("runs") / benchmark.name if out is None else Path(out)
    record, replay = settings.get("record"), settings.get("replay")
    terms = Terms(
        device=settings.get("device", "auto"),
        allow_downloads=settings.get("allow_downloads", False),
        requests_per_second=settings.get("rate"),
        cache=settings.get("cache"),
        record=None if record is None else Path(record),
        replay=None if replay is None else Path(replay),
        budget_usd=settings.get("budget_usd"),
        price=settings.get("price"),
        replies=cache_home() / "replies",
        session=str(folder.resolve()),
    )
    kind = settings.get("engine")
    if (kind or (not objects and benchmark.work)) == "processes" and not is_main_importable():
        _log.warning(
            "%s runs in threads: its processes would run your script again; put what runs it below "
            '`if __name__ == "__main__":`',
            name,
        )
        kind = "threads"
    engine = Engine(
        kind,
        settings.get("workers"),
        attempts=settings.get("attempts", 3),
        pictures=settings.get("pictures", True),
        terms=terms,
    )
    run_episodes(
        name,
        checked,
        folder,
        settings.get("console") or SafeConsole(quiet=True),
        engine=engine,
        part=Part(settings.get("limit")),
        objects=objects,
        resume=settings.get("resume", False),
    )
    return read_benchmark(folder)


def read_benchmark(*folders: str | Path, out: str | Path | None = None) -> BenchmarkReport:
    """Return the results of one run, ended or interrupted, or of several side by side, scored anew.

    Args:
        *folders: of the runs.
        out: where the report goes; needed for several runs.

    Raises:
        BadInput: a folder holds no run, or several are given and `out` is not.
        CannotWrite: the report cannot be written.
    """
    home = None if out is None else Path(out)
    written = write_reports([Path(folder) for folder in folders], SafeConsole(quiet=True), home)
    source = str(written.page.parent / RESULTS)
    results = check_settings(read_json_file(written.results), Results, source=source)
    return BenchmarkReport(results, written.page, tuple(map(Path, folders)))


def _name_objects(value: object, objects: dict[str, object]) -> object:
    """Return an option's value with names in place of objects, and add the objects to `objects` by name."""
    if isinstance(value, list | tuple):
        return [_name_objects(one, objects) for one in value]
    if value is None or isinstance(value, str | int | float | Path | date | Mapping):
        return value
    if isinstance(value, City) and value.is_as_opened:
        return value.opened_as
    first = object_name(value)
    # Two objects of one class get different names, and one object the same name twice.
    names = chain([first], (f"{first} ({number})" for number in count(2)))
    name = next(one for one in names if objects.get(one, value) is value)
    objects[name] = value
    return name
