"""Draws episodes: a gold path, the clauses that describe it, and their wording."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from virl.datasets.export.clauses import Clause, Stop
from virl.datasets.export.describe import describe
from virl.datasets.export.endings import Ending, endings
from virl.datasets.export.routes import PANORAMAS, draw_walk, starts
from virl.datasets.export.town import Town
from virl.datasets.export.wording import word
from virl.errors import BadInput
from virl.geo import Flags

WINDOW = 3  # ends within so many panoramas of the length drawn are tried; chosen
PATIENCE = (
    300  # walks tried in vain, one after the other, before the part of town is called too small; chosen
)


@dataclass(frozen=True, slots=True)
class ExportedEpisode:
    """An episode with what its instruction is made from."""

    path: tuple[str, ...]
    """Ids of the gold path's panoramas."""
    heading: int
    """Where the agent faces at the start, whole degrees, [0, 359]."""
    instruction: str
    clauses: tuple[Clause, ...]


def draw_episodes(town: Town, part: Flags, count: int, rng: Random, *, face: bool) -> list[ExportedEpisode]:
    """Draws episodes in a part of a town, no gold path twice.

    Args:
        town: where it is.
        part: the nodes that gold paths may visit, shape (nodes,).
        count: how many.
        rng: the source of chance.
        face: as in Touchdown, start with any heading and say which way to face; else, as in Map2seq, start
            along the path.

    Raises:
        BadInput: the part is too small for so many.
    """
    found: dict[tuple[str, ...], ExportedEpisode] = {}
    begin = starts(town, part)
    in_vain = 0 if begin else PATIENCE
    while len(found) < count and in_vain < PATIENCE:
        told = _draw(town, part, rng.choice(begin), rng, face=face)
        in_vain += 1
        if told and told.path not in found:
            found[told.path] = told
            in_vain = 0
    if len(found) < count:
        raise BadInput(
            f"only {len(found)} of {count} episodes fit into this part of the city: "
            "give fewer --episodes, or a larger --radius"
        )
    return list(found.values())


def _draw(town: Town, part: Flags, start: int, rng: Random, *, face: bool) -> ExportedEpisode | None:
    walk = draw_walk(town, part, start, rng)
    if len(walk) < PANORAMAS[0]:
        return None
    wanted = rng.randint(PANORAMAS[0], len(walk))
    lengths = range(max(PANORAMAS[0], wanted - WINDOW), min(len(walk), wanted + WINDOW) + 1)
    by_kind: dict[str, list[tuple[int, Ending]]] = {}
    for length, ending in _endings(town, walk, lengths, rng):
        by_kind.setdefault(_kind(ending), []).append((length, ending))
    if not by_kind:
        return None
    length, ending = rng.choice(by_kind[rng.choice(sorted(by_kind))])
    path = walk[:length]
    clauses = describe(town, path, ending, rng, face=face)
    if clauses is None:
        return None
    return ExportedEpisode(
        path=tuple(town.graph.ids[node] for node in path),
        heading=rng.randrange(360) if face else int(town.headings[path[0]][path[1]]),
        instruction=word(clauses, rng),
        clauses=clauses,
    )


def _endings(town: Town, walk: list[int], lengths: range, rng: Random) -> Iterator[tuple[int, Ending]]:
    for length in lengths:
        for ending in endings(town, walk[:length], rng):
            yield length, ending


def _kind(ending: Ending) -> str:
    stop = ending[-1]
    return stop.at if isinstance(stop, Stop) else ""
