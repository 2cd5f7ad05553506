"""Scores as dots with their intervals on a common axis: those measured here filled, published ones hollow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from virl.bench.benchmark import Metric
from virl.bench.report.results import PublishedRow, Results, RowResult, shown_number
from virl.bench.statistics import FEWEST_UNITS, Interval
from virl.pages.numbers import digits_for, ticks, write_number

FEWEST_SHOWN = 5
"""Fewest units of a group that is not folded away; chosen."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A score on an axis: positions in percent of the axis' length, and its texts."""

    at: float
    low: float
    """Position of the interval's lower end; equal to `at` where no interval is shown."""
    high: float
    """Position of the interval's upper end."""
    text: str
    """Score as text, such as "67 %"."""
    interval: str
    """Words on the interval, such as "53 to 87"; may be empty."""


@dataclass(frozen=True, slots=True)
class DotRow:
    """A row of dots, one for each panel; `None` where there is no score."""

    name: str
    note: str
    """Words below the name; may be empty."""
    units: str
    """Number of units that the scores are of, as text; empty where it is not known."""
    dots: tuple[Dot | None, ...]
    is_hollow: bool = False
    """True for scores that were not measured here."""


@dataclass(frozen=True, slots=True)
class DotPart:
    """Rows of dots below a heading, which may be empty."""

    heading: str
    rows: tuple[DotRow, ...]


class Axis(NamedTuple):
    """The axis of a panel: its ends, and whether it is of shares in percent."""

    low: float
    high: float
    is_share: bool = False

    def at(self, value: float) -> float:
        """Return the position of a value on the axis, in percent of its length, within the axis."""
        return round(100 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """Return (position in percent, text) of each gridline."""
        marks = ticks(self.low, self.high)
        if self.is_share:
            return [(self.at(mark), f"{100 * mark:.0f} %".replace("-", "\N{MINUS SIGN}")) for mark in marks]
        return [(self.at(mark), write_number(mark, digits_for(marks))) for mark in marks]


@dataclass(frozen=True, slots=True)
class DotPlot:
    """A chart of dots: a panel with an axis of its own for each score of a row."""

    panels: tuple[tuple[str, Axis], ...]
    """(heading, axis) of each panel."""
    parts: tuple[DotPart, ...]

    @property
    def is_counted(self) -> bool:
        """Whether a row has a number of units."""
        return any(row.units for part in self.parts for row in part.rows)


def axis_of(values: Iterable[float], *, is_share: bool, top: float = 1.0) -> Axis:
    """Return an axis with a zero that holds all values; that of shares holds `top` too."""
    known = [0.0, *([top] if is_share else []), *values]
    low, high = min(known), max(known)
    return Axis(low, high if high > low else low + 1, is_share)


def plain_number(value: float, metric: Metric) -> str:
    """Return a metric's value as a reader of a chart needs it: whole percents, else at most one decimal."""
    if metric.percent:
        return f"{100 * value:.0f} %".replace("-", "\N{MINUS SIGN}")
    return shown_number(value, replace(metric, digits=min(metric.digits, 1)))


def interval_words(value: Interval, metric: Metric, units: int) -> str:
    """Return the ends of an interval as text, such as "53 to 87"; of fewer than ten units, their number."""
    if units < FEWEST_UNITS:
        return f"too few (n = {units})"
    return " to ".join(plain_number(end, metric).removesuffix(" %") for end in value[1:])


def dot(axis: Axis, value: Interval, metric: Metric, units: int) -> Dot:
    """Return a measured score on an axis, without interval if it is of too few units.

    Args:
        axis: of its panel.
        value: mean and interval.
        metric: says how it is written.
        units: number of units, such as places, that it is of.
    """
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
    """Return a metric of all models and of what others published, on one axis.

    Published rows of other data than were run here stand apart.
    """
    ours = [row for row in whole_rows(results) if metric.key in row.values]
    papers = sorted(
        (row for row in results.published if metric.key in row.values),
        key=lambda row: -row.values[metric.key],
    )
    ends = [end for row in ours for end in row.values[metric.key]]
    axis = axis_of([*ends, *(row.values[metric.key] for row in papers)], is_share=metric.percent)

    measured = tuple(
        DotRow(
            row_name(row),
            row.city or "all cities",
            str(row.units[metric.key]),
            (dot(axis, row.values[metric.key], metric, row.units[metric.key]),),
        )
        for row in ours
    )
    parts = (
        DotPart("", measured),
        _papers("Published, on the same data", [row for row in papers if row.city], metric, axis),
        _papers("Published, on other cities and data", [row for row in papers if not row.city], metric, axis),
    )
    return DotPlot((("", axis),), tuple(part for part in parts if part.rows))


def _papers(heading: str, papers: Sequence[PublishedRow], metric: Metric, axis: Axis) -> DotPart:
    """Return rows of papers, hollow and without intervals; the heading names the only source."""
    sources = {row.source for row in papers}
    rows = []
    for row in papers:
        at, text = axis.at(row.values[metric.key]), plain_number(row.values[metric.key], metric)
        note = row.source if len(sources) > 1 else ""
        rows.append(DotRow(row.name, note, "", (Dot(at, at, at, text, ""),), is_hollow=True))
    return DotPart(f"{heading}: {sources.pop()}" if len(sources) == 1 else heading, tuple(rows))


def group_plots(results: Results, metric: Metric) -> tuple[DotPlot, DotPlot] | None:
    """Return a metric by group, one panel a model, best first by the first: large groups, then small ones.

    `None` if no group has a score.
    """
    rows = [row for row in whole_rows(results) if row.groups.get(metric.key)]
    names = list(dict.fromkeys(name for row in rows for name in row.groups[metric.key] if name))
    if not names:
        return None
    first = rows[0].groups[metric.key]
    names.sort(key=lambda name: (-first[name].mean if name in first else 0.0, name))
    ends = [end for row in rows for value in row.groups[metric.key].values() for end in value]
    axis = axis_of(ends, is_share=metric.percent)
    panels = tuple((row_name(row) if len(rows) > 1 else "", axis) for row in rows)

    def units(row: RowResult, name: str) -> int:
        """Return the number of units of a group in a row."""
        return row.group_units[metric.key].get(name, 0)

    def plot(names: Iterable[str]) -> DotPlot:
        """Return the chart of these groups."""
        drawn = tuple(
            DotRow(
                name.replace("_", " "),
                "",
                str(max(units(row, name) for row in rows)),
                tuple(
                    dot(axis, value, metric, units(row, name))
                    if (value := row.groups[metric.key].get(name))
                    else None
                    for row in rows
                ),
            )
            for name in names
        )
        return DotPlot(panels, (DotPart("", drawn),))

    large = [name for name in names if max(units(row, name) for row in rows) >= FEWEST_SHOWN]
    return plot(large), plot(name for name in names if name not in large)
