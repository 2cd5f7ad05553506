"""Reading a journal, with every line checked, and the parts of a run by version of virl."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from virl.errors import JournalBroken
from virl.files.json_reading import misfits
from virl.files.writing import JsonLines, is_inside, is_there
from virl.journal.records import (
    ANY_RECORD,
    FORMAT,
    AnyRecord,
    EndRecord,
    NoteRecord,
    PartRecord,
    StartRecord,
    StepRecord,
)

RESUME = "resume the run"
_MEND = "; restore it from a copy, or start a new run"


@dataclass(slots=True)
class RecordSequence:
    """A check of the order of a journal's records, given those that were taken so far."""

    count: int = 0
    """Number of records taken."""
    ended: bool = False
    """True if the last record taken ends the run."""
    views: set[str] = field(default_factory=set)
    """Paths, within the run's folder, of the views that the records name."""
    _steps: int = 0
    _notes: set[tuple[str, str]] = field(default_factory=set)

    def take(self, record: AnyRecord) -> None:
        """Add a record as the last one of the sequence."""
        self.count += 1
        self._steps += isinstance(record, StepRecord)
        if isinstance(record, NoteRecord):
            self._notes.add((record.topic, record.key))
        self.ended = isinstance(record, EndRecord)
        self.views |= set(view_files(record))

    def fault(self, record: AnyRecord) -> str:
        """Return an error text if a record cannot be the next one of the sequence; empty if it can."""
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

    def parse(self, path: Path, line: bytes) -> AnyRecord:
        """Return the record in the next line of the journal at `path`, after adding it to the sequence.

        Raises:
            ValueError: the line is damaged or out of order; says why.
            JournalBroken: the journal is of another format.
        """
        try:
            data = from_json(line)
        except ValueError as broken:
            raise ValueError("is not JSON") from broken
        if not self.count and isinstance(data, dict) and data.get("format", FORMAT) != FORMAT:
            raise JournalBroken(
                f"{path}, line 1: journal format {data['format']!r}, but this version of virl reads "
                f"{FORMAT}: use the version that wrote it (virl {data.get('virl', 'unknown')})"
            )
        try:
            record = ANY_RECORD.validate_json(line)
        except ValidationError as misfit:
            raise ValueError(f"is no record of a run ({misfits(misfit, 'line')[0]})") from misfit
        if fault := self.fault(record):
            raise ValueError(fault)
        self.take(record)
        return record


def read_contents(path: Path) -> tuple[tuple[AnyRecord, ...], JsonLines]:
    """Return (checked records of a `journal.jsonl`, writer of further lines); a torn last line is no record.

    Raises:
        JournalBroken: the file is missing, unreadable or empty, is of another format, or holds a line that
            is damaged or out of order.
    """
    if not path.is_file():
        raise JournalBroken(f"{path}: no such journal: give a run folder")
    sequence, lines = RecordSequence(), JsonLines(path, RESUME)
    records = tuple(lines.read(partial(sequence.parse, path), mend=_MEND, broken=JournalBroken))
    if not records:
        raise JournalBroken(f"{path}: contains no complete record: start the run again")
    return records, lines


def missing_view(folder: Path, record: AnyRecord) -> str:
    """Return an error text on the first view of a record that `folder` lacks; empty if it has all."""
    for file in view_files(record):
        if not is_there(folder / file):
            return f"names the view {file}, which is missing"
        if not is_inside(folder, file):
            return f"names the view {file}, a link that leads out of the run's folder"
    return ""


def view_files(record: AnyRecord) -> list[str]:
    """Return the paths, within the run's folder, of the views that a record names."""
    return [view.file for view in record.views] if isinstance(record, StepRecord | NoteRecord) else []


def line_error(path: Path, number: int, fault: str) -> JournalBroken:
    """Return the error for a fault in line `number`, from 1, of a journal.

    Args:
        path: of the journal.
        number: of the line, from 1.
        fault: what is wrong with it.
    """
    return JournalBroken(f"{path}, line {number}: {fault}{_MEND}")


RESUMED = "resumed"
"""Topic of notes on a resume by another version of virl, or in a city that has changed since."""


def looks_of(records: Iterable[AnyRecord]) -> int:
    """Return the version of the looks of the last drawn views of a run; 0 for one without."""
    looks = 0
    for record in records:
        if isinstance(record, StartRecord):
            looks = record.looks
        elif isinstance(record, NoteRecord) and record.topic == RESUMED:
            looks = int(str(record.data.get("looks", looks)))
    return looks


def parts_of(records: Iterable[AnyRecord]) -> tuple[PartRecord, ...]:
    """Return the parts of a run, each made by one version of virl, in order."""
    parts: list[PartRecord] = []
    steps = 0
    for record in records:
        steps += isinstance(record, StepRecord)
        if isinstance(record, StartRecord):
            parts.append(PartRecord(seq=record.seq, step=0, virl=record.virl))
        elif isinstance(record, NoteRecord) and record.topic == RESUMED:
            version = str(record.data["virl"])
            if version != parts[-1].virl:
                parts.append(PartRecord(seq=record.seq, step=steps, virl=version))
    return tuple(parts)
