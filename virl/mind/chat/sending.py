"""Requests to a model: within a budget and a rate limit, and repeated while a failure may pass."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NoReturn

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.rate_limiters import BaseRateLimiter

from virl.errors import MindFailed, ModelShut, ModelUnavailable, RequestRefused, way_on
from virl.mind.chat.answers import check_answer
from virl.mind.chat.asking import ModelCall
from virl.mind.chat.faults import (
    MAX_TEXT,
    MOST_WORDS,
    LLMFault,
    classify,
    in_a_line,
    may_be_billed,
    never_left,
    retry_after,
    status_of,
    usage_in,
    whole_within,
    words_of,
)
from virl.mind.chat.tracing import Parameters, trace_request
from virl.mind.providers import (
    KEYS,
    OWN_SERVER_KEY,
    Usage,
    expected_usage,
    picture_tokens,
    request_usd,
    said_usage,
)
from virl.mind.settings import NotTaken, refused_ability
from virl.money.book import Price
from virl.money.ledger import Hold, Ledger
from virl.plain_text import plain_tree, whole_text
from virl.redaction import Redaction
from virl.retry import RetryPolicy

PATIENCE = 7
"""Most repeats of a request to an overloaded or failing server: after 0.5, 1, 2 ... 32 s, a minute in all."""

_MAY_BE_ANSWERS = (LLMFault.BROKEN, LLMFault.OTHER, LLMFault.UNREADABLE)
"""Kinds of failure after which the request may still be billed, since the model may have answered."""
_FRAME_TOKENS = 400
"""Most tokens that a provider adds to a request with tools, whatever the request's length; chosen."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Remarks:
    """Remarks on a model, each made once in log and journal; shared by all minds that ask the model."""

    _topics: set[str] = field(default_factory=set)

    def say(self, topic: str, text: str, noted: list[str]) -> None:
        """Write the remark `text` to the log and add it to `noted`, unless its topic has had a remark before.

        Args:
            topic: what it is about, such as `pictures`.
            text: one line.
            noted: of the question that brought it up; is added to.
        """
        if topic not in self._topics:
            self._topics.add(topic)
            noted.append(text)
            _log.warning("%s", text)


@dataclass(slots=True)
class TokenRatio:
    """Highest ratio so far of a request's actual input tokens to the expected ones, at least 1."""

    most: float = 1.0

    def learn(self, expected: int, used: int) -> None:
        """Raise the ratio if a request used more input tokens than were expected."""
        self.most *= max(1.0, (used - _FRAME_TOKENS) / max(expected, 1))


class OutOfReplies(MindFailed):
    """Error that a conversation has had as many replies as are allowed; no further request was sent."""


@dataclass(slots=True)
class Replies:
    """Count of replies in a conversation, usable or not, and the most that are allowed."""

    most: float = inf
    """Most replies that are allowed."""
    taken: int = 0
    """Number of replies so far."""


@dataclass(slots=True)
class RequestUsage:
    """The requests, tokens, dollars and waiting time of one question so far."""

    about: str = ""
    """Name of the prompt, for traces."""
    orders: str = ""
    """System prompt that is sent with the messages, for traces."""
    attempts: int = 0
    """Number of requests sent so far, failed ones included."""
    lost: int = 0
    """Number of requests so far to which no readable answer came."""
    waited: float = 0.0
    """Seconds spent waiting for replies, without pauses between tries."""
    replies: Replies = field(default_factory=Replies)
    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    """US dollars of the requests whose usage is known, each priced by itself."""
    last: Usage | None = None
    """Token counts of the latest request; `None` where they are unknown."""
    unknown_tokens: int = 0
    """Estimated input tokens of requests whose usage is unknown, since their replies were lost."""
    unknown_usd: float = 0.0
    """US dollars reserved for requests whose replies were lost, since they may be billed."""
    remarks: list[str] = field(default_factory=list)
    """Remarks on the model that were first made at this question."""
    started: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True, slots=True)
class Sender:
    """A sender of requests to one model, with budget, retries, redaction and traces."""

    name: str
    """Name of the model, used in errors and for prices."""
    redaction: Redaction
    """Remover of keys from replies, errors and traces."""
    price: tuple[float, float] | None
    """US dollars for a million tokens (input, output) as the user states them; `None` for known prices."""
    retries: int
    """Most further requests for one question where a reply was lost or does not fit."""
    policy: RetryPolicy
    """Tries and pauses for requests that fail for a while; not for replies that do not fit (`retries`)."""
    limiter: BaseRateLimiter | None
    """Limiter that is waited for before each request; `None` for no rate limit."""
    ledger: Ledger
    """Ledger in which the cost of each request is held, then paid."""
    longest_reply: int
    """Upper bound on a reply's tokens, whose cost is held in the budget before the request."""
    longest_question: float
    """Upper bound on the seconds that all replies to a question may take together."""
    remarks: Remarks = field(default_factory=Remarks)
    density: TokenRatio = field(default_factory=TokenRatio)
    pauses: Callable[[float, str], None] = lambda _seconds, _why: None
    """Function called before each pause, with the pause's seconds and its reason in words."""
    parameters: Parameters = dict
    """Function that returns the request's parameters for traces."""

    def send(
        self, ask: ModelCall, messages: Sequence[BaseMessage], tally: RequestUsage, *, beside: int = 0
    ) -> AIMessage:
        """Return the model's answer, repeating failures that may pass; `beside`: letters sent with messages.

        Args:
            ask: sends messages to the model.
            messages: what it is asked.
            tally: of the question, to which requests and tokens are added.
            beside: letters that go with the messages, such as the schemas of tools.

        Raises:
            BudgetExceeded: the request may cost more than is left; it was not sent.
            ModelUnavailable: the model cannot be asked, or not for a while.
            MindFailed: it refused, or its replies were cut off or unreadable.
            OutOfReplies: as many have come as may.
        """
        outcome = self.policy.run(
            lambda: self._try(ask, messages, tally, beside), _to_failure, tell=self._report_pause
        )
        if isinstance(outcome, _Failed):
            self._raise(outcome, tally)
        return outcome

    def usd(self, usage: Usage) -> float | None:
        """Return the cost of one request with these tokens in US dollars; `None` if the price is unknown."""
        return request_usd(self.name, usage, self.price)

    def clean(self, text: str, most: int = MAX_TEXT) -> str:
        """Return a text on one line, at most `most` characters, with keys removed."""
        return in_a_line(text, self.redaction, most)

    def give_up(self, fault: LLMFault, said: str) -> NoReturn:
        """Raise the error for a lasting kind of failure, with the server's words `said` and advice on it.

        Raises without a cause: the provider's exception may quote the key.

        Raises:
            ModelShut: the key is not accepted, or the model is not known.
            RequestRefused: the request as such is refused.
            NotTaken: the model does not take a part of the request.
            MindFailed: a reply came that cannot be used.
        """
        provider = self.name.partition(":")[0]
        keys = " or ".join(KEYS.get(provider, ())) or "the provider's key variable"
        keys += f" ({OWN_SERVER_KEY} for a server of your own)" if provider.startswith("openai") else ""
        advice = {
            LLMFault.KEY: f"does not accept the key: check {keys} in your environment",
            LLMFault.UNKNOWN_MODEL: "is not known to the server: check the model's name and the base URL",
            LLMFault.NO_QUOTA: "has no quota left: check the plan and the billing of the account",
            LLMFault.NO_CHAT: "has a base URL at which no chat server answers: check the base URL "
            "(docs/how-to/language-models.md)",
            LLMFault.NO_TOOLS: "takes no tools: start its server with them (llama.cpp: --jinja; vLLM: "
            "--enable-auto-tool-choice, --tool-call-parser), or choose another model, or a `routine`",
            LLMFault.TOO_MUCH: "has a server that accepts only smaller requests: allow shorter replies and "
            f"conversations, as in --mind '{self.name}?max_tokens=N&context=N', or pictures=no",
        }
        if fault in (LLMFault.KEY, LLMFault.UNKNOWN_MODEL):
            raise ModelShut(f"{self.name} {advice[fault]} ({said})") from None
        if fault in advice:
            raise RequestRefused(f"{self.name} {advice[fault]} ({said})") from None
        happened = {
            LLMFault.CUT_OFF: "ran into its token limit before the reply was complete: allow more, "
            f"as in --mind '{self.name}?max_tokens=N', or less reasoning (effort=low)",
            LLMFault.REFUSED: "refused to answer",
            LLMFault.TOO_LONG: "cannot read so long a prompt: choose a model with more context, start its "
            f"server with more, or shorten conversations with tools, as in --mind '{self.name}?context=N'",
            LLMFault.UNREADABLE: "sent replies that cannot be read",
        }
        if fault is LLMFault.NOT_TAKEN and (ability := refused_ability(said)):
            raise NotTaken(ability, f"{self.name} does not take {ability}: {said}", said) from None
        if fault in happened:
            raise MindFailed(f"{self.name} {happened[fault]}: {said}") from None
        raise RequestRefused(
            f"{self.name} failed: {said} (when it works again, go on with {way_on()})"
        ) from None

    def _try(
        self, ask: ModelCall, messages: Sequence[BaseMessage], tally: RequestUsage, beside: int
    ) -> "AIMessage | _Failed":
        """Send one traced request within budget and rate limit; return the model's answer or the failure."""
        if tally.replies.taken >= tally.replies.most:
            raise OutOfReplies(
                f"{self.name} gave all {tally.replies.most:g} replies of `limits: calls`: increase it"
            )
        if tally.waited >= self.longest_question:
            return self._out_of_time()
        if self.limiter:
            self.limiter.acquire()
        # what the request may cost is held before it is sent: work beside it pays from the same budget
        expected = expected_usage(
            messages,
            reply=self.longest_reply,
            beside=beside,
            picture=picture_tokens(self.name),
            density=self.density.most,
        )
        price = Price(self.name, 1, (self.usd(expected) or 0.0) * 1e6)
        hold = self.ledger.hold(price, self.name, "model", input_tokens=expected.input_tokens)
        tally.attempts += 1
        tally.last = None
        attempt = tally.attempts
        with trace_request(self.parameters, self.redaction, about=tally.about, attempt=attempt) as traced:
            traced.set_question(messages, tally.orders)
            outcome = self._request(ask, messages, hold, tally)
            if tally.last:
                traced.set_usage(tally.last, self.usd(tally.last))
            if isinstance(outcome, _Failed):
                traced.fail(outcome.fault.value)
            else:
                traced.set_answer(outcome)
        return outcome

    def _request(
        self, ask: ModelCall, messages: Sequence[BaseMessage], hold: Hold, tally: RequestUsage
    ) -> "AIMessage | _Failed":
        """Send one request, pay it out of `hold`, count it in `tally`; return the answer or the failure."""
        asked = time.monotonic()
        try:
            with whole_within(self.longest_question - tally.waited):
                answer = ask(list(messages))
        except Exception as error:  # noqa: BLE001  each provider raises what it likes
            tally.waited += time.monotonic() - asked
            failed = self._lose_reply(error, hold, tally)
            late = failed.fault is LLMFault.BROKEN and tally.waited >= self.longest_question
            return self._out_of_time() if late else failed
        tally.waited += time.monotonic() - asked
        try:
            usage = check_answer(answer)
        except ValueError as fault:  # nobody knows what it cost: what was held stays
            return self._count_unread(LLMFault.UNREADABLE, self.clean(str(fault)), hold, tally)
        if usage is None:
            usage = Usage(hold.input_tokens, 0, said_usage(answer))
            told = f"{self.name} does not say how many tokens it used: they are estimated here"
            self.remarks.say("tokens", told, tally.remarks)
        # a tokenizer that made more of the text than was expected is reckoned with from now on
        self.density.learn(hold.input_tokens, usage.input_tokens)
        self._count(usage, hold, tally)
        tally.replies.taken += 1
        fields = {  # without the keys that its server may have repeated, and so that its text can be stored
            name: self.redaction.tree(plain_tree(getattr(answer, name), whole_text))
            for name in type(answer).model_fields
        }
        return answer.model_copy(update=fields)

    def _out_of_time(self) -> "_Failed":
        """Return the lasting failure of a question whose replies took over `longest_question` seconds."""
        said = (
            f"no reply within {self.longest_question:g} s for a question: allow more, "
            f"as in --mind '{self.name}?question_timeout=N'"
        )
        return _Failed(LLMFault.BROKEN, said, None, may_retry=False)

    def _lose_reply(self, error: Exception, hold: Hold, tally: RequestUsage) -> "_Failed":
        """Count a request that raised an exception as paid or as lost, and return the failure."""
        fault, said = classify(error), self.clean(words_of(error), MOST_WORDS)
        status = status_of(error)
        # without a status nobody knows whether the model has answered: what was held counts as paid
        if status is None and (may_be_billed(error) or (fault in _MAY_BE_ANSWERS and not never_left(error))):
            return self._count_unread(fault, said, hold, tally)
        self._count(usage_in(error), hold, tally)
        # these are replies of the model, although nothing can be done with them
        tally.replies.taken += fault in (LLMFault.CUT_OFF, LLMFault.UNREADABLE)
        if status is not None or fault is not LLMFault.BROKEN:
            return _Failed(fault, said, retry_after(error), fault in (LLMFault.LIMITED, LLMFault.BROKEN))
        tally.lost += 1
        return _Failed(fault, said, None, tally.lost <= self.retries)

    def _count_unread(self, fault: LLMFault, said: str, hold: Hold, tally: RequestUsage) -> "_Failed":
        """Count a lost reply, whose cost may be billed and stays held, and return the failure."""
        tally.unknown_usd += hold.price.usd
        tally.unknown_tokens += hold.input_tokens
        tally.lost += 1
        tally.replies.taken += fault is LLMFault.UNREADABLE
        again = fault in (LLMFault.BROKEN, LLMFault.UNREADABLE)
        return _Failed(fault, said, None, again and tally.lost <= self.retries)

    def _count(self, usage: Usage, hold: Hold, tally: RequestUsage) -> None:
        """Add a request's tokens and dollars to `tally`, and pay the dollars out of those held by `hold`."""
        tally.usage += usage
        tally.last = usage
        usd = self.usd(usage) or 0.0
        tally.usd += usd
        hold.settle(usd, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)

    def _report_pause(self, outcome: "AIMessage | _Failed", pause: float) -> None:
        """Report a failed request's `pause`, in seconds, before another try, in the log and to `pauses`."""
        if isinstance(outcome, _Failed):
            asked = "asks to wait" if outcome.wait is not None else f"failed ({outcome.said}): waiting"
            _log.info("%s %s %.1f s", self.name, asked, pause)
            self.pauses(pause, outcome.said)

    def _raise(self, failed: "_Failed", tally: RequestUsage) -> NoReturn:
        """Raise the error of a failure after which no further try is made."""
        if failed.fault not in (LLMFault.LIMITED, LLMFault.BROKEN):
            self.give_up(failed.fault, failed.said)
        if failed.wait is not None and failed.wait > self.policy.longest_wait:
            raise ModelUnavailable(
                f"{self.name} asks to wait {failed.wait:.0f} s before the next request: "
                f"go on then with {way_on()}"
            )
        times = "once" if tally.attempts == 1 else f"{tally.attempts} times"
        raise ModelUnavailable(
            f"{self.name} failed {times}: {failed.said} (when it works again, go on with {way_on()})"
        )


@dataclass(frozen=True, slots=True)
class _Failed:
    """A failed request: its kind and words. The provider's exception may quote the key, so it is dropped."""

    fault: LLMFault
    said: str
    """Words of the server or of its client library, in one line, without keys."""
    wait: float | None
    """Seconds that the server asks to wait before another try; `None` if it names none."""
    may_retry: bool


def _to_failure(outcome: AIMessage | _Failed) -> _Failed | None:
    """Return the outcome of a request if it is a failure; `None` if it is an answer."""
    return outcome if isinstance(outcome, _Failed) else None
