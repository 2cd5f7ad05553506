"""Requests to a model: within a budget and a limit of their rate, and again while a failure may pass."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.rate_limiters import BaseRateLimiter

from virl.budget import Budget
from virl.errors import MindFailed, ModelUnavailable
from virl.mind.answers import check_answer
from virl.mind.asking import Ask
from virl.mind.faults import LLMFault, classify, in_a_line, may_be_billed, retry_after, usage_in
from virl.mind.prices import Prices, Usage, expected_usage
from virl.redaction import Redaction
from virl.retry import RetryPolicy

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class RequestUsage:
    """What one question has taken so far."""

    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    unknown_usd: float = 0.0
    """Dollars held for requests that were lost on the way: they may be billed."""
    started: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends requests to one model."""

    name: str
    """The model's, for errors and prices."""
    redaction: Redaction
    """Takes out what may appear in no text."""
    prices: Prices
    retries: int
    """Further requests after the first, a question."""
    first_wait: float
    """Seconds before another try; doubles with every further one."""
    longest_wait: float
    """Seconds, the most that is waited before another try."""
    sleep: Callable[[float], None]
    limiter: BaseRateLimiter | None
    budget: Budget

    def send(
        self, ask: Ask, messages: Sequence[BaseMessage], tally: RequestUsage, *, beside: int = 0
    ) -> AIMessage:
        """The model's answer, tried again while the failure may pass.

        Args:
            ask: puts messages to the model.
            messages: what it is asked.
            tally: of the question; is added to.
            beside: letters that go with the messages, such as the schemas of tools.

        Raises:
            BudgetExceeded: the request may cost more than is left; it was not sent.
            ModelUnavailable: the model cannot be reached, or will not be for a while.
            MindFailed: it refused, or its reply was cut off.
        """
        policy = RetryPolicy(self.retries, self.first_wait, self.longest_wait, self.sleep)
        outcome = policy.run(
            lambda: self._try(ask, messages, tally, beside), _failed, tell=self._tell, tried=tally.attempts
        )
        if isinstance(outcome, _Failed):
            self._raise(outcome, tally)
        return outcome

    def usd(self, usage: Usage) -> float | None:
        """Dollars for tokens; `None` if the model's price is unknown."""
        return self.prices.usd(self.name, usage)

    def clean(self, text: str) -> str:
        """A text on one line, shortened, without keys."""
        return in_a_line(text, self.redaction)

    def give_up(self, fault: LLMFault, said: str) -> NoReturn:
        """Raise what a failure that will not pass amounts to.

        Raises without a cause: the provider's exception may quote the key.
        """
        advice = {
            LLMFault.KEY: "does not accept the key: check the provider's key variable in your environment",
            LLMFault.UNKNOWN_MODEL: "is not known to the server: check the model's name and the base URL",
            LLMFault.NO_QUOTA: "has no quota left: check the plan and the billing of the account",
        }
        if fault in advice:
            raise ModelUnavailable(f"{self.name} {advice[fault]} ({said})") from None
        happened = {
            LLMFault.CUT_OFF: "ran into its token limit before the reply was complete",
            LLMFault.REFUSED: "refused to answer",
        }
        raise MindFailed(f"{self.name} {happened.get(fault, 'failed')}: {said}") from None

    def _try(
        self, ask: Ask, messages: Sequence[BaseMessage], tally: RequestUsage, beside: int
    ) -> "AIMessage | _Failed":
        if self.limiter:
            self.limiter.acquire()
        held = self.usd(expected_usage(messages, beside=beside)) or 0.0
        self.budget.hold(held, self.name, "model")
        tally.attempts += 1
        try:
            answer = ask(list(messages))
        except Exception as error:  # noqa: BLE001  each provider raises what it likes
            if may_be_billed(error):
                tally.unknown_usd += held
            else:
                self._count(usage_in(error), held, tally)
            said = self.clean(str(error) or type(error).__name__)
            return _Failed(classify(error), said, retry_after(error))
        try:
            usage = check_answer(answer)
        except ValueError as fault:  # nobody knows what it cost: what was held stays
            tally.unknown_usd += held
            return _Failed(LLMFault.BROKEN, self.clean(str(fault)), None)
        self._count(usage, held, tally)
        return _redacted(answer, self.redaction)

    def _count(self, usage: Usage, held: float, tally: RequestUsage) -> None:
        tally.usage += usage
        self.budget.settle(
            held,
            self.usd(usage) or 0.0,
            self.name,
            "model",
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )

    def _tell(self, outcome: "AIMessage | _Failed", pause: float) -> None:
        if isinstance(outcome, _Failed) and outcome.wait is not None:
            _log.info("%s asks to wait %.1f s", self.name, pause)

    def _raise(self, failed: "_Failed", tally: RequestUsage) -> NoReturn:
        """The end of trying."""
        if not failed.again:
            self.give_up(failed.fault, failed.said)
        if tally.attempts > self.retries:
            raise ModelUnavailable(
                f"{self.name} failed {tally.attempts} times, try again later: {failed.said}"
            )
        raise ModelUnavailable(
            f"{self.name} asks to wait {failed.wait:.0f} s before the next request: try again then"
        )


@dataclass(frozen=True, slots=True)
class _Failed:
    """A request that failed. The provider's exception is not kept: it may quote the key."""

    fault: LLMFault
    said: str
    wait: float | None

    @property
    def again(self) -> bool:
        return self.fault in (LLMFault.LIMITED, LLMFault.BROKEN)


def _redacted(answer: AIMessage, redaction: Redaction) -> AIMessage:
    """An answer without the keys that its server may have repeated in it."""
    fields = {name: redaction.tree(getattr(answer, name)) for name in type(answer).model_fields}
    return answer.model_copy(update=fields)


def _failed(outcome: AIMessage | _Failed) -> _Failed | None:
    return outcome if isinstance(outcome, _Failed) else None
