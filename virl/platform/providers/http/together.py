"""Several requests at once: the HTTP layer limits how many really are."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

AT_ONCE = 8
"""Threads that ask at once; chosen."""

GivenT = TypeVar("GivenT")
GotT = TypeVar("GotT")


def ask_all(ask: Callable[[GivenT], GotT], given: Sequence[GivenT]) -> list[GotT]:
    """Return `ask` of each item, in order, several at once; raise the first error once all have ended."""
    if len(given) < 2:
        return [ask(one) for one in given]
    threads = [(copy_context(), one) for one in given]  # who pays is known in the context
    with ThreadPoolExecutor(min(AT_ONCE, len(given))) as pool:
        return list(pool.map(lambda thread: thread[0].run(ask, thread[1]), threads))
