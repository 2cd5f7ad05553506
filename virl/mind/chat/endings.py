"""How a model's turn ended, whoever serves it: whole, cut off, refused, or with nothing in it."""

import re
from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from virl.mind.answers import last_object, without_thoughts
from virl.mind.chat.arguments import breaks_off, is_finite

CUT_OFF = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
"""Reasons to end at the token limit: of OpenAI and Ollama, of Anthropic, and, in small letters, of Gemini."""
BLOCKED = frozenset(
    {"content_filter", "safety", "blocklist", "prohibited_content", "spii", "image_safety", "language"}
)
"""Reasons of filters: of OpenAI, and of Gemini."""
SPOILT = frozenset({"recitation", "malformed_function_call", "unexpected_tool_call", "other"})
"""Reasons of Gemini after which another try may go well."""

THOUGHTS = "reasoning_content"
"""Key of a message under which a server sends thoughts apart from the answer."""
THOUGHTS_ALONE = (
    "all of it came as reasoning, and no answer: turn that off (--mind '{}?effort=none'), "
    "or start the server with the reasoning parser of this model"
)

NOTHING = "(nothing)"
"""Text of an empty turn in a history; some APIs refuse empty messages."""

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_NAME, LONGEST_ID = 64, 40
"""Letters of a tool's name and of a call's id that every provider takes back (OpenAI's limits)."""
MOST_CALLS = 256
"""The most calls of tools that a turn may have; chosen: the time of LangGraph grows with their square."""


def reason_of(answer: AIMessage) -> str:
    """Return the reason that a turn ended, in the server's word in small letters; empty if not given."""
    told = answer.response_metadata
    for field in ("finish_reason", "stop_reason", "done_reason"):
        if told.get(field):
            return str(told[field]).casefold()
    return ""


def refusal_in(answer: AIMessage) -> str | None:
    """Return the words of the model or its filter when it would not answer; `None` if it did answer."""
    if said := answer.additional_kwargs.get("refusal"):
        return str(said)
    reason = reason_of(answer)
    if reason == "refusal":
        return answer.text.strip() or "no reason given"
    if blocked := _block_reason(answer.response_metadata.get("prompt_feedback")):
        return f"the prompt was blocked ({blocked})"
    if reason in BLOCKED and not (last_object(answer.text) and reason == "language"):
        return f"the reply was blocked by a filter ({reason})"
    return None


def _block_reason(feedback: Any) -> str:
    reason = feedback.get("block_reason") if isinstance(feedback, dict) else None
    name = getattr(reason, "name", reason)
    return (
        str(name) if name and name not in ("BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED") else ""
    )


def is_cut_off(answer: AIMessage) -> bool:
    """Return whether the token limit was reached."""
    return reason_of(answer) in CUT_OFF


def is_empty(answer: AIMessage) -> bool:
    """Return whether nothing was said and nothing called."""
    called = answer.tool_calls or answer.invalid_tool_calls
    return not called and not without_thoughts(answer.text).strip()


def is_all_thoughts(answer: AIMessage) -> bool:
    """Return whether thoughts came, and nothing else."""
    return is_empty(answer) and bool(answer.additional_kwargs.get(THOUGHTS) or answer.text.strip())


def has_too_many_calls(answer: AIMessage) -> bool:
    """Return whether a turn calls more tools than are carried out in one."""
    return len(_calls(answer)) > MOST_CALLS


def fault_of_turn(answer: AIMessage) -> str:
    """Return the reason to take a turn of a conversation again; empty if it should not be taken again."""
    if refusal_in(answer):
        return ""
    called = _calls(answer)
    if (is_cut_off(answer) and called) or any(breaks_off(one["args"]) for one in answer.invalid_tool_calls):
        return "it was cut off in the middle of a call: be brief"
    if has_too_many_calls(answer):
        return f"it called more than {MOST_CALLS} tools at once: call fewer"
    if reason_of(answer) in SPOILT and not answer.tool_calls:
        return f"it was no whole turn ({reason_of(answer)})"
    return "nothing was said and no tool was called" if is_empty(answer) else ""


def unusable(answer: AIMessage, tools: Collection[str]) -> bool:
    """Return whether a turn may not be kept for later runs: no answer, or a call of what is not there."""
    if refusal_in(answer) or is_empty(answer) or answer.invalid_tool_calls:
        return True
    return any(call["name"] not in tools for call in answer.tool_calls)


def taken_back(answer: AIMessage, before: Sequence[BaseMessage]) -> AIMessage:
    """Return a turn as every API takes it back in a history.

    Names of tools are made legal, ids of calls legal and unique in the conversation, arguments that are no
    JSON (such as 1e999, which is read as infinite) an empty object, calls that a server put among the parts
    of the text are left out there, and a turn of nothing gets a word. A turn that is fine stays as it is.
    """
    used = {call["id"] for one in before if isinstance(one, AIMessage) for call in _calls(one)}
    calls = [
        dict(call, name=_legal_name(call["name"]), id=_fresh(call["id"], used))
        for call in answer.tool_calls
        if is_finite(call["args"])
    ]
    lost = [call for call in answer.tool_calls if not is_finite(call["args"])]
    broken = [
        {"error": None, **call, "type": "invalid_tool_call", "name": _legal_name(call.get("name"))}
        | {"id": _fresh(call.get("id"), used), "args": "{}"}
        for call in [*answer.invalid_tool_calls, *lost]
    ]
    if is_empty(answer) and not refusal_in(answer):
        return AIMessage(content=NOTHING, response_metadata=answer.response_metadata, id=answer.id)
    if calls == answer.tool_calls and broken == answer.invalid_tool_calls and not _has_calls_as_text(answer):
        return answer
    return AIMessage(
        content=answer.text,
        tool_calls=calls,
        invalid_tool_calls=broken,
        usage_metadata=answer.usage_metadata,
        response_metadata=answer.response_metadata,
        id=answer.id,
    )


def _has_calls_as_text(answer: AIMessage) -> bool:
    """Return whether a part of the text is a call as OpenAI writes them, which no API takes there."""
    parts = answer.content if isinstance(answer.content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "function" for part in parts)


def _calls(message: AIMessage) -> list[Any]:
    return [*message.tool_calls, *message.invalid_tool_calls]


def _legal_name(name: Any) -> str:
    legal = _ILLEGAL.sub("_", str(name or ""))
    begun = legal if re.match(r"[a-zA-Z_]|$", legal) else f"_{legal}"  # Gemini takes no other beginning
    return begun[:LONGEST_NAME] or "unknown"


def _fresh(given: Any, used: set[Any]) -> str:
    """Return the id, if it is legal and not used before, else one like it; noted as used."""
    first = _ILLEGAL.sub("_", str(given or ""))[:LONGEST_ID] or "call"
    fresh, number = first, 1
    while fresh in used or (fresh == "call" and not given):
        number += 1
        fresh = f"{first[: LONGEST_ID - 6]}_{number}"
    used.add(fresh)
    return fresh
