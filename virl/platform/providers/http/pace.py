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
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeVar

from virl.files.writing import refusals_in_a_line

MINUTE_S = 60.0
"""Number of seconds in a minute."""


@dataclass(eq=False)
class MinuteLimit:
    """A limit on the number of events in any 60 seconds. Safe for several threads."""

    per_minute: int
    """Largest number of events in any 60 seconds."""
    clock: Callable[[], float]
    """Function that returns seconds on a clock that only goes forward."""
    sleep: Callable[[float], None]
    """Function that waits for some seconds."""
    _recent: deque[tuple[float, int]] = field(default_factory=deque)
    """(time in seconds of the clock, number of events) of the last 60 seconds."""
    _count: int = 0
    """Number of events in `_recent`."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Lock that guards the counts."""

    def wait(self, events: int = 1) -> None:
        """Wait until the limit allows `events` more events, cut to `per_minute`, and count them."""
        # More events than the limit allows would wait for ever.
        events = min(events, self.per_minute)
        while True:
            with self._lock:
                now = self.clock()
                while self._recent and self._recent[0][0] + MINUTE_S <= now:
                    self._count -= self._recent.popleft()[1]
                if self._count + events <= self.per_minute:
                    self._recent.append((now, events))
                    self._count += events
                    return
                pause = self._recent[0][0] + MINUTE_S - now
            self.sleep(pause)


class OneAtATime:
    """A lock for each key, so that two threads never send and pay the same request at once."""

    def __init__(self) -> None:
        """Make the locks; no key is held yet."""
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
        """Wait until no other process holds a file, and hold it until it is closed."""
        fcntl.flock(file, fcntl.LOCK_EX)


@dataclass(eq=False)
class SecondsApart:
    """A gate that keeps starts of requests some seconds apart, over threads and processes with one file."""

    seconds: float
    """Least seconds between the starts of two requests; 0 lets all pass."""
    file: Path
    """File whose time of change is when the last request began; processes with the same file take turns."""
    clock: Callable[[], float] = time.time
    """Function that returns the seconds since 1970."""
    sleep: Callable[[float], None] = time.sleep
    """Function that waits for some seconds."""
    _turn: threading.Lock = field(default_factory=threading.Lock)
    """Lock that lets one thread of this process wait at a time."""

    def wait(self) -> None:
        """Wait until the next request may begin, and count it as begun.

        Raises:
            CannotWrite: the file cannot be made.
        """
        if not self.seconds:
            return
        with self._turn:
            with refusals_in_a_line(self.file, "set VIRL_CACHE to a folder that can be written"):
                self.file.parent.mkdir(parents=True, exist_ok=True)
                # A file that is made now would look like a request of this moment.
                is_first = not self.file.exists()
                file = self.file.open("a+b")
            with file:
                _lock(file)
                last = 0.0 if is_first else os.fstat(file.fileno()).st_mtime
                pause = last + self.seconds - self.clock()
                if 0 < pause <= self.seconds:  # longer only where the clock was set back
                    self.sleep(pause)
                now = self.clock()
                os.utime(self.file, (now, now))


AT_ONCE = 8
"""Number of threads that ask at once; chosen."""

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


def ask_all(ask: Callable[[ItemT], ResultT], items: Sequence[ItemT]) -> list[ResultT]:
    """Return the results of `ask` for all items, asked by several threads, in order.

    The first error is raised once all have ended.
    """
    if len(items) < 2:
        return [ask(one) for one in items]
    threads = [(copy_context(), one) for one in items]  # who pays is known in the context
    with ThreadPoolExecutor(min(AT_ONCE, len(items))) as pool:
        return list(pool.map(lambda thread: thread[0].run(ask, thread[1]), threads))
