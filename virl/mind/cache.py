"""Replies kept on disk, so that the same request is never paid for twice."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from virl.files.stores import ByteStore
from virl.mind.base import ReplyT
from virl.settings.model import Settings

FORMAT = 1
"""Version of the files; an entry of another version counts as absent."""


class _Entry(Settings):
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
        """Return the reply kept under a key, validated against the inputs in `context`, if there is one.

        Args:
            key: of `request_key`.
            reply: type of the reply.
            context: inputs of the prompt.
        """

        def parse(file: BinaryIO) -> ReplyT | None:
            entry = _Entry.model_validate_json(file.read())
            return reply.model_validate(entry.reply, context=context) if entry.format == FORMAT else None

        return self._store.load(_name(key), parse)

    def put(self, key: str, *, model: str, prompt: str, reply: dict[str, object]) -> None:
        """Keep a reply; a reader sees all of it or nothing.

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
        self._store.save(_name(key), lambda file: file.write(text.encode()))

    @property
    def _store(self) -> ByteStore:
        return ByteStore(self.folder.absolute(), "reply", remedy="asking again")


def _name(key: str) -> str:
    return f"{key[:2]}/{key}.json"


def request_key(request: dict[str, object]) -> str:
    """Return the SHA-256 of a request given as plain data: hex, 64 digits."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
