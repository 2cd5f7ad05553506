"""The terminal: what is printed goes through here, so that no text from the world can steer it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.segment import Segment

from virl.plain_text import plain_json, plain_line, plain_lines

LONG_S = 1.5
"""Seconds without a word after which it is told what takes so long. Chosen: shorter than patience."""


class SafeConsole(Console):
    """A console of Rich that prints no control characters but its own, and no emoji for `:x:`."""

    def __init__(self, *, emoji: bool = False, **options: Any) -> None:
        super().__init__(emoji=emoji, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as `rich.console.Console.render`, without control characters in texts."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text == "\n":
                yield segment
            else:
                yield Segment(plain_lines(segment.text), segment.style)


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a text and a newline on standard output, or on standard error."""
    typer.echo(plain_lines(text), err=err)


def echo_json(text: str) -> None:
    """Print JSON on standard output; a program that reads it finds every character of it."""
    typer.echo(plain_json(text))


def as_markup(text: str) -> str:
    """A text from the world on one line, so that it is shown as it is among Rich's markup."""
    return escape(plain_line(text))


@contextmanager
def counting_bar(title: str, total: int, console: Console) -> Iterator[Callable[[], None]]:
    """Yield a function that advances a bar by one; no bar shows off a terminal or for a total of 0."""
    columns = (TextColumn("[dim]{task.description}"), BarColumn(), MofNCompleteColumn())
    shown = console.is_terminal and total > 0
    with Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)


@contextmanager
def told_if_long(text: str, console: Console, after_s: float = LONG_S) -> Iterator[None]:
    """Print a text on standard error once work has taken some seconds, unless the console is quiet."""
    timer = Timer(after_s, lambda: None if console.quiet else echo(text, err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
