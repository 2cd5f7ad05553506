"""The pace of requests: seconds apart, so many a minute, once for the same call, several at once."""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import BinaryIO, TypeVar

from virl.files.writing import refusals_in_a_line

MINUTE_S = 60.0


class MinuteLimit:
    """A limit on the number of events in any 60 seconds. Safe for several threads.

    Args:
        per_minute: events.
        clock: seconds on a clock that only goes forward.
        sleep: waits some seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._sleep = sleep
        self._recent: deque[tuple[float, int]] = deque()
        self._count = 0
        self._lock = threading.Lock()

    def wait(self, events: int = 1) -> None:
        """Wait until `events` events may happen, and count them, at most a minute's worth."""
        events = min(events, self._per_minute)
        while (pause := self._enter(events)) > 0:
            self._sleep(pause)

    def _enter(self, events: int) -> float:
        """Return 0 once the events are counted, or the seconds to wait before the next try."""
        with self._lock:
            now = self._clock()
            while self._recent and self._recent[0][0] + MINUTE_S <= now:
                self._count -= self._recent.popleft()[1]
            if self._count + events > self._per_minute:
                return self._recent[0][0] + MINUTE_S - now
            self._recent.append((now, events))
            self._count += events
            return 0.0


class OneAtATime:
    """A lock for each key, so that two threads never send and pay the same request at once."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._inside: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def hold(self, key: str) -> Iterator[None]:
        """Wait until no other thread holds this key, and hold it during the block."""
        with self._guard:
            lock, users = self._inside.get(key, (threading.Lock(), 0))
            self._inside[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._inside.pop(key)
                if users > 1:
                    self._inside[key] = (lock, users - 1)


if sys.platform == "win32":

    def _lock(file: BinaryIO) -> None:
        """Do nothing, on systems that cannot lock a file between processes."""

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)  # freed when the file is closed


class SecondsApart:
    """A gate that keeps the starts of requests some seconds apart, over all threads and processes.

    Args:
        seconds: between the beginnings of two requests.
        file: its time of change is when the last request began; processes that name the same file take
            turns.
        clock: seconds since 1970.
        sleep: waits some seconds.
    """

    def __init__(
        self,
        seconds: float,
        file: Path,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare a gate of so many seconds; processes with the same `file` take turns."""
        self._seconds = seconds
        self._file = file
        self._clock = clock
        self._sleep = sleep
        self._turn = threading.Lock()

    def wait(self) -> None:
        """Wait until the next request may begin, and count it as begun.

        Raises:
            CannotWrite: the file cannot be made.
        """
        if not self._seconds:
            return
        with self._turn:
            with refusals_in_a_line(self._file, "set VIRL_CACHE to a folder that can be written"):
                self._file.parent.mkdir(parents=True, exist_ok=True)
                is_first = not self._file.exists()
                file = self._file.open("a+b")
            with file:
                _lock(file)
                last = 0.0 if is_first else os.fstat(file.fileno()).st_mtime
                pause = last + self._seconds - self._clock()
                if 0 < pause <= self._seconds:  # longer only where the clock was set back
                    self._sleep(pause)
                now = self._clock()
                os.utime(self._file, (now, now))


AT_ONCE = 8
"""Number of threads that ask at once; chosen."""

GivenT = TypeVar("GivenT")
GotT = TypeVar("GotT")


def ask_all(ask: Callable[[GivenT], GotT], given: Sequence[GivenT]) -> list[GotT]:
    """Return the results of `ask` for all items, in order; raise the first error once all have ended."""
    if len(given) < 2:
        return [ask(one) for one in given]
    threads = [(copy_context(), one) for one in given]  # who pays is known in the context
    with ThreadPoolExecutor(min(AT_ONCE, len(given))) as pool:
        return list(pool.map(lambda thread: thread[0].run(ask, thread[1]), threads))
