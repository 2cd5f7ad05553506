"""How fast a provider is asked: so many events a minute, and one request at a time for the same call."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
        """Wait until so many events may happen, and count them; at most a minute's worth are counted."""
        events = min(events, self._per_minute)
        while (pause := self._enter(events)) > 0:
            self._sleep(pause)

    def _enter(self, events: int) -> float:
        """Count the events and return 0; or return the seconds to wait before the next try."""
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
        """Wait until no other thread is within a block of this key, and keep others out of this one."""
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
