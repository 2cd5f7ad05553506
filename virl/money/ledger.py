"""The ledger of a run: the limit on its dollars, its book, and counts of what was asked."""

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from virl.errors import BadInput
from virl.money.book import SPENDING, Book, Entry, Exchange, Paid, Price, Service, Spending, nano

_ACCOUNT: ContextVar[str] = ContextVar("account", default="")
_log = logging.getLogger(__name__)


@contextmanager
def account(name: str) -> Iterator[str]:
    """Charge all requests of the block to an account; yield its full name, within the enclosing account.

    Args:
        name: of the account, which is a folder below that of the book; within another it lies below that one.

    Yields:
        Its whole name, for `Ledger.payments`.
    """
    whole = "/".join(filter(None, (_ACCOUNT.get(), name)))
    token = _ACCOUNT.set(whole)
    try:
        yield whole
    finally:
        _ACCOUNT.reset(token)


class Ledger:
    """A limit on a run's dollars, the book of what was paid, and counts of requests and questions.

    Counts are kept by account, questions to minds by ledger. Safe for several threads.

    Args:
        limit_usd: dollars; `None` sets no limit.
        book: a file that every sum is written to before its request is sent, as `Book` describes it.
        run: the run that the book is of, as `Book` has it.

    Raises:
        BadInput: the limit is no amount, or the book is broken.
    """

    def __init__(self, limit_usd: float | None = None, *, book: Path | None = None, run: str = "") -> None:
        self.book = Book(limit_usd, book, run)
        if self.book.lacks_last:
            lost = "its last line is cut short: one request's sum is lost at most; the larger of"
            _log.warning("%s: %s book and journal counts", book, lost)
        self._counts: dict[str, _Counts] = {}
        self._asked: list[tuple[str, Exchange]] = []
        self._above: Ledger | None = None
        self._lock = threading.Lock()

    def with_own_ledger(self) -> "Ledger":
        """Return a ledger with the same limit, book and counts, but its own list of questions."""
        other = Ledger()
        other.book, other._counts, other._lock = self.book, self._counts, self._lock
        other._above = self
        return other

    @property
    def spent_usd(self) -> float:
        """US dollars spent, or reserved for requests in progress."""
        return self.book.spent_usd

    @property
    def limit_usd(self) -> float | None:
        """Upper bound on the dollars spent; `None` for no limit."""
        return self.book.limit_usd

    def hold(
        self, price: Price, request: str, service: Service = "provider", *, input_tokens: int = 0
    ) -> "Hold":
        """Reserve a request's price and count it as sent; to be called right before it is sent.

        Args:
            price: of the request, billed until the hold says otherwise.
            request: the endpoint or the model.
            service: kind of service that is asked.
            input_tokens: of a model's request, as far as they are known.

        Raises:
            BudgetExceeded: it would pass the limit. A request that is free never does.
            BadInput: there is a limit, and nobody knows the price; says how to set it.
            CannotWrite: the book cannot be written; nothing is set aside.
        """
        self._check(price)
        hold = Hold(self, price, request, service, input_tokens, _ACCOUNT.get())
        self.book.enter(hold.entry(nano(price.usd), sent=1, input_tokens=input_tokens))
        if service == "provider":
            with self._lock:
                self._counts_of(hold.account).bill(price, request)
        return hold

    def count_cached(self, request: str) -> None:
        """Count a request that a cache answered."""
        with self._lock:
            self._counts_of(_ACCOUNT.get()).cached[request] += 1

    def count_received(self, request: str, size: int) -> None:
        """Count the bytes of a reply's body, an error's too."""
        with self._lock:
            self._counts_of(_ACCOUNT.get()).received[request] += size

    def add(self, exchange: Exchange) -> None:
        """Add a question to a mind with its reply."""
        with self._lock:
            self._asked.append((_ACCOUNT.get(), exchange))

    def take(self) -> Spending:
        """Return the current account's requests since the last `take`, for a step of the journal."""
        with self._lock:
            return self._counts_of(_ACCOUNT.get()).take()

    def take_asked(self) -> tuple[Exchange, ...]:
        """Return the questions to minds since the last call, oldest first, of all accounts.

        Those that were put in the present account by way of a ledger that this one is apart from, as the
        describer of a consulted agent puts them, come first.
        """
        account = _ACCOUNT.get()
        with self._lock:
            above = self._above._own_exchanges(account) if self._above and account else []  # noqa: SLF001  of its class
            own, self._asked = [exchange for _, exchange in self._asked], []
        return (*above, *own)

    def _own_exchanges(self, account: str) -> list[Exchange]:
        """Return an account's questions from this ledger and those it was split from, and remove them."""
        above = self._above._own_exchanges(account) if self._above else []  # noqa: SLF001  of its class
        own = [exchange for whose, exchange in self._asked if whose == account]
        self._asked = [one for one in self._asked if one[0] != account]
        return above + own

    def total(self) -> Spending:
        """Return requests to providers, and their dollars, of all accounts in this process."""
        with self._lock:
            return sum((counts.read() for counts in self._counts.values()), Spending())

    def payments(self, account: str = "") -> Paid:
        """Return the payments of an account and its sub-accounts by the book; of all if the name is empty."""
        return self.book.payments(account)

    def catch_up(self, told: Paid, account: str = "", run: Path | None = None) -> None:
        """Add what a journal knows of an account beyond the book, so that the larger sums hold.

        Args:
            told: by the journal.
            account: whose journal it is; those below it are included.
            run: its folder, named in a warning where the book lacks dollars; by default none is given.
        """
        missing = told.minus(self.payments(account))
        if run and missing.usd:
            warning = "%s: the book has $%.4f less than the journal: going on from the journal's sum"
            _log.warning(warning, run, missing.usd)
        counts = (missing.calls, missing.input_tokens, missing.output_tokens)
        for entry in (
            Entry(nano(missing.usd - missing.provider_usd), "journal", "model", account=account),
            Entry(nano(missing.provider_usd), "journal", account=account),
            Entry(0, "journal", "model", *counts, account),
            *(Entry(0, request, sent=sent, account=account) for request, sent in missing.sent.items()),
        ):
            if entry.nano_usd or entry.sent or entry.input_tokens or entry.output_tokens:
                self.book.enter(entry)

    def charge(self, spent: Spending, account: str) -> None:
        """Add payments made through another ledger to an account of this run's book."""
        entries = [Entry(0, request, sent=sent, account=account) for request, sent in spent.sent.items()]
        if spent.usd:
            entries.append(Entry(nano(spent.usd), "city", account=account))
        for entry in entries:
            self.book.enter(entry)
        with self._lock:
            self._counts_of(_ACCOUNT.get()).count(spent)

    def correct(self, hold: "Hold", usd: float, billed: bool) -> None:
        """Replace a request's reserved price by the billed dollars in the counts.

        Args:
            hold: of the request.
            usd: dollars that were billed.
            billed: false where it was not billed.
        """
        if hold.service == "provider":
            with self._lock:
                self._counts_of(hold.account).correct(hold.price, usd, billed=billed)

    def _counts_of(self, account: str) -> "_Counts":
        """Return the counts of an account, new ones if it has none."""
        return self._counts.setdefault(account, _Counts())

    def _check(self, price: Price) -> None:
        """Raise an error for a request of unknown price if there is a budget; without one, log a warning."""
        if not price.unknown:
            return
        if self.limit_usd is not None:
            raise BadInput(
                f"the price of {price.sku!r} is not known, so no budget can be kept: set {price.unknown}, "
                "or run without --budget-usd"
            )
        _log.warning("the price of %r is not known, so sums leave it out: set %s", price.sku, price.unknown)


@dataclass(frozen=True, slots=True)
class Hold:
    """US dollars reserved for a request, final unless `settle` or `release` is called once."""

    ledger: Ledger
    price: Price
    request: str
    """Endpoint or model that the request is sent to."""
    service: Service
    input_tokens: int
    """Number of input tokens charged for a model's request; 0 if unknown."""
    account: str

    def settle(self, usd: float, *, input_tokens: int = 0, output_tokens: int = 0) -> None:
        """Replace the reserved dollars by what was billed.

        Args:
            usd: what is billed.
            input_tokens: that a model read.
            output_tokens: that a model wrote.

        Raises:
            CannotWrite: the book cannot be written; what was held stays.
        """
        self._settle(usd, input_tokens - self.input_tokens, output_tokens, billed=True)

    def release(self) -> None:
        """Return the reserved dollars to the budget, since the request is not billed.

        Raises:
            CannotWrite: the book cannot be written; what was held stays.
        """
        self._settle(0.0, 0, 0, billed=False)

    def entry(self, nano_usd: int, *, sent: int = 0, input_tokens: int = 0, output_tokens: int = 0) -> Entry:
        """Return an entry of the book for this request, with billionths of a dollar.

        Args:
            nano_usd: billionths of a dollar.
            sent: requests.
            input_tokens: that were sent.
            output_tokens: that came back.
        """
        return Entry(
            nano_usd, self.request, self.service, sent, input_tokens, output_tokens, account=self.account
        )

    def _settle(self, usd: float, input_tokens: int, output_tokens: int, *, billed: bool) -> None:
        """Write the difference to the billed dollars into the book, and correct the counts."""
        change = nano(usd) - nano(self.price.usd)
        if change or input_tokens or output_tokens:
            self.ledger.book.enter(self.entry(change, input_tokens=input_tokens, output_tokens=output_tokens))
        self.ledger.correct(self, usd, billed)


@dataclass(slots=True)
class _Counts:
    """Counts of one account's requests to providers in this process."""

    sent: Counter[str] = field(default_factory=Counter)
    cached: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    billed: Counter[str] = field(default_factory=Counter)
    micro_usd: float = 0
    taken: Spending = field(default_factory=Spending)

    def count(self, spent: Spending) -> None:
        """Add other counts to these."""
        self.sent.update(spent.sent)
        self.cached.update(spent.cached)
        self.received.update(spent.received)
        self.billed.update(spent.billed)
        self.micro_usd += spent.usd * 1e6

    def bill(self, price: Price, request: str) -> None:
        """Count a request as sent, and its price as billed."""
        self.sent[request] += 1
        self.billed[price.sku] += price.events
        self.micro_usd += price.micro_usd

    def correct(self, price: Price, usd: float, *, billed: bool) -> None:
        """Replace a price by the dollars billed; its events are removed if it was not billed."""
        if not billed:
            self.billed[price.sku] -= price.events
        self.micro_usd += (usd * 1e6 if usd else 0) - price.micro_usd

    def read(self) -> Spending:
        """Return the requests counted so far."""
        return Spending(
            dict(self.sent),
            dict(self.cached),
            dict(+self.billed),
            self.micro_usd / 1e6,
            dict(self.received),
        )

    def take(self) -> Spending:
        """Return the requests counted since the last call."""
        now, before = self.read(), self.taken
        self.taken = now
        return Spending(
            Counter(now.sent) - Counter(before.sent),
            Counter(now.cached) - Counter(before.cached),
            Counter(now.billed) - Counter(before.billed),
            round(now.usd - before.usd, 6),
            Counter(now.received) - Counter(before.received),
        )


def paid_for(folder: Path) -> Paid:
    """Return the sums in the book of a run, episode or consulted agent, given its folder.

    Raises:
        BadInput: the book is broken.
    """
    for home in (folder, *folder.parents):
        if (book := home / SPENDING).is_file():
            within = folder.relative_to(home)
            return Book(path=book).payments(within.as_posix() if within.parts else "")
    return Paid()
