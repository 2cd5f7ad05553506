"""`LLMMind`: any LangChain model, held to typed replies or asked for plain text."""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Literal, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.rate_limiters import BaseRateLimiter
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from virl.budget import Budget
from virl.errors import BadInput, CannotWrite, MindFailed, VirlError
from virl.mind.answers import faults_in, given_text, is_cut_off, read_reply, refusal_in
from virl.mind.asking import Ask, Model, asker, schema_of
from virl.mind.base import Exchange, Ledger, Prompt, ReplyT
from virl.mind.cache import ReplyCache, request_key
from virl.mind.conversation import Said, conversation_key, notes_on, what_it_says
from virl.mind.faults import LLMFault, redaction_of
from virl.mind.pictures import image_block, image_notes
from virl.mind.prices import Prices, load_prices
from virl.mind.prompt import load_prompt, render
from virl.mind.replies import Reply, Text
from virl.mind.sending import RequestUsage, Sender
from virl.platform.streetview import Image
from virl.redaction import Redaction

Method = Literal["json_schema", "function_calling", "json_mode"]

LONGEST_WAIT_S = 30.0  # chosen: a walk that waits longer at a step is better resumed later
FIRST_WAIT_S = 0.5  # chosen; doubles with every further try

_NOT_PART_OF_REQUEST = ("max_retries", "request_timeout", "timeout", "default_request_timeout")

_log = logging.getLogger(__name__)


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
        self._options = {} if method is None else {"method": method}
        redaction = redaction_of(model)
        self._sender = Sender(
            name,
            redaction,
            prices or load_prices(),
            retries=retries,
            first_wait=FIRST_WAIT_S,
            longest_wait=longest_wait,
            sleep=sleep,
            limiter=limiter,
            budget=budget or Budget(),
        )
        self._mend = load_prompt("mind/invalid-reply", Reply)
        self._request = _own_part(model, name, redaction)
        self._ledger = Ledger()
        self._unpriced: set[str] = set()
        self._askers: dict[tuple[type[BaseModel], tuple[str, ...]], Ask] = {}

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
        tally = RequestUsage()
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

    @property
    def chat_model(self) -> BaseChatModel:
        """The model itself, for one who holds a conversation with it through `converse`.

        Raises:
            BadInput: it is a completion model, which calls no tools.
        """
        if not isinstance(self._model, BaseChatModel):
            raise BadInput(
                f"{self._name} is a completion model and cannot call tools: choose a chat model, "
                "such as --mind openai:MODEL"
            )
        return self._model

    def converse(
        self, about: str, ask: Ask, messages: Sequence[BaseMessage], frame: Mapping[str, object]
    ) -> AIMessage:
        """What the model says next in a conversation that the caller holds.

        Sent, kept, paid for and written down as the questions of `ask`; never tried again for what it says.

        Args:
            about: the name under which it is written down.
            ask: puts the messages to `chat_model`, with what belongs to the frame.
            messages: all so far.
            frame: what goes with them each time, as plain data: the system prompt, the schemas of tools.

        Raises:
            BudgetExceeded: it may cost more than is left; nothing was sent.
            ModelUnavailable: the model cannot be reached.
            MindFailed: what it said was cut off before its first word.
        """
        tally, noted = RequestUsage(), notes_on(messages)
        key = conversation_key(self._request, messages, frame)
        if self._cache and (kept := self._cache.get(key, Said, {})):
            self._write_down(about, noted, what_it_says(kept.read()), tally, cached=True)
            return kept.read()
        try:
            answer = self._sender.send(ask, messages, tally, beside=len(json.dumps(frame)))
            if is_cut_off(answer):
                self._sender.give_up(LLMFault.CUT_OFF, "it sent no text")
        except VirlError as fault:
            self._write_down(about, noted, {"error": str(fault)}, tally)
            raise
        self._write_down(about, noted, what_it_says(answer), tally)
        self._keep(key, about, Said.of(answer).model_dump(mode="json"))
        return answer

    def _converse(
        self, prompt: Prompt[ReplyT], message: HumanMessage, inputs: dict[str, object], tally: RequestUsage
    ) -> ReplyT:
        ask = self._asker(prompt)
        messages: list[BaseMessage] = [message]
        while True:
            answer = self._sender.send(ask, messages, tally)
            if refusal := refusal_in(answer):
                raise MindFailed(
                    f"{self._name} refused to answer {prompt.name}: {self._sender.clean(refusal)}"
                )
            if is_cut_off(answer):
                self._sender.give_up(LLMFault.CUT_OFF, "it sent no text")
            try:
                return read_reply(answer, prompt, inputs)
            except ValidationError as invalid:
                fault = self._sender.clean(faults_in(invalid))
            if tally.attempts > self._sender.retries:
                raise MindFailed(
                    f"{self._name} gave no valid reply to {prompt.name} in {tally.attempts} tries: {fault}"
                )
            messages += [
                AIMessage(content=given_text(answer) or "(nothing)"),
                HumanMessage(content=render(self._mend, {"fault": fault})),
            ]

    def _asker(self, prompt: Prompt[ReplyT]) -> Ask:
        """How the model is asked for this type of reply, made once."""
        kind = (prompt.reply, prompt.stop)
        if kind not in self._askers:
            self._askers[kind] = asker(self._model, self._name, prompt, self._options)
        return self._askers[kind]

    def _key(self, prompt: Prompt[ReplyT], message: HumanMessage) -> str:
        request = self._request | {
            "options": self._options,
            "message": message.content,
            "schema": schema_of(prompt.reply),
            "prompt": prompt.body,
        }
        return request_key(request | ({"stop": prompt.stop} if prompt.stop else {}))

    def _keep(self, key: str, prompt: str, reply: dict[str, object]) -> None:
        if self._cache is None:
            return
        try:
            self._cache.put(key, model=self._name, prompt=prompt, reply=reply)
        except CannotWrite as fault:
            _log.warning("%s: cannot keep replies there: %s", self._cache.folder, fault)

    def _write_down(
        self,
        prompt: str,
        inputs: Mapping[str, object],
        reply: Mapping[str, object],
        tally: RequestUsage,
        *,
        cached: bool = False,
    ) -> None:
        usd = self._sender.usd(tally.usage)
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
                usd=(usd or 0.0) + tally.unknown_usd,
                seconds=time.perf_counter() - tally.started,
            )
        )


def _own_part(model: Model, name: str, redaction: Redaction) -> dict[str, object]:
    """The part of every request that is the model's own, without credentials; not to be changed."""
    parameters = dumpd(model).get("kwargs", {})
    for one in _NOT_PART_OF_REQUEST:
        parameters.pop(one, None)
    return {"model": name, "parameters": redaction.tree(parameters)}
