"""Replies kept on disk in SQLite, safe for several processes, so that no request is paid for twice."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from virl.errors import BadInput

FILE_NAME = "google-replies-1.sqlite"  # of any provider: an old name, kept for replies that were paid for
_BUSY_S = 10.0  # seconds that one process waits for another (chosen)
_EVICT_TO = 0.9  # share of the size bound that is left after an eviction (chosen)
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS replies (
        key TEXT NOT NULL, scope TEXT NOT NULL, endpoint TEXT NOT NULL, expires REAL NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (key, scope)
    )
"""

_log = logging.getLogger(__name__)


class ReplyCache:
    """Replies kept in one SQLite file, each until it expires.

    Above `max_bytes` the oldest replies go first. A file that is corrupt is set aside under another name,
    with a warning, and an empty one takes its place, which other processes notice. A file that another
    process holds for too long, or a disk that is full, costs the replies concerned and a warning.

    Args:
        folder: where the file is or will be.
        max_bytes: size that the file's content is kept below.
        clock: seconds since 1970.

    Raises:
        BadInput: the folder cannot be written.
    """

    def __init__(
        self, folder: Path, max_bytes: float = 512e6, clock: Callable[[], float] = time.time
    ) -> None:
        """Open the file in a folder, which keeps at most `max_bytes` bytes."""
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
        """Keep a reply's body for `lifetime` seconds; once this returns, it outlives the process.

        Args:
            key: of the request.
            body: of the reply.
            endpoint: of the service.
            lifetime: seconds.
            scope: that alone sees the reply; empty for all runs.
        """
        self._run(
            "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)",
            (key, scope, endpoint, self._clock() + lifetime, body),
        )
        if self._used_bytes() > self._max_bytes:
            self._evict()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _evict(self) -> None:
        """Delete expired replies, then the oldest ones while the file is too large."""
        # What has expired goes first, as nobody misses it; only then the oldest.
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
        """Return the bytes that the content of the file takes."""
        rows = self._run(
            "SELECT (p.page_count - f.freelist_count) * s.page_size "
            "FROM pragma_page_count AS p, pragma_freelist_count AS f, pragma_page_size AS s"
        )
        return int(rows[0][0]) if rows else 0

    def _run(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows of one statement, a transaction of its own; none where the file fails."""
        with self._lock:
            try:
                # Another process may have put a new file in the place of this one, or deleted it.
                if self._inode != _inode_of(self.file):
                    self._reopen()
                try:
                    return _execute(self._connection, statement, values)
                except sqlite3.DatabaseError as fault:
                    if not _is_corrupt(fault):
                        raise
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
            if not _is_corrupt(fault):
                raise
            self._set_aside(fault)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        """Return a connection to the file with its table, in write-ahead mode."""
        connection = sqlite3.connect(
            self.file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            for attempt in (
                _retry_while_busy()
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
        """Move the corrupt file to another name, with a warning, so that an empty one takes its place."""
        aside = self.file.with_name(f"{self.file.name}.corrupt-{time.time_ns()}")
        _log.warning(
            "%s is corrupt (%s): renamed to %s, continuing with an empty cache", self.file, fault, aside.name
        )
        with suppress(FileNotFoundError):  # another process was faster
            self.file.replace(aside)
        # What belongs to the damaged file would be read into the new one.
        for suffix in ("-wal", "-shm"):
            self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)


def _retry_while_busy() -> Retrying:
    """Return a loop that retries for as long as one process waits for another."""
    return Retrying(
        retry=retry_if_exception(_is_busy),
        stop=stop_after_delay(_BUSY_S),
        wait=wait_fixed(0.02),
        reraise=True,
    )


def _is_busy(fault: BaseException) -> bool:
    """Return whether another process holds the file."""
    return (
        isinstance(fault, sqlite3.OperationalError) and fault.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
    )


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
    """A file so damaged that SQLite's own message about it is no text."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def _is_corrupt(fault: sqlite3.DatabaseError) -> bool:
    """Return whether a fault says that the file is damaged."""
    return (getattr(fault, "sqlite_errorcode", 0) & 0xFF) in _CORRUPT
