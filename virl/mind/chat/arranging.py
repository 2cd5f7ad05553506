"""Messages in the form of OpenAI's API, arranged for servers whose templates take less."""

from collections.abc import Collection, Sequence
from typing import Any

Message = dict[str, Any]
_BETWEEN = "I see."
"""A turn of the model between a result of a tool and what the user says next."""


def arranged(messages: Sequence[Message], lacks: Collection[str]) -> list[Message]:
    """Return messages without what a server refuses.

    Args:
        messages: of a request.
        lacks: abilities by the names of `Ability`: `system`, `order` and `parallel_calls` matter.
    """
    told = list(messages)
    if "parallel_calls" in lacks:
        told = _one_call_a_turn(told)
    if "system" in lacks:
        told = _orders_in_question(told)
    return _in_order(told) if "order" in lacks else told


def _one_call_a_turn(messages: Sequence[Message]) -> list[Message]:
    """Each call in a turn of its own, followed by its result."""
    results = {one["tool_call_id"]: one for one in messages if one["role"] == "tool"}
    told: list[Message] = []
    for message in messages:
        if message["role"] == "tool":
            continue
        calls = message.get("tool_calls") or []
        told += [] if calls else [message]
        for at, call in enumerate(calls):
            content = message.get("content") if at == 0 else None
            told.append(message | {"content": content, "tool_calls": [call]})
            told += [results[call["id"]]] if call["id"] in results else []
    return told


def _orders_in_question(messages: Sequence[Message]) -> list[Message]:
    orders = [one for one in messages if one["role"] in ("system", "developer")]
    told = [one for one in messages if one not in orders]
    for order in reversed(orders):
        if told and told[0]["role"] == "user":
            told[0] = _joined(order | {"role": "user"}, told[0])
        else:
            told.insert(0, order | {"role": "user"})
    return told


def _in_order(messages: Sequence[Message]) -> list[Message]:
    """A turn of the model stands between a tool's result and the user; a user says all in one message."""
    told: list[Message] = []
    for message in messages:
        before = told[-1]["role"] if told else ""
        if message["role"] == "user" and before == "tool":
            told.append({"role": "assistant", "content": _BETWEEN})
        if message["role"] == before == "user":
            told[-1] = _joined(told[-1], message)
        else:
            told.append(message)
    return told


def _joined(first: Message, then: Message) -> Message:
    if isinstance(first["content"], str) and isinstance(then["content"], str):
        return first | {"content": f"{first['content']}\n\n{then['content']}"}
    return first | {"content": [*_parts(first["content"]), *_parts(then["content"])]}


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
