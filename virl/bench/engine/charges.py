"""The budget of a run, asked by workers that are other processes: one process keeps the book."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from virl.budget import Budget, Paid, Service, account, current_account
from virl.errors import BudgetExceeded, CannotWrite


@dataclass(frozen=True, slots=True)
class Charge:
    """What a worker asks of the budget. Plain data that goes to another process."""

    what: Literal["hold", "settle", "paid"]
    account: str
    usd: float = 0.0
    held_usd: float = 0.0
    request: str = ""
    service: Service = "provider"
    input_tokens: int = 0
    output_tokens: int = 0

    def made_to(self, budget: Budget) -> "Charged":
        """Do it, where the book is."""
        if self.what == "paid":
            return budget.paid(self.account)
        try:
            with account(self.account):
                if self.what == "hold":
                    budget.hold(self.usd, self.request, self.service, input_tokens=self.input_tokens)
                else:
                    budget.settle(
                        self.held_usd,
                        self.usd,
                        self.request,
                        self.service,
                        input_tokens=self.input_tokens,
                        output_tokens=self.output_tokens,
                    )
        except BudgetExceeded as fault:
            return fault.limit_usd, fault.spent_usd
        except CannotWrite as fault:
            return str(fault)
        return None


Charged = Paid | tuple[float, float] | str | None
"""What was paid; the limit and what is spent, where that is too much; why the book cannot be written."""


class FarBudget(Budget):
    """The budget that another process keeps.

    Args:
        ask: hands a charge to that process, and waits for what comes of it.
    """

    def __init__(self, ask: Callable[[Charge], Charged]) -> None:
        super().__init__()
        self._ask = ask

    def paid(self, account: str = "") -> Paid:
        """As `Budget.paid`."""
        told = self._ask(Charge("paid", account))
        return told if isinstance(told, Paid) else Paid()

    def hold(self, usd: float, request: str, service: Service = "provider", *, input_tokens: int = 0) -> None:
        """As `Budget.hold`."""
        told = self._ask(
            Charge("hold", current_account(), usd, 0.0, request, service, input_tokens=input_tokens)
        )
        if isinstance(told, tuple):
            raise BudgetExceeded(*told, usd, request)
        _raise_refusal(told)

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
        """As `Budget.settle`."""
        told = self._ask(
            Charge("settle", current_account(), usd, held_usd, request, service, input_tokens, output_tokens)
        )
        _raise_refusal(told)


def _raise_refusal(told: Charged) -> None:
    if isinstance(told, str):
        raise CannotWrite(told)
