"""Parts of a run: each made by one version of virl."""

from collections.abc import Iterable

from virl.journal.records import AnyRecord, NoteRecord, PartRecord, StartRecord, StepRecord

RESUMED = "resumed"
"""Topic of the notes on where another version of virl goes on, or from another panorama."""


def parts_of(records: Iterable[AnyRecord]) -> tuple[PartRecord, ...]:
    """Return the parts of a run in order, from the records of its journal."""
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
