"""Printing on the terminal, without control characters, so that no text from the world can steer it."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import IO, Any

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.segment import Segment
from rich.text import Text
from rich.theme import Theme

from virl.plain_text import plain_json, plain_line, plain_lines

ACCENT, GOOD, CAUTION = "dodger_blue1", "green", "dark_orange"
"""Colours on the terminal: an accent, and those for good states and for warnings."""
THEME = Theme(
    dict.fromkeys(
        ("bar.complete", "bar.finished", "bar.pulse", "progress.download", "progress.spinner"), ACCENT
    )
    | dict.fromkeys(("progress.elapsed", "progress.remaining"), "dim")
)
LONG_S = 1.5
"""Seconds of work after which a line tells what is taking long; chosen."""


class SafeConsole(Console):
    """A console of Rich that prints no control characters but its own, and no emoji for `:x:`."""

    def __init__(self, *, emoji: bool = False, **options: Any) -> None:
        """Make a console in virl's colours; `options` are those of Rich."""
        super().__init__(emoji=emoji, theme=THEME, **options)

    def on_broken_pipe(self) -> None:
        """Stop printing without an error when the reader of the output has gone."""
        self.quiet = True
        _discard(self.file)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield a renderable's segments as Rich does, without control characters in their texts."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text == "\n":
                yield segment
            else:
                yield Segment(plain_lines(segment.text), segment.style)


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a text and a newline on standard output or, with `err`, on standard error."""
    if err and sys.stderr and sys.stderr.isatty():
        for line in plain_lines(text).split("\n"):
            say(SafeConsole(stderr=True), escape(line))
    else:
        _echo(plain_lines(text), err=err)


def echo_json(text: str) -> None:
    """Print JSON on standard output, with hidden characters as escapes, so that readers lose nothing."""
    _echo(plain_json(text))


def _echo(text: str, *, err: bool = False) -> None:
    """Print a text unchanged and a newline; drop them if the reader of the output has gone."""
    try:
        typer.echo(text, err=err)
    except BrokenPipeError:
        _discard(sys.stderr if err else sys.stdout)


def _discard(stream: IO[str]) -> None:
    """Send a stream's further output to the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def say(console: Console, markup: str, indent: int = 2) -> None:
    """Print a line of Rich's markup; after a line break the text is indented by `indent` spaces.

    Words that are longer than a line, such as paths, stay whole.

    Args:
        console: the console.
        markup: the line.
        indent: the number of spaces at the start of further lines.
    """
    text, used, ends = Text.from_markup(markup, emoji=False), 0, []
    # Rich's own wrapping would break paths and other long words in two.
    for word in re.finditer(r"\s*\S+", text.plain):
        used += cell_len(word[0])
        if used > console.width > 0 and word.start() and (console.is_terminal or console.is_jupyter):
            ends.append(word.start())
            used = indent + cell_len(word[0].lstrip())
    first, *rest = text.divide(ends)
    console.print(first, highlight=False, soft_wrap=True)
    for line in rest:
        console.print(" " * indent, line[1:], sep="", highlight=False, soft_wrap=True)


def print_plain(console: Console, text: str) -> None:
    """Print a text on a console unchanged: without markup, highlighting or wrapping."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def as_markup(text: str) -> str:
    """Return a text on one line, with its square brackets escaped for Rich's markup."""
    return escape(plain_line(text))


@contextmanager
def counting_bar(title: str, total: int, console: Console) -> Iterator[Callable[[], None]]:
    """Yield a function that advances a progress bar by one.

    No bar shows if the console is no terminal, or for a total of 0.

    Args:
        title: the title of the bar.
        total: the number of advances.
        console: the console that shows it.
    """
    columns = (TextColumn("[dim]{task.description}"), BarColumn(), MofNCompleteColumn())
    shown = console.is_terminal and total > 0
    with Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)


@contextmanager
def told_if_long(text: str, console: Console, after_s: float = LONG_S) -> Iterator[None]:
    """Print a text on standard error once the block has run for `after_s`, unless the console is quiet.

    Args:
        text: the text.
        console: a console; nothing is printed if it is quiet.
        after_s: seconds of work before it is printed.
    """
    timer = Timer(after_s, lambda: None if console.quiet else echo(text, err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
