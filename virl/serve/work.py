"""Work for a client in a pool of threads, as long as the client waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from starlette.types import Receive

GotT = TypeVar("GotT")


class ClientLeft(Exception):
    """The client closed its connection: nobody waits for the answer."""


async def while_waited_for(receive: Receive, pool: Executor, work: Callable[[], GotT]) -> GotT:
    """What the work gives. Work that has not begun when the client leaves is never begun.

    Args:
        receive: what the client sends, its body read before.
        pool: where the work is done.
        work: what to do.

    Raises:
        ClientLeft: the client left before the work was done.
    """
    working = asyncio.wrap_future(pool.submit(work))
    leaving = asyncio.ensure_future(_left(receive))
    both: set[asyncio.Future[object]] = {working, leaving}  # type: ignore[arg-type]  # of different results
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientLeft
    finally:
        leaving.cancel()
        working.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
