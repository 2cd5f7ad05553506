"""The tables of the counting page: numbers with their intervals, beside published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from virl.bench.statistics import Interval


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a metric."""

    key: str
    """Key of the metric, in the rows."""
    heading: str
    percent: bool = False
    """True for a share that is shown in percent."""
    digits: int = 2


@dataclass(frozen=True, slots=True)
class TableRow:
    """The results of one way of counting: intervals where measured here, numbers where published."""

    name: str
    values: Mapping[str, Interval | float]
    """Values by the key of the metric, shares in [0, 1]; what is missing is shown as a dash."""
    note: str = ""
    """Such as `"with active detection"`."""


def terminal_table(title: str, columns: Sequence[TableColumn], rows: Sequence[TableRow]) -> Table:
    """Return a table for the terminal.

    Args:
        title: of the table.
        columns: its metrics.
        rows: its values.
    """
    caption = "below a number: its 95 % interval"
    shown = Table(title=title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    shown.add_column("", no_wrap=True)
    for column in columns:
        shown.add_column(column.heading, justify="right")
    for row in rows:
        cells = [_cell(row.values.get(column.key), column) for column in columns]
        shown.add_row(Text.assemble(row.name, "\n", (row.note, "dim")), *cells)
    return shown


def cell_text(value: Interval | float | None, column: TableColumn) -> str:
    """Return a number as it is shown, its interval in a second line; a dash where there is none."""
    mean, *ends = _show_numbers(value, column)
    return f"{mean}\n{' to '.join(ends)}" if ends else mean


def _cell(value: Interval | float | None, column: TableColumn) -> Text:
    """Return a number and, below it, the ends of its interval: narrow enough for many columns."""
    mean, *ends = _show_numbers(value, column)
    return Text.assemble(mean, *(("\n" + end, "dim") for end in ends))


def _show_numbers(value: Interval | float | None, column: TableColumn) -> list[str]:
    """Return a value or an interval as texts, in the column's unit; a dash for None."""
    if value is None:
        return ["-"]
    scale = 100.0 if column.percent else 1.0
    numbers = value if isinstance(value, Interval) else (value,)
    return [f"{scale * number:.{column.digits}f}" for number in numbers]
