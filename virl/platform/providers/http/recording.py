"""Replies written to a folder, and answered from it later with no network.

Each reply is two files, `ENDPOINT/KEY.json` with the request and `ENDPOINT/KEY.body` with the reply's body;
`KEY` is the SHA-256 of the request without host, key and session token.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from virl.errors import BadInput, ProviderError
from virl.files.writing import read_bounded, replace_file
from virl.platform.providers.http.naming import RequestName
from virl.settings.model import Settings

FORMAT = 1
"""Version of the files of a recording."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: a status of 200 to 499 and a body without keys."""

    status: int
    """HTTP status."""
    body: bytes


class _Entry(Settings):
    """The content of `KEY.json`: the request and the status of its reply."""

    format: int
    status: int
    request: dict[str, object]


@dataclass(frozen=True, slots=True)
class Recording:
    """A folder that replies are written to; the first reply to a request stays.

    Raises:
        BadInput: the folder cannot be made.
    """

    folder: Path

    def __post_init__(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise BadInput(f"{self.folder}: cannot record there ({fault.strerror})") from fault

    def write(self, request: RequestName, reply: Reply) -> None:
        """Write a reply's two files whole, unless the request has one.

        Raises:
            CannotWrite: the folder cannot be written.
        """
        request_file, body_file = _files(self.folder, request)
        if request_file.exists():
            return
        entry = _Entry(format=FORMAT, status=reply.status, request=json.loads(request.canonical))
        _write(body_file, reply.body)
        _write(request_file, (entry.model_dump_json(indent=1) + "\n").encode())


@dataclass(frozen=True, slots=True)
class Replay:
    """A folder of recorded replies, read in place of the network.

    Raises:
        BadInput: there is no such folder.
    """

    folder: Path

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise BadInput(f"{self.folder}: no such folder: record one with --record {self.folder}")

    def read(self, request: RequestName, service: str) -> Reply:
        """Return the recorded reply to a request.

        Raises:
            ProviderError: it was not recorded; names the request.
            BadInput: its files are broken.
        """
        request_file, body_file = _files(self.folder, request)
        try:
            entry = _Entry.model_validate_json(read_bounded(request_file) or b"")
            body = read_bounded(body_file)
        except FileNotFoundError:
            raise ProviderError(
                service,
                f"no reply to {request.canonical} is recorded in {self.folder}",
                "record the run again with --record, or run without --replay",
            ) from None
        except (OSError, ValidationError) as fault:
            raise BadInput(f"{request_file}: not a recorded request: record the run again") from fault
        if entry.format != FORMAT:
            raise BadInput(f"{request_file}: format {entry.format} is not {FORMAT}: record the run again")
        if body is None:
            raise BadInput(f"{body_file}: not a recorded reply: record the run again")
        return Reply(entry.status, body)


def _files(folder: Path, request: RequestName) -> tuple[Path, Path]:
    """Return the paths of (the request, the reply's body) in the folder."""
    stem = folder / request.endpoint / request.key()
    return stem.with_suffix(".json"), stem.with_suffix(".body")


def _write(path: Path, data: bytes) -> None:
    """Write a file whole, or not at all."""
    with replace_file(path, "record the run again") as file:
        file.write(data)
