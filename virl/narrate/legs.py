"""A walk told exactly: its legs from turn to turn, with crossings, distances and streets."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from virl.geo import Floats, compass_word, signed_turn
from virl.narrate.streets import StreetOf, no_streets
from virl.narrate.walk import Walk

# Chosen: bends below are the road's own, and a whole turn at a crossing is far above.
TURN_DEG, SHARP_DEG, AROUND_DEG = 35.0, 120.0, 160.0
ONE_CROSSING_M = 15.0  # chosen: panoramas of one crossing lie closer, two crossings farther apart


@dataclass(frozen=True, slots=True)
class WalkLeg:
    """A part of a walk without turns."""

    first: int
    """Index of the stop where it begins."""
    last: int
    turn: float
    """Degrees turned at its beginning, clockwise; at the start, from the way the walker faced."""
    heading: float
    """Degrees clockwise from north, from its beginning to its end."""
    metres: float
    """Along the way walked."""
    crossings: int
    """Crossings passed; those where it begins and ends are left out."""
    to_crossing: bool
    street: str | None = None


def legs(walk: Walk, street_of: StreetOf = no_streets) -> tuple[WalkLeg, ...]:
    """The legs of a walk; none where it never moved.

    A stop is a turn where the way a step behind it and the way a step ahead of it differ by 35 degrees or
    more, a step being the median distance of stops; of turns closer together than one and a half steps, the
    largest counts. So a turn spread over the panoramas of one crossing is told once.

    Args:
        walk: what to tell.
        street_of: names streets.
    """
    points = walk.points()
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    if along[-1] == 0:
        return ()
    bounds = [0, *_turns(points, along), len(points) - 1]
    crossing = _crossing_numbers(walk, along)
    found: list[WalkLeg] = []
    facing = walk.heading
    for first, last in pairwise(bounds):
        step = _step_length(along)
        departure = _heading(points[first], _at(points, along, min(along[first] + step, along[last])))
        passed = {number for number in crossing[first : last + 1] if number} - {
            crossing[first],
            crossing[last],
        }
        found.append(
            WalkLeg(
                first,
                last,
                signed_turn(facing, departure),
                _heading(points[first], points[last]),
                sum(stop.walked for stop in walk.stops[first + 1 : last + 1]),
                len(passed),
                bool(crossing[last]),
                street_of([stop.position for stop in walk.stops[first : last + 1]]),
            )
        )
        facing = _heading(_at(points, along, max(along[last] - step, along[first])), points[last])
    return tuple(found)


def tell(walk: Walk, parts: Sequence[WalkLeg]) -> list[str]:
    """The walk as sentences, one a leg, the start before and the end behind them."""
    told = [f"Start facing {compass_word(walk.heading)}."]
    street = None
    for leg in parts:
        told.append(_sentence(leg, street))
        street = leg.street or street
    told.append(f"Stop. {walk.outcome}".strip())
    return told


def _sentence(leg: WalkLeg, before: str | None) -> str:
    turn = turn_words(leg.turn)
    onto = ""
    if leg.street:
        onto = f" {'along' if not turn or leg.street == before else 'onto'} {leg.street}"
    way = f"{_metres(leg.metres)} {compass_word(leg.heading)}"
    words = f"{turn}{onto} and walk {way}" if turn else f"walk {way}{onto}"
    if leg.crossings:
        words += f", past {leg.crossings} crossing{'s' if leg.crossings > 1 else ''}"
    words += ", to a crossing" if leg.to_crossing else ""
    return f"{words[0].upper()}{words[1:]}."


def turn_words(angle: float) -> str:
    """A turn in words, such as `"turn left"`; empty where it is none."""
    if abs(angle) < TURN_DEG:
        return ""
    if abs(angle) >= AROUND_DEG:
        return "turn around"
    return f"turn {'sharply ' if abs(angle) > SHARP_DEG else ''}{'left' if angle < 0 else 'right'}"


def _metres(metres: float) -> str:
    return f"{metres:.0f} m" if metres >= 10 else f"{metres:.1f} m"


def _turns(points: Floats, along: Floats) -> list[int]:
    """Indices of the stops where the walk turns."""
    step = _step_length(along)
    angles = {
        index: abs(
            signed_turn(
                _heading(_at(points, along, along[index] - step), points[index]),
                _heading(points[index], _at(points, along, along[index] + step)),
            )
        )
        for index in range(1, len(points) - 1)
    }
    kept: list[int] = []
    for index in sorted(angles, key=lambda one: -angles[one]):
        if angles[index] < TURN_DEG:
            break
        if all(abs(along[index] - along[other]) > 1.5 * step for other in kept):
            kept.append(index)
    return sorted(kept)


def _step_length(along: Floats) -> float:
    """Metres of the median step."""
    steps = np.diff(along)
    return float(np.median(steps[steps > 0]))


def _at(points: Floats, along: Floats, metres: float) -> Floats:
    """The point that lies so many metres along the way."""
    return np.array([np.interp(metres, along, points[:, axis]) for axis in (0, 1)])


def _heading(source: Floats, target: Floats) -> float:
    east, north = target - source
    return float(np.degrees(np.arctan2(east, north)) % 360)


def _crossing_numbers(walk: Walk, along: Floats) -> list[int]:
    """For each stop, the number of the crossing that it is at, from 1; 0 where it is at none."""
    numbers: list[int] = []
    count, last = 0, -np.inf
    for stop, metres in zip(walk.stops, along, strict=True):
        if not stop.crossing:
            numbers.append(0)
            continue
        if not (numbers and numbers[-1] and metres - last <= ONE_CROSSING_M):
            count += 1
        numbers.append(count)
        last = metres
    return numbers
