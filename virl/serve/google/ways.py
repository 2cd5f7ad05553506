"""Ways between stops, told turn by turn, and journeys by public transport, for both routing APIs."""

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from zoneinfo import ZoneInfo

from virl.clock import show_clock
from virl.errors import NoRoute
from virl.geo.globe import LatLng, bearing, compass_word, distance, signed_turn
from virl.platform.city.city import City
from virl.platform.city.maps import SPEED_M_S, Journey, JourneyLeg, Maps, TransitMaps, TravelMode
from virl.serve.city_server import end_if_client_left
from virl.serve.google.legacy_json import point
from virl.serve.google.place_json import lat_lng_json
from virl.serve.google.shown_places import TownClock
from virl.serve.google.wire import Json, invalid

TURN_DEG = 30.0  # a smaller change of heading is no turn; chosen
LOOK_M = (
    12.0  # so far before and behind a corner a street's heading is taken; chosen: over a junction's bends
)
SHORT_M = 30.0  # a piece without a name up to this length is no step: a crossing, the way to a door; chosen


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of a way: a step between two turns, or a leg between two stops."""

    path: tuple[LatLng, ...]
    metres: float
    seconds: float
    instruction: str = ""
    """Instruction with `<b>` around what matters, and names written for HTML."""
    maneuver: str = ""
    """Maneuver in lower case with hyphens, such as `turn-left`; empty for the first step."""


def steps_of(path: Sequence[LatLng], streets: Sequence[str], speed: float) -> list[Stretch]:
    """Return a path cut where it turns, or where it comes to another street.

    A bend is no turn where the street keeps its name.

    Args:
        path: its corners.
        streets: the street of each piece, empty where it has no name; none at all if names are not known.
        speed: metres a second.
    """
    names = list(streets) or [""] * (len(path) - 1)
    moved = [distance(here, there) > 0.01 for here, there in pairwise(path)]
    # A piece without length has no heading, and would make turns of nothing.
    bare = [path[0], *(there for there, far in zip(path[1:], moved, strict=True) if far)]
    names = [name for name, far in zip(names, moved, strict=True) if far]
    if len(bare) == 1:
        return [Stretch((path[0], path[-1]), 0.0, 0.0, "Arrive", "")]
    names = _without_short(bare, names)
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
        name = html.escape(names[start], quote=False)
        if start == 0:
            said, maneuver = (
                f"Head <b>{compass_word(bearing(bare[0], bare[1]))}</b>"
                + (f" on <b>{name}</b>" * bool(name)),
                "",
            )
        elif side:
            said, maneuver = f"Turn <b>{side}</b>" + (f" onto <b>{name}</b>" * bool(name)), f"turn-{side}"
        else:
            said, maneuver = f"Continue onto <b>{name}</b>" if name else "Continue", "straight"
        steps.append(Stretch(part, metres, metres / speed, said, maneuver))
    return steps


def _headings_at(corner: int, path: Sequence[LatLng], look: float) -> tuple[float, float]:
    """Return the headings in which a path comes to a corner and leaves it, over some metres."""
    before = after = 1
    while before < corner and distance(path[corner - before], path[corner]) < look:
        before += 1
    while corner + after < len(path) - 1 and distance(path[corner], path[corner + after]) < look:
        after += 1
    return bearing(path[corner - before], path[corner]), bearing(path[corner], path[corner + after])


def _without_short(path: Sequence[LatLng], names: Sequence[str]) -> list[str]:
    """Return the names of pieces; short nameless ones have the name of an adjoining street."""
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


Ways = list[list[tuple[float, float] | None]]
"""Metres and seconds from every origin to every destination; `None` where there is no way."""


@dataclass(frozen=True, slots=True)
class RouteLeg:
    """The way from one stop to the next."""

    whole: Stretch
    steps: tuple[Stretch, ...]
    via: tuple[tuple[LatLng, int], ...] = ()
    """Positions that it passes through without a stop, and after which step each."""


def legs_between(
    maps: Maps, stops: Sequence[LatLng], mode: TravelMode, via: Collection[int] = ()
) -> list[RouteLeg] | None:
    """Return the legs of the shortest way through stops in their order, or `None` if there is none.

    Args:
        maps: of the city.
        stops: two or more.
        mode: of travel.
        via: the places in `stops` of those that are passed without a stop: no leg ends there.
    """
    legs: list[RouteLeg] = []
    for number, (here, there) in enumerate(pairwise(stops)):
        try:
            route = maps.route([here, there], mode)
        except NoRoute:
            return None
        whole = Stretch(route.path, route.distance, route.duration)
        leg = RouteLeg(whole, tuple(steps_of(route.path, route.streets, SPEED_M_S[mode])))
        legs.append(_join_legs(legs.pop(), here, leg) if number in via else leg)
    return legs


def matrix(maps: Maps, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode) -> Ways:
    """Return the ways from every origin to every destination.

    Args:
        maps: of the city.
        origins: n positions.
        destinations: m positions.
        mode: of travel.
    """
    starts = [index for index, stop in enumerate(origins) if _is_on_map(maps, stop, mode)]
    ends = [index for index, stop in enumerate(destinations) if _is_on_map(maps, stop, mode)]
    cells: Ways = [[None] * len(destinations) for _ in origins]
    if starts and ends:
        times = maps.travel_times([origins[i] for i in starts], [destinations[j] for j in ends], mode)
        for row, i in enumerate(starts):
            for column, j in enumerate(ends):
                seconds = float(times[row, column])
                # `travel_times` gives seconds; all of a mode go at one speed, which gives the metres back.
                if seconds < float("inf"):
                    cells[i][j] = seconds * SPEED_M_S[mode], seconds
    return cells


def _join_legs(before: RouteLeg, here: LatLng, after: RouteLeg) -> RouteLeg:
    """Return two legs as one."""
    first, second = before.whole, after.whole
    # A stop that is passed is no stop: it is told as a position after the last step before it.
    path = join_paths([first, second])
    whole = Stretch(path, first.metres + second.metres, first.seconds + second.seconds)
    via = (*before.via, (here, len(before.steps) - 1))
    return RouteLeg(whole, before.steps + after.steps, via)


def join_paths(stretches: Sequence[Stretch]) -> tuple[LatLng, ...]:
    """Return the path of several stretches, one after the other."""
    first, *others = stretches
    return first.path + tuple(position for stretch in others for position in stretch.path[1:])


def _is_on_map(maps: Maps, stop: LatLng, mode: TravelMode) -> bool:
    """Return whether a stop can be reached by a mode."""
    end_if_client_left()
    try:
        maps.route([stop, stop], mode)
    except NoRoute:
        return False
    return True


BUS = "Bus"


@dataclass(frozen=True, slots=True)
class TimedJourney:
    """A journey on a day."""

    journey: Journey
    leaves: datetime
    """Departure time, on the town's clocks."""

    def at(self, minute: int) -> datetime:
        """Return a time of its rides, minutes after midnight."""
        midnight = self.leaves.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + timedelta(minutes=minute)


@dataclass(frozen=True, slots=True)
class Transit:
    """A finder of the journeys of a city.

    Args:
        city: whose maps may know public transport.
        clock: of the town.
    """

    city: City
    clock: TownClock

    def journey(self, stops: Sequence[LatLng], departs: datetime | None) -> TimedJourney | None:
        """Return the journey between two stops; `None` if none is known.

        Args:
            stops: from and to.
            departs: when it is set out; by default now.

        Raises:
            Refused: there are stops on the way, which Google has none of.
        """
        end_if_client_left()
        if len(stops) > 2:
            raise invalid("Intermediate waypoints are not supported for the travel mode TRANSIT.")
        zone = ZoneInfo(self.clock.zone) if self.clock.zone else UTC
        leaves = departs.astimezone(zone) if departs else self.clock.local
        maps = self.city.maps
        if not isinstance(maps, TransitMaps):
            return None
        try:
            found = maps.journey(stops[0], stops[-1], leaves.weekday(), leaves.hour * 60 + leaves.minute)
        except NoRoute:
            return None
        return TimedJourney(found, leaves)

    def cells(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], departs: datetime | None
    ) -> Ways:
        """Return the metres and seconds from every origin to every destination.

        Args:
            origins: n positions.
            destinations: m positions.
            departs: `None` for now.
        """
        rows: Ways = []
        for here in origins:
            found = [self.journey((here, there), departs) for there in destinations]
            rows.append([(one.journey.distance, one.journey.duration) if one else None for one in found])
        return rows


def new_details(leg: JourneyLeg, timed: TimedJourney) -> Json:
    """Return a ride as the Routes API gives it."""
    ends = {
        "departure": (leg.board, leg.path[0], leg.departs),
        "arrival": (leg.alight, leg.path[-1], leg.arrives),
    }
    stops: Json = {}
    for name, (stop, position, minute) in ends.items():
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


def legacy_details(leg: JourneyLeg, timed: TimedJourney) -> Json:
    """Return a ride as the Directions API gives it."""
    line = {"name": leg.line, "short_name": _line_number(leg), "vehicle": {"name": BUS, "type": BUS.upper()}}
    return {
        "departure_stop": {"name": leg.board, "location": point(leg.path[0])},
        "arrival_stop": {"name": leg.alight, "location": point(leg.path[-1])},
        "departure_time": legacy_time(timed.at(leg.departs or 0)),
        "arrival_time": legacy_time(timed.at(leg.arrives or 0)),
        "headsign": leg.headsign,
        "line": line,
    }


def legacy_time(when: datetime) -> Json:
    """Return a time as the Directions API gives it."""
    zone = str(when.tzinfo) if isinstance(when.tzinfo, ZoneInfo) else "UTC"
    shown = show_clock(when.hour * 60 + when.minute)
    return {"text": shown, "time_zone": zone, "value": int(when.timestamp())}


def _line_number(leg: JourneyLeg) -> str:
    """Return the last word of a line's name."""
    return leg.line.rpartition(" ")[2]
