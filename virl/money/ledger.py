"""The ledger of a run: its limit in dollars, its book, and counts of requests and questions."""

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
    """Charge all requests of the block to an account within the present one, and yield its full name.

    The name is that of a folder below the book's; the full name is what `Ledger.payments` takes.
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
    """

    def __init__(self, limit_usd: float | None = None, *, book: Path | None = None, run: str = "") -> None:
        """Begin a ledger, `limit_usd=None` for no limit; `book`: file of payments, `run`: the run's id."""
        self.book = Book(limit_usd, book, run)
        if self.book.lacks_last:
            lost = "its last line is cut short: one request's sum is lost at most; the larger of"
            _log.warning("%s: %s book and journal counts", book, lost)
        self._counts: dict[str, _Counts] = {}
        self._asked: list[tuple[str, Exchange]] = []
        self._above: Ledger | None = None
        self._lock = threading.Lock()

    def with_own_ledger(self) -> "Ledger":
        """Return a ledger with the same limit, book and counts, but a list of questions of its own."""
        other = Ledger()
        other.book, other._counts, other._lock = self.book, self._counts, self._lock
        other._above = self
        return other

    @property
    def spent_usd(self) -> float:
        """US dollars spent so far, those reserved for requests in progress included."""
        return self.book.spent_usd

    @property
    def limit_usd(self) -> float | None:
        """Most US dollars that may be spent; `None` for no limit."""
        return self.book.limit_usd

    def hold(
        self, price: Price, request: str, service: Service = "provider", *, input_tokens: int = 0
    ) -> "Hold":
        """Reserve a request's price and count it as sent; raise `BudgetExceeded` beyond the limit.

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
        if price.unknown and self.limit_usd is not None:
            raise BadInput(
                f"the price of {price.sku!r} is not known, so no budget can be kept: set {price.unknown}, "
                "or run without --budget-usd"
            )
        if price.unknown:
            _log.warning(
                "the price of %r is not known, so sums leave it out: set %s", price.sku, price.unknown
            )
        hold = Hold(self, price, request, service, input_tokens, _ACCOUNT.get())
        # Before it is sent: a kill in between may count a request too many, never one too few.
        self.book.enter(hold.entry(nano(price.usd), sent=1, input_tokens=input_tokens))
        if service == "provider":
            with self._lock:
                self._counts_of(hold.account).bill(price, request)
        return hold

    def count_cached(self, request: str) -> None:
        """Count a request, given by its endpoint, that a cache answered."""
        with self._lock:
            self._counts_of(_ACCOUNT.get()).cached[request] += 1

    def count_received(self, request: str, size: int) -> None:
        """Count the bytes of a reply, an error's too, to a request given by its endpoint."""
        with self._lock:
            self._counts_of(_ACCOUNT.get()).received[request] += size

    def add(self, exchange: Exchange) -> None:
        """Add a question to a mind with its reply to the list that `take_asked` returns."""
        with self._lock:
            self._asked.append((_ACCOUNT.get(), exchange))

    def take(self) -> Spending:
        """Return the present account's requests to map services since the last call."""
        with self._lock:
            return self._counts_of(_ACCOUNT.get()).take()

    def take_asked(self) -> tuple[Exchange, ...]:
        """Return the questions to minds since the last call, oldest first, of all accounts.

        Before them come those that the present account asked through the ledger from which this one was
        made, as the describer of a consulted agent does.
        """
        account = _ACCOUNT.get()
        with self._lock:
            above = self._above._own_exchanges(account) if self._above and account else []  # noqa: SLF001  of its class
            own, self._asked = [exchange for _, exchange in self._asked], []
        return (*above, *own)

    def _own_exchanges(self, account: str) -> list[Exchange]:
        """Remove and return an account's questions, also those in ledgers that this one was made from."""
        above = self._above._own_exchanges(account) if self._above else []  # noqa: SLF001  of its class
        own = [exchange for whose, exchange in self._asked if whose == account]
        self._asked = [one for one in self._asked if one[0] != account]
        return above + own

    def total(self) -> Spending:
        """Return the requests to map services of all accounts in this process, and their dollars."""
        with self._lock:
            return sum((counts.read() for counts in self._counts.values()), Spending())

    def payments(self, account: str = "") -> Paid:
        """Return the payments of an account and its sub-accounts by the book; of all if the name is empty."""
        return self.book.payments(account)

    def catch_up(self, told: Paid, account: str = "", run: Path | None = None) -> None:
        """Add to the book what it lacks of `told`, the sums in an account's journal; a warning names `run`.

        Args:
            told: sums by the journal.
            account: the journal's; accounts below it are included.
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
        """Add another ledger's requests to an account of the book, and to the present account's counts."""
        entries = [Entry(0, request, sent=sent, account=account) for request, sent in spent.sent.items()]
        if spent.usd:
            entries.append(Entry(nano(spent.usd), "city", account=account))
        for entry in entries:
            self.book.enter(entry)
        with self._lock:
            self._counts_of(_ACCOUNT.get()).count(spent)

    def correct(self, hold: "Hold", usd: float, billed: bool) -> None:
        """Replace a map request's reserved price in the counts by `usd`; if not `billed`, drop its events.

        Args:
            hold: of the request.
            usd: dollars that were billed.
            billed: whether it was billed at all.
        """
        if hold.service == "provider":
            with self._lock:
                self._counts_of(hold.account).correct(hold.price, usd, billed=billed)

    def _counts_of(self, account: str) -> "_Counts":
        """Return the counts of an account, new ones if it has none."""
        return self._counts.setdefault(account, _Counts())


@dataclass(frozen=True, slots=True)
class Hold:
    """US dollars reserved for one request, which count as spent unless `settle` or `release` is called."""

    ledger: Ledger
    price: Price
    request: str
    """Endpoint or model that the request is sent to."""
    service: Service
    input_tokens: int
    """Number of input tokens charged for a model's request; 0 if unknown."""
    account: str

    def settle(self, usd: float, *, input_tokens: int = 0, output_tokens: int = 0) -> None:
        """Replace the reserved US dollars by what was billed.

        Args:
            usd: dollars that are billed.
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
        """Return a line of the book for this request.

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
        """Write the difference between billed and reserved dollars to the book, and correct the counts."""
        change = nano(usd) - nano(self.price.usd)
        if change or input_tokens or output_tokens:
            self.ledger.book.enter(self.entry(change, input_tokens=input_tokens, output_tokens=output_tokens))
        self.ledger.correct(self, usd, billed)


@dataclass(slots=True)
class _Counts:
    """Counts of one account's requests to map services in this process, by endpoint or `Price.sku`."""

    sent: Counter[str] = field(default_factory=Counter)
    cached: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    billed: Counter[str] = field(default_factory=Counter)
    micro_usd: float = 0
    """Millionths of a US dollar, by list price."""
    taken: Spending = field(default_factory=Spending)
    """Counts at the last call of `take`."""

    def count(self, spent: Spending) -> None:
        """Add the counts and dollars of requests, `spent`, to the account's."""
        self.sent.update(spent.sent)
        self.cached.update(spent.cached)
        self.received.update(spent.received)
        self.billed.update(spent.billed)
        self.micro_usd += spent.usd * 1e6

    def bill(self, price: Price, request: str) -> None:
        """Count a request to an endpoint as sent, and its price as billed."""
        self.sent[request] += 1
        self.billed[price.sku] += price.events
        self.micro_usd += price.micro_usd

    def correct(self, price: Price, usd: float, *, billed: bool) -> None:
        """Replace a price by the US dollars billed; its events no longer count if it was not billed."""
        if not billed:
            self.billed[price.sku] -= price.events
        self.micro_usd += (usd * 1e6 if usd else 0) - price.micro_usd

    def read(self) -> Spending:
        """Return all requests counted so far."""
        return Spending(
            dict(self.sent), dict(self.cached), dict(+self.billed), self.micro_usd / 1e6, dict(self.received)
        )

    def take(self) -> Spending:
        """Return the requests counted since the last call of this method."""
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
    """Return the payments of a run, episode or consulted agent, given its folder; zeros without a book.

    Raises:
        BadInput: the book is broken.
    """
    for home in (folder, *folder.parents):
        if (book := home / SPENDING).is_file():
            within = folder.relative_to(home)
            return Book(path=book).payments(within.as_posix() if within.parts else "")
    return Paid()
