"""How commands print a list: as a table for people, or as JSON for programs."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from virl.console import SafeConsole, as_markup, echo_json, say

PIPED_WIDTH = 160
"""Width, in columns, of output that is no terminal, so that few lines are wrapped. Chosen."""
_LAST_WIDTH = 16  # letters that are left for the last column, else all are broken; chosen


def print_json(told: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> None:
    """Print an object, or a list with an object for each row, as JSON."""
    echo_json(json.dumps(told, indent=2, ensure_ascii=False))


def list_console() -> SafeConsole:
    """Return the console for a list: `PIPED_WIDTH` columns wide if the output is no terminal."""
    console = SafeConsole()
    return console if console.is_terminal else SafeConsole(width=PIPED_WIDTH)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], hint: str = "") -> None:
    """Print rows as a table under headings, and below it a hint on using them, if given.

    Args:
        columns: headings; all but the last column keep their cells on one line, where that leaves it room.
        rows: a cell for each column.
        hint: what to do with the list.
    """
    console, table = list_console(), Table(box=None, pad_edge=False, header_style="dim")
    cells = [[column, *(row[number] for row in rows)] for number, column in enumerate(columns)]
    before = sum(max(map(cell_len, column)) + 2 for column in cells[:-1])
    has_room = before + _LAST_WIDTH <= console.width
    for number, column in enumerate(columns):
        table.add_column(
            column,
            no_wrap=has_room and number < len(columns) - 1,
            overflow="fold",
            style="bold" if number == 0 else "",
        )
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    if hint:
        console.print()
        say(console, f"[dim]{as_markup(hint)}[/]")
