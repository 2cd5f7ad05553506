"""The tables of the counting page: numbers with their intervals, beside published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from virl.bench.benchmark import Metric
from virl.bench.report.table import mean_cell
from virl.bench.statistics import Interval


@dataclass(frozen=True, slots=True)
class TableRow:
    """The results of one way of counting: intervals where measured here, numbers where published."""

    name: str
    values: Mapping[str, Interval | float]
    """Values by the metric's key, shares in [0, 1]; a missing one is shown as a dash."""
    note: str = ""
    """Words below the name, such as `"with active detection"`; may be empty."""


def terminal_table(title: str, columns: Sequence[Metric], rows: Sequence[TableRow]) -> Table:
    """Return a table for the terminal, with the ends of each interval below its mean.

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
        cells = [mean_cell(row.values.get(column.key), column) for column in columns]
        shown.add_row(Text.assemble(row.name, "\n", (row.note, "dim")), *cells)
    return shown
