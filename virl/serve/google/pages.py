"""Page tokens: the rest of a list of results, to be fetched later."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from cachetools import FIFOCache

from virl.platform.city.places import Place
from virl.serve.google.wire import invalid

KEPT = 10_000  # tokens that are remembered, the oldest go first; chosen


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list of places."""

    places: Sequence[Place]
    next_token: str | None


@dataclass(frozen=True, slots=True)
class _Rest:
    """The places that a query has left for further pages."""

    query: str
    places: Sequence[Place]
    valid_from: float


class Pages:
    """Deals out lists of places page by page. Safe to use from several threads.

    Args:
        delay_s: seconds before a token is valid.
        clock: seconds on a clock that never goes back.
    """

    def __init__(self, delay_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with no page; a token is valid `delay_s` seconds after it was given."""
        self._delay = delay_s
        self._clock = clock
        self._rests: FIFOCache[str, _Rest] = FIFOCache(KEPT)
        self._lock = Lock()

    def first(self, query: str, places: Sequence[Place], size: int) -> Page:
        """Return the first page of a list.

        Args:
            query: stands for what was asked; the same gives the same tokens.
            places: the whole list.
            size: places a page.
        """
        if len(places) <= size:
            return Page(places, None)
        token = hashlib.blake2b(f"{query} {len(places)}".encode(), digest_size=32).hexdigest()
        with self._lock:
            known = self._rests.get(token)
            valid_from = known.valid_from if known else self._clock() + self._delay
            self._rests[token] = _Rest(query, places[size:], valid_from)
        return Page(places[:size], token)

    def next_page(self, token: str, size: int, query: str | None = None) -> Page:
        """Return the page that a token stands for.

        Args:
            token: as a page before gave it.
            size: places a page.
            query: what is asked now, where it must be what was asked first.

        Raises:
            Refused: the token is unknown, not yet valid, or of another query.
        """
        with self._lock:
            rest = self._rests.get(token)
        if rest is None or self._clock() < rest.valid_from:
            raise invalid("The page token is not valid, or not valid yet.")
        if query is not None and query != rest.query:
            raise invalid("Request parameters for paging requests must match the initial request.")
        return self.first(rest.query, rest.places, size)
