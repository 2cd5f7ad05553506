"""Dollars: what was asked and spent, and the limit on it, kept before each request that costs something."""

import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Protocol

from virl.errors import BadInput, BudgetExceeded
from virl.files import JsonLines
from virl.json_reading import read_json


@dataclass(frozen=True, slots=True)
class Spending:
    """Requests and dollars of one stretch of a run."""

    sent: Mapping[str, int] = field(default_factory=dict)
    """Requests that were tried on the network, each further try included, by endpoint."""
    cached: Mapping[str, int] = field(default_factory=dict)
    """Requests that a cache or a recording answered, by endpoint."""
    billed: Mapping[str, int] = field(default_factory=dict)
    """Billable events by SKU: a request of unknown outcome counts, one that was refused does not."""
    usd: float = 0.0
    """List price of the billed events."""

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            Counter(self.sent) + Counter(other.sent),
            Counter(self.cached) + Counter(other.cached),
            Counter(self.billed) + Counter(other.billed),
            self.usd + other.usd,
        )


class Meter(Protocol):
    """Counts what a city's provider asks."""

    def take(self) -> Spending:
        """What came since the last `take`: one step's share."""
        ...


class Budget:
    """A limit on dollars. Safe for several threads.

    Args:
        limit_usd: dollars; `None` sets no limit.
        spent_usd: dollars that were spent before.
        book: a file that every sum is written to before its request is sent, so that a run that is killed
            and resumed knows all that it has spent; one JSON object a line.

    Raises:
        BadInput: the limit is negative, or the book is broken.
    """

    def __init__(
        self, limit_usd: float | None = None, spent_usd: float = 0.0, *, book: Path | None = None
    ) -> None:
        if limit_usd is not None and not limit_usd >= 0:
            raise BadInput(f"a budget of {limit_usd} dollars: must be 0 or more")
        self._limit = None if limit_usd is None else _micro(limit_usd)
        self._book = None if book is None else JsonLines(book, "go on with --resume", sync=False)
        self._held = _micro(spent_usd) + (0 if self._book is None else _sum_of(self._book))
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """Dollars spent or held for requests under way."""
        return self._held / 1e6

    @property
    def limit_usd(self) -> float | None:
        """Dollars that may be spent."""
        return None if self._limit is None else self._limit / 1e6

    def hold(self, usd: float, request: str) -> None:
        """Set aside what a request costs, before it is sent.

        Raises:
            BudgetExceeded: it would pass the limit. A request that is free never does.
            CannotWrite: the book cannot be written; nothing is set aside.
        """
        price = _micro(usd)
        with self._lock:
            if self._limit is not None and price and self._held + price > self._limit:
                raise BudgetExceeded(self._limit / 1e6, self._held / 1e6, usd, request)
            self._enter(price, request)

    def settle(self, held_usd: float, usd: float, request: str) -> None:
        """Put what a request truly cost in the place of what was held for it: 0 if it is not billed.

        Raises:
            CannotWrite: the book cannot be written; what was held stays.
        """
        with self._lock:
            self._enter(_micro(usd) - _micro(held_usd), request)

    def _enter(self, micro_usd: int, request: str) -> None:
        if micro_usd == 0:
            return
        if self._book:
            self._book.append(json.dumps({"micro_usd": micro_usd, "request": request}))
        self._held += micro_usd


def _micro(usd: float) -> int:
    return ceil(round(usd * 1e6, 3))  # never less than what is billed


def _sum_of(book: JsonLines) -> int:
    return sum(book.read(_micro_usd, mend=": mend the line, or remove the file to count from 0"))


def _micro_usd(line: bytes) -> int:
    try:
        amount = read_json(line)["micro_usd"]
    except (ValueError, KeyError, TypeError):
        amount = None
    if not isinstance(amount, int):
        raise ValueError("no sum")  # noqa: TRY004 - it is the line that is wrong
    return amount
