"""A walk as a model is told it: one entry wherever something was seen, ways met, or the way bent."""

from dataclasses import dataclass

import numpy as np

from virl.geo import Floats, signed_turn
from virl.narrate.walk import Walk

BEND_DEG = 10.0  # chosen: smaller bends are not worth an entry
SAME_PLACE_M = 0.5  # chosen: Touchdown has panoramas on top of each other, and no way between them to tell
SEEN_WORDS, SEEN_THINGS = 120, 6  # chosen: characters of one thing, and things of one entry, that are told


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A part of the walk: a turn, then a straight line."""

    number: int
    stop: int
    """Index of the stop that it leads to."""
    turn: float
    """Degrees, clockwise, against the line before; in the first line, against the way faced at the start."""
    metres: float
    """Length of the straight line."""
    crossing: bool
    seen: tuple[str, ...]
    thought: str


def history(walk: Walk) -> tuple[HistoryEntry, ...]:
    """The entries of a walk. Entry 0 is its start and has no length.

    Turning and going on as the entries say leads exactly through the stops that they name.
    """
    points = walk.points()
    entries = [_entry(walk, 0, 0, 0.0, 0.0)]
    facing, before = walk.heading, 0
    for stop in _told_stops(walk, points):
        east, north = points[stop] - points[before]
        metres = float(np.hypot(east, north))
        heading = float(np.degrees(np.arctan2(east, north))) if metres else facing
        entries.append(_entry(walk, len(entries), stop, signed_turn(facing, heading), metres))
        facing, before = heading, stop
    return tuple(entries)


def _entry(walk: Walk, number: int, stop: int, turn: float, metres: float) -> HistoryEntry:
    where = walk.stops[stop]
    seen = tuple(thing[:SEEN_WORDS] for thing in where.seen[:SEEN_THINGS])
    return HistoryEntry(number, stop, turn, metres, where.crossing, seen, where.thought)


def _told_stops(walk: Walk, points: Floats) -> list[int]:
    """Indices of the stops after the start that have an entry."""
    last = len(points) - 1
    told: list[int] = []
    line: float | None = None
    for index in range(1, last + 1):
        east, north = points[index] - points[index - 1]
        if np.hypot(east, north) >= SAME_PLACE_M:
            heading = float(np.degrees(np.arctan2(east, north)))
            if line is not None and abs(signed_turn(line, heading)) > BEND_DEG:
                told.append(index - 1)
                line = heading
            line = heading if line is None else line
        stop = walk.stops[index]
        if index == last or stop.seen or stop.crossing:
            told.append(index)
            line = None
    return told
