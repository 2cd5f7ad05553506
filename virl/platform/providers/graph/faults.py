"""Faults of data files: all of them are found before any is reported."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from virl.errors import BadInput
from virl.files.json_reading import JsonFault

SHOWN = 20
"""Most faults that a message lists; chosen."""


@dataclass(frozen=True, slots=True)
class FileFault:
    """One fault of a data file, and its line."""

    file: Path
    line: int
    """Number of the line, from 1; 0 for a fault of the whole file."""
    what: str
    """The fault in words."""

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else str(self.file)
        return f"{where}: {self.what}"


class GraphFault(BadInput):
    """The files of a data set do not hold what they should.

    Args:
        faults: at least one; all of them stay in `faults`, and the message names the first ones.
    """

    def __init__(self, faults: Sequence[FileFault]) -> None:
        """Make an error of all faults, whose message names the first ones."""
        self.faults = tuple(faults)
        shown = [str(fault) for fault in self.faults[:SHOWN]]
        more = len(self.faults) - len(shown)
        super().__init__("; ".join(shown) + (f"; and {more} more faults" if more else ""))


def by_line(faults: Iterable[FileFault]) -> list[FileFault]:
    """Return the faults of one file, sorted by line."""
    return sorted(faults, key=lambda fault: fault.line)


def refuse(faults: Sequence[FileFault]) -> None:
    """Raise one error for all faults, if there are any.

    Raises:
        GraphFault: there are.
    """
    if faults:
        raise GraphFault(faults)


def json_fault(file: Path, fault: JsonFault) -> FileFault:
    """Return the fault of a file whose JSON cannot be parsed."""
    return FileFault(file, fault.line, f"not valid JSON{fault.at_column}: {fault.reason}")
