"""Counts what is asked of a provider, and what it costs."""

import logging
import threading
from collections import Counter
from dataclasses import dataclass, field

from virl.budget import Budget, Spending, current_account
from virl.errors import BadInput

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Price:
    """What one request is billed as."""

    sku: str
    """The provider's name for what is billed."""
    events: int
    """Billable events, such as 1, or the pairs of a matrix."""
    micro_usd: int
    """Millionths of a dollar for all of them; 0 where nobody knows."""
    unknown: str = ""
    """What to set, and where, if nobody knows the price; empty where it is known."""

    @property
    def usd(self) -> float:
        """Dollars."""
        return self.micro_usd / 1e6


def check_price(price: Price, budget: Budget) -> None:
    """See that a request costs what is known, where there is a limit: nothing unknown is taken for 0.

    Raises:
        BadInput: the price is not known and the budget has a limit; says how to set it.
    """
    if price.unknown and budget.limit_usd is not None:
        raise BadInput(
            f"the price of {price.sku!r} is not known, so no budget can be kept: set {price.unknown}, "
            "or run without --budget-usd"
        )
    if price.unknown:
        _log.warning("the price of %r is not known, so sums leave it out: set %s", price.sku, price.unknown)


class Meter:
    """Counts requests and dollars, of each account by itself. Safe for several threads."""

    def __init__(self) -> None:
        self._counts: dict[str, _Counts] = {}
        self._lock = threading.Lock()

    def count_sent(self, endpoint: str, price: Price) -> None:
        """A request leaves, and is billed until `forgive` says otherwise."""
        with self._lock:
            self._now.bill(price, endpoint)

    def forgive(self, price: Price) -> None:
        """A request that left turned out not to be billed."""
        with self._lock:
            self._now.forgive(price)

    def count_received(self, endpoint: str, size: int) -> None:
        """A reply came with a body of so many bytes, good or not."""
        with self._lock:
            self._now.received[endpoint] += size

    def count_cached(self, endpoint: str) -> None:
        """A request was answered without being sent."""
        with self._lock:
            self._now.cached[endpoint] += 1

    def total(self) -> Spending:
        """Everything so far, of all accounts."""
        with self._lock:
            return sum((counts.read() for counts in self._counts.values()), Spending())

    def take(self) -> Spending:
        """What came since the last `take` in the same account: one step's share, for a journal."""
        with self._lock:
            now = self._now.read()
            before, self._now.taken = self._now.taken, now
        return Spending(
            Counter(now.sent) - Counter(before.sent),
            Counter(now.cached) - Counter(before.cached),
            Counter(now.billed) - Counter(before.billed),
            round(now.usd - before.usd, 6),
            Counter(now.received) - Counter(before.received),
        )

    @property
    def _now(self) -> "_Counts":
        return self._counts.setdefault(current_account(), _Counts())


@dataclass(slots=True)
class _Counts:
    """Of one account."""

    sent: Counter[str] = field(default_factory=Counter)
    cached: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    billed: Counter[str] = field(default_factory=Counter)
    micro_usd: int = 0
    taken: Spending = field(default_factory=Spending)

    def bill(self, price: Price, endpoint: str) -> None:
        self.sent[endpoint] += 1
        self.billed[price.sku] += price.events
        self.micro_usd += price.micro_usd

    def forgive(self, price: Price) -> None:
        self.billed[price.sku] -= price.events
        self.micro_usd -= price.micro_usd

    def read(self) -> Spending:
        return Spending(
            dict(self.sent),
            dict(self.cached),
            dict(+self.billed),
            self.micro_usd / 1e6,
            dict(self.received),
        )
