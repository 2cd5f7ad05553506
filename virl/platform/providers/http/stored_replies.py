"""Replies that are kept, so that no request is paid for twice: names, caches, recordings, and books.

A cache is a file of SQLite, safe for several processes. Each recorded reply is two files,
`ENDPOINT/KEY.json` with the request and `ENDPOINT/KEY.body` with the reply's body; `KEY` is the SHA-256 of
the request without host, key and session token.
"""

import hashlib
import json
import logging
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from virl import resources
from virl.errors import BadInput, ProviderError
from virl.files.writing import read_bounded, replace_file
from virl.money.ledger import Ledger
from virl.platform.city.left_out import LeftOut
from virl.platform.providers.http.replies import HttpReply
from virl.platform.providers.provider import Access
from virl.settings.model import Settings

FILE_NAME = "google-replies-1.sqlite"
"""Name of the cache's file, which all providers share; not renamed, so that replies paid for are found."""
_BUSY_S = 10.0
"""Seconds that one process waits for another that holds the file (chosen)."""
_EVICT_TO = 0.9
"""Share of the largest size, [0, 1], to which old replies are deleted once it is exceeded (chosen)."""
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""Error codes of SQLite for a damaged file."""
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS replies (
        key TEXT NOT NULL, scope TEXT NOT NULL, endpoint TEXT NOT NULL, expires REAL NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (key, scope)
    )
"""

_log = logging.getLogger(__name__)


class ReplyCache:
    """A cache of replies in one SQLite file, each until it expires.

    Above `max_bytes` the oldest replies go first. A file that is corrupt is set aside under another name,
    with a warning, and an empty one takes its place, which other processes notice. A file that another
    process holds for too long, or a disk that is full, costs the replies concerned and a warning.

    Args:
        folder: folder with the file, made where it is missing.
        max_bytes: number of bytes that the file's content is kept below.
        clock: function that returns the seconds since 1970.

    Raises:
        BadInput: the folder cannot be written.
    """

    def __init__(
        self, folder: Path, max_bytes: float = 512e6, clock: Callable[[], float] = time.time
    ) -> None:
        """Open the cache's file in a folder; `clock` returns seconds since 1970, by which replies expire."""
        self.file = folder / FILE_NAME
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._inode: int | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
        except (OSError, sqlite3.OperationalError) as fault:
            raise BadInput(f"{folder}: cannot be used as a cache ({fault}): set VIRL_CACHE") from fault

    def get(self, key: str, scope: str = "") -> bytes | None:
        """Return the body kept under a key and scope; `None` if there is none or it has expired."""
        rows = self._run(
            "SELECT body FROM replies WHERE key = ? AND scope = ? AND expires > ?",
            (key, scope, self._clock()),
        )
        return bytes(rows[0][0]) if rows else None

    def put(self, key: str, body: bytes, *, endpoint: str, lifetime: float, scope: str = "") -> None:
        """Keep a reply's body on disk for `lifetime` seconds; delete others if the file gets too large.

        Args:
            key: key of the request.
            body: body of the reply.
            endpoint: name of the endpoint, for people who look into the file.
            lifetime: seconds until the reply expires.
            scope: name of the runs that alone see the reply; empty for all runs.
        """
        self._run(
            "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)",
            (key, scope, endpoint, self._clock() + lifetime, body),
        )
        if self._used_bytes() > self._max_bytes:
            self._evict()

    def close(self) -> None:
        """Close the cache's file."""
        with self._lock:
            self._connection.close()

    def _evict(self) -> None:
        """Delete expired replies, then the oldest ones while the file is too large."""
        self._run("DELETE FROM replies WHERE expires <= ?", (self._clock(),))
        while (excess := self._used_bytes() - self._max_bytes * _EVICT_TO) > 0:
            oldest = self._run("SELECT rowid, length(body) FROM replies ORDER BY rowid LIMIT 256")
            if not oldest:
                return
            through = accumulate(size for _, size in oldest)
            enough = next(
                (row for (row, _), freed in zip(oldest, through, strict=True) if freed >= excess), None
            )
            self._run("DELETE FROM replies WHERE rowid <= ?", (enough or oldest[-1][0],))

    def _used_bytes(self) -> int:
        """Return the number of bytes that the content of the file takes."""
        rows = self._run(
            "SELECT (p.page_count - f.freelist_count) * s.page_size "
            "FROM pragma_page_count AS p, pragma_freelist_count AS f, pragma_page_size AS s"
        )
        return int(rows[0][0]) if rows else 0

    def _run(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows of one statement, a transaction of its own; none, with a warning, if it fails."""
        with self._lock:
            try:
                # Another process may have put a new file in the place of this one, or deleted it.
                if self._inode != _inode_of(self.file):
                    self._reopen()
                try:
                    return _execute(self._connection, statement, values)
                except sqlite3.DatabaseError as fault:
                    self._set_aside(fault)
                    self._reopen()
                    return _execute(self._connection, statement, values)
            except (sqlite3.Error, OSError) as fault:
                _log.warning("%s: %s: continuing without this reply", self.file, fault)
                return []

    def _reopen(self) -> None:
        """Close the connection and connect anew, to a file that another process put in place."""
        self._connection.close()
        self._connection = self._connect()

    def _open(self) -> sqlite3.Connection:
        """Open a connection to the file; one that is corrupt is set aside first."""
        try:
            return self._connect()
        except sqlite3.DatabaseError as fault:
            self._set_aside(fault)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        """Return a connection to the file with its table, in write-ahead mode."""
        connection = sqlite3.connect(
            self.file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            for attempt in Retrying(
                retry=retry_if_exception(lambda fault: _primary_code(fault) == sqlite3.SQLITE_BUSY),
                stop=stop_after_delay(_BUSY_S),
                wait=wait_fixed(0.02),
                reraise=True,
            ):  # SQLite itself does not wait here while another process begins the file
                with attempt:
                    _execute(connection, "PRAGMA journal_mode = WAL")
            # With a write-ahead log, a loss of power may lose the last replies but does not damage the file.
            _execute(connection, "PRAGMA synchronous = NORMAL")
            _execute(connection, _SCHEMA)
            _execute(connection, "DELETE FROM replies WHERE expires <= ?", (self._clock(),))
        except sqlite3.DatabaseError:
            connection.close()
            raise
        self._inode = _inode_of(self.file)
        return connection

    def _set_aside(self, fault: sqlite3.DatabaseError) -> None:
        """Move a corrupt file aside, with a warning, so that a new one replaces it; raise another fault."""
        if _primary_code(fault) not in _CORRUPT:
            raise fault
        aside = self.file.with_name(f"{self.file.name}.corrupt-{time.time_ns()}")
        _log.warning(
            "%s is corrupt (%s): renamed to %s, continuing with an empty cache", self.file, fault, aside.name
        )
        with suppress(FileNotFoundError):  # another process was faster
            self.file.replace(aside)
        # What belongs to the damaged file would be read into the new one.
        for suffix in ("-wal", "-shm"):
            self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)


def _inode_of(file: Path) -> int | None:
    """Return the inode of a file, which tells it from one put in its place; `None` if there is none."""
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return None


def _execute(connection: sqlite3.Connection, statement: str, values: Sequence[object] = ()) -> list[Any]:
    """Return the rows of a statement; a garbled message of SQLite becomes `_Garbled`."""
    try:
        return connection.execute(statement, values).fetchall()
    except UnicodeDecodeError as fault:  # SQLite quotes what it found in the file
        raise _Garbled(str(fault)) from fault


class _Garbled(sqlite3.DatabaseError):
    """The error of a file so damaged that SQLite's message about it is no text."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def _primary_code(fault: BaseException) -> int:
    """Return SQLite's primary error code of an exception; 0 for one of another kind."""
    # The higher bits of a code tell the circumstances; exceptions of Python's own module have no code.
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF


@dataclass(frozen=True, slots=True)
class RequestName:
    """The name of a request in caches and recordings, without key, host and session token."""

    endpoint: str
    """Name of the endpoint, such as `"geocode"`, which is also the name of a folder of recordings."""
    canonical: str
    """Request as JSON with sorted keys."""

    def key(self, host: str = "") -> str:
        """Return the SHA-256 of the request and the host that is asked, 64 hex digits."""
        return hashlib.sha256(f"{host}\n{self.canonical}".encode("utf-8", "surrogatepass")).hexdigest()


FORMAT = 1
"""Version of the format of a recording's files."""


class _Entry(Settings):
    """The contents of `KEY.json` in a recording: the request and the status of its reply."""

    format: int
    """Version of the file's format: `FORMAT`."""
    status: int
    """HTTP status of the reply."""
    request: dict[str, object]
    """Request as `RequestName.canonical` has it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A folder that replies are written to; the first reply to a request stays.

    Raises:
        BadInput: the folder cannot be made.
    """

    folder: Path
    """Folder of the recording, made where it is missing."""

    def __post_init__(self) -> None:
        """Make the folder where it is missing; raise `BadInput` if that fails."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise BadInput(f"{self.folder}: cannot record there ({fault.strerror})") from fault

    def write(self, request: RequestName, reply: HttpReply) -> None:
        """Write the status and body of a reply to a request to two files, unless they are there already.

        Raises:
            CannotWrite: the folder cannot be written.
        """
        request_file, body_file = _files(self.folder, request)
        if request_file.exists():
            return
        entry = _Entry(format=FORMAT, status=reply.status, request=json.loads(request.canonical))
        # The request comes last: a reader that finds it finds the body too.
        for path, data in (
            (body_file, reply.body),
            (request_file, (entry.model_dump_json(indent=1) + "\n").encode()),
        ):
            with replace_file(path, "record the run again") as file:
                file.write(data)


@dataclass(frozen=True, slots=True)
class Replay:
    """A folder of recorded replies, read in place of the network.

    Raises:
        BadInput: there is no such folder.
    """

    folder: Path
    """Folder of the recording."""

    def __post_init__(self) -> None:
        """Raise `BadInput` unless the folder exists."""
        if not self.folder.is_dir():
            raise BadInput(f"{self.folder}: no such folder: record one with --record {self.folder}")

    def read(self, request: RequestName, service: str) -> HttpReply:
        """Return the recorded reply to a request of a service, which is named in errors.

        Raises:
            ProviderError: no reply was recorded; names the request.
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
        return HttpReply(entry.status, {}, body)


def _files(folder: Path, request: RequestName) -> tuple[Path, Path]:
    """Return the paths in a recording's folder of (the request, the body of its reply)."""
    stem = folder / request.endpoint / request.key()
    return stem.with_suffix(".json"), stem.with_suffix(".body")


@dataclass(frozen=True, slots=True)
class Keeping:
    """The cache, the recording or replay, and the ledger that requests of services go through.

    Raises:
        BadInput: a recording is to be made and replayed.
    """

    cache: ReplyCache | None = None
    """Cache of replies; `None` for no cache."""
    scope: str = ""
    """Scope in the cache of usual replies; empty where all runs may see them."""
    session: str = field(default_factory=lambda: session_scope(""))
    """Scope in the cache of replies that only this run may see."""
    record: Recording | None = None
    """Recording that replies are written to; `None` for no recording."""
    replay: Replay | None = None
    """Recording that replies are read from instead of the network; `None` for the network."""
    ledger: Ledger = field(default_factory=Ledger)
    """Ledger that holds and counts the costs of requests."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Counts of the items and fields of replies that cannot be read."""

    def __post_init__(self) -> None:
        """Raise `BadInput` if replies are to be both recorded and replayed."""
        if self.record and self.replay:
            raise BadInput("a run is either recorded or replayed: give --record or --replay, not both")

    @classmethod
    def of(cls, access: Access, folder: str = "", *, max_mb: float = 512.0) -> Self:
        """Return the cache in a folder (empty: none) of this machine, and the ledger and recording of a run.

        Args:
            access: ledger, mode of the cache, name of the run, and folders of recordings.
            folder: name of the cache's folder within this machine's cache; empty keeps no replies.
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
        """Return whether replies are recorded or replayed, so that no kept result may replace a request."""
        return self.record is not None or self.replay is not None

    def close(self) -> None:
        """Close the cache of replies."""
        if self.cache:
            self.cache.close()


def session_scope(session: str) -> str:
    """Return the cache scope that runs with this name share; a new scope for an empty name."""
    return f"session {session or uuid.uuid4().hex}"
