"""What the measurements share: a command line, and figures for people or, with `--json`, for programs."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import RenderableType

from virl.console import SafeConsole


def command(doc: str | None) -> argparse.ArgumentParser:
    """A command line that prints a module's docstring as its help, and has `--json`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    return parser


class Figures(dict[str, Any]):
    """The figures of a measurement by name: plain JSON.

    Args:
        silent: whether nothing is printed before the end.
    """

    def __init__(self, *, silent: bool) -> None:
        super().__init__()
        self._console = SafeConsole(quiet=silent, highlight=False, markup=False, soft_wrap=True)

    def show(self, shown: RenderableType = "") -> None:
        """Print a line or a table for people."""
        self._console.print(shown)


@contextmanager
def figures(options: argparse.Namespace) -> Iterator[Figures]:
    """Figures that are printed as JSON when the measurement ends, if `--json` was given."""
    found = Figures(silent=options.json)
    yield found
    if options.json:
        print(json.dumps(found, indent=2))
