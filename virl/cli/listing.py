"""How commands print a list: as a table for people, or as JSON for programs."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from virl.console import SafeConsole, echo_json

PIPED_WIDTH = 160
"""Columns where the output is no terminal: few lines are broken."""


def print_json(told: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> None:
    """Print an object, or an array with an object for each row, as JSON."""
    echo_json(json.dumps(told, indent=2, ensure_ascii=False))


def list_console() -> SafeConsole:
    """Return the console of a list: `PIPED_WIDTH` columns wide where the output is no terminal."""
    console = SafeConsole()
    return console if console.is_terminal else SafeConsole(width=PIPED_WIDTH)


def list_table() -> Table:
    """Return a table without columns and rows, in the style of lists."""
    return Table(box=None, pad_edge=False, header_style="dim")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], hint: str = "") -> None:
    """Print a table, and a hint below it.

    Args:
        columns: headings; all but the last column keep their cells on one line.
        rows: a cell for each column.
        hint: what to do with the list.
    """
    console, table = list_console(), list_table()
    for number, column in enumerate(columns):
        table.add_column(
            column,
            no_wrap=number < len(columns) - 1,
            overflow="fold",
            style="bold" if number == 0 else "",
        )
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    if hint:
        console.print(f"\n{hint}", style="dim", highlight=False, markup=False)
