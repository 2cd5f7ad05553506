"""The book of a run, asked by workers that are other processes: one process keeps it."""

from collections.abc import Callable
from dataclasses import dataclass

from virl.errors import BudgetExceeded, CannotWrite
from virl.money.book import Book, Entry
from virl.money.ledger import Ledger
from virl.money.spending import Paid


@dataclass(frozen=True, slots=True)
class Charge:
    """An entry to write, or an account to sum up. Plain data that goes to another process."""

    entry: Entry | None = None
    account: str = ""

    def made_to(self, ledger: Ledger) -> "Charged":
        """Make the charge in the ledger that holds the run's book."""
        if self.entry is None:
            return ledger.payments(self.account)
        try:
            ledger.book.enter(self.entry)
        except BudgetExceeded as fault:
            return fault.limit_usd, fault.spent_usd
        except CannotWrite as fault:
            return str(fault)
        return None


Charged = Paid | tuple[float, float] | str | None
"""Sums of an account; the limit and what is spent, if it is too much; why the book cannot be written."""


class FarLedger(Ledger):
    """A ledger whose book another process keeps.

    Args:
        ask: hands a charge to that process, and waits for what comes of it.
    """

    def __init__(self, ask: Callable[[Charge], Charged]) -> None:
        """Prepare a ledger whose book is in another process; `ask` sends a charge and returns its reply."""
        super().__init__()
        self.book = _FarBook(ask)


class _FarBook(Book):
    """A book that is kept in another process."""

    def __init__(self, ask: Callable[[Charge], Charged]) -> None:
        super().__init__()
        self._ask = ask

    def payments(self, account: str = "") -> Paid:
        """Return what an account has paid, as `Book.payments` does."""
        told = self._ask(Charge(account=account))
        return told if isinstance(told, Paid) else Paid()

    def enter(self, entry: Entry) -> None:
        """Enter a charge into the book, as `Book.enter` does."""
        told = self._ask(Charge(entry))
        if isinstance(told, tuple):
            raise BudgetExceeded(*told, entry.nano_usd / 1e9, entry.request)
        if isinstance(told, str):
            raise CannotWrite(told)
