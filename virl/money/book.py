"""The book of a run: its limit in dollars, and a line of JSON for each sum charged or given back; prices."""

import json
import logging
import re
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any, Literal

from virl.errors import BadInput, BudgetExceeded
from virl.files.json_reading import read_json
from virl.files.writing import JsonLines


@dataclass(frozen=True, slots=True)
class Price:
    """List price of one request."""

    sku: str
    """Provider's name for the billed kind of request (stock keeping unit)."""
    events: int
    """Number of billable events, such as 1, or the pairs of a matrix."""
    micro_usd: float
    """US dollars for all events together, in millionths; 0 if unknown."""
    unknown: str = ""
    """Name of the setting that must state the price, as virl does not know it; empty if it does."""

    @property
    def usd(self) -> float:
        """US dollars for all events together."""
        return self.micro_usd / 1e6


FREE = Price("free", 1, 0)
"""Price of requests that cost nothing."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question to a mind with its reply, tokens and cost, for the journal."""

    prompt: str
    mind: str
    """Name of the mind, such as `"rules"` or `"openai:gpt-5-mini"`."""
    inputs: Mapping[str, object]
    reply: Mapping[str, object]
    cached: bool = False
    """True if the reply came from the cache, so that it cost nothing."""
    attempts: int = 1
    """Number of requests to the mind, failed ones included."""
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    """Seconds from the question to the reply, pauses between tries included."""
    remark: str = ""
    """Remark made once about a model, such as that it takes no pictures; empty for none."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Counts and list price of requests to map services, over a part of a run."""

    sent: Mapping[str, int] = field(default_factory=dict)
    """Number of requests sent over the network, repeats included, by endpoint."""
    cached: Mapping[str, int] = field(default_factory=dict)
    """Number of requests answered by a cache or a recording, by endpoint."""
    billed: Mapping[str, int] = field(default_factory=dict)
    """Number of billable events by `Price.sku`; requests of unknown outcome count, refused ones do not."""
    usd: float = 0.0
    """US dollars of the billed events by list price, without models."""
    received: Mapping[str, int] = field(default_factory=dict)
    """Bytes of the replies received over the network, errors included, by endpoint."""

    def __add__(self, other: "Spending") -> "Spending":
        """Return the sums of the counts and dollars of two parts of a run."""
        return Spending(
            Counter(self.sent) + Counter(other.sent),
            Counter(self.cached) + Counter(other.cached),
            Counter(self.billed) + Counter(other.billed),
            self.usd + other.usd,
            Counter(self.received) + Counter(other.received),
        )


_LEAST_USD = 1e-6
"""Least difference in US dollars that `Paid.minus` keeps; smaller ones come from rounding: they become 0."""


@dataclass(frozen=True, slots=True)
class Paid:
    """Sums that a run, or a part of it, has paid; requests of unknown outcome count in full."""

    usd: float = 0.0
    """US dollars paid for models and map services together."""
    sent: Mapping[str, int] = field(default_factory=dict)
    """Number of requests to map services, repeats included, by endpoint."""
    provider_usd: float = 0.0
    """US dollars paid to map services, a part of `usd`."""
    calls: int = 0
    """Number of requests to models, repeats included."""
    input_tokens: int = 0
    output_tokens: int = 0

    def minus(self, other: "Paid") -> "Paid":
        """Return the amounts by which these sums exceed `other`, at least 0; rounding differences give 0."""
        total, provider = self.usd - other.usd, self.provider_usd - other.provider_usd
        model_usd, provider_usd = (usd if usd >= _LEAST_USD else 0.0 for usd in (total - provider, provider))
        return Paid(
            model_usd + provider_usd,
            Counter(self.sent) - Counter(other.sent),
            provider_usd,
            max(0, self.calls - other.calls),
            max(0, self.input_tokens - other.input_tokens),
            max(0, self.output_tokens - other.output_tokens),
        )


MOST_USD = 1e6
"""Largest budget, and largest sum in a line of a book, in US dollars; chosen, far above a run's cost."""
SPENDING = "spending.jsonl"
"""Name of the file, in a run's folder, that holds the run's book."""

Service = Literal["model", "provider"]
"""Kind of service that a request is sent to: a language model, or a provider of data on the city."""

_SUM_OF_TORN = re.compile(rb'\{"micro_usd": ([0-9][^,]*),')
_FURTHER = ("sent", "input_tokens", "output_tokens", "account", "run")
_MOST_TOKENS = 10**12
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a book: a sum that was charged or given back, with counts of requests and tokens."""

    nano_usd: int
    """Sum charged, in billionths of a US dollar; negative if dollars are given back."""
    request: str
    """Endpoint or model that the request was sent to."""
    service: Service = "provider"
    sent: int = 0
    """Number of requests sent."""
    input_tokens: int = 0
    output_tokens: int = 0
    account: str = ""
    """Name of the account that is charged, such as `consulted/1`; empty for the run's own."""
    run: str = ""
    """Id of the run that the book belongs to; only in the first line, else empty."""

    def line(self) -> str:
        """Return the entry as a line of JSON, without fields that are zero or empty."""
        # Whole millionths are written as whole numbers, which need no rounding when they are read.
        thousandths = self.nano_usd % 1000
        data: dict[str, Any] = {
            "micro_usd": self.nano_usd / 1000 if thousandths else self.nano_usd // 1000,
            "request": self.request,
        }
        data |= {"service": self.service} if self.service != "provider" else {}
        counts = {name: getattr(self, name) for name in _FURTHER}
        return json.dumps(data | {name: count for name, count in counts.items() if count})

    @classmethod
    def of_torn(cls, line: bytes) -> "Entry | None":
        """Return the entry of a cut-off line, or else one with only its sum; `None` if no sum can be read."""
        found = _SUM_OF_TORN.match(line)
        for text in (line, b'{"micro_usd": %b}' % found[1] if found else b""):
            with suppress(ValueError):
                return cls.read(text)
        return None

    @classmethod
    def read(cls, line: bytes) -> "Entry":
        """Return the entry in a line of a book's file; raise ValueError if the line holds none.

        Raises:
            ValueError: it is none.
        """
        try:
            data = read_json(line)
            return cls(
                round(_number(data["micro_usd"], MOST_USD * 1e6) * 1000),
                str(data.get("request", "")),
                "model" if data.get("service") == "model" else "provider",
                _count(data.get("sent", 0), least=0),
                _count(data.get("input_tokens", 0)),
                _count(data.get("output_tokens", 0)),
                str(data.get("account", "")),
                str(data.get("run", "")),
            )
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise ValueError("no sum") from None


@dataclass(slots=True)
class Sums:
    """Sums over the entries of one account, or of several."""

    nano_usd: Counter[Service] = field(default_factory=Counter)
    """Billionths of a US dollar, by kind of service."""
    sent: Counter[str] = field(default_factory=Counter)
    """Number of requests to map services, by endpoint."""
    calls: int = 0
    """Number of requests to models."""
    input_tokens: int = 0
    output_tokens: int = 0

    def count(self, entry: Entry) -> None:
        """Add an entry to the sums."""
        self.nano_usd[entry.service] += entry.nano_usd
        if entry.service == "model":
            self.calls += entry.sent
        elif entry.sent:
            self.sent[entry.request] += entry.sent
        self.input_tokens += entry.input_tokens
        self.output_tokens += entry.output_tokens

    def add(self, other: "Sums") -> None:
        """Add the sums of another account to these."""
        self.nano_usd.update(other.nano_usd)
        self.sent.update(other.sent)
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens

    def payments(self) -> Paid:
        """Return the sums as payments, in US dollars."""
        return Paid(
            self.nano_usd.total() / 1e9,
            dict(sorted(self.sent.items())),
            self.nano_usd["provider"] / 1e9,
            self.calls,
            self.input_tokens,
            self.output_tokens,
        )


class Book:
    """A limit in US dollars and the sums of all accounts, written to a file; thread-safe."""

    def __init__(self, limit_usd: float | None = None, path: Path | None = None, run: str = "") -> None:
        """Begin a book (`limit_usd=None`: no limit) with the sums in its file, `path`; `run` is the run's id.

        Args:
            limit_usd: dollars; `None` sets no limit.
            path: a file that every sum is written to before its request is sent, so that a run that is
                killed and resumed knows all that it has spent. Free requests are written too, once its
                folder holds something. What a last line that is cut short still tells counts as spent.
            run: id of the run; written into a new file, and a file of another run is warned of.

        Raises:
            BadInput: the limit is no amount, or the file is broken.
        """
        check_budget(limit_usd)
        self._limit = None if limit_usd is None else nano(limit_usd)
        self._run = run
        self._held = 0
        self._accounts: dict[str, Sums] = {}
        self._waiting: list[Entry] = []  # written with the next one that is written
        self.lacks_last = False
        """True if the file's last line was cut off before the end of its sum."""
        self._lock = threading.Lock()
        self._lines = None if path is None else JsonLines(path, "go on with --resume", sync=False)
        if self._lines:
            mend = ": mend the line, or remove the file to go on without it"
            runs = set()
            for entry in self._lines.read(Entry.read, mend=mend):
                runs.add(entry.run)
                self._add(entry)
            if torn := self._lines.torn:
                last = Entry.of_torn(torn)
                self.lacks_last = last is None
                if last:
                    self._add(last)
                    self._waiting.append(last)
            if run and runs - {run, ""}:
                _log.warning("%s: this book is of another run: its sums count too", path)

    @property
    def spent_usd(self) -> float:
        """US dollars spent so far, those reserved for requests in progress included."""
        return self._held / 1e9

    @property
    def limit_usd(self) -> float | None:
        """Most US dollars that may be spent; `None` for no limit."""
        return None if self._limit is None else self._limit / 1e9

    def enter(self, entry: Entry) -> None:
        """Add an entry to the sums and the file; raise `BudgetExceeded` for a request beyond the limit.

        Raises:
            BudgetExceeded: it is of a request that would pass the limit. A free request never does.
            CannotWrite: the file cannot be written; nothing is added up.
        """
        with self._lock:
            price = entry.nano_usd if entry.sent else 0
            if self._limit is not None and price and self._held + price > self._limit:
                raise BudgetExceeded(self._limit / 1e9, self._held / 1e9, price / 1e9, entry.request)
            if self._lines:
                self._write(self._lines, entry)
            self._add(entry)

    def payments(self, account: str = "") -> Paid:
        """Return the payments of an account and its sub-accounts; of all accounts if the name is empty."""
        total = Sums()
        with self._lock:
            for name, sums in self._accounts.items():
                if not account or name == account or name.startswith(f"{account}/"):
                    total.add(sums)
        return total.payments()

    def _write(self, lines: JsonLines, entry: Entry) -> None:
        """Write an entry to the file; entries of 0 dollars wait until the run's folder has files."""
        folder = lines.path.parent
        if entry.nano_usd == 0 and not (folder.is_dir() and any(folder.iterdir())):
            self._waiting.append(entry)  # a run that cannot begin leaves no folder
            return
        for one in (*self._waiting, entry):
            line = (one if lines.size else replace(one, run=self._run)).line()
            # Only the price of a request must be safe on the disk before it is sent.
            lines.append(line, sync=bool(one.nano_usd and one.sent))
            self._waiting = self._waiting[1:]

    def _add(self, entry: Entry) -> None:
        """Add an entry to the sums of all entries and of its account."""
        self._held += entry.nano_usd
        self._accounts.setdefault(entry.account, Sums()).count(entry)


def nano(usd: float) -> int:
    """Return a sum in US dollars as billionths of a dollar, rounded up."""
    return ceil(round(usd * 1e9, 3))


def check_budget(usd: float | None, option: str = "a budget") -> None:
    """Raise `BadInput`, which names `option`, unless a budget is from 0 to `MOST_USD` dollars or `None`.

    Raises:
        BadInput: it is not; names the option.
    """
    if usd is not None and not 0 <= usd <= MOST_USD:
        raise BadInput(f"{option} of {usd:g} dollars: must be from 0 to {MOST_USD:,.0f}")


def _number(value: object, most: float) -> float:
    """Return a value as a number from -`most` to `most`; raise `TypeError` if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= most:
        raise TypeError("no number")
    return float(value)


def _count(value: object, least: int = -_MOST_TOKENS) -> int:
    """Return a value as a whole number from `least` to `_MOST_TOKENS`; raise `TypeError` if it is none."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_TOKENS:
        raise TypeError("no count")
    return value
