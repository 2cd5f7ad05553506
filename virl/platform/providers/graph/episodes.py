"""Episodes as files give them: those that can be read, those that cannot, and how one fits a graph."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from virl.errors import NoStreetView
from virl.geo.globe import signed_turn
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.providers.graph.data_files import FileFault, by_line

MAX_WORDS = 1000
"""Most words of an instruction; chosen: the longest in Touchdown's and R2R's dev sets has 396."""


@dataclass(frozen=True, slots=True)
class EpisodeFile:
    """The episodes of a file, and the faults of those that cannot be read."""

    episodes: tuple[InstructionEpisode, ...]
    """Episodes that can be read, in the order of the file; no two have the same id."""
    faults: tuple[FileFault, ...]
    """The faults of the other episodes, in the order of the file."""


def keep_distinct(
    file: Path, found: Iterable[tuple[int, InstructionEpisode]], faults: Sequence[FileFault]
) -> EpisodeFile:
    """Return the first episode of each id; the others join the faults.

    Args:
        file: where the episodes stand.
        found: each with its line, 0 where it has none of its own.
        faults: those found before.
    """
    first: dict[str, tuple[int, InstructionEpisode]] = {}
    twice: list[FileFault] = []
    for line, episode in found:
        if episode.id in first:
            twice.append(FileFault(file, line, f"episode {episode.id!r} is repeated in the file"))
        else:
            first[episode.id] = (line, episode)
    kept = tuple(episode for _, episode in first.values())
    return EpisodeFile(kept, tuple(by_line([*faults, *twice])))


def episode_faults(graph: NavigationGraph, episode: InstructionEpisode) -> list[str]:
    """Return the reasons why an episode does not fit a graph, as sentences; empty if it fits.

    A gold path must lead along links. An instruction needs at least one word, at most 1,000 of them, and no
    control characters but line breaks and tabs.
    """
    faults = [f"the panorama {node!r} is not in the graph" for node in episode.path if not _has(graph, node)]
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


def _has(graph: NavigationGraph, node: str) -> bool:
    """Return whether a graph has a node with this id."""
    try:
        graph.number(node)
    except NoStreetView:
        return False
    return True


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
