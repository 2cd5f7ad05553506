"""Journeys on the bus lines of a made city: with one change at most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from virl.geo import Floats, LatLng, distance
from virl.platform.maps import SPEED_M_S, Maps
from virl.platform.providers.offline.buses import BusLine
from virl.platform.transit import Journey, JourneyLeg

CHANGE_M = 150.0  # most metres between two stops where one changes; chosen
DETOUR = 1.25  # metres walked for each as the crow flies, where one changes; chosen

Stand = tuple[int, int]
"""A line and a stop of it."""


@dataclass(frozen=True, slots=True)
class _Ride:
    """A ride on one line."""

    line: int
    board: int
    alight: int
    leaves: int
    """Minutes after midnight."""
    arrives: int
    change_from: Stand | None = None


def journey_of(lines: Sequence[BusLine], maps: Maps, here: LatLng, there: LatLng, minute: int) -> Journey:
    """The journey that arrives first; all on foot where no bus is quicker.

    Args:
        lines: of the town.
        maps: for the ways on foot.
        here: from where.
        there: to where.
        minute: of setting out, after midnight.

    Raises:
        NoRoute: an end is off the map.
    """
    walk = maps.route([here, there])
    stands = [(row, stop) for row, line in enumerate(lines) for stop in range(len(line.stops))]
    positions = [lines[row].stops[stop].position for row, stop in stands]
    if not stands:
        return Journey((_on_foot(maps, here, there),), walk.duration)
    to_stops = _times(maps, [here], positions)[0]
    from_stops = dict(
        zip(stands, _times(maps, [there], positions)[0], strict=True)
    )  # all streets lead both ways
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


def _times(maps: Maps, origins: Sequence[LatLng], ends: Sequence[LatLng]) -> Floats:
    return np.asarray(maps.travel_times(origins, ends))


def _rides(
    lines: Sequence[BusLine], ready: Mapping[Stand, float], changed: Mapping[Stand, Stand]
) -> dict[Stand, _Ride]:
    """The ride that arrives first at each stop, of those who wait at others from some time on."""
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
    """When one who changes waits at each stop of another line, and where they got off."""
    ready: dict[Stand, float] = {}
    changed: dict[Stand, Stand] = {}
    for stand, ride in first.items():
        off = lines[stand[0]].stops[stand[1]].position
        for row, line in enumerate(lines):
            if line.name == lines[stand[0]].name:
                continue
            for stop, there in enumerate(line.stops):
                metres = distance(off, there.position)
                if metres > CHANGE_M:
                    continue
                waits = ride.arrives + DETOUR * metres / SPEED_M_S["walking"] / 60
                if waits < ready.get((row, stop), float("inf")):
                    ready[row, stop], changed[row, stop] = waits, stand
    return ready, changed


def _legs(
    lines: Sequence[BusLine], maps: Maps, rides: Sequence[_Ride], here: LatLng, there: LatLng
) -> list[JourneyLeg]:
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
    route = maps.route([here, there])
    return JourneyLeg(route.path, route.distance, route.duration)
