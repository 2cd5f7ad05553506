"""Turns of a conversation that somebody else holds with a model."""

import json
from collections.abc import Callable, Mapping, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from virl.errors import VirlError
from virl.mind.chat.abilities import NotTaken
from virl.mind.chat.asking import Ask
from virl.mind.chat.client import ModelClient
from virl.mind.chat.endings import (
    THOUGHTS_ALONE,
    fault_of_turn,
    has_too_many_calls,
    is_all_thoughts,
    is_cut_off,
    is_empty,
    taken_back,
    unusable,
)
from virl.mind.chat.question import CACHE_MARK
from virl.mind.conversation import Said, conversation_key, notes_on, tools_in, what_it_says
from virl.mind.faults import LLMFault
from virl.mind.pictures import has_pictures, without_pictures
from virl.mind.prompt import load_prompt
from virl.mind.rendering import render
from virl.mind.replies import Reply
from virl.mind.sending import Replies, RequestUsage

InWords = Callable[[], Sequence[BaseMessage]]


def next_turn(
    client: ModelClient,
    about: str,
    ask: Ask,
    messages: Sequence[BaseMessage],
    frame: Mapping[str, object],
    in_words: InWords | None,
    replies: Replies,
) -> AIMessage:
    """Return the model's next message; as `LLMMind.converse`.

    Args:
        client: of the model.
        about: name of the prompt.
        ask: sends messages.
        messages: so far.
        frame: system text and tools.
        in_words: turns pictures into words; `None` where the model sees.
        replies: kinds of reply that can be used.
    """
    tally = RequestUsage(about, orders=str(frame.get("system") or ""), replies=replies)
    noted = notes_on(messages)
    key = conversation_key(client.request, _describe_pictures(client, messages, in_words, tally), frame)
    if client.cache and (kept := client.cache.get(key, Said, {})):
        client.write_down(about, noted, what_it_says(kept.read()), tally, cached=True)
        return kept.read()
    try:
        answer = _ask_until_usable(client, ask, messages, in_words, tally, len(json.dumps(frame)))
    except VirlError as fault:
        client.write_down(about, noted, {"error": str(fault)}, tally)
        raise
    said = taken_back(answer, messages)
    client.write_down(about, noted, what_it_says(answer), tally)
    if not unusable(answer, tools_in(frame)):
        key = conversation_key(client.request, _describe_pictures(client, messages, in_words, tally), frame)
        client.keep(key, about, Said.of(said).model_dump(mode="json"))
    return said


def _ask_until_usable(
    client: ModelClient,
    ask: Ask,
    messages: Sequence[BaseMessage],
    in_words: InWords | None,
    tally: RequestUsage,
    beside: int,
) -> AIMessage:
    """Return a turn, the last of several tries if none is any good."""
    note = load_prompt("mind/unusable-turn", Reply)
    fault, replies = "", 0
    while True:
        added = [HumanMessage(content=render(note, {"fault": fault}))] if fault else []
        sent = _mark_for_cache(client, [*_describe_pictures(client, messages, in_words, tally), *added])
        try:
            answer = client.sender.send(ask, sent, tally, beside=beside)
        except NotTaken as refused:
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
    client: ModelClient, messages: Sequence[BaseMessage], in_words: InWords | None, tally: RequestUsage
) -> list[BaseMessage]:
    """Return the messages, with words in the place of their pictures where the model takes none."""
    if client.abilities.sees or not any(map(has_pictures, messages)):
        return list(messages)
    client.says_blind(tally)
    return list(in_words()) if in_words else [without_pictures(message) for message in messages]


def _mark_for_cache(client: ModelClient, messages: list[BaseMessage]) -> list[BaseMessage]:
    """Return the messages, the last one marked for the provider's cache where it wants that."""
    last = messages[-1]
    if not (client.manner.marks_cache and isinstance(last.content, str) and last.content):
        return messages
    marked = last.model_copy(update={"content": [{"type": "text", "text": last.content, **CACHE_MARK}]})
    return [*messages[:-1], marked]
