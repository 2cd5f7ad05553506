"""Files of data sets: tables, episodes that fit a graph, and all their faults before any is reported."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.files.json_reading import JsonFault
from virl.geo.globe import Floats, Ints, signed_turn
from virl.platform.city.graph import InstructionEpisode, NavigationGraph

SHOWN = 20
"""Largest number of faults that a message lists; chosen."""


@dataclass(frozen=True, slots=True)
class FileFault:
    """One fault of a data file, with its line."""

    file: Path
    """Path of the file."""
    line: int
    """Number of the line, from 1; 0 for a fault of the whole file."""
    text: str
    """Description of the fault."""

    def __str__(self) -> str:
        """Return the fault in a line: file, line number and description."""
        where = f"{self.file}, line {self.line}" if self.line else str(self.file)
        return f"{where}: {self.text}"


class GraphFault(BadInput):
    """The error of data files with faults; `faults` has all of them."""

    def __init__(self, faults: Sequence[FileFault]) -> None:
        """Make an error of one or more faults, whose message names the first ones."""
        self.faults = tuple(faults)
        shown = [str(fault) for fault in self.faults[:SHOWN]]
        more = len(self.faults) - len(shown)
        super().__init__("; ".join(shown) + (f"; and {more} more faults" if more else ""))


def sort_faults(faults: Iterable[FileFault]) -> list[FileFault]:
    """Return the faults of one file, sorted by line."""
    return sorted(faults, key=lambda fault: fault.line)


def raise_faults(faults: Sequence[FileFault]) -> None:
    """Raise one `GraphFault` of all faults; do nothing if there are none.

    Raises:
        GraphFault: there is a fault.
    """
    if faults:
        raise GraphFault(faults)


def json_fault(file: Path, fault: JsonFault) -> FileFault:
    """Return the fault of a file whose JSON cannot be parsed."""
    return FileFault(file, fault.line, f"not valid JSON{fault.at_column}: {fault.reason}")


# Possessive, so that a long run of digits in a broken cell is not tried in every way.
_NUMBER = re.compile(r"[-+]?(\d++(\.\d*+)?|\.\d++)([eE][-+]?\d++)?", re.ASCII)
"""Pattern of a decimal number."""
_NUMBER_CHARACTERS = frozenset("0123456789+-.eE")
"""Characters of decimal numbers."""


@dataclass(slots=True)
class Table:
    """The cells of a comma-separated file, and the faults found in it."""

    file: Path
    """Path of the file."""
    columns: list[list[str]]
    """Cells by column, of the lines with the right number of fields."""
    lines: Ints
    """Line number, from 1, of each row."""
    broken: list[str]
    """First cells of the lines with a wrong number of fields, which have no row."""
    faults: list[FileFault] = field(default_factory=list)
    """Faults found so far, in no order."""

    def add_faults(self, rows: Iterable[int], texts: Iterable[str]) -> None:
        """Add a fault for each of some rows, numbers from 0, with its description."""
        self.faults += [
            FileFault(self.file, int(self.lines[row]), text) for row, text in zip(rows, texts, strict=True)
        ]

    def numbers(self, column: int, name: str, low: float, high: float, *, end: bool) -> Floats:
        """Return a column's numbers, `nan` for text; add faults for text and for numbers out of range.

        Args:
            column: number of the column, from 0.
            name: name of the column, for faults.
            low: least value of the range.
            high: value at which the range ends.
            end: True if `high` itself belongs to the range.
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
        self.add_faults(
            rows,
            (
                f"the {name} {cells[row]!r} is "
                + ("no number" if np.isnan(values[row]) else f"outside {span}")
                for row in rows
            ),
        )
        return values


def read_table(file: Path, widths: Sequence[int]) -> Table:
    """Return a comma-separated file's cells; all lines must have the same number of fields, one of `widths`.

    The possible numbers of fields are `widths`, the usual one first.

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
    # Split at once, as all lines have `width` cells: a column is every `width`-th cell.
    cells = ",".join(right).split(",") if right else []
    return Table(
        file=file,
        columns=[cells[column::width] for column in range(width)],
        lines=rows + 1,
        broken=[lines[row].split(",")[0] for row in wrong.tolist()],
        faults=faults,
    )


def read_lines(file: Path) -> tuple[list[str], list[FileFault]]:
    """Return (lines of a UTF-8 file; its faults: one if the last line has no line break, else none).

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
    """Return (numbers of rows equal in all keys to an earlier row, number of that earlier row of each)."""
    order = np.lexsort(keys)
    same = np.ones(max(len(order) - 1, 0), bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    later, earlier = order[1:][same], order[:-1][same]
    by_row = np.argsort(later)
    return later[by_row], earlier[by_row]


def _parse_numbers(cells: Sequence[str]) -> Floats:
    """Return the numbers in cells; `nan` for a cell that is no number."""
    return np.array([float(cell) if _NUMBER.fullmatch(cell) else np.nan for cell in cells], float)


MAX_WORDS = 1000
"""Largest number of words of an instruction; chosen: Touchdown's and R2R's longest has 396."""


@dataclass(frozen=True, slots=True)
class EpisodeFile:
    """The episodes of a file, and the faults of those that cannot be read."""

    episodes: tuple[InstructionEpisode, ...]
    """Episodes that can be read, in the order of the file; no two have the same id."""
    faults: tuple[FileFault, ...]
    """Faults of the episodes that cannot be read or repeat an id, in the order of the file."""


def keep_distinct(
    file: Path, found: Iterable[tuple[int, InstructionEpisode]], faults: Sequence[FileFault]
) -> EpisodeFile:
    """Return the first episode of each id, and `faults` with one more for each later episode of that id.

    Args:
        file: path of the file with the episodes.
        found: (line, episode) of each episode that can be read; line 0 where it has none of its own.
        faults: faults of the other episodes.
    """
    first: dict[str, tuple[int, InstructionEpisode]] = {}
    twice: list[FileFault] = []
    for line, episode in found:
        if episode.id in first:
            twice.append(FileFault(file, line, f"episode {episode.id!r} is repeated in the file"))
        else:
            first[episode.id] = (line, episode)
    kept = tuple(episode for _, episode in first.values())
    return EpisodeFile(kept, tuple(sort_faults([*faults, *twice])))


def episode_faults(graph: NavigationGraph, episode: InstructionEpisode) -> list[str]:
    """Return the reasons why an episode does not fit a graph, as sentences; empty if it fits.

    A gold path must lead along links. An instruction needs at least one word, at most 1,000 of them, and no
    control characters but line breaks and tabs.
    """
    faults = [f"the panorama {node!r} is not in the graph" for node in episode.path if node not in graph]
    if not faults:
        path = [graph.number(node) for node in episode.path]
        faults = [
            f"its path leads from {graph.ids[here]} to {graph.ids[there]}, where no link is"
            for here, there in pairwise(path)
            if there not in graph.target[graph.links(here)].tolist()
        ]
    return [*faults, *_text_faults(episode.instruction)]


def snapped_heading(graph: NavigationGraph, episode: InstructionEpisode) -> float:
    """Return the heading, degrees, of the start's link that is nearest to the episode's heading.

    Touchdown episodes start so; those of Map2seq start with the heading of the file. Of two links equally
    near, the first in the graph. Without any link the heading stays as it is.

    Raises:
        NoStreetView: the start is not in the graph.
    """
    headings = graph.heading[graph.links(graph.number(episode.start))]
    if len(headings) == 0:
        return episode.heading
    return float(headings[np.argmin(np.abs(signed_turn(episode.heading, headings)))])


def _text_faults(instruction: str) -> list[str]:
    """Return the faults of an instruction: no word, too many words or control characters."""
    faults = []
    words = len(instruction.split())
    if not any(character.isalnum() for character in instruction):
        faults.append("the instruction holds no word")
    if words > MAX_WORDS:
        faults.append(f"the instruction has {words:,} words: at most {MAX_WORDS:,} are read")
    control = sorted(
        {
            f"U+{ord(character):04X}"
            for character in instruction
            if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\r\t"
        }
    )
    if control:
        faults.append(f"the instruction holds control characters: {', '.join(control)}")
    return faults
