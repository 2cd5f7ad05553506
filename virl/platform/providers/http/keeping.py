"""Replies that are kept: names of requests, caches, recordings, and the books of services.

Each recorded reply is two files, `ENDPOINT/KEY.json` with the request and `ENDPOINT/KEY.body` with the
reply's body; `KEY` is the SHA-256 of the request without host, key and session token.
"""

import hashlib
import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from virl import resources
from virl.errors import BadInput, ProviderError
from virl.files.writing import read_bounded, replace_file
from virl.money.ledger import Ledger
from virl.platform.city.left_out import LeftOut
from virl.platform.providers.http.cache import ReplyCache
from virl.platform.providers.provider import Access
from virl.settings.model import Settings


@dataclass(frozen=True, slots=True)
class RequestName:
    """The name of a request in caches and recordings, without key, host and session token."""

    endpoint: str
    """Name of the endpoint, such as `"geocode"`; fit for a folder."""
    canonical: str
    """The request as JSON with sorted parts."""

    def key(self, host: str = "") -> str:
        """Return the SHA-256 of the request and the host that is asked: 64 hex digits."""
        return hashlib.sha256(f"{host}\n{self.canonical}".encode("utf-8", "surrogatepass")).hexdigest()


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


@dataclass(frozen=True, slots=True)
class Keeping:
    """The cache, the recording or replay, and the books that the requests of services go through.

    Raises:
        BadInput: a recording is to be made and replayed.
    """

    cache: ReplyCache | None = None
    """Cache of replies; `None` keeps none."""
    scope: str = ""
    """Scope in the cache of usual replies; empty where all runs may see them."""
    session: str = field(default_factory=lambda: session_scope(""))
    """Scope in the cache of replies that only this run may see."""
    record: Recording | None = None
    """Folder that replies are written to; `None` records nothing."""
    replay: Replay | None = None
    """Folder that replies are read from in place of the network; `None` for the network."""
    ledger: Ledger = field(default_factory=Ledger)
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts of the parts of replies that cannot be read."""

    def __post_init__(self) -> None:
        if self.record and self.replay:
            raise BadInput("a run is either recorded or replayed: give --record or --replay, not both")

    @classmethod
    def of(cls, access: Access, folder: str = "", *, max_mb: float = 512.0) -> Self:
        """Return the cache of this machine, with the ledger and the recording of a run.

        Args:
            access: ledger, mode of the cache, name of the run, and folders of recordings.
            folder: of the cache, in that of this machine; empty keeps no replies.
            max_mb: megabytes that the cache is kept below.

        Raises:
            BadInput: a folder cannot be used, or a recording is to be made and replayed.
        """
        session = session_scope(access.session)
        keeps = folder and access.cache != "off" and access.replay is None
        return cls(
            cache=ReplyCache(resources.cache_home() / folder, max_mb * 1e6) if keeps else None,
            scope=session if access.cache == "session" else "",
            session=session,
            record=Recording(access.record) if access.record else None,
            replay=Replay(access.replay) if access.replay else None,
            ledger=access.ledger,
            left_out=access.left_out,
        )

    @property
    def is_recorded(self) -> bool:
        """Return whether replies are recorded or replayed, so that no cached result may stand for them."""
        return self.record is not None or self.replay is not None

    def close(self) -> None:
        """Close the cache."""
        if self.cache:
            self.cache.close()


def session_scope(session: str) -> str:
    """Return the cache scope of the runs with this name; a new one for an empty name."""
    return f"session {session or uuid.uuid4().hex}"
