"""Drawn episodes: a gold path, the clauses that describe it and where it ends, and their wording."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np

from virl.datasets.export.describe import (
    SAY_LIGHT,
    counting_unit,
    crossings_of,
    describe,
    landmarks_abeam,
)
from virl.datasets.export.town import Town, ways_out
from virl.datasets.export.wording import Clause, Pass, Share, Stop, Unit, word
from virl.errors import BadInput
from virl.geo.globe import Flags, signed_turn

_PANORAMAS = (15, 50)  # of a gold path; about the range of Touchdown's and Map2seq's
_TURNS = (1, 4)  # chosen; Map2seq's instructions tell of two or three
_STRAIGHT_ON = 0.6  # share of crossings that a walk goes straight through where it can; chosen
_MOST_PASSED = 4  # crossings between two turns, so that they can be counted; chosen
_BEND_DEG = 45.0  # no walk follows a road round a sharper bend, which no clause speaks of; chosen
_SHARES: dict[Share, float] = {"1/4": 1 / 4, "1/3": 1 / 3, "1/2": 1 / 2, "2/3": 2 / 3, "3/4": 3 / 4}
_FEW_STEPS = 3  # steps are counted up to here; chosen
_LONG_BLOCK = 7  # panoramas, crossings included, from which shares of a block are spoken of; chosen
_CLEAR_M = 1.5  # by which the panorama before a landmark is nearer to it than any other; chosen
_SAY_BESIDE = 0.5  # how often a landmark is named beside the end of a path; chosen
Ending = tuple[Clause, ...]
"""The clauses of an instruction that say where its path ends."""
WINDOW = 3
"""Number of panoramas by which a path may be longer or shorter than the length drawn. Chosen."""
PATIENCE = 300
"""Number of draws in a row without a new episode after which the town is taken for too small. Chosen."""


@dataclass(frozen=True, slots=True)
class ExportedEpisode:
    """A drawn episode: gold path, initial heading, instruction, and the clauses it is made of."""

    path: tuple[str, ...]
    """Ids of the panoramas on the gold path, the start first."""
    heading: int
    """Initial heading, whole degrees in [0, 359]."""
    instruction: str
    clauses: tuple[Clause, ...]


def draw_episodes(
    town: Town, allowed: Flags, count: int, rng: Random, *, face: bool
) -> list[ExportedEpisode]:
    """Return `count` different episodes on nodes that `allowed` marks; `face`: say which way to face first.

    Args:
        town: where it is.
        allowed: the nodes that gold paths may visit, shape (nodes,).
        count: how many.
        rng: the source of chance.
        face: as in Touchdown, start with any heading and say which way to face; else, as in Map2seq, start
            along the path.

    Raises:
        BadInput: the part is too small for so many.
    """
    found: dict[tuple[str, ...], ExportedEpisode] = {}
    # Walks begin in the middle of blocks, at nodes with all their links.
    begin = np.flatnonzero(allowed & town.whole & (town.graph.degree == 2)).tolist()
    in_vain = 0 if begin else PATIENCE
    while len(found) < count and in_vain < PATIENCE:
        told = _draw_episode(town, allowed, rng.choice(begin), rng, face=face)
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


def _draw_episode(
    town: Town, allowed: Flags, start: int, rng: Random, *, face: bool
) -> ExportedEpisode | None:
    """Return an episode from node `start` over `allowed` nodes; `None` if too short or not describable."""
    walk = _draw_walk(town, allowed, start, rng)
    if len(walk) < _PANORAMAS[0]:
        return None
    wanted = rng.randint(_PANORAMAS[0], len(walk))
    lengths = range(max(_PANORAMAS[0], wanted - WINDOW), min(len(walk), wanted + WINDOW) + 1)
    by_kind: dict[str, list[tuple[int, Ending]]] = {}
    for length in lengths:
        for ending in endings(town, walk[:length], rng):
            stop = ending[-1]
            by_kind.setdefault(stop.at if isinstance(stop, Stop) else "", []).append((length, ending))
    if not by_kind:
        return None
    # The kind first, lest the one with the most endings is nearly all that is drawn.
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


def endings(town: Town, path: Sequence[int], rng: Random) -> Iterator[Ending]:
    """Yield each way to say where a path of nodes ends, a `Stop` last; none if nothing marks the end.

    The last clause is a `Stop`; a `Pass` may stand before it.

    Args:
        town: in which the path lies.
        path: nodes, the start first.
        rng: chooses how crossings are counted.
    """
    crossings = crossings_of(town, path)
    turns = [number for number, crossing in enumerate(crossings) if crossing.way != "straight"]
    if not turns:
        return
    passed = crossings[turns[-1] + 1 :]
    last = len(path) - 1
    if town.is_crossing(path[last]):
        unit = _draw_unit(town, path[last], rng)
        count = sum(unit == "intersection" or crossing.lit for crossing in passed)
        yield (Stop("crossing", count + 1, unit),)
        return
    before: Ending = (Pass(len(passed), counting_unit(passed, rng)),) if passed else ()
    if town.graph.degree[path[last]] == 1:
        yield (*before, Stop("dead end"))
        return
    since = (passed or crossings)[-1].index
    heading = town.headings[path[-2]][path[-1]]
    seen = [mention for _, mention in landmarks_abeam(town, path[-1], heading)]
    for stop in (
        *_by_steps(town, path, since, rng),
        *_by_share(town, path, since),
        *_by_landmark(town, path, since),
    ):
        spoken = stop.landmark or not seen or rng.random() >= _SAY_BESIDE
        landmark = stop.landmark if spoken else rng.choice(seen)
        yield (*before, Stop(stop.at, stop.count, stop.unit, stop.share, landmark))


def _by_steps(town: Town, path: Sequence[int], since: int, rng: Random) -> Iterator[Stop]:
    """Yield stops a few steps after the crossing at index `since`, or a few before the next crossing."""
    steps = len(path) - 1 - since
    if steps <= _FEW_STEPS:
        yield Stop("after", steps)
    ahead = _to_crossing(town, path)
    if ahead and len(ahead) <= _FEW_STEPS:
        yield Stop("before", len(ahead), _draw_unit(town, ahead[-1], rng))


def _by_share(town: Town, path: Sequence[int], since: int) -> Iterator[Stop]:
    """Yield the stop at a share, such as a third, of the block from index `since`, if the path ends there."""
    ahead = _to_crossing(town, path)
    block = [*path[since:], *ahead]
    if not ahead or len(block) < _LONG_BLOCK:
        return
    steps = [float(np.linalg.norm(town.xy[b] - town.xy[a])) for a, b in pairwise(block)]
    along = np.concatenate([[0.0], np.cumsum(steps)])
    here = len(path) - 1 - since
    for share, part in _SHARES.items():
        # Only if the next best panorama is clearly further off, so that "a third" names one of them.
        off = np.abs(along - part * along[-1])
        if off.argmin() == here and np.partition(off, 1)[1] - off[here] >= _CLEAR_M:
            yield Stop("share", share=share)


def _by_landmark(town: Town, path: Sequence[int], since: int) -> Iterator[Stop]:
    """Yield stops at landmarks level with the path's end, nearer to it than to others from index `since`."""
    ahead = _to_crossing(town, path)
    if not ahead:
        return
    others = [*path[since:-1], *ahead]
    heading = town.headings[path[-2]][path[-1]]
    for landmark, mention in landmarks_abeam(town, path[-1], heading):
        away = np.linalg.norm(town.xy[[path[-1], *others]] - (landmark.x, landmark.y), axis=1)
        if away[0] + _CLEAR_M <= away[1:].min():
            yield Stop("landmark", landmark=mention)


def _draw_unit(town: Town, crossing: int, rng: Random) -> Unit:
    """Return what node `crossing` is counted as: a crossing or, by chance, a traffic light if it has one."""
    return "light" if town.lit[crossing] and rng.random() < SAY_LIGHT else "intersection"


def _to_crossing(town: Town, path: Sequence[int]) -> list[int]:
    """Return the nodes after a path up to the next crossing; empty if none comes within 50 nodes."""
    before, node = path[-2:]
    nodes: list[int] = []
    while len(nodes) < _PANORAMAS[1] and not town.is_crossing(node):
        onward = [n for n in town.headings[node] if n != before]
        if not onward or not town.whole[onward[0]]:
            return []
        before, node = node, onward[0]
        nodes.append(node)
    return nodes if town.is_crossing(node) else []


def _draw_walk(town: Town, allowed: Flags, start: int, rng: Random) -> list[int]:
    """Return the nodes of a random walk from `start` on the nodes that `allowed` marks, at most 50.

    It turns at crossings alone, visits no node twice, and stops short of a fifth turn.
    """
    path = [start, rng.choice(list(town.headings[start]))]
    if not _may_step(town, allowed, *path):
        return path[:1]
    turns = passed = 0
    while len(path) < _PANORAMAS[1]:
        before, node = path[-2:]
        if town.is_crossing(node):
            words = ways_out(town, before, node)
            on = [n for n, word in words.items() if word == "straight" and passed < _MOST_PASSED]
            off = [n for n, word in words.items() if word not in (None, "straight") and turns < _TURNS[1]]
            on, off = (
                [n for n in nodes if n not in path and _may_step(town, allowed, node, n)]
                for nodes in (on, off)
            )
            if not on and not off:
                break
            straight = bool(on) and (not off or rng.random() < _STRAIGHT_ON)
            path.append(rng.choice(on if straight else off))
            turns, passed = (turns, passed + 1) if straight else (turns + 1, 0)
        else:
            onward = next((n for n in town.headings[node] if n != before), node)
            # Past a bend "left" and "straight" are no longer what the last clause meant.
            bends = (
                onward != node
                and abs(signed_turn(town.headings[before][node], town.headings[node][onward])) > _BEND_DEG
            )
            if onward in path or bends or not _may_step(town, allowed, node, onward):
                break
            path.append(onward)
    return path


def _may_step(town: Town, allowed: Flags, before: int, node: int) -> bool:
    """Return whether a walk may step from `before` to `node`: allowed, no link cut off, not both crossings.

    Not from a crossing straight into the next: who counts takes two that are so near to each other for one.
    """
    return bool(allowed[node] and town.whole[node]) and not (
        town.is_crossing(before) and town.is_crossing(node)
    )
