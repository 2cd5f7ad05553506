"""Comma-separated files without quotes or a header, checked column by column."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.platform.providers.graph.faults import FileFault, GraphFault

_NUMBER = re.compile(r"[-+]?(\d++(\.\d*+)?|\.\d++)([eE][-+]?\d++)?", re.ASCII)
"""Pattern of a decimal number."""
_NUMBER_CHARACTERS = frozenset("0123456789+-.eE")
"""Characters of decimal numbers."""


@dataclass(slots=True)
class Table:
    """The cells of a comma-separated file, and the faults found in it."""

    file: Path
    columns: list[list[str]]
    """Cells by column, of the lines with the right number of fields."""
    lines: Ints
    """Line number, from 1, of each row."""
    broken: list[str]
    """First cells of the lines with a wrong number of fields."""
    faults: list[FileFault] = field(default_factory=list)

    def blame(self, rows: Iterable[int], what: Iterable[str]) -> None:
        """Add a fault in words for each of these rows."""
        self.faults += [
            FileFault(self.file, int(self.lines[row]), text) for row, text in zip(rows, what, strict=True)
        ]

    def numbers(self, column: int, name: str, low: float, high: float, *, end: bool) -> Floats:
        """Return the numbers of a column; other texts and numbers out of range become faults.

        Args:
            column: from 0.
            name: what the column is called in a fault.
            low: the least value.
            high: where the range ends.
            end: whether `high` itself belongs to the range.
        """
        cells = self.columns[column]
        if _NUMBER_CHARACTERS.issuperset("".join(cells)):
            try:
                values = np.fromiter(map(float, cells), float, len(cells))
            except ValueError:
                values = _parse_numbers(cells)
        else:
            values = _parse_numbers(cells)
        outside = ~((values >= low) & (values <= high if end else values < high))
        span = f"[{low:g}, {high:g}{']' if end else ')'}"
        rows = np.flatnonzero(outside).tolist()
        self.blame(
            rows,
            (
                f"the {name} {cells[row]!r} is "
                + ("no number" if np.isnan(values[row]) else f"outside {span}")
                for row in rows
            ),
        )
        return values


def read_table(file: Path, widths: Sequence[int]) -> Table:
    """Return the cells of a file, whose lines should have as many fields as the first.

    Args:
        file: UTF-8 text.
        widths: the numbers of fields that are possible, the usual one first.

    Raises:
        GraphFault: the file is missing, empty or no text.
    """
    lines, faults = read_lines(file)
    commas = np.array([line.count(",") for line in lines])
    width = int(commas[0]) + 1 if commas[0] + 1 in widths else widths[0]
    wrong = np.flatnonzero(commas != width - 1)
    faults += [
        FileFault(file, row + 1, f"{commas[row] + 1} fields instead of {width}") for row in wrong.tolist()
    ]
    rows = np.delete(np.arange(len(lines)), wrong)
    right = [lines[row] for row in rows.tolist()] if len(wrong) else lines
    cells = ",".join(right).split(",") if right else []
    return Table(
        file=file,
        columns=[cells[column::width] for column in range(width)],
        lines=rows + 1,
        broken=[lines[row].split(",")[0] for row in wrong.tolist()],
        faults=faults,
    )


def read_lines(file: Path) -> tuple[list[str], list[FileFault]]:
    """Return (lines of a text file, fault if the last one has no end); at least one line.

    Raises:
        GraphFault: the file is missing, empty or no text.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise GraphFault([FileFault(file, 0, "no such file")]) from None
    except UnicodeDecodeError as fault:
        line = fault.object[: fault.start].count(b"\n") + 1
        raise GraphFault([FileFault(file, line, "not UTF-8 text")]) from fault
    except OSError as fault:
        raise GraphFault([FileFault(file, 0, f"cannot be read ({fault.strerror})")]) from fault
    if not text:
        raise GraphFault([FileFault(file, 0, "the file is empty")])
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1], []
    return lines, [FileFault(file, len(lines), "the last line has no line break: the file was cut short")]


def repeats(*keys: NDArray[np.generic]) -> tuple[Ints, Ints]:
    """Return (rows whose keys stand in an earlier row, those earlier rows), in order."""
    order = np.lexsort(keys)
    same = np.ones(max(len(order) - 1, 0), bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    later, earlier = order[1:][same], order[:-1][same]
    by_row = np.argsort(later)
    return later[by_row], earlier[by_row]


def _parse_numbers(cells: Sequence[str]) -> Floats:
    """Return the numbers of cells; `nan` for a cell that is none."""
    return np.array([float(cell) if _NUMBER.fullmatch(cell) else np.nan for cell in cells], float)
