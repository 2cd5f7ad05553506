"""Serving a city: opening it within a budget, counting requests, and ending work whose client has left."""

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import Any, TypeVar

from starlette.types import ASGIApp, Receive

from virl.errors import BadInput
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.providers.cities import Access, city_settings, name_of_city, opened_city
from virl.platform.providers.provider import provider_of
from virl.serve.running import Address, check_key, run, serve_in_thread


class Stats:
    """Counts of a server's requests and answers by endpoint, and faults by kind. Safe for several threads."""

    def __init__(self) -> None:
        """Begin with all counts at zero."""
        self._lock = Lock()
        self.reset()

    def reset(self) -> None:
        """Set all counts to zero."""
        with self._lock:
            self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
            self._answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
            self._seen: Counter[str] = Counter()
            self._satisfied: set[str] = set()
            self._counted = 0

    def count_request(self, endpoint: str, digest: str, *, counts: bool) -> tuple[int, int]:
        """Count a request, in the quota if `counts`; return (earlier requests of this `digest`, quota used).

        Args:
            endpoint: the endpoint's name.
            digest: a hash of the request without its key.
            counts: True if the request counts for the quota.
        """
        with self._lock:
            self._counts["requests"][endpoint] += 1
            # The number of earlier askings draws the fault too: a request that is repeated can get through.
            before = self._seen[digest]
            self._seen[digest] += 1
            self._counted += counts
            return before, self._counted

    def count_answer(self, endpoint: str, digest: str, code: int, *, good: bool) -> None:
        """Count an answer by HTTP status `code`, `good` if usable; `digest` is its request's hash.

        Args:
            endpoint: the endpoint's name.
            digest: the request's hash, as in `count_request`.
            code: HTTP status.
            good: True if a client can use the answer.
        """
        with self._lock:
            self._answers[endpoint][str(code)] += 1
            if good:
                self._counts["good"][endpoint] += 1
                # A client that keeps what it got asks for nothing twice; tests of caches look here.
                if digest in self._satisfied:
                    self._counts["repeated"][endpoint] += 1
                self._satisfied.add(digest)

    def count_fault(self, kind: str) -> None:
        """Count one fault that the server made on purpose, by its kind, such as "429" or "timeout"."""
        with self._lock:
            self._counts["faults"][kind] += 1

    def snapshot(self) -> dict[str, Any]:
        """Return a dict of all counts, by endpoint and, for faults, by kind, as the path `/stats` gives it.

        `requests`, `answers` (by HTTP status), `good` (answers that a client can use) and `repeated` (good
        answers to a request that had been answered well before) are by endpoint, `faults` by kind.
        """
        with self._lock:
            names = ("requests", "good", "repeated", "faults")
            plain = {name: dict(sorted(self._counts[name].items())) for name in names}
            answers = {name: dict(sorted(codes.items())) for name, codes in sorted(self._answers.items())}
            return {"total": self._counts["requests"].total(), "answers": answers} | plain


GotT = TypeVar("GotT")

_gone: ContextVar[Event | None] = ContextVar("gone", default=None)
"""Event that is set when the client of the current request has left; `None` outside requests."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Two pools of threads of a server, so that quick look-ups never wait behind the drawing of pictures."""

    look_up: Executor
    draw: Executor


@contextmanager
def pools() -> Iterator[Pools]:
    """Yield two pools, each with a thread per processor; at the end, drop work that has not yet begun."""
    look_up, draw = (
        ThreadPoolExecutor(os.cpu_count(), thread_name_prefix=f"serve-{kind}") for kind in ("look-up", "draw")
    )
    try:
        yield Pools(look_up, draw)
    finally:
        for pool in (look_up, draw):
            pool.shutdown(cancel_futures=True)


class ClientLeft(Exception):
    """An exception that ends the work for a client that has closed its connection."""


async def while_waited_for(receive: Receive, pool: Executor, work: Callable[[], GotT]) -> GotT:
    """Return the result of `work`, run in a pool; raise `ClientLeft` if the client leaves before it is done.

    Work that has begun ends where it calls `end_if_client_left` next.

    Args:
        receive: ASGI's function for the client's next message, after its body has been read.
        pool: the threads that do the work.
        work: the work.

    Raises:
        ClientLeft: the client left before the work was done.
    """
    gone = Event()
    # The thread gets a context of its own, in which `end_if_client_left` finds this event.
    context = copy_context()
    context.run(_gone.set, gone)
    working = asyncio.wrap_future(pool.submit(context.run, work))

    async def wait_for_disconnect() -> None:
        """Wait until the client closes its connection."""
        while (await receive())["type"] != "http.disconnect":
            pass

    leaving = asyncio.ensure_future(wait_for_disconnect())
    both: set[asyncio.Future[object]] = {working, leaving}  # type: ignore[arg-type]  # of different results
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientLeft
    finally:
        gone.set()
        leaving.cancel()
        working.cancel()


def end_if_client_left() -> None:
    """Raise `ClientLeft` if the client of the current request has left; called within long work.

    Raises:
        ClientLeft: the client has left.
    """
    gone = _gone.get()
    if gone is not None and gone.is_set():
        raise ClientLeft


MakeApp = Callable[[Stats, Pools], ASGIApp]
"""A function that makes a server's application, given its counts and its pools of threads."""


@dataclass(frozen=True, slots=True)
class ServedCity:
    """A city that is being served: its URL and its counts of requests. Made by `served_app`."""

    url: str
    _stats: Stats

    def stats(self) -> dict[str, Any]:
        """Return the counts of requests, as the path `/stats` gives them; see `Stats.snapshot`."""
        return self._stats.snapshot()

    def reset(self) -> None:
        """Set the counts to zero, as the path `/stats/reset` does."""
        self._stats.reset()


@contextmanager
def served_app(make_app: MakeApp, address: Address | None = None) -> Iterator[ServedCity]:
    """Yield an app that is served from a thread, by default at a free port of loopback, until the block ends.

    Raises:
        BadInput: the port is taken, or the key is missing.
        VirlError: the server did not start.
    """
    stats = Stats()
    with pools() as own, serve_in_thread(make_app(stats, own), address or Address()) as url:
        yield ServedCity(url, stats)


def serve_app(make_app: MakeApp, address: Address, tell: Callable[[str], None]) -> None:
    """Serve an app until the process is interrupted; call `tell` with the URL once it is known.

    Args:
        make_app: makes the application.
        address: where to listen.
        tell: called with the server's URL.

    Raises:
        BadInput: the port is taken, or the key is missing.
    """
    with pools() as own:
        run(make_app(Stats(), own), address, tell)


BOOK = "spending.jsonl"  # the file in which a server writes down what it has spent


@contextmanager
def opened_to_serve(
    name: str, key: str | None, budget_usd: float | None, out: Path | None = None
) -> Iterator[City]:
    """Yield an opened city until the block ends; a paid one needs key and budget, and `out` for its payments.

    Args:
        name: the city's name or path, as in `open_city`.
        key: the key that clients of the server have to show.
        budget_usd: dollars that the server may spend, over all its starts with the same folder.
        out: the folder of the book of what was spent; by default `runs/serve-NAME`.

    Raises:
        BadInput: the city costs money and has no budget or key, or it costs none and has a budget.
        VirlError: the city cannot be opened.
    """
    if not provider_of(city_settings(name)).may_cost:
        if budget_usd is not None:
            raise BadInput(f"{name} costs nothing: remove --budget-usd")
        access = Access()
    else:
        if budget_usd is None:
            raise BadInput(f"{name} costs money: give --budget-usd, the dollars that the server may spend")
        check_key(key, f"{name}, which costs money,")
        folder = out or Path("runs") / f"serve-{name_of_city(name)}"
        ledger = Ledger(budget_usd, book=folder / BOOK)
        access = Access(ledger=ledger, session=f"serve {folder.resolve()}")
    with opened_city(name, access) as city:
        yield city
