"""Routes between stops, told turn by turn, and journeys by public transport, for both routing APIs."""

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import compress, groupby, pairwise
from math import inf
from zoneinfo import ZoneInfo

from virl.clock import show_clock
from virl.errors import NoRoute
from virl.geo.globe import LatLng, bearing, compass_word, distance, signed_turn
from virl.platform.city.city import City
from virl.platform.city.maps import SPEED_M_S, Journey, JourneyLeg, TransitMaps, TravelMode
from virl.serve.city_server import end_if_client_left
from virl.serve.google.legacy_json import point
from virl.serve.google.place_json import lat_lng_json
from virl.serve.google.shown_places import TownClock
from virl.serve.google.wire import Json, invalid

TURN_DEG = 30.0  # a smaller change of heading is no turn; chosen
LOOK_M = 12.0  # before and behind a corner a street's heading is taken so far off; chosen: a junction bends
SHORT_M = 30.0  # a piece without a name up to this length is no step: a crossing, the way to a door; chosen


@dataclass(frozen=True, slots=True)
class Stretch:
    """A route or a part of it, such as a step or a leg between stops, with path, length and time."""

    path: tuple[LatLng, ...]
    """Corners in order of travel, at least its two ends."""
    metres: float
    seconds: float
    instruction: str = ""
    """Instruction such as "Turn left onto <b>Oak Street</b>", with names escaped for HTML."""
    maneuver: str = ""
    """Maneuver in lower case with hyphens, such as `turn-left`; empty for the first step."""


def steps_of(path: Sequence[LatLng], streets: Sequence[str], speed: float) -> list[Stretch]:
    """Return a path cut into steps at its turns and where the street changes; `speed` in metres a second.

    A bend is no turn where the street keeps its name.

    Args:
        path: corners of the path.
        streets: name of each piece's street, empty if it has none; an empty sequence if names are unknown.
        speed: metres a second.
    """
    names = list(streets) or [""] * (len(path) - 1)
    # A piece without length has no heading, and would make turns of nothing.
    has_length = [distance(here, there) > 0.01 for here, there in pairwise(path)]
    bare = [path[0], *compress(path[1:], has_length)]
    names = list(compress(names, has_length))
    if len(bare) == 1:
        return [Stretch((path[0], path[-1]), 0.0, 0.0, "Arrive")]
    names = _name_short_pieces(bare, names)
    # Where names are known, small bends are looked over; without them every corner is all there is.
    look = LOOK_M if streets else 0.0
    turns = [0.0, *(signed_turn(*_headings_at(at, bare, look)) for at in range(1, len(names)))]
    cuts = [0]
    since = 0.0
    for at in range(1, len(names)):
        since += distance(bare[at - 1], bare[at])
        # A street that bends is followed without a word as long as it keeps its name.
        bends = not names[at] and abs(turns[at]) > TURN_DEG and since >= look
        if names[at] != names[at - 1] or bends:
            cuts.append(at)
            since = 0.0
    cuts.append(len(names))
    steps = []
    for start, end in pairwise(cuts):
        part = tuple(bare[start : end + 1])
        metres = sum(distance(here, there) for here, there in pairwise(part))
        turn = turns[start]
        side = "" if abs(turn) <= TURN_DEG else "right" if turn > 0 else "left"
        if start == 0:
            action, maneuver = f"Head <b>{compass_word(bearing(bare[0], bare[1]))}</b>", ""
        elif side:
            action, maneuver = f"Turn <b>{side}</b>", f"turn-{side}"
        else:
            action, maneuver = "Continue", "straight"
        street = f" {'onto' if start else 'on'} <b>{html.escape(names[start], quote=False)}</b>"
        instruction = action + (street if names[start] else "")
        steps.append(Stretch(part, metres, metres / speed, instruction, maneuver))
    return steps


def _headings_at(corner: int, path: Sequence[LatLng], look: float) -> tuple[float, float]:
    """Return the headings (before, after) of a path's corner in degrees, taken `look` metres from it."""
    before = after = 1
    while before < corner and distance(path[corner - before], path[corner]) < look:
        before += 1
    while corner + after < len(path) - 1 and distance(path[corner], path[corner + after]) < look:
        after += 1
    return bearing(path[corner - before], path[corner]), bearing(path[corner], path[corner + after])


def _name_short_pieces(path: Sequence[LatLng], names: Sequence[str]) -> list[str]:
    """Return the street names of a path's pieces, short nameless ones named after an adjoining one."""
    runs: list[tuple[str, int, float]] = []
    at = 0
    for name, same in groupby(names):
        count = len(list(same))
        metres = sum(distance(path[piece], path[piece + 1]) for piece in range(at, at + count))
        runs.append((name, count, metres))
        at += count
    written: list[str] = []
    for number, (name, count, metres) in enumerate(runs):
        shown = name
        if not name and metres <= SHORT_M:
            following = runs[number + 1][0] if number + 1 < len(runs) else ""
            shown = following or (written[-1] if written else "")
        written += [shown] * count
    return written


TravelMatrix = list[list[tuple[float, float] | None]]
"""Rows, one for each origin, of (metres, seconds) to each destination; `None` where there is no way."""


@dataclass(frozen=True, slots=True)
class RouteLeg:
    """The route between two stops at which it halts, as a whole and as steps."""

    whole: Stretch
    steps: tuple[Stretch, ...]
    via: tuple[tuple[LatLng, int], ...] = ()
    """(position, index of the step before it) of each stop that is passed without halting."""


def _join_legs(before: RouteLeg, here: LatLng, after: RouteLeg) -> RouteLeg:
    """Return two legs as one that passes `here`, the stop between them, without halting."""
    first, second = before.whole, after.whole
    # A stop that is passed is no stop: it is told as a position after the last step before it.
    path = join_paths([first, second])
    whole = Stretch(path, first.metres + second.metres, first.seconds + second.seconds)
    via = (*before.via, (here, len(before.steps) - 1))
    return RouteLeg(whole, before.steps + after.steps, via)


def join_paths(stretches: Sequence[Stretch]) -> tuple[LatLng, ...]:
    """Return the paths of consecutive stretches as one path; each joint is a point of it once."""
    first, *others = stretches
    return first.path + tuple(position for stretch in others for position in stretch.path[1:])


BUS = "Bus"  # the only kind of vehicle that a city's journeys have


@dataclass(frozen=True, slots=True)
class TimedJourney:
    """A public-transport journey, with the date and time of its departure."""

    journey: Journey
    leaves: datetime
    """Departure time, in the town's time zone."""

    def at(self, minute: int) -> datetime:
        """Return the time that is so many minutes after midnight of the journey's day."""
        midnight = self.leaves.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + timedelta(minutes=minute)


@dataclass(frozen=True, slots=True)
class WayFinder:
    """A finder of routes and of public-transport journeys in a city."""

    city: City
    clock: TownClock

    def legs(
        self, stops: Sequence[LatLng], mode: TravelMode, via: Collection[int] = ()
    ) -> list[RouteLeg] | None:
        """Return the shortest route through stops as legs, not halting at indices `via`; `None` for no way.

        Args:
            stops: two or more positions.
            mode: the mode of travel.
            via: indices in `stops` of those that are passed without halting: no leg ends there.
        """
        legs: list[RouteLeg] = []
        for number, (here, there) in enumerate(pairwise(stops)):
            try:
                route = self.city.maps.route([here, there], mode)
            except NoRoute:
                return None
            whole = Stretch(route.path, route.distance, route.duration)
            leg = RouteLeg(whole, tuple(steps_of(route.path, route.streets, SPEED_M_S[mode])))
            legs.append(_join_legs(legs.pop(), here, leg) if number in via else leg)
        return legs

    def journey(self, stops: Sequence[LatLng], departs: datetime | None) -> TimedJourney | None:
        """Return the journey between two stops, from now if `departs` is `None`; `None` if there is none.

        Raises:
            Refused: there are more than two stops; Google's transit takes none on the way.
        """
        end_if_client_left()
        if len(stops) > 2:
            raise invalid("Intermediate waypoints are not supported for the travel mode TRANSIT.")
        leaves = departs.astimezone(self.clock.local.tzinfo) if departs else self.clock.local
        maps = self.city.maps
        if not isinstance(maps, TransitMaps):
            return None
        try:
            found = maps.journey(stops[0], stops[-1], leaves.weekday(), leaves.hour * 60 + leaves.minute)
        except NoRoute:
            return None
        return TimedJourney(found, leaves)

    def matrix(
        self,
        origins: Sequence[LatLng],
        destinations: Sequence[LatLng],
        mode: TravelMode | None,
        departs: datetime | None = None,
    ) -> TravelMatrix:
        """Return (metres, seconds) from each origin, a row, to each destination; `None` if there is no way.

        Args:
            origins: n positions, for as many rows.
            destinations: m positions, for as many columns.
            mode: the mode of travel; `None` for public transport.
            departs: the time to set out by public transport; `None` for now.
        """
        if mode is None:
            rows = [[self.journey((here, there), departs) for there in destinations] for here in origins]
            return [
                [(one.journey.distance, one.journey.duration) if one else None for one in row] for row in rows
            ]
        end_if_client_left()
        if not (origins and destinations):
            return [[] for _ in origins]
        # A mode of travel has one speed, so that the metres follow from the seconds.
        speed = SPEED_M_S[mode]
        times = self.city.maps.travel_times(origins, destinations, mode).tolist()
        return [[(seconds * speed, seconds) if seconds < inf else None for seconds in row] for row in times]


def new_ride_json(leg: JourneyLeg, timed: TimedJourney) -> Json:
    """Return the stops, times and line of a ride within a timed journey, as JSON of the Routes API."""
    stops: Json = {}
    for name, stop, position, minute in (
        ("departure", leg.board, leg.path[0], leg.departs),
        ("arrival", leg.alight, leg.path[-1], leg.arrives),
    ):
        stops[f"{name}Stop"] = {"name": stop, "location": {"latLng": lat_lng_json(position)}}
        stops[f"{name}Time"] = timed.at(minute or 0).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "stopDetails": stops,
        "headsign": leg.headsign,
        "transitLine": {
            "name": leg.line,
            "nameShort": _line_number(leg),
            "vehicle": {"name": {"text": BUS}, "type": BUS.upper()},
        },
    }


def legacy_ride_json(leg: JourneyLeg, timed: TimedJourney) -> Json:
    """Return the stops, times and line of a ride within a timed journey, as JSON of the Directions API."""
    line = {"name": leg.line, "short_name": _line_number(leg), "vehicle": {"name": BUS, "type": BUS.upper()}}
    return {
        "departure_stop": {"name": leg.board, "location": point(leg.path[0])},
        "arrival_stop": {"name": leg.alight, "location": point(leg.path[-1])},
        "departure_time": legacy_time_json(timed.at(leg.departs or 0)),
        "arrival_time": legacy_time_json(timed.at(leg.arrives or 0)),
        "headsign": leg.headsign,
        "line": line,
    }


def legacy_time_json(when: datetime) -> Json:
    """Return a time as JSON of the Directions API: text, time zone and Unix seconds."""
    zone = str(when.tzinfo) if isinstance(when.tzinfo, ZoneInfo) else "UTC"
    shown = show_clock(when.hour * 60 + when.minute)
    return {"text": shown, "time_zone": zone, "value": int(when.timestamp())}


def _line_number(leg: JourneyLeg) -> str:
    """Return the number of a ride's line: the last word of its name."""
    return leg.line.rpartition(" ")[2]
