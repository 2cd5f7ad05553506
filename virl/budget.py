"""Dollars: what was asked and spent, and the limit on it, kept before each request that costs something."""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any, Literal, Protocol

from virl.errors import BadInput, BudgetExceeded
from virl.files import JsonLines
from virl.json_reading import read_json

SPENDING = "spending.jsonl"
"""Name of the book of a run, in its folder."""

Service = Literal["model", "provider"]
"""Who is asked: a language model, or what provides the city, such as Google."""

_ACCOUNT: ContextVar[str] = ContextVar("account", default="")


@contextmanager
def account(name: str) -> Iterator[str]:
    """Charge what is asked within the block to an account: that of an episode, or of a consulted agent.

    Args:
        name: of the account, which is a folder below that of the book; within another it lies below that one.

    Yields:
        Its whole name, for `Budget.paid`.
    """
    outer = _ACCOUNT.get()
    whole = "/".join(filter(None, (outer, name)))
    token = _ACCOUNT.set(whole)
    try:
        yield whole
    finally:
        _ACCOUNT.reset(token)


def current_account() -> str:
    """The account that is charged now; empty outside of any `account`."""
    return _ACCOUNT.get()


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
    received: Mapping[str, int] = field(default_factory=dict)
    """Bytes of the replies that came over the network, good or not, by endpoint."""

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            Counter(self.sent) + Counter(other.sent),
            Counter(self.cached) + Counter(other.cached),
            Counter(self.billed) + Counter(other.billed),
            self.usd + other.usd,
            Counter(self.received) + Counter(other.received),
        )


class Meter(Protocol):
    """Counts what a city's provider asks."""

    def take(self) -> Spending:
        """What came since the last `take` in the same account: one step's share."""
        ...


@dataclass(frozen=True, slots=True)
class Paid:
    """What an account has paid, by the book: a request under way or of unknown outcome counts."""

    usd: float = 0.0
    """Dollars, of models and of providers together."""
    sent: Mapping[str, int] = field(default_factory=dict)
    """Requests to providers, each further try included, by endpoint."""
    provider_usd: float = 0.0
    """The part of `usd` that went to providers."""
    calls: int = 0
    """Requests to models, each further try included."""
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the book."""

    nano_usd: int
    """Billionths of a dollar; negative where less was billed than was held."""
    request: str
    """The endpoint or the model."""
    service: Service = "provider"
    sent: int = 0
    """Requests that leave."""
    input_tokens: int = 0
    output_tokens: int = 0
    account: str = ""

    def line(self) -> str:
        """As it is written: what is zero or empty is left out."""
        thousandths = self.nano_usd % 1000
        data: dict[str, Any] = {
            "micro_usd": self.nano_usd / 1000 if thousandths else self.nano_usd // 1000,
            "request": self.request,
        }
        data |= {"service": self.service} if self.service != "provider" else {}
        counts = {name: getattr(self, name) for name in ("sent", "input_tokens", "output_tokens", "account")}
        return json.dumps(data | {name: count for name, count in counts.items() if count})

    @classmethod
    def read(cls, line: bytes) -> "Entry":
        """An entry from its line.

        Raises:
            ValueError: it is none.
        """
        try:
            data = read_json(line)
            return cls(
                round(_number(data["micro_usd"]) * 1000),
                str(data.get("request", "")),
                "model" if data.get("service") == "model" else "provider",
                int(data.get("sent", 0)),
                int(data.get("input_tokens", 0)),
                int(data.get("output_tokens", 0)),
                str(data.get("account", "")),
            )
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise ValueError("no sum") from None


class Budget:
    """A limit on dollars, and the book of what was paid. Safe for several threads.

    Args:
        limit_usd: dollars; `None` sets no limit.
        spent_usd: dollars that were spent before.
        book: a file that every sum is written to before its request is sent, so that a run that is killed
            and resumed knows all that it has spent; one JSON object a line. Free requests are written too,
            once the book's folder is there.

    Raises:
        BadInput: the limit is negative, or the book is broken.
    """

    def __init__(
        self, limit_usd: float | None = None, spent_usd: float = 0.0, *, book: Path | None = None
    ) -> None:
        if limit_usd is not None and not limit_usd >= 0:
            raise BadInput(f"a budget of {limit_usd} dollars: must be 0 or more")
        self._limit = None if limit_usd is None else _nano(limit_usd)
        self._book = None if book is None else JsonLines(book, "go on with --resume", sync=False)
        self._held = _nano(spent_usd)
        self._accounts: dict[str, _Sums] = {}
        self._free: list[Entry] = []
        self._lock = threading.Lock()
        if self._book:
            mend = ": mend the line, or remove the file to count from 0"
            for entry in self._book.read(Entry.read, mend=mend):
                self._count(entry)

    @property
    def spent_usd(self) -> float:
        """Dollars spent or held for requests under way."""
        return self._held / 1e9

    @property
    def limit_usd(self) -> float | None:
        """Dollars that may be spent."""
        return None if self._limit is None else self._limit / 1e9

    def paid(self, account: str = "") -> Paid:
        """What an account and those below it have paid, before a kill too; of all accounts if it is empty."""
        with self._lock:
            total = _Sums()
            for name, sums in self._accounts.items():
                if not account or name == account or name.startswith(f"{account}/"):
                    total.add(sums)
        return total.paid()

    def hold(self, usd: float, request: str, service: Service = "provider", *, input_tokens: int = 0) -> None:
        """Set aside what a request costs, right before it is sent; `input_tokens` as far as they are known.

        Raises:
            BudgetExceeded: it would pass the limit. A request that is free never does.
            CannotWrite: the book cannot be written; nothing is set aside.
        """
        price = _nano(usd)
        with self._lock:
            if self._limit is not None and price and self._held + price > self._limit:
                raise BudgetExceeded(self._limit / 1e9, self._held / 1e9, usd, request)
            self._enter(
                Entry(price, request, service, sent=1, input_tokens=input_tokens, account=current_account())
            )

    def settle(
        self,
        held_usd: float,
        usd: float,
        request: str,
        service: Service = "provider",
        *,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:
        """Put what a request truly cost in the place of what was held for it: 0 if it is not billed.

        Args:
            held_usd: as `hold` was told.
            usd: what is billed.
            request: the endpoint or the model.
            service: as `hold` was told.
            input_tokens: that the model read, beyond those that `hold` was told.
            output_tokens: that the model wrote.

        Raises:
            CannotWrite: the book cannot be written; what was held stays.
        """
        change = _nano(usd) - _nano(held_usd)
        if not (change or input_tokens or output_tokens):
            return
        with self._lock:
            self._enter(
                Entry(
                    change,
                    request,
                    service,
                    input_tokens=input_tokens,
                    output_tokens=output_tokens,
                    account=current_account(),
                )
            )

    def _enter(self, entry: Entry) -> None:
        if self._book:
            if entry.nano_usd == 0 and not self._book.path.parent.exists():
                self._free.append(entry)  # a run that cannot begin leaves no folder
            else:
                while self._free:
                    self._book.append(self._free[0].line())
                    del self._free[0]
                self._book.append(entry.line())
        self._count(entry)

    def _count(self, entry: Entry) -> None:
        self._held += entry.nano_usd
        self._accounts.setdefault(entry.account, _Sums()).count(entry)


def paid_for(folder: Path) -> Paid:
    """What the book says of a run, an episode or a consulted agent; the book is in its folder or above.

    Raises:
        BadInput: the book is broken.
    """
    for home in (folder, *folder.parents):
        if (book := home / SPENDING).is_file():
            within = folder.relative_to(home)
            return Budget(book=book).paid(within.as_posix() if within.parts else "")
    return Paid()


@dataclass(slots=True)
class _Sums:
    """The entries of an account, added up."""

    nano_usd: Counter[Service] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def count(self, entry: Entry) -> None:
        self.nano_usd[entry.service] += entry.nano_usd
        if entry.service == "model":
            self.calls += entry.sent
        elif entry.sent:
            self.sent[entry.request] += entry.sent
        self.input_tokens += entry.input_tokens
        self.output_tokens += entry.output_tokens

    def add(self, other: "_Sums") -> None:
        self.nano_usd.update(other.nano_usd)
        self.sent.update(other.sent)
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens

    def paid(self) -> Paid:
        return Paid(
            self.nano_usd.total() / 1e9,
            dict(sorted(self.sent.items())),
            self.nano_usd["provider"] / 1e9,
            self.calls,
            self.input_tokens,
            self.output_tokens,
        )


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("no number")
    return float(value)


def _nano(usd: float) -> int:
    return ceil(round(usd * 1e9, 3))  # never less than what is billed
