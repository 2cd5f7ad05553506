"""Counts what is asked of a provider, and what it costs."""

import threading
from collections import Counter
from dataclasses import dataclass

from virl.budget import Spending


@dataclass(frozen=True, slots=True)
class Price:
    """What one request is billed as."""

    sku: str
    """The provider's name for what is billed."""
    events: int
    """Billable events, such as 1, or the pairs of a matrix."""
    micro_usd: int
    """Millionths of a dollar for all of them."""

    @property
    def usd(self) -> float:
        """Dollars."""
        return self.micro_usd / 1e6


class Meter:
    """Counts requests and dollars. Safe for several threads."""

    def __init__(self) -> None:
        self._sent: Counter[str] = Counter()
        self._cached: Counter[str] = Counter()
        self._billed: Counter[str] = Counter()
        self._micro_usd = 0
        self._taken = Spending()
        self._lock = threading.Lock()

    def count_sent(self, endpoint: str, price: Price) -> None:
        """A request leaves, and is billed until `forgive` says otherwise."""
        with self._lock:
            self._sent[endpoint] += 1
            self._billed[price.sku] += price.events
            self._micro_usd += price.micro_usd

    def forgive(self, price: Price) -> None:
        """A request that left turned out not to be billed."""
        with self._lock:
            self._billed[price.sku] -= price.events
            self._micro_usd -= price.micro_usd

    def count_cached(self, endpoint: str) -> None:
        """A request was answered without being sent."""
        with self._lock:
            self._cached[endpoint] += 1

    def total(self) -> Spending:
        """Everything so far."""
        with self._lock:
            return self._read()

    def take(self) -> Spending:
        """What came since the last `take`: one step's share, for a journal."""
        with self._lock:
            now, before = self._read(), self._taken
            self._taken = now
        return Spending(
            Counter(now.sent) - Counter(before.sent),
            Counter(now.cached) - Counter(before.cached),
            Counter(now.billed) - Counter(before.billed),
            round(now.usd - before.usd, 6),
        )

    def _read(self) -> Spending:
        return Spending(dict(self._sent), dict(self._cached), dict(+self._billed), self._micro_usd / 1e6)
