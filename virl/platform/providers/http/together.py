"""Several requests at once: the HTTP layer limits how many really are."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

AT_ONCE = 8  # chosen

GivenT = TypeVar("GivenT")
GotT = TypeVar("GotT")


def together(ask: Callable[[GivenT], GotT], given: Sequence[GivenT]) -> list[GotT]:
    """`ask` of each, in their order; what the first failing one raises is raised, after all have ended."""
    if len(given) < 2:
        return [ask(one) for one in given]
    with ThreadPoolExecutor(min(AT_ONCE, len(given))) as pool:
        return list(pool.map(ask, given))
