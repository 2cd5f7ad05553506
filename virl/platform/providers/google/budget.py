"""How much was asked and spent, and the limit on it."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from virl.errors import BadInput, BudgetExceeded
from virl.platform.providers.google.prices import Price


@dataclass(frozen=True, slots=True)
class Spending:
    """Requests and dollars of one stretch of a run."""

    sent: Mapping[str, int] = field(default_factory=dict)
    """Requests that were tried on the network, each further try included, by endpoint."""
    cached: Mapping[str, int] = field(default_factory=dict)
    """Requests that a cache or a recording answered, by endpoint."""
    billed: Mapping[str, int] = field(default_factory=dict)
    """Billable events by SKU: a request of unknown outcome counts, one that Google refused does not."""
    usd: float = 0.0
    """List price of the billed events."""

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            Counter(self.sent) + Counter(other.sent),
            Counter(self.cached) + Counter(other.cached),
            Counter(self.billed) + Counter(other.billed),
            self.usd + other.usd,
        )


class Budget:
    """A limit on dollars, kept before each request. Safe for several threads.

    Args:
        limit_usd: dollars; `None` sets no limit.
        spent_usd: dollars that earlier stretches of the same run have spent.

    Raises:
        BadInput: the limit is negative.
    """

    def __init__(self, limit_usd: float | None = None, spent_usd: float = 0.0) -> None:
        if limit_usd is not None and not limit_usd >= 0:
            raise BadInput(f"a budget of {limit_usd} dollars: give 0 or more")
        self._limit = None if limit_usd is None else round(limit_usd * 1e6)
        self._held = round(spent_usd * 1e6)
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """Dollars spent or held for requests under way."""
        return self._held / 1e6

    @property
    def limit_usd(self) -> float | None:
        """Dollars that may be spent."""
        return None if self._limit is None else self._limit / 1e6

    def hold(self, price: Price, request: str) -> None:
        """Set aside what a request costs, before it is sent.

        Raises:
            BudgetExceeded: it would pass the limit. A request that is free never does.
        """
        with self._lock:
            if self._limit is not None and price.micro_usd and self._held + price.micro_usd > self._limit:
                raise BudgetExceeded(self._limit / 1e6, self._held / 1e6, price.usd, request)
            self._held += price.micro_usd

    def give_back(self, price: Price) -> None:
        """Free what was held for a request that is not billed."""
        with self._lock:
            self._held -= price.micro_usd


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
