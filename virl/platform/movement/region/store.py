"""The file of a survey: grows by a line for each batch, so that what was killed asks nothing twice."""

from pathlib import Path

from pydantic import ValidationError

from virl.errors import BadInput
from virl.platform.movement.region.records import FORMAT, RECORD, Batch, Ordered, Plan


class SurveyStore:
    """Batches and orders of one plan, in memory and, with a file, on disk.

    A last line that was cut off, as a kill leaves it, is dropped.

    Args:
        plan: of the survey.
        file: where it is kept; made where it is missing. `None` keeps nothing.

    Raises:
        BadInput: the file holds something else, or the survey of another plan.
    """

    def __init__(self, plan: Plan, file: Path | None = None) -> None:
        self._file = file
        self._batches: list[Batch] = []
        self._orders: list[Ordered] = []
        if file is None:
            return
        if not (file.exists() and self._read(file, plan)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"")
            self._write(plan)

    @property
    def batches(self) -> tuple[Batch, ...]:
        """What was asked, in order."""
        return tuple(self._batches)

    @property
    def orders(self) -> tuple[Ordered, ...]:
        """The walks ordered, the latest last."""
        return tuple(self._orders)

    def add(self, record: Batch | Ordered) -> None:
        """Keep a record; a kill after this returns does not lose it."""
        self._write(record)
        self._take(record)

    def _take(self, record: Batch | Ordered) -> None:
        if isinstance(record, Batch):
            self._batches.append(record)
        else:
            self._orders.append(record)

    def _write(self, record: Plan | Batch | Ordered) -> None:
        if self._file is None:
            return
        with self._file.open("ab") as file:
            file.write(record.model_dump_json().encode() + b"\n")

    def _read(self, file: Path, plan: Plan) -> bool:
        """Take what the file holds; `False` if not even its plan is whole."""
        whole, _, _ = file.read_bytes().rpartition(b"\n")
        for number, line in enumerate(whole.splitlines(), start=1):
            record = _record(line, f"{file}, line {number}")
            if (number == 1) != isinstance(record, Plan):
                raise BadInput(f"{file}, line {number}: a survey begins with its plan and has no other")
            if not isinstance(record, Plan):
                self._take(record)
            elif record != plan:
                raise BadInput(f"{file}: was kept for another region, spacing or radius: give another file")
        with file.open("r+b") as cut:
            cut.truncate(len(whole) + 1 if whole else 0)
        return bool(whole)


def _record(line: bytes, where: str) -> Plan | Batch | Ordered:
    try:
        record = RECORD.validate_json(line)
    except ValidationError as fault:
        first = fault.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise BadInput(f"{where}: {place}: {first['msg']}: give another file, or delete this one") from None
    if isinstance(record, Plan) and record.format != FORMAT:
        raise BadInput(f"{where}: format {record.format} is not {FORMAT}: give another file")
    return record
