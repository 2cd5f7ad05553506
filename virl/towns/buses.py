"""The bus lines of a made city, and journeys on them with one change at most.

The lines are as invented as the city's streets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import atan2, ceil, degrees

import numpy as np

from virl.geo.globe import Floats, LatLng, compass_word, distance
from virl.platform.city.maps import SPEED_M_S, Journey, JourneyLeg, Maps
from virl.towns.plan.town_plan import Street, StreetPlan, to_positions

LINES = 6
"""Number of bus lines of a town; chosen."""
SHORTEST_M = 500.0
"""Least length of a bus line in metres; chosen."""
APART_M = 180.0
"""Least distance in metres between two stops of a line; chosen."""
BUS_SPEED_M_S = 5.0
"""Speed of a bus between stops, metres a second; chosen, as in town traffic."""
DWELL_S = 20.0
"""Seconds that a bus waits at a stop; chosen."""
EVERY = 10
"""Minutes between two buses of a line in one direction; chosen."""
FIRST, LAST = 5 * 60 + 30, 23 * 60 + 30  # minutes after midnight of the first and last bus; chosen

_CHANGE_M = 150.0
"""Largest distance in metres between two stops where passengers change buses; chosen."""
_DETOUR = 1.25
"""Assumed length of a walk between two stops, as a multiple of the straight line; chosen."""

Stand = tuple[int, int]
"""(index of a bus line, index of a stop on the line)."""


@dataclass(frozen=True, slots=True)
class BusStop:
    """A stop of a bus line, with the way there from the stop before."""

    name: str
    position: LatLng
    after: int
    """Whole minutes that the bus takes from the first stop to this one."""
    path: tuple[LatLng, ...]
    """Way from the stop before to this one, both included; empty at the first."""
    metres: float
    """Length of `path` in metres; 0 at the first stop."""


@dataclass(frozen=True, slots=True)
class BusLine:
    """A bus line in one direction, with stops and timetable."""

    name: str
    stops: tuple[BusStop, ...]
    offset: int
    """Minutes after each full ten minutes, 0 to 9, at which the line's buses set out."""

    @property
    def headsign(self) -> str:
        """Name of the last stop, as shown on the bus."""
        return self.stops[-1].name

    def departure(self, stop: int, ready: float) -> int | None:
        """Return the day's minute of a stop's first bus from minute `ready` on; `None` after the last bus."""
        first, after = FIRST + self.offset, self.stops[stop].after
        sets_out = first + max(0, ceil((ready - after - first) / EVERY)) * EVERY
        return sets_out + after if sets_out <= LAST else None


def bus_lines(layout: StreetPlan) -> list[BusLine]:
    """Return the bus lines of a town: its longest streets, each in both directions."""
    names = dict.fromkeys(street.name for street in layout.streets if street.road > 0)
    runs = [_longest_run([one for one in layout.streets if one.name == name]) for name in names]
    long = sorted(
        (run for run in runs if _length(run) >= SHORTEST_M), key=lambda run: (-_length(run), run[0].id)
    )
    lines: list[BusLine] = []
    for number, run in enumerate(long[:LINES], start=1):
        there = _stops(run, layout)
        back = _stops([_reverse(street) for street in reversed(run)], layout)
        lines += [BusLine(f"bus {number}", there, 0), BusLine(f"bus {number}", back, EVERY // 2)]
    return [line for line in lines if len(line.stops) > 1]


def _length(run: Sequence[Street]) -> float:
    """Return the length in metres of a run of connected streets."""
    return sum(_metres(street.line) for street in run)


def _metres(line: Floats) -> float:
    """Return the length in metres of a line of points (n, 2)."""
    return float(np.hypot(*np.diff(line, axis=0).T).sum())


def _reverse(street: Street) -> Street:
    """Return a street in the opposite direction."""
    return replace(street, line=street.line[::-1], start=street.end, end=street.start)


def _longest_run(stretches: Sequence[Street]) -> list[Street]:
    """Return the longest run of connected stretches of one street, each in the direction of the run."""
    best: list[Street] = []
    for first in stretches:
        for start in (first, _reverse(first)):
            run, left = [start], [one for one in stretches if one.id != first.id]
            while follows := next((one for one in left if run[-1].end in (one.start, one.end)), None):
                run.append(follows if follows.start == run[-1].end else _reverse(follows))
                left.remove(follows)
            # By more than rounding, so that of both directions the first stays.
            if _length(run) > _length(best) + 0.01:
                best = run
    return best


def _stops(run: Sequence[Street], layout: StreetPlan) -> tuple[BusStop, ...]:
    """Return the stops of a run of streets: at its ends and at crossings far enough apart."""
    start = layout.frame.position(*run[0].line[0].tolist())
    stops = [BusStop(_name_stop(run[0].start, run, layout), start, 0, (), 0.0)]
    corners, gone = [run[0].line[0]], 0.0
    for number, street in enumerate(run):
        corners += list(street.line[1:])
        metres, left = _metres(np.array(corners)), _length(run[number + 1 :])
        if left == 0 or (metres >= APART_M and left >= APART_M):
            gone += metres
            after = round((gone / BUS_SPEED_M_S + len(stops) * DWELL_S) / 60)
            path = tuple(to_positions(layout.frame, np.array(corners)))
            stops.append(BusStop(_name_stop(street.end, run, layout), path[-1], after, path, metres))
            corners = [street.line[-1]]
    return tuple(stops)


def _name_stop(junction: int, run: Sequence[Street], layout: StreetPlan) -> str:
    """Return a stop's name: `Long St at Mill Lane` where a street crosses, else like `Long St, north end`."""
    street = run[0].name
    others = sorted({one.name for one in layout.streets if junction in (one.start, one.end)} - {street})
    if others:
        return f"{street} at {others[0]}"
    middle = np.concatenate([one.line for one in run]).mean(axis=0)
    line = run[0].line[0] if run[0].start == junction else run[-1].line[-1]
    east, north = (line - middle).tolist()
    return f"{street}, {compass_word(degrees(atan2(east, north)))} end"


@dataclass(frozen=True, slots=True)
class _Ride:
    """A ride on one line between two of its stops."""

    line: int
    """Index of the bus line."""
    board: int
    """Index of the stop where the ride begins."""
    alight: int
    """Index of the stop where the ride ends."""
    leaves: int
    """Time of departure, minutes after midnight."""
    arrives: int
    """Time of arrival, minutes after midnight."""
    change_from: Stand | None = None
    """Line and stop where the ride before ends; `None` for a first ride."""


def journey_of(lines: Sequence[BusLine], maps: Maps, here: LatLng, there: LatLng, minute: int) -> Journey:
    """Return the journey, begun at `minute` of the day, that arrives first: a walk, or at most two buses.

    Args:
        lines: bus lines of the town.
        maps: maps for the ways on foot.
        here: position to leave.
        there: position to arrive at.
        minute: time of setting out, minutes after midnight.

    Raises:
        NoRoute: `here` or `there` is off the map.
    """
    walk = maps.route([here, there])
    stands = [(row, stop) for row, line in enumerate(lines) for stop in range(len(line.stops))]
    positions = [lines[row].stops[stop].position for row, stop in stands]
    if not stands:
        return Journey((_on_foot(maps, here, there),), walk.duration)
    to_stops = maps.travel_times([here], positions)[0]
    # Times to the stops from the end serve as times from them: all streets lead both ways on foot.
    from_stops = dict(zip(stands, maps.travel_times([there], positions)[0], strict=True))
    ready = {stand: minute + float(seconds) / 60 for stand, seconds in zip(stands, to_stops, strict=True)}
    first = _rides(lines, ready, {})
    second = _rides(lines, *_changes(lines, first))
    best, total = None, walk.duration
    for rides in (first, second):
        for stand, ride in rides.items():
            seconds = 60.0 * (ride.arrives - minute) + float(from_stops[stand])
            if seconds < total:
                best, total = ride, seconds
    if best is None:
        return Journey((_on_foot(maps, here, there),), walk.duration)
    rides_taken = [first[best.change_from], best] if best.change_from else [best]
    return Journey(tuple(_legs(lines, maps, rides_taken, here, there)), total)


def _rides(
    lines: Sequence[BusLine], ready: Mapping[Stand, float], changed: Mapping[Stand, Stand]
) -> dict[Stand, _Ride]:
    """Return each stop's earliest ride; by boarding stop, `ready`: minute, `changed`: stop changed from."""
    found: dict[Stand, _Ride] = {}
    for (row, board), since in ready.items():
        line = lines[row]
        leaves = line.departure(board, since)
        if leaves is None:
            continue
        for alight in range(board + 1, len(line.stops)):
            arrives = leaves + line.stops[alight].after - line.stops[board].after
            known = found.get((row, alight))
            if known is None or (arrives, -leaves) < (known.arrives, -known.leaves):
                change = changed.get((row, board))
                found[row, alight] = _Ride(row, board, alight, leaves, arrives, change)
    return found


def _changes(
    lines: Sequence[BusLine], first: Mapping[Stand, _Ride]
) -> tuple[dict[Stand, float], dict[Stand, Stand]]:
    """Return by stop (minute from which to board after a change there, stop where the first bus is left)."""
    ready: dict[Stand, float] = {}
    changed: dict[Stand, Stand] = {}
    for stand, ride in first.items():
        off = lines[stand[0]].stops[stand[1]].position
        for row, line in enumerate(lines):
            if line.name == lines[stand[0]].name:
                continue
            for stop, there in enumerate(line.stops):
                metres = distance(off, there.position)
                if metres > _CHANGE_M:
                    continue
                waits = ride.arrives + _DETOUR * metres / SPEED_M_S["walking"] / 60
                if waits < ready.get((row, stop), float("inf")):
                    ready[row, stop], changed[row, stop] = waits, stand
    return ready, changed


def _legs(
    lines: Sequence[BusLine], maps: Maps, rides: Sequence[_Ride], here: LatLng, there: LatLng
) -> list[JourneyLeg]:
    """Return the legs of a journey from `here` to `there`: rides, and on foot before, between and after."""
    legs: list[JourneyLeg] = []
    for ride in rides:
        line = lines[ride.line]
        between = line.stops[ride.board + 1 : ride.alight + 1]
        board, alight = line.stops[ride.board], line.stops[ride.alight]
        legs.append(_on_foot(maps, here, board.position))
        legs.append(
            JourneyLeg(
                (board.position, *(position for stop in between for position in stop.path[1:])),
                sum(stop.metres for stop in between),
                60.0 * (ride.arrives - ride.leaves),
                line.name,
                board.name,
                alight.name,
                ride.leaves,
                ride.arrives,
                line.headsign,
            )
        )
        here = alight.position
    return [*legs, _on_foot(maps, here, there)]


def _on_foot(maps: Maps, here: LatLng, there: LatLng) -> JourneyLeg:
    """Return the leg on foot between two positions."""
    route = maps.route([here, there])
    return JourneyLeg(route.path, route.distance, route.duration)
