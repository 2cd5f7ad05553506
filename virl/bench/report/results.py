"""What `results.json` holds.

Described in `docs/reference/benchmark-files.md`; its version rises when a field changes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from virl.bench.benchmark import AnyBenchmark, BaseOptions, Confusion, Metric, Scores, Tally
from virl.bench.episode import Record
from virl.bench.records import versions
from virl.bench.report.runs import KeptRun, ReportRuns, reading_data
from virl.bench.statistics import (
    Difference,
    Interval,
    compare,
    count_units,
    estimate,
    estimate_groups,
)
from virl.money.ledger import paid_for
from virl.pages.numbers import count_noun, dollars
from virl.settings.model import Settings

SCHEMA = 1

Values = dict[str, Interval]


class Episodes(Settings):
    """Numbers of a row's episodes: planned, done, failed and missing."""

    planned: int
    done: int
    failed: int
    """Number of failed episodes; they count in the values only if the benchmark scores failures."""
    missing: int
    """Number of planned episodes that have not been tried yet."""


class Spent(Settings):
    """The sums that a run has paid in total, by its ledgers."""

    usd: float
    map_requests: int
    requests: int
    """Number of requests to models on the network."""
    input_tokens: int
    output_tokens: int
    unfinished_usd: float
    """Dollars that are in no row: of unfinished episodes, and of requests before the first episode."""


class RowResult(Settings):
    """A row of results: one model of one run in one city, or over all its cities."""

    run: str
    model: str
    city: str
    """Name of the city; empty for all cities together."""
    episodes: Episodes
    values: Values
    """Values with 95 % intervals, by metric's key; shares in [0, 1]; metrics without value are missing."""
    units: dict[str, int]
    """Number of units, such as places, that each value is of, by metric's key."""
    groups: dict[str, Values]
    """Values by metric's key and then by group, for metrics with `by_group`."""
    group_units: dict[str, dict[str, int]]
    """Number of units by metric's key and then by group."""
    cost: dict[str, float]
    seconds: float
    """Seconds of all scored episodes, summed up as if they ran one after the other."""
    confusions: tuple[Confusion, ...] = ()
    notes: tuple[str, ...] = ()


class Compared(Settings):
    """A comparison of a model with the first model of the first run, on the units that both have scored."""

    run: str
    model: str
    against_run: str
    against_model: str
    metric: str
    difference: Difference
    """Value of the model minus the value of the first model, with interval and p-value."""

    @property
    def differs(self) -> bool:
        """Return whether some unit has another value than for the first model."""
        return bool(self.difference.low or self.difference.high)


class Failure(Settings):
    """A failed episode: run, id, class of the error, reason in a line, and number of tries."""

    run: str
    id: str
    fault: str
    reason: str
    attempts: int
    scored: bool = False
    """True if the failed episode counts in the scores."""


class PublishedRow(Settings):
    """A row of results from a paper, not measured here."""

    name: str
    source: str
    city: str = ""
    """City of the run on whose data it was measured; empty for other data."""
    values: dict[str, float]


class Results(Settings):
    """The contents of `results.json`."""

    schema_version: int = SCHEMA
    benchmark: str
    title: str
    about: str
    attributions: tuple[str, ...] = ()
    """Notices that the cities' data require: whom to credit, and what is invented."""
    versions: dict[str, str]
    runs: dict[str, dict[str, object]]
    """The options of each run by its name; the name is empty if there is only one run."""
    spent: dict[str, Spent]
    """Amounts paid, by the name of the run; runs that paid and requested nothing are left out."""
    metrics: tuple[Metric, ...]
    rows: tuple[RowResult, ...]
    published: tuple[PublishedRow, ...]
    compared: tuple[Compared, ...]
    failures: tuple[Failure, ...]
    cities: Mapping[str, str] = {}
    """Titles of the runs' cities by name; empty in files of earlier versions."""

    def title_of(self, city: str) -> str:
        """Return the title of a city by its name; `all cities` for an empty name."""
        return self.cities.get(city, city) or "all cities"


def make_results(gathered: ReportRuns) -> Results:
    """Return the results of a report's runs: scored by model and city, merged over cities and compared."""
    benchmark = gathered.benchmark
    cells = [cell for run in gathered.runs for cell in _cells(gathered, run)]
    rows = [row for run in gathered.runs for row in _rows(benchmark.metrics, run, cells)]
    cities = {name: city.title for run in gathered.runs for name, city in run.plan.cities.items()}
    return Results(
        benchmark=benchmark.name,
        title=benchmark.title,
        about=benchmark.about,
        attributions=tuple(
            sorted({city.attribution for run in gathered.runs for city in run.plan.cities.values()} - {""})
        ),
        versions=versions(),
        runs={run.name: run.options.model_dump(mode="json") for run in gathered.runs},
        cities=cities,
        spent={run.name: spent for run in gathered.runs if (spent := _sum_cost(run))},
        metrics=benchmark.metrics,
        rows=tuple(rows),
        published=tuple(
            PublishedRow(
                name=row.name,
                source=row.source,
                city="" if row.is_other else row.city,
                values=dict(row.values),
            )
            for row in benchmark.published
            if not row.city or row.city in cities
        ),
        compared=tuple(_compare_models(benchmark.metrics, cells)),
        failures=tuple(
            Failure(
                run=run.name,
                id=record.id,
                fault=record.fault,
                reason=record.reason,
                attempts=record.attempts,
                scored=record.is_scored,
            )
            for run in gathered.runs
            for record in run.records
            if record.status == "failed"
        ),
    )


@dataclass(frozen=True, slots=True)
class _Cell:
    """The records and scores of one model in one city."""

    run: str
    model: str
    city: str
    records: tuple[Record, ...]
    scores: Scores


def _cells(gathered: ReportRuns, run: KeptRun) -> Iterator[_Cell]:
    """Yield the records and scores of each model in each city of a run."""
    kept: dict[tuple[str, str], list[Record]] = {}
    for record in run.records:
        kept.setdefault((record.model, record.city), []).append(record)
    for model, cities in run.plan.episodes.items():
        for city in cities:
            records = tuple(kept.get((model, city), ()))
            scored = [record for record in records if record.is_scored]
            with reading_data(gathered.benchmark, run):
                scores = cell_scores(gathered.benchmark, scored, run.options)
            yield _Cell(run.name, model, city, records, scores)


def cell_scores(benchmark: AnyBenchmark, scored: Sequence[Record], options: BaseOptions) -> Scores:
    """Return one model's scores in one city from its scored records, units prefixed with the city's name.

    Args:
        benchmark: scores them.
        scored: the records that count; of one model in one city.
        options: of the run.
    """
    if not scored:
        return Scores({})
    scores = benchmark.score(scored, options)
    told = {
        key: tuple(_in_city(tally, scored[0].city) for tally in tallies)
        for key, tallies in scores.tallies.items()
    }
    return replace(scores, tallies=told)


def _in_city(tally: Tally, city: str) -> Tally:
    """Return a tally with the city's name before its unit; raise TypeError for a hit or weight not finite."""
    if not (isinstance(tally.group, str) and isfinite(tally.hit) and isfinite(tally.weight)):
        raise TypeError(f"a tally of group {tally.group!r}, hit {tally.hit}, weight {tally.weight}")
    return replace(tally, unit=f"{city}/{tally.unit}")


def _rows(metrics: Sequence[Metric], run: KeptRun, cells: Sequence[_Cell]) -> Iterator[RowResult]:
    """Yield a run's row for each model and city, and one more for each model with several cities."""
    for model, planned in run.plan.episodes.items():
        own = [cell for cell in cells if (cell.run, cell.model) == (run.name, model)]
        for cell in own:
            yield _merge_cells(metrics, cell.city, [cell], planned[cell.city])
        if len(own) > 1:
            yield _merge_cells(metrics, "", own, sum(planned.values()))


def _merge_cells(metrics: Sequence[Metric], city: str, cells: Sequence[_Cell], planned: int) -> RowResult:
    """Return one row of a model's results in one or several cities; `planned` is its number of episodes."""
    records = [record for cell in cells for record in cell.records]
    done = sum(record.status == "done" for record in records)
    scored = [record for record in records if record.is_scored]
    tallies = {metric.key: _tallies(cells, metric.key) for metric in metrics}
    grouped = {metric.key: metric.percent for metric in metrics if metric.by_group}
    counts = Episodes(planned=planned, done=done, failed=len(records) - done, missing=planned - len(records))
    estimates = {metric.key: estimate(tallies[metric.key], is_share=metric.percent) for metric in metrics}
    return RowResult(
        run=cells[0].run,
        model=cells[0].model,
        city=city,
        episodes=counts,
        values={key: found for key, found in estimates.items() if found is not None},
        units={key: count_units(tallies[key]) for key, found in estimates.items() if found is not None},
        groups={
            key: dict(estimate_groups(tallies[key], is_share=is_share)) for key, is_share in grouped.items()
        },
        group_units={
            key: Counter(
                group
                for _, group in dict.fromkeys((one.unit, one.group) for one in tallies[key] if one.weight)
            )
            for key in grouped
        },
        cost=_total_cost(records),
        seconds=round(sum(record.seconds for record in scored), 3),
        confusions=tuple(_tables([one for cell in cells for one in cell.scores.confusions])),
        notes=tuple(dict.fromkeys(note for cell in cells for note in cell.scores.notes)) if city else (),
    )


def _tallies(cells: Sequence[_Cell], metric: str) -> list[Tally]:
    """Return the tallies of the metric with this key in all cells."""
    return [tally for cell in cells for tally in cell.scores.tallies.get(metric, ())]


def _tables(confusions: Sequence[Confusion]) -> Iterator[Confusion]:
    """Yield one confusion matrix for each title, its counts summed over cities."""
    for title in dict.fromkeys(one.title for one in confusions):
        alike = [one for one in confusions if one.title == title]
        labels = tuple(dict.fromkeys(label for one in alike for label in one.labels))
        counts = {(true, given): 0.0 for true in labels for given in labels}
        for one in alike:
            for true, row in zip(one.labels, one.counts, strict=True):
                for given, count in zip(one.labels, row, strict=True):
                    counts[true, given] += count
        yield Confusion(
            title=title,
            labels=labels,
            counts=tuple(tuple(counts[true, given] for given in labels) for true in labels),
        )


def _compare_models(metrics: Sequence[Metric], cells: Sequence[_Cell]) -> Iterator[Compared]:
    """Yield the comparison, by metric, of each model of each run with the first model of the first run."""
    sides = list(dict.fromkeys((cell.run, cell.model) for cell in cells))
    first, *others = sides
    of = {side: [cell for cell in cells if (cell.run, cell.model) == side] for side in sides}
    for run, model in others:
        for metric in metrics:
            found = compare(_tallies(of[first], metric.key), _tallies(of[run, model], metric.key))
            if found is not None:
                yield Compared(
                    run=run,
                    model=model,
                    against_run=first[0],
                    against_model=first[1],
                    metric=metric.key,
                    difference=found,
                )


def _sum_cost(run: KeptRun) -> Spent | None:
    """Return the sums that a run paid in all its folders; `None` if it sent no request."""
    paid = [paid_for(folder) for folder in run.parts]
    # By the ledgers, as records know nothing of what unfinished episodes paid.
    usd = sum(one.usd for one in paid)
    told = sum(record.cost.get("usd", 0.0) for record in run.records)
    spent = Spent(
        usd=round(usd, 9),
        map_requests=sum(sum(one.sent.values()) for one in paid),
        requests=sum(one.calls for one in paid),
        input_tokens=sum(one.input_tokens for one in paid),
        output_tokens=sum(one.output_tokens for one in paid),
        unfinished_usd=max(0.0, round(usd - told, 6)),
    )
    return spent if spent.map_requests or spent.requests else None


def _total_cost(records: Sequence[Record]) -> dict[str, float]:
    """Return the sums of the records' costs by name, such as `usd`."""
    total: dict[str, float] = {}
    for record in records:
        for name, amount in record.cost.items():
            total[name] = total.get(name, 0.0) + amount
    return total


def shown_metrics(results: Results) -> list[Metric]:
    """Return the metrics with a value in some measured or published row, in the benchmark's order."""
    valued = {key for row in results.rows for key in row.values}
    valued |= {key for paper in results.published for key in paper.values}
    return [metric for metric in results.metrics if metric.key in valued]


def split(results: Results) -> list[Results]:
    """Return the results in parts: rows with a metric in common are together, no two parts share a metric.

    Rows without a value are in the first table.
    """
    keys = [set(row.values) for row in results.rows] + [set(row.values) for row in results.published]
    groups: list[set[str]] = []
    for own in filter(None, keys):
        # A row may join groups that had nothing in common before it.
        alike = [group for group in groups if group & own]
        groups = [*(group for group in groups if group not in alike), own.union(*alike)]
    if len(groups) < 2:
        return [results]
    groups.sort(key=lambda group: next(number for number, own in enumerate(keys) if own & group))

    parts = []
    for group in groups:
        bare = group is groups[0]
        rows = tuple(row for row in results.rows if group & set(row.values) or (bare and not row.values))
        published = tuple(row for row in results.published if group & set(row.values))
        parts.append(results.model_copy(update={"rows": rows, "published": published}))
    return parts


def shown_number(value: float, metric: Metric) -> str:
    """Return a metric's value as text, in percent or as a number, with the metric's decimals."""
    return f"{100 * value if metric.percent else value:.{metric.digits}f}"


def page_number(value: float, metric: Metric) -> str:
    """Return a metric's value as `shown_number`, with at most one decimal, as pages have it."""
    return shown_number(value, replace(metric, digits=min(metric.digits, 1)))


def published_numbers(row: PublishedRow, metrics: Sequence[Metric], absent: str = "-") -> list[str]:
    """Return a published row's values of these metrics as texts, with `absent` where it has none.

    Args:
        row: of a paper's table.
        metrics: in the order of the texts.
        absent: text for a metric without a value.
    """
    return [
        shown_number(row.values[metric.key], metric) if metric.key in row.values else absent
        for metric in metrics
    ]


def shown_done(episodes: Episodes) -> str:
    """Return the number of episodes done as text, such as `"98 of 100"`, or `"100"` if all are."""
    return (
        f"{episodes.done} of {episodes.planned}" if episodes.done < episodes.planned else f"{episodes.done}"
    )


def shown_share(episodes: Episodes) -> str:
    """Return the numbers of episodes chosen and failed as text, such as `"98 of 642 run, 2 failed"`."""
    tried = episodes.done + episodes.failed
    parts = [f"{tried} of {episodes.planned} run" if episodes.missing else f"{tried}"]
    parts += [f"{episodes.failed} failed"] if episodes.failed else []
    return ", ".join(parts)


def spent_line(spent: Spent, run: str) -> str:
    """Return a line on what a run has paid; `run` is its name, empty for the only one."""
    lost = (
        f", {dollars(spent.unfinished_usd)} of it outside the finished episodes"
        if spent.unfinished_usd
        else ""
    )
    asked = f"{count_noun(spent.map_requests, 'map request')}, {count_noun(spent.requests, 'model call')}"
    paid = f"paid {dollars(spent.usd)} in all{lost}" if spent.usd else "free"
    return f"{run + ': ' if run else ''}{paid} ({asked})"


def cost_line(cost: Mapping[str, float]) -> str:
    """Return a row's cost as text, such as `"12 requests, $0.40"`; empty for no cost."""
    return ", ".join(
        f"${amount:,.2f}" if name == "usd" else f"{amount:,.4g} {name.replace('_', ' ')}"
        for name, amount in sorted(cost.items())
    )
