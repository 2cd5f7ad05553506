"""Reading a journal while another process writes it."""

from collections.abc import Iterator
from pathlib import Path

from virl.errors import JournalBroken
from virl.files.writing import MOST_LINE, TOO_LONG
from virl.journal.journal import JOURNAL
from virl.journal.reading import Order, line_error, read_record
from virl.journal.records import AnyRecord


class JournalTail:
    """The records of a run, a few at a time as they are written. Nothing is locked and nothing is changed.

    Args:
        folder: the run's.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL
        self._read = 0
        self._order = Order()

    @property
    def is_over(self) -> bool:
        """Return whether the last record of the run was read."""
        return self._order.ended

    def read_new(self) -> Iterator[AnyRecord]:
        """Yield the whole records that have not been read.

        A line that is being written comes with a later call.

        Raises:
            JournalBroken: the journal is missing or cannot be read, a line is damaged or out of order, or
                lines that were read are gone.
        """
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._read:
                    raise JournalBroken(f"{self._path}: lines have been removed from it: start again")
                file.seek(self._read)
                while (
                    (line := file.readline(MOST_LINE)).endswith(b"\n") and b"\0" not in line and line.strip()
                ):
                    record = self._record(line)
                    self._read += len(line)
                    yield record
        except OSError as fault:
            raise JournalBroken(f"{self._path}: cannot be read ({fault.strerror})") from fault
        if len(line) == MOST_LINE:  # a shorter one a kill or a crash left: whoever resumes the run removes it
            raise line_error(self._path, self._order.count + 1, TOO_LONG)

    def _record(self, line: bytes) -> AnyRecord:
        number = self._order.count + 1
        try:
            record = read_record(self._path, line, is_first=number == 1)
        except ValueError as fault:
            raise line_error(self._path, number, str(fault)) from fault
        if disorder := self._order.fault(record):
            raise line_error(self._path, number, disorder)
        self._order.take(record)
        return record
