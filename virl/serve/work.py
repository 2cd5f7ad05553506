"""Work for a client in a pool of threads, as long as the client waits for it."""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from threading import Event
from typing import TypeVar

from starlette.types import Receive

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
    while (await receive())["type"] != "http.disconnect":
        pass
