"""Means with their intervals, and the table that shows them beside published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from virl.bench.statistics import Interval, mean_with_interval

__all__ = ["Column", "Interval", "Row", "cell_text", "summarize", "table"]


@dataclass(frozen=True, slots=True)
class Column:
    """How a metric is shown."""

    key: str
    """Of the metric, in the scores."""
    heading: str
    percent: bool = False
    """Whether it is a share that is shown in percent."""
    digits: int = 2


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one agent: intervals where they were measured here, numbers where published."""

    name: str
    values: Mapping[str, Interval | float]
    """By the key of the metric, shares in [0, 1]; what is not there is shown as a dash."""
    note: str = ""
    """Such as `"published"`, or how many episodes were scored."""


def summarize(scores: Sequence[Mapping[str, float | None]]) -> dict[str, Interval]:
    """Mean and interval of every metric over the scores of the episodes.

    Args:
        scores: the metrics of each episode, all with the same keys. Where one is `None`, as an infinite
            distance is, the episode is left out of that metric; where all are, so is the metric.
    """
    summary = {}
    for key in scores[0] if scores else ():
        values = [value for score in scores if (value := score[key]) is not None]
        if values:
            summary[key] = mean_with_interval(values)
    return summary


def table(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    """A table of results, one row an agent."""
    caption = "below a mean: the ends of its 95 % interval"
    shown = Table(title=title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    shown.add_column("agent")
    for column in columns:
        shown.add_column(column.heading, justify="right")
    for row in rows:
        cells = [_cell(row.values.get(column.key), column) for column in columns]
        shown.add_row(Text.assemble(row.name, "\n", (row.note, "dim")), *cells)
    return shown


def cell_text(value: Interval | float | None, column: Column) -> str:
    """A number as it is shown, its interval in a second line; a dash where there is none."""
    mean, *ends = _numbers(value, column)
    return f"{mean}\n{' to '.join(ends)}" if ends else mean


def _cell(value: Interval | float | None, column: Column) -> Text:
    """A number and, below it, the ends of its interval: narrow enough for many columns."""
    mean, *ends = _numbers(value, column)
    return Text.assemble(mean, *(("\n" + end, "dim") for end in ends))


def _numbers(value: Interval | float | None, column: Column) -> list[str]:
    if value is None:
        return ["-"]
    scale = 100.0 if column.percent else 1.0
    numbers = value if isinstance(value, Interval) else (value,)
    return [f"{scale * number:.{column.digits}f}" for number in numbers]
