"""One model in a run: its replies are asked for until they are usable, cached, and written to the ledger."""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import ValidationError

from virl.errors import CannotWrite, MindFailed, RequestRefused, VirlError
from virl.mind.base import Describe, Prompt, ReplyT
from virl.mind.cache import (
    ReplyCache,
    StoredMessage,
    conversation_key,
    request_key,
    summarize_answer,
    summarize_request,
    tool_names_in,
)
from virl.mind.chat.answers import (
    THOUGHTS_ALONE,
    excerpt,
    fault_of_turn,
    faults_in,
    has_too_many_calls,
    is_all_thoughts,
    is_cut_off,
    is_empty,
    read_reply,
    refusal_in,
    repair_answer,
    unusable,
)
from virl.mind.chat.asking import Model, ModelCall
from virl.mind.chat.faults import LLMFault
from virl.mind.chat.question import CACHE_MARK, Question, has_pictures, without_pictures
from virl.mind.chat.sending import Replies, RequestUsage, Sender
from virl.mind.chat.tracing import trace_reused_reply
from virl.mind.prompt import load_prompt, render
from virl.mind.providers import ChatManner, Usage
from virl.mind.replies import Reply
from virl.mind.settings import LEFT_OUT, Abilities, NotTaken
from virl.money.book import Exchange
from virl.money.ledger import Ledger
from virl.redaction import Redaction

# settings that change no reply: kept replies are found again where they differ
_NOT_PART_OF_REQUEST = (
    "max_retries", "request_timeout", "timeout", "default_request_timeout", "client_kwargs", "stream_usage",
)  # fmt: skip

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ModelClient:
    """A model with its sender, settings, cache and ledger: all that one run needs to ask it."""

    model: Model
    name: str
    """Name of the model, such as `"openai:gpt-5-mini"`."""
    request: Mapping[str, object]
    """The model and its parameters as a part of cache keys, from `request_identity`."""
    sender: Sender
    manner: ChatManner
    abilities: Abilities
    cache: ReplyCache | None
    retries: int
    """Most further requests for one question after a reply that does not fit its type."""
    ledger: Ledger
    """Ledger to which each question and its reply are added."""
    describe: Describe | None = None
    """Function that describes views in words for a model that takes no pictures; `None` without one."""

    def learn(self, refused: NotTaken, tally: RequestUsage) -> None:
        """Leave out or lower what the model has just refused, such as pictures, in all further requests.

        Raises:
            RequestRefused: it cannot be left out; names the setting that helps, if there is one.
        """
        if not self.abilities.learn(refused, self.model):
            raise RequestRefused(f"{refused}{self.abilities.advice(refused.ability, self.name)}") from None
        self._say_left_out(tally)

    def _say_left_out(self, tally: RequestUsage) -> None:
        """Report once each ability that requests do without, except pictures, which `says_blind` reports."""
        for ability in self.abilities.left_out:
            if ability != "pictures":
                self.sender.remarks.say(ability, f"{self.name} {LEFT_OUT[ability]}", tally.remarks)

    def says_blind(self, tally: RequestUsage) -> None:
        """Report once, in log and journal, that the model takes no pictures."""
        how = "left out" if self.describe is None else "described in words"
        self.sender.remarks.say("pictures", f"{self.name} takes no pictures: they are {how}", tally.remarks)

    def keep(self, key: str, prompt: str, reply: dict[str, object]) -> None:
        """Add a reply to the cache of replies, if there is one; a full disk only gives a warning.

        Args:
            key: cache key, from `reply_key` or `conversation_key`.
            prompt: name of the prompt.
            reply: as plain data.
        """
        if self.cache is None:
            return
        try:
            self.cache.put(key, model=self.name, prompt=prompt, reply=reply)
        # a full disk ends no run: the reply is there
        except CannotWrite as fault:
            _log.warning("%s: cannot keep replies there: %s", self.cache.folder, fault)

    def write_down(
        self,
        prompt: str,
        inputs: Mapping[str, object],
        reply: Mapping[str, object],
        tally: RequestUsage,
        *,
        cached: bool = False,
    ) -> None:
        """Add a question, its reply and the cost in `tally` to the ledger, `cached` if no model was asked.

        Args:
            prompt: name of the prompt.
            inputs: of the prompt, as data.
            reply: as data.
            tally: requests, tokens and dollars of the question.
            cached: whether the reply was kept from before.
        """
        self._say_left_out(tally)
        if cached:
            trace_reused_reply(self.sender.parameters, prompt)
        if not cached and self.sender.usd(Usage()) is None:
            told = f"no price is known for {self.name}: its tokens count as 0 dollars"
            self.sender.remarks.say("price", told, tally.remarks)
        self.ledger.add(
            Exchange(
                prompt,
                self.name,
                inputs,
                reply,
                cached=cached,
                attempts=tally.attempts,
                input_tokens=tally.usage.input_tokens + tally.unknown_tokens,
                output_tokens=tally.usage.output_tokens,
                usd=tally.usd + tally.unknown_usd,
                seconds=time.perf_counter() - tally.started,
                remark="; ".join(tally.remarks),
            )
        )


def request_identity(model: Model, name: str, redaction: Redaction) -> dict[str, object]:
    """Return a model's class and parameters without credentials; if this changes, old cache keys are lost.

    Args:
        model: of LangChain.
        name: such as `openai:gpt-5-mini`.
        redaction: takes keys out.
    """
    parameters = dumpd(model).get("kwargs", {})
    for one in _NOT_PART_OF_REQUEST:
        parameters.pop(one, None)
    return {"model": name, "parameters": redaction.tree(parameters)}


MessagesInWords = Callable[[], Sequence[BaseMessage]]
"""Function that returns a conversation's messages with descriptions in words in place of pictures."""


def ask_next_message(
    client: ModelClient,
    about: str,
    ask: ModelCall,
    messages: Sequence[BaseMessage],
    frame: Mapping[str, object],
    in_words: MessagesInWords | None,
    replies: Replies,
) -> AIMessage:
    """Return a conversation's next message, from the cache or by `ask`; `frame`: its system text and tools.

    Args:
        client: of the model.
        about: name of the prompt.
        ask: sends messages.
        messages: so far.
        frame: system text and tools.
        in_words: gives the messages without pictures, for a model that takes none; `None` only drops them.
        replies: count of the conversation's replies, to which this one is added.
    """
    tally = RequestUsage(about, orders=str(frame.get("system") or ""), replies=replies)
    noted = summarize_request(messages)
    key = conversation_key(client.request, _describe_pictures(client, messages, in_words, tally), frame)
    if client.cache and (kept := client.cache.get(key, StoredMessage, {})):
        client.write_down(about, noted, summarize_answer(kept.read()), tally, cached=True)
        return kept.read()
    try:
        answer = _ask_until_usable(client, ask, messages, in_words, tally, len(json.dumps(frame)))
    except VirlError as fault:
        client.write_down(about, noted, {"error": str(fault)}, tally)
        raise
    said = repair_answer(answer, messages)
    client.write_down(about, noted, summarize_answer(answer), tally)
    if not unusable(answer, tool_names_in(frame)):
        # once more: the model may have refused pictures, and was sent words in their place
        key = conversation_key(client.request, _describe_pictures(client, messages, in_words, tally), frame)
        client.keep(key, about, StoredMessage.of(said).model_dump(mode="json"))
    return said


def _ask_until_usable(
    client: ModelClient,
    ask: ModelCall,
    messages: Sequence[BaseMessage],
    in_words: MessagesInWords | None,
    tally: RequestUsage,
    beside: int,
) -> AIMessage:
    """Return the next message; ask again while it is unusable; `beside`: letters sent beside messages."""
    note = load_prompt("mind/unusable-turn", Reply)
    fault, replies = "", 0
    while True:
        added = [HumanMessage(content=render(note, {"fault": fault}))] if fault else []
        sent = _mark_for_cache(client, [*_describe_pictures(client, messages, in_words, tally), *added])
        try:
            answer = client.sender.send(ask, sent, tally, beside=beside)
        except NotTaken as refused:
            # a request that was refused is no reply, and does not count as a try
            client.learn(refused, tally)
            continue
        replies += 1
        if is_cut_off(answer) and is_empty(answer):
            client.sender.give_up(LLMFault.CUT_OFF, "it sent no text")
        if is_all_thoughts(answer):
            told = f"{client.name}: {THOUGHTS_ALONE.format(client.name)}"
            client.sender.remarks.say("thoughts", told, tally.remarks)
        fault = fault_of_turn(answer)
        if not fault or replies > client.retries:
            if fault and is_cut_off(answer):
                client.sender.give_up(LLMFault.CUT_OFF, fault)
            if fault and has_too_many_calls(answer):
                client.sender.give_up(LLMFault.UNREADABLE, fault)
            return answer


def _describe_pictures(
    client: ModelClient,
    messages: Sequence[BaseMessage],
    in_words: MessagesInWords | None,
    tally: RequestUsage,
) -> list[BaseMessage]:
    """Return the messages; if the model takes no pictures, each picture is replaced by words."""
    if client.abilities.sees or not any(map(has_pictures, messages)):
        return list(messages)
    client.says_blind(tally)
    return list(in_words()) if in_words else [without_pictures(message) for message in messages]


def _mark_for_cache(client: ModelClient, messages: list[BaseMessage]) -> list[BaseMessage]:
    """Return the messages; if the provider needs it, the last is marked as the end of the part to cache."""
    last = messages[-1]
    if not (client.manner.marks_cache and isinstance(last.content, str) and last.content):
        return messages
    marked = last.model_copy(update={"content": [{"type": "text", "text": last.content, **CACHE_MARK}]})
    return [*messages[:-1], marked]


LONGEST_FAULT = 600  # characters of a reply's faults that the model is told when it is asked again (chosen)


def ask_valid_reply(
    client: ModelClient,
    ask: ModelCall,
    prompt: Prompt[ReplyT],
    question: Question,
    inputs: dict[str, object],
    tally: RequestUsage,
) -> ReplyT:
    """Return a question's validated reply; ask again, with the fault named, while a reply does not fit.

    Args:
        client: of the model.
        ask: sends messages.
        prompt: that is asked.
        question: as messages.
        inputs: of the prompt.
        tally: of the question, to which requests and tokens are added.

    Raises:
        BudgetExceeded: it may cost more than is left; nothing was sent.
        ModelUnavailable: the model cannot be reached.
        MindFailed: the model refused, was cut off, or gave no valid reply in all its tries.
    """
    sender = client.sender
    messages: list[BaseMessage] = list(question.messages)
    mend = load_prompt("mind/invalid-reply", Reply)
    replies = 0
    while True:
        answer = sender.send(ask, messages, tally, beside=question.schema_letters)
        replies += 1
        if refusal := refusal_in(answer):
            raise MindFailed(f"{client.name} refused to answer {prompt.name}: {sender.clean(refusal)}")
        if is_cut_off(answer) and is_empty(answer):
            sender.give_up(LLMFault.CUT_OFF, "it sent no text")
        try:
            return read_reply(answer, prompt, inputs)
        except ValidationError as invalid:
            fault = sender.clean(faults_in(invalid), LONGEST_FAULT)
        if is_cut_off(answer):
            sender.give_up(LLMFault.CUT_OFF, f"{prompt.name} got half a reply")
        if is_empty(answer):
            fault = THOUGHTS_ALONE.format(client.name) if is_all_thoughts(answer) else "it was empty"
        if replies > client.retries:
            raise MindFailed(
                f"{client.name} gave no valid reply to {prompt.name} in {replies} tries: {fault[:300]}"
            )
        # only the latest reply goes along, so that requests do not grow with each try
        messages = [
            *question.messages,
            AIMessage(content=excerpt(answer) or "(nothing)"),
            HumanMessage(content=render(mend, {"fault": fault, "fields": question.fields})),
        ]


def reply_key(client: ModelClient, prompt: Prompt[ReplyT], question: Question) -> str:
    """Return the cache key of a question's reply: SHA-256 in hex of all that is sent.

    Args:
        client: of the model.
        prompt: that is asked.
        question: as messages.
    """
    request = {
        **client.request,
        "method": client.manner.method,
        "messages": [{"type": one.type, "content": one.content} for one in question.messages],
        "schema": question.schema,
        "held": question.held,
        "prompt": [prompt.orders, prompt.body],
    }
    return request_key(request | ({"stop": prompt.stop} if prompt.stop else {}))
