"""`LLMMind`: any LangChain model, held to typed replies or asked for plain text."""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Literal, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.rate_limiters import BaseRateLimiter
from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from virl.budget import Budget
from virl.errors import BadInput, CannotWrite, MindFailed, VirlError
from virl.mind.answers import excerpt, faults_in, read_reply
from virl.mind.base import Exchange, Ledger, Pictures, Prompt, ReplyT
from virl.mind.cache import ReplyCache, request_key
from virl.mind.chat.abilities import Abilities, NotTaken
from virl.mind.chat.asking import Ask, Model, asker
from virl.mind.chat.endings import fault_of_turn, is_cut_off, is_empty, refusal_in, taken_back, unusable
from virl.mind.chat.hearing import Hearing, let_hear
from virl.mind.chat.providers import REASONED_TOKENS, ChatManner, manner_of
from virl.mind.chat.question import CACHE_MARK, Question, question_of
from virl.mind.chat.tracing import asked_of, tell_kept
from virl.mind.conversation import Said, conversation_key, notes_on, tools_in, what_it_says
from virl.mind.faults import LLMFault, redaction_of
from virl.mind.pictures import Describe, has_pictures, image_notes, without_pictures
from virl.mind.prices import Prices, load_prices
from virl.mind.prompt import load_prompt, render
from virl.mind.remarks import Remarks
from virl.mind.replies import Reply, Text
from virl.mind.sending import RequestUsage, Sender
from virl.mind.settings import MindSettings
from virl.redaction import Redaction

Method = Literal["json_schema", "function_calling", "json_mode"]

LONGEST_WAIT_S = 60.0
"""Chosen: limits are often by the minute; a walk that waits longer at a step is better resumed later."""
FIRST_WAIT_S = 0.5  # chosen; doubles with every further try
LONGEST_FAULT = 600  # letters of what was wrong with a reply that a model is told (chosen)

_NOT_PART_OF_REQUEST = (
    "max_retries", "request_timeout", "timeout", "default_request_timeout", "client_kwargs", "stream_usage",
)  # fmt: skip

_MOST_ASKERS = 64  # chosen: more than the schemas of one run
_LEFT_OUT = {
    "schema": "takes no JSON schema: the fields of replies are named in the prompt",
    "seed": "takes no seed: its replies may differ from run to run",
    "temperature": "takes no temperature: its own is used",
}

InWords = Callable[[], Sequence[BaseMessage]]

_log = logging.getLogger(__name__)


class LLMMind:
    """Answers prompts with a chat model, or those that ask for plain text with a completion model.

    A reply that does not fit its type is asked for again with the fault named, at most `retries` times a
    question; a request that fails for the moment is tried again, for about a minute where the server says so.

    Args:
        model: any LangChain chat or completion model; its own retries should be off.
        name: such as `"openai:gpt-5-mini"`; also the name its price goes by.
        cache: where replies are kept; `None` keeps none.
        retries: further requests after the first, 0 or more.
        prices: by default those that come with virl.
        manner: how the model is asked; by default as its provider's models are.
        abilities: what the model takes; by default everything, until it refuses something.
        longest_reply: tokens of a reply at most; so many are held in the budget until it is there.
        settings: as the user has set them, for those who hold conversations through `converse`.
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
        manner: ChatManner | None = None,
        abilities: Abilities | None = None,
        longest_reply: int = REASONED_TOKENS,
        settings: MindSettings | None = None,
        longest_wait: float = LONGEST_WAIT_S,
        sleep: Callable[[float], None] = time.sleep,
        limiter: BaseRateLimiter | None = None,
        budget: Budget | None = None,
    ) -> None:
        self._model = model
        self._name = name
        self._cache = cache
        self._manner = manner or manner_of(name)
        self._abilities = abilities or Abilities()
        redaction = redaction_of(model)
        self._hearing: list[Hearing] = []
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
            longest_reply=longest_reply,
            remarks=Remarks(),
            pauses=self._pauses,
            parameters=asked_of(name, model),
        )
        self._retries = retries
        self.settings = settings or MindSettings()
        self._mend = load_prompt("mind/invalid-reply", Reply)
        self._request = _own_part(model, name, redaction)
        self._ledger = Ledger()
        self._describe: Describe | None = None
        self._askers: dict[str, Ask] = {}

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
        return frozenset({self._name} if self._sender.remarks.has("price") else ())

    def tell(self, hearing: Hearing) -> None:
        """Tell of replies while they come, and of pauses."""
        self._hearing.append(hearing)
        let_hear(self._model, self._name, hearing, self._sender.redaction)

    def _pauses(self, seconds: float, why: str) -> None:
        for one in self._hearing:
            one.waits(self._name, seconds, why)

    @property
    def profile(self) -> Mapping[str, object]:
        """What LangChain knows of the model, such as `max_input_tokens`; empty if it knows nothing."""
        return dict(getattr(self._model, "profile", None) or {})

    @property
    def chats(self) -> bool:
        """Whether it is a chat model, and no completion model."""
        return isinstance(self._model, BaseChatModel)

    @property
    def sees(self) -> bool:
        """Whether the model is sent pictures; true until it refuses one."""
        return self._abilities.sees

    def describe_by(self, describe: Describe) -> None:
        """Have somebody say what views show, where the model takes no pictures."""
        self._describe = describe

    def ask(self, prompt: Prompt[ReplyT], *, images: Pictures = (), **inputs: object) -> ReplyT:
        """As `Mind.ask`."""
        noted = to_jsonable_python(inputs) | ({"images": image_notes(images)} if images else {})
        tally = RequestUsage(prompt.name)
        while True:
            try:
                return self._ask(prompt, images, inputs, noted, tally)
            except NotTaken as refused:
                if not self._learns(refused, tally):
                    self._write_down(prompt.name, noted, {"error": str(refused)}, tally)
                    raise
            except VirlError as fault:
                self._write_down(prompt.name, noted, {"error": str(fault)}, tally)
                raise

    def _ask(
        self,
        prompt: Prompt[ReplyT],
        images: Pictures,
        inputs: dict[str, object],
        noted: dict[str, object],
        tally: RequestUsage,
    ) -> ReplyT:
        if images and not (self._abilities.sees or prompt.needs_pictures):
            self._says_blind(tally)
        question = question_of(
            prompt, inputs, images, self._manner, self._abilities, self._model, self._describe
        )
        key = self._key(prompt, question)
        if self._cache and (kept := self._cache.get(key, prompt.reply, inputs)):
            self._write_down(prompt.name, noted, kept.model_dump(), tally, cached=True)
            return kept
        reply = self._converse(prompt, question, inputs, tally)
        self._write_down(prompt.name, noted, reply.model_dump(), tally)
        if not (isinstance(reply, Text) and not reply.text.strip()):
            self._keep(key, prompt.name, reply.model_dump(mode="json"))
        return reply

    def replays(self, about: str) -> None:
        """Have traces tell of a turn that a run has from its journal: nothing is sent."""
        tell_kept(self._sender.parameters, about, how="replayed")

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
        self,
        about: str,
        ask: Ask,
        messages: Sequence[BaseMessage],
        frame: Mapping[str, object],
        in_words: InWords | None = None,
    ) -> AIMessage:
        """What the model says next in a conversation that the caller holds.

        Sent, paid for and written down as the questions of `ask`. A turn in which nothing was said, or that
        was cut off or spoilt, is asked for again. Only turns that call tools of the frame, or answer in
        words, are kept for later runs. What is returned can be sent back in a history: its calls have legal
        names and ids of their own.

        Args:
            about: the name under which it is written down.
            ask: puts the messages to `chat_model`, with what belongs to the frame.
            messages: all so far.
            frame: what goes with them each time, as plain data: the system prompt, the schemas of tools.
            in_words: gives the same messages with words in the place of pictures, for a model that takes
                none; by default a picture is only said to be there.

        Raises:
            BudgetExceeded: it may cost more than is left; nothing was sent.
            ModelUnavailable: the model cannot be reached.
            MindFailed: what it said was cut off each time.
        """
        tally, noted = RequestUsage(about, orders=str(frame.get("system") or "")), notes_on(messages)
        key = conversation_key(self._request, self._shown(messages, in_words, tally), frame)
        if self._cache and (kept := self._cache.get(key, Said, {})):
            self._write_down(about, noted, what_it_says(kept.read()), tally, cached=True)
            return kept.read()
        try:
            answer = self._turn(ask, messages, in_words, tally, len(json.dumps(frame)))
        except VirlError as fault:
            self._write_down(about, noted, {"error": str(fault)}, tally)
            raise
        said = taken_back(answer, messages)
        self._write_down(about, noted, what_it_says(said), tally)
        if not unusable(answer, tools_in(frame)):
            key = conversation_key(self._request, self._shown(messages, in_words, tally), frame)
            self._keep(key, about, Said.of(said).model_dump(mode="json"))
        return said

    def _turn(
        self,
        ask: Ask,
        messages: Sequence[BaseMessage],
        in_words: InWords | None,
        tally: RequestUsage,
        beside: int,
    ) -> AIMessage:
        """A turn of a conversation, the last of several tries if none is any good."""
        note = load_prompt("mind/unusable-turn", Reply)
        fault, replies = "", 0
        while True:
            added = [HumanMessage(content=render(note, {"fault": fault}))] if fault else []
            sent = self._marked([*self._shown(messages, in_words, tally), *added])
            try:
                answer = self._sender.send(ask, sent, tally, beside=beside)
            except NotTaken as refused:
                if not self._learns(refused, tally):
                    raise
                continue
            replies += 1
            if is_cut_off(answer) and is_empty(answer):
                self._sender.give_up(LLMFault.CUT_OFF, "it sent no text")
            fault = fault_of_turn(answer)
            if not fault or replies > self._retries:
                if fault and is_cut_off(answer):
                    self._sender.give_up(LLMFault.CUT_OFF, fault)
                return answer

    def _shown(
        self, messages: Sequence[BaseMessage], in_words: InWords | None, tally: RequestUsage
    ) -> list[BaseMessage]:
        """The messages, with words in the place of their pictures where the model takes none."""
        if self._abilities.sees or not any(map(has_pictures, messages)):
            return list(messages)
        self._says_blind(tally)
        return list(in_words()) if in_words else [without_pictures(message) for message in messages]

    def _learns(self, refused: NotTaken, tally: RequestUsage) -> bool:
        """Whether what was refused can be left out; it is, from now on."""
        if not self._abilities.learn(refused, self._model):
            return False
        if told := _LEFT_OUT.get(refused.ability):
            self._sender.remarks.say(refused.ability, f"{self._name} {told}", tally.remarks)
        return True

    def _says_blind(self, tally: RequestUsage) -> None:
        how = "left out" if self._describe is None else "described in words"
        self._sender.remarks.say("pictures", f"{self._name} takes no pictures: they are {how}", tally.remarks)

    def _marked(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        """The messages, the last one marked for the provider's cache where it wants that."""
        last = messages[-1]
        if not (self._manner.marks_cache and isinstance(last.content, str) and last.content):
            return messages
        marked = last.model_copy(update={"content": [{"type": "text", "text": last.content, **CACHE_MARK}]})
        return [*messages[:-1], marked]

    def _converse(
        self, prompt: Prompt[ReplyT], question: Question, inputs: dict[str, object], tally: RequestUsage
    ) -> ReplyT:
        ask = self._asker(prompt, question)
        messages: list[BaseMessage] = list(question.messages)
        replies = 0
        while True:
            answer = self._sender.send(ask, messages, tally, beside=question.beside)
            replies += 1
            if refusal := refusal_in(answer):
                raise MindFailed(
                    f"{self._name} refused to answer {prompt.name}: {self._sender.clean(refusal)}"
                )
            if is_cut_off(answer) and is_empty(answer):
                self._sender.give_up(LLMFault.CUT_OFF, "it sent no text")
            try:
                return read_reply(answer, prompt, inputs)
            except ValidationError as invalid:
                fault = self._sender.clean(faults_in(invalid), LONGEST_FAULT)
            if is_cut_off(answer):
                self._sender.give_up(LLMFault.CUT_OFF, f"{prompt.name} got half a reply")
            if replies > self._retries:
                raise MindFailed(
                    f"{self._name} gave no valid reply to {prompt.name} in {replies} tries: {fault[:200]}"
                )
            messages = [
                *question.messages,
                AIMessage(content=excerpt(answer) or "(nothing)"),
                HumanMessage(content=render(self._mend, {"fault": fault, "fields": question.fields})),
            ]

    def _asker(self, prompt: Prompt[ReplyT], question: Question) -> Ask:
        """How the model is asked for this type of reply; made once for each schema."""
        schema = question.schema if question.held else None
        kind = json.dumps([prompt.reply.__qualname__, prompt.stop, schema])
        if kind not in self._askers:
            if len(self._askers) >= _MOST_ASKERS:
                self._askers.clear()
            self._askers[kind] = asker(self._model, self._name, prompt, self._manner, schema)
        return self._askers[kind]

    def _key(self, prompt: Prompt[ReplyT], question: Question) -> str:
        request = self._request | {
            "method": self._manner.method,
            "messages": question.parts(),
            "schema": question.schema,
            "held": question.held,
            "prompt": [prompt.orders, prompt.body],
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
        if cached:
            tell_kept(self._sender.parameters, prompt)
        usd = self._sender.usd(tally.usage)
        if usd is None and not cached:
            told = f"no price is known for {self._name}: its tokens count as 0 dollars"
            self._sender.remarks.say("price", told, tally.remarks)
        self._ledger.add(
            Exchange(
                prompt,
                self._name,
                inputs,
                reply,
                cached=cached,
                attempts=tally.attempts,
                input_tokens=tally.usage.input_tokens + tally.unknown_tokens,
                output_tokens=tally.usage.output_tokens,
                usd=(usd or 0.0) + tally.unknown_usd,
                seconds=time.perf_counter() - tally.started,
                remark="; ".join(tally.remarks),
            )
        )


def _own_part(model: Model, name: str, redaction: Redaction) -> dict[str, object]:
    """The part of every request that is the model's own, without credentials; not to be changed."""
    parameters = dumpd(model).get("kwargs", {})
    for one in _NOT_PART_OF_REQUEST:
        parameters.pop(one, None)
    return {"model": name, "parameters": redaction.tree(parameters)}
