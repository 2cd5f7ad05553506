"""Cache of replies on disk, so that no request is paid for twice, and the plain form of messages."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, message_to_dict, messages_from_dict
from pydantic import AfterValidator
from pydantic_core import from_json, to_jsonable_python

from virl.files.stores import ByteStore
from virl.mind.base import ReplyT
from virl.mind.replies import Reply
from virl.plain_text import whole_text
from virl.settings.model import Settings

FORMAT = 1
"""Version of the files' format; an entry of another version counts as absent."""


class _Entry(Settings):
    """The content of a cached reply's file: format version, model, prompt name and reply as plain data."""

    format: int
    model: str
    prompt: str
    reply: dict[str, object]


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """A folder of JSON files, one a reply, named by the SHA-256 of its request.

    An entry whose reply no longer fits its type counts as absent, with a warning, and is written anew.
    """

    folder: Path

    def get(self, key: str, reply: type[ReplyT], context: dict[str, object]) -> ReplyT | None:
        """Return the reply cached under a key, validated with the inputs `context`; `None` if none fits.

        Args:
            key: of `request_key`.
            reply: type of the reply.
            context: inputs of the prompt, with which the reply is validated.
        """

        def parse(file: BinaryIO) -> ReplyT | None:
            """Return the reply in an open entry's file; `None` if its format version is another."""
            entry = _Entry.model_validate_json(file.read())
            return reply.model_validate(entry.reply, context=context) if entry.format == FORMAT else None

        return self._store.load(_entry_path(key), parse)

    def put(self, key: str, *, model: str, prompt: str, reply: dict[str, object]) -> None:
        """Write a reply, with its model's and prompt's names, under a key; readers see all of it or nothing.

        Args:
            key: of `request_key`.
            model: that replied.
            prompt: name of the prompt.
            reply: as plain data.

        Raises:
            CannotWrite: the folder cannot be written.
        """
        entry = _Entry(format=FORMAT, model=model, prompt=prompt, reply=reply)
        text = entry.model_dump_json(indent=1) + "\n"
        self._store.save(_entry_path(key), lambda file: file.write(text.encode()))

    @property
    def _store(self) -> ByteStore:
        """The store that loads and saves the folder's files."""
        return ByteStore(self.folder.absolute(), "reply", remedy="asking again")


def _entry_path(key: str) -> str:
    """Return the relative path of a key's file, in a subfolder named by the first two digits of the key."""
    return f"{key[:2]}/{key}.json"


def request_key(request: dict[str, object]) -> str:
    """Return the SHA-256 of a request's plain data, as 64 hexadecimal digits, for use as cache key."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    # a model may reply with half a surrogate pair, which has no UTF-8
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_DEPTH = 20  # levels of nesting that a journal's record has around a message (chosen: twice as many)


def _read_message(data: dict[str, object]) -> AIMessage:
    """Return LangChain's message of a model from its JSON form; raise `ValueError` for another type."""
    [message] = messages_from_dict([data])
    if not isinstance(message, AIMessage):
        raise ValueError(f"a message of type {message.type!r} is none of a model's")  # noqa: TRY004
    return message


def _check_model_message(data: dict[str, object]) -> dict[str, object]:
    """Return a message's JSON unchanged; raise `ValueError` if LangChain cannot read it as a model's."""
    try:
        _read_message(data)
    except (LookupError, TypeError, ValueError, AttributeError) as fault:  # as LangChain reads it
        raise ValueError(f"no message of a model ({type(fault).__name__})") from None
    return data


class StoredMessage(Reply):
    """A model's message as plain JSON, tool calls included, as caches and journals store it."""

    message: Annotated[dict[str, object], AfterValidator(_check_model_message)]

    @classmethod
    def of(cls, message: AIMessage) -> Self:
        """Return a LangChain message as plain JSON."""
        return cls(message=plain_json(message_to_dict(message)))

    def read(self) -> AIMessage:
        """Return the LangChain message that the JSON holds."""
        return _read_message(self.message)


def summarize_answer(message: AIMessage) -> dict[str, object]:
    """Return the `text` and the `calls` of a model's message for the ledger; broken arguments as text."""
    made = [*message.tool_calls, *message.invalid_tool_calls]
    calls = [{"name": call["name"], "args": call["args"]} for call in made]
    return {"text": message.text} | ({"calls": calls} if calls else {})


def summarize_request(messages: Sequence[BaseMessage]) -> dict[str, object]:
    """Return the numbers of `messages` and of `pictures` in a request, for the ledger."""
    # Counted at every turn, over the whole conversation: most messages are plain text.
    blocks = chain.from_iterable(held for each in messages if type(held := each.content) is not str)
    pictures = sum(isinstance(block, dict) and block.get("type") == "image" for block in blocks)
    return {"messages": len(messages), "pictures": pictures}


def tool_names_in(frame: Mapping[str, object]) -> frozenset[str]:
    """Return the names of the tools in a conversation's frame (system text and tools in OpenAI's format)."""
    tools = frame.get("tools")
    listed = tools if isinstance(tools, list) else []
    return frozenset(str(one["function"]["name"]) for one in listed if isinstance(one, dict))


def conversation_key(
    request: Mapping[str, object], messages: Sequence[BaseMessage], frame: Mapping[str, object]
) -> str:
    """Return the cache key of a conversation's next message: SHA-256 in hex of all that is sent.

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
    """Return values by name as plain JSON; half a surrogate pair, which a model may escape, becomes U+FFFD.

    Raises:
        ValueError: they are nested too deeply to be read back from a journal, or hold a number that is no
            JSON.
    """
    data = to_jsonable_python(dict(values), serialize_unknown=True)
    text = whole_text(json.dumps(data, ensure_ascii=False)).encode()
    # Parsed within as many lists as a journal's record may have around it.
    plain: Any = from_json(b"[" * _DEPTH + text + b"]" * _DEPTH)
    for _ in range(_DEPTH):
        [plain] = plain
    return cast("dict[str, object]", plain)
