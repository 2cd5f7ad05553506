"""Replies that come in pages."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def every_page(ask: Callable[[int], tuple[Sequence[T], bool]], most: int) -> tuple[list[T], bool]:
    """Return the items of up to `most` pages, and whether there may be more.

    Args:
        ask: given the number of a page, from 0 on, returns what it holds and whether there may be more.
        most: pages that are asked for.

    Returns:
        The content of all pages, in their order, and whether there may be more than was asked for.
    """
    found: list[T] = []
    for number in range(most):
        page, more = ask(number)
        found += page
        if not more:
            return found, False
    return found, True
