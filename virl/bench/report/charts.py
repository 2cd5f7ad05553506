"""Bars and heat of a report, as shares that its templates draw."""

from collections.abc import Sequence
from dataclasses import dataclass

from virl.bench.report.results import ConfusionTable, MetricHead, Results, RowResult, shown_number

SHADES = 9


@dataclass(frozen=True, slots=True)
class Bar:
    """A model's value in a group; lengths are percent of the chart's width."""

    series: int
    """Number of the model, from 0: its colour."""
    name: str
    length: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """The bars of a group."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A metric by group."""

    heading: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class HeatRow:
    """What a true label was taken for."""

    label: str
    cells: tuple[tuple[str, int], ...]
    """What is written, and its shade from 0."""


@dataclass(frozen=True, slots=True)
class Heat:
    """A confusion matrix."""

    title: str
    labels: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    left_out: tuple[str, ...]
    """Labels that neither were true nor given."""


def whole_rows(results: Results) -> list[RowResult]:
    """One row a model and run: over all its cities, or its only one."""
    many = {(row.run, row.model) for row in results.rows if not row.city}
    return [row for row in results.rows if not row.city or (row.run, row.model) not in many]


def group_charts(results: Results) -> list[Chart]:
    """The metrics that are shown by group, best group of the first model first."""
    rows = whole_rows(results)
    charts = []
    for metric in results.metrics:
        values = [row.groups.get(metric.key, {}) for row in rows]
        names = list(dict.fromkeys(name for groups in values for name in groups if name))
        if metric.by_group and names:
            longest = 1.0 if metric.percent else max(one.high for groups in values for one in groups.values())
            names.sort(key=lambda name: (-values[0][name].mean if name in values[0] else 0.0, name))
            groups = tuple(Group(name, tuple(_bars(rows, metric, name, longest or 1.0))) for name in names)
            charts.append(Chart(metric.heading, groups))
    return charts


def heat(table: ConfusionTable) -> Heat:
    """A confusion matrix of the labels that occur, each row shaded by the shares of its sum."""
    rows = []
    columns = [number for number in range(len(table.labels)) if any(row[number] for row in table.counts)]
    for label, every in zip(table.labels, table.counts, strict=True):
        if not any(every):
            continue
        counts = [every[number] for number in columns]
        total = sum(counts) or 1.0
        cells = tuple((f"{count:g}" if count else "", round(SHADES * count / total)) for count in counts)
        rows.append(HeatRow(label, cells))
    given = tuple(table.labels[number] for number in columns)
    shown = {*given, *(row.label for row in rows)}
    left_out = tuple(label for label in table.labels if label not in shown)
    return Heat(table.title, given, tuple(rows), left_out)


def _bars(rows: Sequence[RowResult], metric: MetricHead, group: str, longest: float) -> list[Bar]:
    bars = []
    for number, row in enumerate(rows):
        value = row.groups.get(metric.key, {}).get(group)
        if value is not None:
            length, low, high = (round(100 * max(0.0, part) / longest, 2) for part in value)
            name = f"{row.run}: {row.model}" if row.run else row.model
            bars.append(Bar(number, name, length, low, high, shown_number(value.mean, metric)))
    return bars
