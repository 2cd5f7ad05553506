"""`memory.jsonl`: an append-only file of records, read back whole after any interruption."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from virl.errors import VirlError
from virl.platform.perception.memory.records import FORMAT, RECORD, Begun, Record

LOG = "memory.jsonl"
_log = logging.getLogger(__name__)


class MemoryBroken(VirlError):
    """A memory's files cannot be read or continued."""


class CannotKeep(VirlError):
    """The disk is full, or the place may not be written to; what was kept before is safe."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an operating system's refusal to write into one line.

    Raises:
        CannotKeep: in place of any `OSError` of the body.
    """
    try:
        yield
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise CannotKeep(f"cannot write {path}: {reason}; mend that, then go on") from fault


class Log:
    """The lines of one memory. Nothing is changed on the disk before the first `append`.

    Args:
        path: the file; it need not exist.

    Raises:
        MemoryBroken: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        self._next = 0
        self._tail = b""

    @property
    def next_seq(self) -> int:
        """The sequence number of the next record."""
        return self._next

    def read(self) -> Iterator[tuple[int, Record]]:
        """All whole records, each with the byte at which its line starts; to be read to the end.

        A last line that was cut off, as a kill leaves it, is left out with a warning, and overwritten by
        the next record.

        Raises:
            MemoryBroken: the file cannot be read, or a line is damaged, out of order or of another format.
        """
        if not self.path.exists():
            return
        try:
            with self.path.open("rb") as file:
                line = file.readline()
                while line:
                    after = file.readline()
                    if not line.endswith(b"\n") or not (after or _is_json(line)):
                        self._tail = line
                        where = f"{self.path}, line {self._next + 1}"
                        _log.warning("%s: was cut off and is dropped; all before it is kept", where)
                        return
                    yield self._size, self._record(line)
                    self._next += 1
                    self._size += len(line)
                    line = after
        except OSError as fault:
            raise MemoryBroken(f"{self.path}: cannot be read ({fault.strerror})") from fault

    def read_one(self, start: int) -> Record:
        """The record whose line starts at a byte.

        Raises:
            MemoryBroken: as `read`.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return RECORD.validate_json(file.readline())
        except (OSError, ValidationError) as fault:
            raise MemoryBroken(
                f"{self.path}, byte {start}: cannot be read; restore it from a copy"
            ) from fault

    def append(self, record: Record) -> int:
        """Write a record down; when this returns, it is on the disk.

        Returns:
            The byte at which its line starts.

        Raises:
            CannotKeep: the disk refuses; the file stays as it was.
            MemoryBroken: another process has written to the file since.
        """
        start, line = self._size, record.model_dump_json().encode() + b"\n"
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("r+b" if self.path.exists() else "wb") as file:
                if os.fstat(file.fileno()).st_size != start + len(self._tail):
                    raise MemoryBroken(f"{self.path}: another process is writing it; stop that one first")
                file.truncate(start)
                self._tail = b""
                file.seek(start)
                try:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    file.truncate(start)
                    raise
        self._size += len(line)
        self._next += 1
        return start

    def broken(self, seq: int, fault: str) -> MemoryBroken:
        """The error for a line."""
        return MemoryBroken(f"{self.path}, line {seq + 1}: {fault}; restore it from a copy, or start anew")

    def _record(self, line: bytes) -> Record:
        try:
            data = from_json(line)
        except ValueError as fault:
            raise self.broken(self._next, "is not JSON") from fault
        if self._next == 0 and isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
            raise self.broken(0, f"is of format {data['format']!r}, but this virl reads {FORMAT}")
        try:
            record = RECORD.validate_json(line)
        except (ValidationError, VirlError) as fault:
            raise self.broken(self._next, f"is no record of a memory ({_first(fault)})") from fault
        if record.seq != self._next or isinstance(record, Begun) != (self._next == 0):
            raise self.broken(self._next, f"is record {record.seq} ({record.kind}), out of order")
        return record


def _is_json(line: bytes) -> bool:
    """A crash of the machine can leave a last line that is none."""
    try:
        from_json(line)
    except ValueError:
        return False
    return True


def _first(fault: Exception) -> str:
    if isinstance(fault, ValidationError):
        error = fault.errors()[0]
        return f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}"
    return str(fault)
