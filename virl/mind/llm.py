"""`LLMMind`: any LangChain model, held to typed replies or asked for plain text."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, Self

from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.rate_limiters import BaseRateLimiter
from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from virl.budget import Budget
from virl.errors import MindFailed, ModelUnavailable, VirlError
from virl.mind.answers import faults_in, given_text, is_cut_off, read_reply, refusal_in, usage_of
from virl.mind.asking import Ask, Model, asker
from virl.mind.base import Exchange, Ledger, Prompt, ReplyT
from virl.mind.cache import ReplyCache, request_key
from virl.mind.faults import Fault, classify, redact, retry_after, secrets_of, usage_in
from virl.mind.pictures import image_block, image_notes
from virl.mind.prices import Prices, Usage, expected_usage, load_prices
from virl.mind.prompt import load_prompt, render
from virl.mind.replies import Reply, Text
from virl.platform.streetview import Image

Method = Literal["json_schema", "function_calling", "json_mode"]

LONGEST_WAIT_S = 30.0  # chosen: a walk that waits longer at a step is better resumed later
FIRST_WAIT_S = 0.5  # chosen; doubles with every further try

_NOT_PART_OF_REQUEST = ("max_retries", "request_timeout", "timeout", "default_request_timeout")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Tally:
    """What one question has taken so far."""

    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    started: float = field(default_factory=time.perf_counter)


class LLMMind:
    """Answers prompts with a chat model, or those that ask for plain text with a completion model.

    A reply that does not fit its type is sent back with the fault named; a request that fails for the moment
    is tried again. Both together at most `retries` times a question.

    Args:
        model: any LangChain chat or completion model; its own retries should be off.
        name: such as `"openai:gpt-5-mini"`; also the name its price goes by.
        cache: where replies are kept; `None` keeps none.
        retries: further requests after the first, 0 or more.
        prices: by default those that come with virl.
        method: how LangChain asks for structured output; `None` takes the provider's own choice.
        longest_wait: seconds, the most that is waited before another try.
        sleep: waits some seconds.
        limiter: asked before every request that is sent; `None` sets no limit.
        budget: checked before every request against what it is expected to cost; `None` sets no limit.
    """

    def __init__(  # noqa: PLR0913  each of them is for a caller to choose
        self,
        model: Model,
        name: str,
        *,
        cache: ReplyCache | None = None,
        retries: int = 2,
        prices: Prices | None = None,
        method: Method | None = None,
        longest_wait: float = LONGEST_WAIT_S,
        sleep: Callable[[float], None] = time.sleep,
        limiter: BaseRateLimiter | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._model = model
        self._name = name
        self._cache = cache
        self._retries = retries
        self._prices = prices or load_prices()
        self._options = {} if method is None else {"method": method}
        self._longest_wait = longest_wait
        self._sleep = sleep
        self._limiter = limiter
        self._budget = budget or Budget()
        self._secrets = secrets_of(model)
        self._mend = load_prompt("parts/invalid-reply", Reply)
        self._ledger = Ledger()
        self._unpriced: set[str] = set()

    @property
    def name(self) -> str:
        """Such as `"openai:gpt-5-mini"`."""
        return self._name

    @property
    def ledger(self) -> Ledger:
        """Where each exchange is written down, failed ones with `error` as their reply."""
        return self._ledger

    def apart(self) -> Self:
        """The same mind with a ledger of its own, for work that runs side by side."""
        other = copy(self)
        other._ledger = Ledger()  # noqa: SLF001  of its own class
        return other

    @property
    def unpriced(self) -> frozenset[str]:
        """Models whose tokens were counted at 0 dollars because their price is unknown."""
        return frozenset(self._unpriced)

    def ask(self, prompt: Prompt[ReplyT], *, images: Sequence[Image] = (), **inputs: object) -> ReplyT:
        """As `Mind.ask`."""
        text = render(prompt, inputs)
        if issubclass(prompt.reply, Text):
            text = text.rstrip()  # a completion goes on where it ends
        blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": text}]
        message = HumanMessage(content=blocks + [image_block(image) for image in images])
        noted = to_jsonable_python(inputs) | ({"images": image_notes(images)} if images else {})
        key = self._key(prompt, message)
        tally = _Tally()
        if self._cache and (kept := self._cache.get(key, prompt.reply, inputs)):
            self._write_down(prompt.name, noted, kept.model_dump(), tally, cached=True)
            return kept
        try:
            reply = self._converse(prompt, message, inputs, tally)
        except VirlError as fault:
            self._write_down(prompt.name, noted, {"error": str(fault)}, tally)
            raise
        self._write_down(prompt.name, noted, reply.model_dump(), tally)
        self._keep(key, prompt.name, reply.model_dump(mode="json"))
        return reply

    def _converse(
        self, prompt: Prompt[ReplyT], message: HumanMessage, inputs: dict[str, object], tally: _Tally
    ) -> ReplyT:
        ask = asker(self._model, self._name, prompt, self._options)
        messages: list[BaseMessage] = [message]
        while True:
            answer = self._request(ask, messages, tally)
            if refusal := refusal_in(answer):
                raise MindFailed(f"{self._name} refused to answer {prompt.name}: {self._clean(refusal)}")
            if is_cut_off(answer):
                self._give_up(Fault.CUT_OFF, "it sent no text")
            try:
                return read_reply(answer, prompt, inputs)
            except ValidationError as invalid:
                fault = self._clean(faults_in(invalid))
            if tally.attempts > self._retries:
                raise MindFailed(
                    f"{self._name} gave no valid reply to {prompt.name} in {tally.attempts} tries: {fault}"
                )
            messages += [
                AIMessage(content=given_text(answer) or "(nothing)"),
                HumanMessage(content=render(self._mend, {"fault": fault})),
            ]

    def _request(self, ask: Ask, messages: list[BaseMessage], tally: _Tally) -> AIMessage:
        """The model's answer, tried again while the failure may pass."""
        while True:
            tally.attempts += 1
            if self._limiter:
                self._limiter.acquire()
            held = self._usd(expected_usage(messages))
            self._budget.hold(held, self._name)
            try:
                answer = ask(messages)
            except Exception as error:  # noqa: BLE001  each provider raises what it likes
                self._count(usage_in(error), held, tally)
                wait = self._wait_before_retry(error, tally)
            else:
                self._count(usage_of(answer), held, tally)
                return answer
            self._sleep(wait)

    def _count(self, usage: Usage, held: float, tally: _Tally) -> None:
        tally.usage += usage
        self._budget.settle(held, self._usd(usage), self._name)

    def _usd(self, usage: Usage) -> float:
        return self._prices.usd(self._name, usage) or 0.0

    def _wait_before_retry(self, error: Exception, tally: _Tally) -> float:
        """Seconds to wait, or the end of trying: raises.

        Raises without a cause: the provider's exception may quote the key.
        """
        fault, said = classify(error), self._clean(str(error) or type(error).__name__)
        if fault not in (Fault.LIMITED, Fault.BROKEN):
            self._give_up(fault, said)
        if tally.attempts > self._retries:
            raise ModelUnavailable(
                f"{self._name} failed {tally.attempts} times, try again later: {said}"
            ) from None
        wait = retry_after(error)
        if wait is None:
            return min(self._longest_wait, FIRST_WAIT_S * 2.0 ** (tally.attempts - 1))
        if wait > self._longest_wait:
            raise ModelUnavailable(
                f"{self._name} asks to wait {wait:.0f} s before the next request: try again then"
            ) from None
        _log.info("%s asks to wait %.1f s", self._name, wait)
        return wait

    def _give_up(self, fault: Fault, said: str) -> NoReturn:
        advice = {
            Fault.KEY: "does not accept the key: check the provider's key variable in your environment",
            Fault.UNKNOWN_MODEL: "is not known to the server: check the model's name and the base URL",
            Fault.NO_QUOTA: "has no quota left: check the plan and the billing of the account",
        }
        if fault in advice:
            raise ModelUnavailable(f"{self._name} {advice[fault]} ({said})") from None
        happened = {
            Fault.CUT_OFF: "ran into its token limit before the reply was complete",
            Fault.REFUSED: "refused to answer",
        }
        raise MindFailed(f"{self._name} {happened.get(fault, 'failed')}: {said}") from None

    def _key(self, prompt: Prompt[ReplyT], message: HumanMessage) -> str:
        parameters = dumpd(self._model).get("kwargs", {})
        for name in _NOT_PART_OF_REQUEST:
            parameters.pop(name, None)
        request = {
            "model": self._name,
            "parameters": parameters,
            "options": self._options,
            "message": message.content,
            "schema": prompt.reply.model_json_schema(),
            "prompt": prompt.body,
        }
        return request_key(request | ({"stop": prompt.stop} if prompt.stop else {}))

    def _keep(self, key: str, prompt: str, reply: dict[str, object]) -> None:
        if self._cache is None:
            return
        try:
            self._cache.put(key, model=self._name, prompt=prompt, reply=reply)
        except OSError as fault:
            _log.warning("%s: cannot keep replies there: %s", self._cache.folder, fault)

    def _write_down(
        self,
        prompt: str,
        inputs: Mapping[str, object],
        reply: Mapping[str, object],
        tally: _Tally,
        *,
        cached: bool = False,
    ) -> None:
        usd = self._prices.usd(self._name, tally.usage)
        if usd is None and not cached and self._name not in self._unpriced:
            self._unpriced.add(self._name)
            _log.warning("no price is known for %s: its tokens count as 0 dollars", self._name)
        self._ledger.add(
            Exchange(
                prompt,
                self._name,
                inputs,
                reply,
                cached=cached,
                attempts=tally.attempts,
                input_tokens=tally.usage.input_tokens,
                output_tokens=tally.usage.output_tokens,
                usd=usd or 0.0,
                seconds=time.perf_counter() - tally.started,
            )
        )

    def _clean(self, text: str) -> str:
        return redact(text, self._secrets)
