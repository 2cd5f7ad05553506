"""Parts of every measurement: a command line, a clock, and figures for people or for programs."""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table

from virl.console import SafeConsole


def command(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of command lines with a module's docstring as help, and the option `--json`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    return parser


def figure_table(*columns: str, title: str = "") -> Table:
    """Return a table with names in its first column and figures, right-aligned, in the others."""
    made = Table(title=title or None, box=SIMPLE_HEAD, title_justify="left")
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left")
    return made


def best_seconds(
    work: Callable[[], object], rounds: int, clock: Callable[[], float] = time.process_time
) -> float:
    """Return the seconds, by `clock`, of the fastest of `rounds` calls of `work`, after one uncounted.

    Args:
        work: that is timed.
        rounds: number.
        clock: seconds.
    """
    times = []
    for _ in range(rounds + 1):
        started = clock()
        work()
        times.append(clock() - started)
    return min(times[1:])


class Figures(dict[str, Any]):
    """The figures of a measurement by name, as plain JSON, which can also print lines for people."""

    def __init__(self, *, silent: bool) -> None:
        """Begin without figures; with `silent`, `show` prints nothing."""
        super().__init__()
        self._console = SafeConsole(quiet=silent, highlight=False, markup=False, soft_wrap=True)

    def show(self, shown: RenderableType = "") -> None:
        """Print a line or a table for people, unless silent."""
        self._console.print(shown)


@contextmanager
def figures(options: argparse.Namespace) -> Iterator[Figures]:
    """Yield figures for the block to fill; they are printed as JSON at its end if `--json` was given."""
    found = Figures(silent=options.json)
    yield found
    if options.json:
        print(json.dumps(found, indent=2))
