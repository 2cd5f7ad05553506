"""Requests a second, kept by everyone who asks."""

import threading
import time
from collections.abc import Callable

from langchain_core.rate_limiters import BaseRateLimiter

Reserve = Callable[[], float]
"""A function that takes the next turn and returns how many seconds away it is."""


class Pace:
    """A clock of evenly spaced turns. Safe for several threads.

    Args:
        per_second: turns a second, above 0.
    """

    def __init__(self, per_second: float) -> None:
        """Begin a pace of so many requests a second."""
        self._apart = 1.0 / per_second
        self._next = 0.0
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Reserve a turn, and return the seconds to wait for it."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._apart
            return turn - now


class Limiter(BaseRateLimiter):
    """A rate limiter that takes a turn before each request, and sleeps until it comes.

    Args:
        reserve: gives the turns, from here or from another process.
    """

    def __init__(self, reserve: Reserve) -> None:
        """Prepare a LangChain rate limiter that waits as `reserve` says."""
        self._reserve = reserve

    def acquire(self, *, blocking: bool = True) -> bool:
        """Return whether a turn was taken, after waiting for it; without `blocking` none is."""
        if not blocking:
            return False
        time.sleep(self._reserve())
        return True

    async def aacquire(self, *, blocking: bool = True) -> bool:
        """Return whether a turn was taken, as `acquire` does: the minds of virl wait in threads."""
        return self.acquire(blocking=blocking)
