"""Describes a path as clauses: facts of the graph and of the landmarks beside it, each of them exact."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, hypot, radians, sin
from random import Random

import numpy as np

from virl.datasets.export.town import Town, TownLandmark, Way, ends_here, ways_out
from virl.datasets.export.wording import Clause, Face, Mention, Pass, See, Side, Turn, Unit
from virl.geo.globe import signed_turn

BESIDE_M = 6.0  # how far ahead or behind a landmark beside the way may be; chosen: about half a step
ASIDE_M = 4.0  # and how far to a side it must be at least, so that the side is clear; chosen
CORNER_M = 20.0  # from a crossing's middle to the front of a place on its corner; chosen
CORNER_ASIDE_M = 5.0  # and how far before or beyond, and to a side of, the middle it must be; chosen
WITH_DEG, AGAINST_DEG = 45.0, 135.0  # from a panorama's yaw, with and against the traffic; chosen

# Chosen: how often something is said where it is true.
SAY_END, SAY_LIGHT, SAY_PASS, SAY_CORNER, SAY_SEE, SAY_TRAFFIC = 0.6, 0.6, 0.35, 0.7, 0.3, 0.4
SAY_STREET = 0.7


@dataclass(frozen=True, slots=True)
class PathCrossing:
    """A crossing inside a path, with the word for each way out and for the way taken."""

    index: int
    """Index of the crossing's node in the path."""
    words: dict[int, Way | None]
    """Word for each way out, by the node it leads to; `None` for a way without a clear word."""
    way: Way
    """Word for the way taken."""
    lit: bool
    """True if the crossing has traffic lights."""
    street: str | None
    """Name of the street taken; `None` if it has no name, or is the same as before."""


def crossings_of(town: Town, path: Sequence[int]) -> list[PathCrossing]:
    """Return the crossings inside a path of nodes, without its two ends.

    Raises:
        ValueError: the path leaves one by a way that has no name.
    """
    found = []
    for index in range(1, len(path) - 1):
        node = path[index]
        if town.is_crossing(node):
            words = ways_out(town, path[index - 1], node)
            way = words[path[index + 1]]
            if way is None:
                raise ValueError(f"the path leaves {town.graph.ids[node]} by a way that has no name")
            streets = town.streets[path[index]]
            before, after = streets.get(path[index - 1]), streets.get(path[index + 1])
            street = after if after != before else None
            found.append(PathCrossing(index, words, way, bool(town.lit[node]), street))
    return found


def describe(
    town: Town, path: Sequence[int], ending: Sequence[Clause], rng: Random, *, face: bool
) -> tuple[Clause, ...] | None:
    """Return a path's clauses, then `ending`; with `face`, first where to face, `None` if nothing tells it.

    Args:
        town: where it is.
        path: its nodes.
        ending: what follows its last turn.
        rng: chooses which of the things that are true are said.
        face: whether it must be said which way to face at the start.
    """
    clauses: list[Clause] = []
    if face:
        facing = list(_facings(town, path))
        if not facing:
            return None
        traffic = [face for face in facing if face.by == "traffic"]
        landmarks = [face for face in facing if face.by == "landmark"]
        clauses.append(
            rng.choice(traffic if traffic and (not landmarks or rng.random() < SAY_TRAFFIC) else landmarks)
        )
    passed: list[PathCrossing] = []
    since = 0
    for crossing in crossings_of(town, path):
        passed.append(crossing)
        if crossing.way != "straight":
            clauses += _sights(town, path, since, crossing.index, rng)
            clauses += _turn(town, path, passed, rng)
            since, passed = crossing.index, []
    clauses += _sights(town, path, since, len(path) - 1, rng)
    clauses += ending
    named = [clause.landmark.name for clause in clauses if not isinstance(clause, Pass) and clause.landmark]
    # a landmark that another clause names too is not told as passed
    return tuple(
        clause
        for clause in clauses
        if not (isinstance(clause, See) and named.count(clause.landmark.name) > 1)
    )


def landmarks_abeam(town: Town, node: int, heading: float) -> Iterator[tuple[TownLandmark, Mention]]:
    """Yield (landmark, mention) for landmarks level with a walker at `node` who faces `heading`, degrees.

    Args:
        town: with the landmarks that each node sees.
        node: where one stands.
        heading: that one faces, degrees.
    """
    for landmark in town.sees[node]:
        ahead, right = _relative(town, node, heading, landmark)
        if abs(ahead) <= BESIDE_M and abs(right) >= ASIDE_M:
            yield landmark, Mention(landmark.name, landmark.type, _side(right))


def counting_unit(crossings: Sequence[PathCrossing], rng: Random) -> Unit:
    """Return what to count crossings by: by chance traffic lights if all have them, else all crossings."""
    return "light" if all(one.lit for one in crossings) and rng.random() < SAY_LIGHT else "intersection"


def _turn(town: Town, path: Sequence[int], passed: Sequence[PathCrossing], rng: Random) -> list[Clause]:
    """Return the clauses on the crossings in `passed` and the turn at the last of them."""
    crossing = passed[-1]
    corner = list(_corners(town, path, crossing))
    landmark = rng.choice(corner) if corner and rng.random() < SAY_CORNER else None
    street = crossing.street if crossing.street and rng.random() < SAY_STREET else None
    if ends_here(crossing.words) and rng.random() < SAY_END:
        return [Turn(crossing.way, "end", 1, landmark, street)]
    unit: Unit = "light" if crossing.lit and rng.random() < SAY_LIGHT else "intersection"
    count = sum(unit == "intersection" or one.lit for one in passed)
    if count > 1 and rng.random() < SAY_PASS:
        return [Pass(count - 1, unit), Turn(crossing.way, unit, 1, landmark, street)]
    return [Turn(crossing.way, unit, count, landmark, street)]


def _corners(town: Town, path: Sequence[int], crossing: PathCrossing) -> Iterator[Mention]:
    """Yield the landmarks at a crossing's corners, with their side and near or far, as seen on arriving.

    There is a near corner on each side that a way leaves to, and a far one if a way goes straight on too.
    """
    node = path[crossing.index]
    heading = town.headings[path[crossing.index - 1]][node]
    words = set(crossing.words.values())
    for landmark in town.sees[node]:
        ahead, right = _relative(town, node, heading, landmark)
        clear = min(abs(ahead), abs(right)) >= CORNER_ASIDE_M and hypot(ahead, right) <= CORNER_M
        if clear and None not in words and _side(right) in words and (ahead < 0 or "straight" in words):
            yield Mention(landmark.name, landmark.type, _side(right), "near" if ahead < 0 else "far")


def _facings(town: Town, path: Sequence[int]) -> Iterator[Face]:
    """Yield the clauses on where to face that are true of the path's first link and no other link there."""
    heading = town.headings[path[0]][path[1]]
    others = [other for node, other in town.headings[path[0]].items() if node != path[1]]
    if town.driven[path[0]]:
        yaw = float(town.graph.yaw[path[0]])
        off, others_off = abs(signed_turn(yaw, heading)), [abs(signed_turn(yaw, other)) for other in others]
        if off <= WITH_DEG and all(other >= AGAINST_DEG for other in others_off):
            yield Face("traffic", along=True)
        if off >= AGAINST_DEG and all(other <= WITH_DEG for other in others_off):
            yield Face("traffic", along=False)
    for landmark, mention in landmarks_abeam(town, path[0], heading):
        turned = [_relative(town, path[0], other, landmark)[1] for other in others]
        if all(abs(right) >= ASIDE_M and _side(right) != mention.side for right in turned):
            yield Face("landmark", landmark=mention)


def _sights(town: Town, path: Sequence[int], since: int, until: int, rng: Random) -> list[Clause]:
    """Return, by chance, one clause on a landmark passed between indices `since` and `until`, else none."""
    # Off the crossings at both ends: what stands there is on a corner.
    inside = range(since + 2, until - 1)
    if not inside or rng.random() >= SAY_SEE:
        return []
    index = rng.choice(inside)
    seen = [
        mention
        for _, mention in landmarks_abeam(town, path[index], town.headings[path[index]][path[index + 1]])
    ]
    return [See(rng.choice(seen))] if seen else []


def _relative(town: Town, node: int, heading: float, landmark: TownLandmark) -> tuple[float, float]:
    """Return (metres ahead, metres to the right) of a landmark for a walker whose `heading` is in degrees."""
    east, north = (np.array((landmark.x, landmark.y)) - town.xy[node]).tolist()
    sine, cosine = sin(radians(heading)), cos(radians(heading))
    return east * sine + north * cosine, east * cosine - north * sine


def _side(right: float) -> Side:
    """Return the side of a landmark from its metres to the right, which are negative to the left."""
    return "right" if right > 0 else "left"
