"""Conversations that somebody else holds with a model: how what is said is kept and written down."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, message_to_dict, messages_from_dict
from pydantic import AfterValidator
from pydantic_core import from_json, to_jsonable_python

from virl.mind.cache import request_key
from virl.mind.replies import Reply
from virl.plain_text import whole_text

_ROOM = 20  # brackets that a record of a journal has around a message (chosen: twice what it has)


def _read(data: dict[str, object]) -> AIMessage:
    [message] = messages_from_dict([data])
    if not isinstance(message, AIMessage):
        raise ValueError(f"a message of type {message.type!r} is none of a model's")  # noqa: TRY004
    return message


def _of_a_model(data: dict[str, object]) -> dict[str, object]:
    try:
        _read(data)
    except (LookupError, TypeError, ValueError, AttributeError) as fault:  # as LangChain reads it
        raise ValueError(f"no message of a model ({type(fault).__name__})") from None
    return data


class Said(Reply):
    """A model's message as plain JSON, tool calls included."""

    message: Annotated[dict[str, object], AfterValidator(_of_a_model)]

    @classmethod
    def of(cls, message: AIMessage) -> Self:
        """Return the message as JSON."""
        return cls(message=plain_json(message_to_dict(message)))

    def read(self) -> AIMessage:
        """Read the message again."""
        return _read(self.message)


def what_it_says(message: AIMessage) -> dict[str, object]:
    """Return text and tool calls of a model's message, for the ledger; arguments that are no JSON as text."""
    made = [*message.tool_calls, *message.invalid_tool_calls]
    calls = [{"name": call["name"], "args": call["args"]} for call in made]
    return {"text": message.text} | ({"calls": calls} if calls else {})


def notes_on(messages: Sequence[BaseMessage]) -> dict[str, object]:
    """Return the numbers of messages and pictures sent, for the ledger; their text stands where it arose."""
    contents = [message.content for message in messages]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    pictures = sum(isinstance(block, dict) and block.get("type") == "image" for block in blocks)
    return {"messages": len(messages), "pictures": pictures}


def tools_in(frame: Mapping[str, object]) -> frozenset[str]:
    """Return the names of the tools of a conversation's frame, in OpenAI's format."""
    tools = frame.get("tools")
    found = (
        [one["function"]["name"] for one in tools if isinstance(one, dict)] if isinstance(tools, list) else []
    )
    return frozenset(map(str, found))


def conversation_key(
    request: Mapping[str, object], messages: Sequence[BaseMessage], frame: Mapping[str, object]
) -> str:
    """Return the key of a kept reply: it differs wherever what is sent differs.

    Args:
        request: the model's own part.
        messages: so far.
        frame: system text and tools.
    """
    sent = [
        {
            "type": message.type,
            "content": message.content,
            "calls": message.tool_calls if isinstance(message, AIMessage) else [],
            "answers": message.tool_call_id if isinstance(message, ToolMessage) else None,
        }
        for message in messages
    ]
    return request_key({**request, "messages": sent, "frame": dict(frame)})


def plain_json(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values as plain JSON; half a surrogate pair, which a model may escape, becomes U+FFFD.

    Raises:
        ValueError: they are nested too deeply to be read back from a journal, or hold a number that is no
            JSON.
    """
    data = to_jsonable_python(dict(values), serialize_unknown=True)
    text = whole_text(json.dumps(data, ensure_ascii=False)).encode()
    plain: Any = from_json(b"[" * _ROOM + text + b"]" * _ROOM)
    for _ in range(_ROOM):
        [plain] = plain
    return cast("dict[str, object]", plain)
