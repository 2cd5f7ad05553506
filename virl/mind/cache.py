"""Replies kept on disk, so that the same request is never paid for twice."""

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from virl.files import replacing
from virl.mind.base import ReplyT
from virl.settings.model import Settings

FORMAT = 1
"""Version of the files; an entry of another version counts as absent."""

_log = logging.getLogger(__name__)


class _Entry(Settings):
    format: int
    model: str
    prompt: str
    reply: dict[str, object]


@dataclass(frozen=True, slots=True)
class ReplyCache:
    """A folder of JSON files, one a reply, named by the SHA-256 of its request.

    An entry that cannot be read counts as absent, with a warning, and is written anew. So does one whose
    reply no longer fits its type.
    """

    folder: Path

    def get(self, key: str, reply: type[ReplyT], context: dict[str, object]) -> ReplyT | None:
        """The reply kept under a key, validated against the inputs in `context`; `None` if there is none."""
        path = self._path(key)
        try:
            entry = _Entry.model_validate_json(path.read_bytes())
            if entry.format != FORMAT:
                return None
            return reply.model_validate(entry.reply, context=context)
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as fault:
            kind = type(fault).__name__
            _log.warning("%s: not a readable reply (%s): asking again", path, kind)
            return None

    def put(self, key: str, *, model: str, prompt: str, reply: dict[str, object]) -> None:
        """Keep a reply; a reader sees all of it or nothing.

        Raises:
            CannotWrite: the folder cannot be written.
        """
        path = self._path(key)
        entry = _Entry(format=FORMAT, model=model, prompt=prompt, reply=reply)
        with replacing(path, "go on") as file:
            file.write((entry.model_dump_json(indent=1) + "\n").encode())

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def request_key(request: dict[str, object]) -> str:
    """SHA-256 of a request given as plain data: hex, 64 digits."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
