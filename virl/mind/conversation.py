"""Conversations that somebody else holds with a model: how what is said is kept and written down."""

import json
from collections.abc import Mapping, Sequence
from typing import Self

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, message_to_dict, messages_from_dict
from pydantic_core import to_jsonable_python

from virl.errors import BadInput
from virl.mind.cache import request_key
from virl.mind.replies import Reply


class Said(Reply):
    """A model's message as plain JSON, tool calls included."""

    message: dict[str, object]

    @classmethod
    def of(cls, message: AIMessage) -> Self:
        """The message as JSON."""
        return cls(message=plain_json(message_to_dict(message)))

    def read(self) -> AIMessage:
        """The message again.

        Raises:
            BadInput: it is none of a model's.
        """
        [message] = messages_from_dict([self.message])
        if not isinstance(message, AIMessage):
            raise BadInput(f"a message of type {message.type!r} is none of a model's")
        return message


def what_it_says(message: AIMessage) -> dict[str, object]:
    """Text and tool calls of a model's message, for the ledger."""
    calls = [{"name": call["name"], "args": call["args"]} for call in message.tool_calls]
    return {"text": message.text} | ({"calls": calls} if calls else {})


def notes_on(messages: Sequence[BaseMessage]) -> dict[str, object]:
    """What was sent, for the ledger: how many messages and pictures; their text stands where it arose."""
    blocks = [block for message in messages if isinstance(message.content, list) for block in message.content]
    pictures = sum(isinstance(block, dict) and block.get("type") == "image" for block in blocks)
    return {"messages": len(messages), "pictures": pictures}


def conversation_key(
    request: Mapping[str, object], messages: Sequence[BaseMessage], frame: Mapping[str, object]
) -> str:
    """What a reply is kept under: it differs wherever what is sent differs."""
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
    """Values as plain JSON; half a surrogate pair, which a model may escape, becomes a question mark."""
    data = to_jsonable_python(dict(values), serialize_unknown=True)
    plain: dict[str, object] = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
    return plain
