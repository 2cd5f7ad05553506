"""Faults of data files: all of them are found before any is reported."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from virl.errors import BadInput
from virl.json_reading import JsonFault

SHOWN = 20  # faults that a message lists; chosen


@dataclass(frozen=True, slots=True)
class FileFault:
    """One thing that is wrong with a file."""

    file: Path
    line: int
    """The line's number, counted from 1; 0 where the fault is not one of a line."""
    what: str

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else str(self.file)
        return f"{where}: {self.what}"


class GraphFault(BadInput):
    """The files of a data set do not hold what they should.

    Args:
        faults: at least one; all of them stay in `faults`, and the message names the first ones.
    """

    def __init__(self, faults: Sequence[FileFault]) -> None:
        self.faults = tuple(faults)
        shown = [str(fault) for fault in self.faults[:SHOWN]]
        more = len(self.faults) - len(shown)
        super().__init__("; ".join(shown) + (f"; and {more} more faults" if more else ""))


def by_line(faults: Iterable[FileFault]) -> list[FileFault]:
    """Return the faults of one file in the order of its lines."""
    return sorted(faults, key=lambda fault: fault.line)


def refuse(faults: Sequence[FileFault]) -> None:
    """Raise an error if there are faults.

    Raises:
        GraphFault: there are.
    """
    if faults:
        raise GraphFault(faults)


def json_fault(file: Path, fault: JsonFault) -> FileFault:
    """Return the fault of a file that is no JSON."""
    return FileFault(file, fault.line, f"not valid JSON{fault.at_column}: {fault.reason}")
