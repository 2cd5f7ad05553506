"""How long a run takes: said before it, and estimated while it goes on."""

import time
from collections.abc import Callable
from math import ceil
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from virl.pages.numbers import counted, lasting

FIRST_S = 15.0
"""Seconds until a run that is not on a terminal says how far it is; doubles from line to line. Chosen."""
LONGEST_S = 600.0
"""Most seconds between two lines. Chosen."""


def expected(episodes: int, seconds_each: float, workers: int) -> float:
    """Seconds that episodes take.

    Args:
        episodes: how many, 0 or more.
        seconds_each: of one.
        workers: how many run at the same time, 1 or more.
    """
    return ceil(episodes / workers) * seconds_each


class RunProgress:
    """The progress of a run: a bar on a terminal, else a line now and then.

    Args:
        console: where it is shown.
        title: of the benchmark.
        total: episodes to run.
        clock: seconds that only grow.
    """

    def __init__(
        self, console: Console, title: str, total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._title = title
        self._total = total
        self._clock = clock
        self._begun = clock()
        self._done = self._failed = 0
        self._pause = FIRST_S
        self._next = self._begun + FIRST_S
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("[dim]{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total, left="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def ended(self, *, failed: bool) -> None:
        """Count an episode."""
        self._done += 1
        self._failed += failed
        title = f"{self._title}, {self._failed} failed" if self._failed else self._title
        self._bar.update(self._task, completed=self._done, description=title, left=self._left())
        now = self._clock()
        if not self._console.is_terminal and now >= self._next and self._done < self._total:
            failures = f", {self._failed} failed" if self._failed else ""
            self._say(f"{self._done} of {counted(self._total, 'episode')} done{failures}; {self._left()}")
            self._pause = min(2 * self._pause, LONGEST_S)
            self._next = now + self._pause

    def stopping(self, how: str) -> None:
        """Say that the run is about to stop."""
        self._bar.update(self._task, description=how)

    def _left(self) -> str:
        """About how long the rest takes, by what was done so far."""
        each = (self._clock() - self._begun) / self._done
        return f"about {lasting(each * (self._total - self._done))} left"

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)
