"""`memory.jsonl`: an append-only file of records, read back whole after any interruption."""

import logging
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from virl.errors import VirlError
from virl.files.json_reading import misfits
from virl.files.writing import JsonLines
from virl.platform.perception.memory.records import FORMAT, RECORD, Begun, Record

LOG = "memory.jsonl"
_MEND = "; restore it from a copy, or start anew"
_log = logging.getLogger(__name__)


class MemoryBroken(VirlError):
    """A memory's files cannot be read or continued."""


class Log:
    """File of one memory's records; nothing on disk changes before the first `append`.

    Args:
        path: the file; it need not exist.

    Raises:
        MemoryBroken: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = JsonLines(path, "go on")

    @property
    def next_seq(self) -> int:
        """The sequence number of the next record."""
        return self._lines.count

    def read(self) -> Iterator[tuple[int, Record]]:
        """Yield each record with the byte at which its line starts.

        A last line that was cut off, as a kill leaves it, is left out with a warning, and overwritten by
        the next record.

        Raises:
            MemoryBroken: the file cannot be read, or a line is damaged, out of order or of another format.
        """
        for record in self._lines.read(self._record, mend=_MEND, broken=MemoryBroken):
            yield self._lines.size, record
        if self._lines.torn:
            where = f"{self.path}, line {self.next_seq + 1}"
            _log.warning("%s: was cut off and is dropped; all before it is kept", where)

    def read_one(self, start: int) -> Record:
        """Read the record whose line starts at a byte.

        Raises:
            MemoryBroken: as `read`.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return RECORD.validate_json(file.readline())
        except (OSError, ValidationError) as fault:
            raise MemoryBroken(
                f"{self.path}, byte {start}: cannot be read: restore it from a copy"
            ) from fault

    def append(self, record: Record) -> int:
        """Write a record to disk, and return the byte at which its line starts.

        Returns:
            The byte at which its line starts.

        Raises:
            CannotWrite: the disk refuses, or another process has written to the file; it stays as it was.
        """
        start = self._lines.size
        self._lines.append(record.model_dump_json())
        return start

    def line_error(self, seq: int, fault: str) -> MemoryBroken:
        """Return the error for a line."""
        return MemoryBroken(f"{self.path}, line {seq + 1}: {fault}{_MEND}")

    def _record(self, line: bytes) -> Record:
        """Return the record of a line, once it is the next one and of this format."""
        try:
            data = from_json(line)
        except ValueError as fault:
            raise ValueError("is not JSON") from fault
        if self.next_seq == 0 and isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
            raise ValueError(f"is of format {data['format']!r}, but this virl reads {FORMAT}")
        try:
            record = RECORD.validate_json(line)
        except (ValidationError, VirlError) as fault:
            first = misfits(fault)[0] if isinstance(fault, ValidationError) else str(fault)
            raise ValueError(f"is no record of a memory ({first})") from fault
        if record.seq != self.next_seq or isinstance(record, Begun) != (self.next_seq == 0):
            raise ValueError(f"is record {record.seq} ({record.kind}), out of order")
        return record
