"""Reading a journal, with every line checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from virl.errors import JournalBroken
from virl.journal.records import ANY_RECORD, FORMAT, AnyRecord, EndRecord, NoteRecord, StartRecord, StepRecord


@dataclass(frozen=True, slots=True)
class Contents:
    """What a journal's file holds."""

    records: tuple[AnyRecord, ...]
    size: int
    """Bytes that the records take."""
    cut: bytes
    """The last line where it was cut off; else empty."""


class Order:
    """What the next record must look like, given those before it."""

    def __init__(self) -> None:
        self.count = 0
        self.ended = False
        self.views: set[str] = set()
        self._steps = 0
        self._notes: set[tuple[str, str]] = set()

    def take(self, record: AnyRecord) -> None:
        """Count a record in."""
        self.count += 1
        self._steps += isinstance(record, StepRecord)
        if isinstance(record, NoteRecord):
            self._notes.add((record.topic, record.key))
        self.ended = isinstance(record, EndRecord)
        self.views |= set(view_files(record))

    def fault(self, record: AnyRecord) -> str:
        """Why `record` cannot come next; empty if it can."""
        if self.ended:
            return "comes after the end of the run"
        if (self.count == 0) != isinstance(record, StartRecord):
            return f"is a {record.kind} record where {'the start' if self.count == 0 else 'a step'} should be"
        if record.seq != self.count:
            return f"has sequence number {record.seq} where {self.count} should be"
        if isinstance(record, StepRecord) and record.step != self._steps:
            return f"is step {record.step} where {self._steps} should be"
        if isinstance(record, NoteRecord) and (record.topic, record.key) in self._notes:
            return f"is a second note on {record.topic} {record.key!r}"
        return ""


def read_contents(path: Path) -> Contents:
    """Read and check a `journal.jsonl`; a last line that is cut off is told apart.

    Raises:
        JournalBroken: the file is missing, unreadable or empty, is of another format, or holds a line that
            is damaged or out of order.
    """
    if not path.is_file():
        raise JournalBroken(f"{path}: no such journal; name the folder of a run")
    try:
        *lines, cut = path.read_bytes().split(b"\n")
    except OSError as refusal:
        raise JournalBroken(f"{path}: cannot be read ({refusal.strerror})") from refusal
    if lines and not cut and not _is_json(lines[-1]):
        cut = lines.pop() + b"\n"
    if not lines:
        raise JournalBroken(f"{path}: holds no whole record; nothing is lost by starting the run again")
    order = Order()
    records: list[AnyRecord] = []
    for number, line in enumerate(lines, start=1):
        record = _record(path, number, line)
        if fault := order.fault(record):
            raise broken(path, number, fault)
        order.take(record)
        records.append(record)
    return Contents(tuple(records), sum(len(line) + 1 for line in lines), cut)


def check_views(path: Path, records: Sequence[AnyRecord]) -> None:
    """See that every view named in a journal is there.

    Raises:
        JournalBroken: one is missing.
    """
    for number, record in enumerate(records, start=1):
        if fault := missing_view(path.parent, record):
            raise broken(path, number, fault)


def missing_view(folder: Path, record: AnyRecord) -> str:
    """Which view named by a record is not in the run's folder; empty if all are."""
    missing = (file for file in view_files(record) if not (folder / file).is_file())
    return next((f"names the view {file}, which is missing" for file in missing), "")


def view_files(record: AnyRecord) -> list[str]:
    """Paths of the views that a record names, within the run's folder."""
    return [view.file for view in record.views] if isinstance(record, StepRecord | NoteRecord) else []


def broken(path: Path, number: int, fault: str) -> JournalBroken:
    """The error for a line of a journal."""
    return JournalBroken(f"{path}, line {number}: {fault}; restore it from a copy, or start a new run")


def _record(path: Path, number: int, line: bytes) -> AnyRecord:
    try:
        data = from_json(line)
    except ValueError as fault:
        raise broken(path, number, "is not JSON") from fault
    if number == 1 and isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
        raise JournalBroken(
            f"{path}, line 1: journal format {data['format']!r}, but this virl reads {FORMAT}; "
            f"use the version that wrote it (virl {data.get('virl', 'unknown')})"
        )
    try:
        return ANY_RECORD.validate_json(line)
    except ValidationError as fault:
        first = fault.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "line"
        raise broken(path, number, f"is no record of a run ({field}: {first['msg']})") from fault


def _is_json(line: bytes) -> bool:
    try:
        from_json(line)
    except ValueError:
        return False
    return True
