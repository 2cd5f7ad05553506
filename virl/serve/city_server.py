"""Serves a city: opened within a budget, its requests counted, and worked on while their client waits."""

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
from virl.serve.gate import RequestLimits
from virl.serve.running import LOOPBACK, check_key, run, serve_in_thread


class Stats:
    """Counts of requests, by endpoint. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._start()

    def reset(self) -> None:
        """Forget all that was counted."""
        with self._lock:
            self._start()

    def count_request(self, endpoint: str, digest: str, *, counts: bool) -> tuple[int, int]:
        """Count a request.

        Args:
            endpoint: its name.
            digest: stands for the request, without its key.
            counts: whether it counts for the quota.

        Returns:
            How often the same request was asked before, and requests so far that count for the quota.
        """
        with self._lock:
            self._requests[endpoint] += 1
            # The number of earlier askings draws the fault too: a request that is repeated can get through.
            before = self._seen[digest]
            self._seen[digest] += 1
            self._counted += counts
            return before, self._counted

    def count_answer(self, endpoint: str, digest: str, code: int, *, good: bool) -> None:
        """Count an answer; `good` ones are those that a client can use.

        Args:
            endpoint: that was asked.
            digest: of the request.
            code: HTTP status.
            good: whether a client can use the answer.
        """
        with self._lock:
            self._answers[endpoint][str(code)] += 1
            if good:
                self._good[endpoint] += 1
                # A client that keeps what it got asks for nothing twice; tests of caches look here.
                self._repeated[endpoint] += digest in self._satisfied
                self._satisfied.add(digest)

    def count_fault(self, kind: str) -> None:
        """Count a fault on purpose."""
        with self._lock:
            self._faults[kind] += 1

    def snapshot(self) -> dict[str, Any]:
        """Return all counts, as `/stats` gives them.

        `requests`, `answers` (by HTTP status), `good` (answers that a client can use) and `repeated` (good
        answers to a request that had been answered well before) are by endpoint, `faults` by kind.
        """
        with self._lock:
            return {
                "total": self._requests.total(),
                "requests": dict(sorted(self._requests.items())),
                "answers": {
                    name: dict(sorted(codes.items())) for name, codes in sorted(self._answers.items())
                },
                "good": dict(sorted(self._good.items())),
                "repeated": {name: count for name, count in sorted(self._repeated.items()) if count},
                "faults": dict(sorted(self._faults.items())),
            }

    def _start(self) -> None:
        """Set all counts to zero."""
        self._requests: Counter[str] = Counter()
        self._answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._good: Counter[str] = Counter()
        self._repeated: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._satisfied: set[str] = set()
        self._counted = 0


GotT = TypeVar("GotT")

_gone: ContextVar[Event | None] = ContextVar("gone", default=None)


@dataclass(frozen=True, slots=True)
class Pools:
    """Threads for the work of a server: what takes milliseconds never waits for pictures."""

    look_up: Executor
    draw: Executor


@contextmanager
def pools() -> Iterator[Pools]:
    """Yield pools with as many threads as processors for each kind of work; unbegun work never begins."""
    look_up, draw = (
        ThreadPoolExecutor(os.cpu_count(), thread_name_prefix=f"serve-{kind}") for kind in ("look-up", "draw")
    )
    try:
        yield Pools(look_up, draw)
    finally:
        for pool in (look_up, draw):
            pool.shutdown(cancel_futures=True)


class ClientLeft(Exception):
    """The client closed its connection: nobody waits for the answer."""


async def while_waited_for(receive: Receive, pool: Executor, work: Callable[[], GotT]) -> GotT:
    """Return the result of the work. When the client leaves, work that has not begun is never begun.

    Work that has begun ends where it calls `end_if_client_left` next.

    Args:
        receive: what the client sends, its body read before.
        pool: where the work is done.
        work: what to do.

    Raises:
        ClientLeft: the client left before the work was done.
    """
    gone = Event()
    # The thread gets a context of its own, in which `end_if_client_left` finds this event.
    context = copy_context()
    context.run(_gone.set, gone)
    working = asyncio.wrap_future(pool.submit(context.run, work))
    leaving = asyncio.ensure_future(_wait_for_disconnect(receive))
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
    """Check, between the parts of long work, that its client still waits.

    Raises:
        ClientLeft: it does not.
    """
    gone = _gone.get()
    if gone is not None and gone.is_set():
        raise ClientLeft


async def _wait_for_disconnect(receive: Receive) -> None:
    """Return when the client closes its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


MakeApp = Callable[[Stats, Pools], ASGIApp]
USUAL_LIMITS = RequestLimits()


class ServedCity:
    """A city that is being served. Made by `served_app`."""

    def __init__(self, url: str, stats: Stats) -> None:
        self.url = url
        self._stats = stats

    def stats(self) -> dict[str, Any]:
        """Return the counts that `/stats` gives; see `Stats.snapshot`."""
        return self._stats.snapshot()

    def reset(self) -> None:
        """Reset the counts, as `/stats/reset` does."""
        self._stats.reset()


@contextmanager
def served_app(
    make_app: MakeApp,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    key: str | None = None,
    limits: RequestLimits = USUAL_LIMITS,
) -> Iterator[ServedCity]:
    """Serve from a thread of its own until the block ends.

    Args:
        make_app: makes the application.
        host: the address to listen at; another than loopback needs a key.
        port: 0 takes a free one.
        key: what clients have to show.
        limits: what one client may send.

    Raises:
        BadInput: the port is taken, or the key is missing.
        VirlError: the server did not start.
    """
    stats = Stats()
    with pools() as own, serve_in_thread(make_app(stats, own), host, port, key, limits) as url:
        yield ServedCity(url, stats)


def serve_app(
    make_app: MakeApp,
    port: int,
    tell: Callable[[str], None],
    *,
    host: str = LOOPBACK,
    key: str | None = None,
    limits: RequestLimits = USUAL_LIMITS,
) -> None:
    """Serve until the process is interrupted.

    Args:
        make_app: makes the application.
        port: 0 takes a free one.
        tell: gets the server's URL when it is known.
        host: the address to listen at; another than loopback needs a key.
        key: what clients have to show.
        limits: what one client may send.

    Raises:
        BadInput: the port is taken, or the key is missing.
    """
    with pools() as own:
        run(make_app(Stats(), own), host, port, key, limits, tell)


BOOK = "spending.jsonl"


@contextmanager
def opened_to_serve(
    name: str, key: str | None, budget_usd: float | None, out: Path | None = None
) -> Iterator[City]:
    """Open a city as long as the context is open.

    Args:
        name: as `open_city` takes it.
        key: what clients of the server have to show.
        budget_usd: dollars that the server may spend, over all its starts with the same folder.
        out: the folder of the book of what was spent; by default `runs/serve-NAME`.

    Raises:
        BadInput: the city costs money, and the budget or the key is missing; or it costs none, and there is a
            budget.
        VirlError: as `open_city`.
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
