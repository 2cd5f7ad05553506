"""Scores as dots with their intervals on a common axis: those measured here filled, published ones hollow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from virl.bench.benchmark import Metric
from virl.bench.report.results import PublishedRow, Results, RowResult, page_number
from virl.bench.statistics import FEWEST_UNITS, Interval
from virl.pages.numbers import show_share, tick_digits, ticks, write_number

FEWEST_SHOWN = 5
"""Fewest units of a group that is not folded away; chosen."""


class Dot(NamedTuple):
    """A score as a dot on an axis, with its interval and texts; positions in percent of the axis' length."""

    at: float
    low: float
    high: float
    """Upper end of the interval; both ends are `at` where none is shown."""
    text: str
    """Score as text, such as "67 %"."""
    interval: str = ""
    """Words on the interval, such as "53 to 87"."""


@dataclass(frozen=True, slots=True)
class DotRow:
    """A row of dots, one for each panel; `None` where there is no score."""

    name: str
    note: str
    """Words below the name; may be empty."""
    units: str
    """Number of units that the scores are of; empty where it is not known."""
    dots: tuple[Dot | None, ...]
    is_hollow: bool = False
    """True for scores that were not measured here."""


class Axis(NamedTuple):
    """The axis of a panel: its ends, and whether it is of shares, shown in percent."""

    low: float
    high: float
    is_share: bool

    def at(self, value: float) -> float:
        """Return the position of a value, in percent of the axis' length, within the axis."""
        return round(100 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """Return (position in percent, text) of each gridline."""
        marks, (factor, unit) = ticks(self.low, self.high), (100, " %") if self.is_share else (1, "")
        digits = 0 if self.is_share else tick_digits(marks)
        return [(self.at(mark), write_number(factor * mark, digits) + unit) for mark in marks]


@dataclass(frozen=True, slots=True)
class DotPlot:
    """A chart of dots: a panel with an axis of its own for each score of a row."""

    panels: tuple[tuple[str, Axis], ...]
    """(heading, axis) of each panel."""
    parts: tuple[tuple[str, tuple[DotRow, ...]], ...]
    """(heading, rows) of each part; a heading may be empty."""

    @property
    def is_counted(self) -> bool:
        """Return whether a row has a number of units."""
        return any(row.units for _, rows in self.parts for row in rows)

    @property
    def has_intervals(self) -> bool:
        """Return whether a dot has the line of its interval."""
        return any(dot and dot.high > dot.low for _, rows in self.parts for row in rows for dot in row.dots)

    @property
    def has_hollow(self) -> bool:
        """Return whether a dot is hollow: published by others."""
        return any(row.is_hollow for _, rows in self.parts for row in rows)


def axis_of(values: Iterable[float], *, is_share: bool, top: float = 1.0) -> Axis:
    """Return an axis with a zero that holds all values; that of shares holds `top` too.

    Args:
        values: means and ends of intervals.
        is_share: whether they are shares, shown in percent.
        top: the least upper end of an axis of shares.
    """
    known = [0.0, *([top] if is_share else []), *values]
    return Axis(min(known), max(known) if max(known) > min(known) else min(known) + 1, is_share)


def plain_number(value: float, metric: Metric) -> str:
    """Return a metric's value as a reader of a chart needs it: whole percents, else at most one decimal."""
    if metric.percent:
        return show_share(value)
    return page_number(value, metric)


def interval_words(value: Interval, metric: Metric, units: int) -> str:
    """Return the ends of an interval as text, such as "53 to 87"; of fewer than ten units, their number.

    Args:
        value: mean and interval.
        metric: says how numbers are written.
        units: number of units, such as places, that the value is of.
    """
    if units < FEWEST_UNITS:
        return f"too few (n = {units})"
    return " to ".join(plain_number(end, metric).removesuffix(" %") for end in value[1:])


def dot(axis: Axis, value: Interval | None, metric: Metric, units: int) -> Dot | None:
    """Return a measured score on an axis, without interval if it is of too few units; `None` for `None`.

    Args:
        axis: of its panel.
        value: mean and interval.
        metric: says how it is written.
        units: number of units, such as places, that it is of.
    """
    if value is None:
        return None
    mean, low, high = map(axis.at, value)
    ends = (low, high) if units >= FEWEST_UNITS else (mean, mean)
    return Dot(mean, *ends, plain_number(value.mean, metric), interval_words(value, metric, units))


def row_name(row: RowResult) -> str:
    """Return a row's model, after the name of its run if there are several."""
    return f"{row.run}: {row.model}" if row.run else row.model


def whole_rows(results: Results) -> list[RowResult]:
    """Return one row for each run and model: over all its cities, or in its only one."""
    many = {(row.run, row.model) for row in results.rows if not row.city}
    return [row for row in results.rows if not row.city or (row.run, row.model) not in many]


def score_plot(results: Results, metric: Metric) -> DotPlot:
    """Return a chart of a metric: measured values, published ones of the same data, and of other data."""
    key = metric.key
    ours = [row for row in whole_rows(results) if key in row.values]
    papers = sorted((row for row in results.published if key in row.values), key=lambda row: -row.values[key])
    ends = [end for row in ours for end in row.values[key]]
    axis = axis_of([*ends, *(row.values[key] for row in papers)], is_share=metric.percent)
    measured = tuple(
        DotRow(
            row_name(row),
            results.title_of(row.city),
            str(row.units[key]),
            (dot(axis, row.values[key], metric, row.units[key]),),
        )
        for row in ours
    )
    parts = (
        ("", measured),
        _papers("Published, on the same data", [row for row in papers if row.city], metric, axis),
        _papers("Published, on other cities and data", [row for row in papers if not row.city], metric, axis),
    )
    return DotPlot((("", axis),), tuple(part for part in parts if part[1]))


def _papers(
    heading: str, papers: Sequence[PublishedRow], metric: Metric, axis: Axis
) -> tuple[str, tuple[DotRow, ...]]:
    """Return (heading, rows) of published results; if all are of one source, the heading names it."""
    sources = {row.source for row in papers}
    rows = []
    for row in papers:
        value = row.values[metric.key]
        at = axis.at(value)
        shown = Dot(at, at, at, plain_number(value, metric))
        rows.append(DotRow(row.name, row.source if len(sources) > 1 else "", "", (shown,), is_hollow=True))
    return f"{heading}: {sources.pop()}" if len(sources) == 1 else heading, tuple(rows)


def group_plots(results: Results, metric: Metric) -> tuple[DotPlot, DotPlot] | None:
    """Return two charts of a metric by group, of large and of small groups; `None` if no group has a score.

    Each model has a panel. The groups are ordered by the score of the first model, the best first.
    """
    rows = [row for row in whole_rows(results) if row.groups.get(metric.key)]
    found = [(row.groups[metric.key], row.group_units[metric.key]) for row in rows]
    names = list(dict.fromkeys(name for groups, _ in found for name in groups if name))
    if not names:
        return None
    first = found[0][0]
    names.sort(key=lambda name: (-first[name].mean if name in first else 0.0, name))
    ends = (end for groups, _ in found for value in groups.values() for end in value)
    axis = axis_of(ends, is_share=metric.percent)
    panels = tuple((row_name(row) if len(rows) > 1 else "", axis) for row in rows)
    large: list[DotRow] = []
    small: list[DotRow] = []
    for name in names:
        most = max(units.get(name, 0) for _, units in found)
        dots = (dot(axis, groups.get(name), metric, units.get(name, 0)) for groups, units in found)
        drawn = DotRow(name.replace("_", " "), "", str(most), tuple(dots))
        (large if most >= FEWEST_SHOWN else small).append(drawn)
    return DotPlot(panels, (("", tuple(large)),)), DotPlot(panels, (("", tuple(small)),))
