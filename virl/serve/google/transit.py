"""Journeys by public transport, in the forms of both routing APIs; only cities whose maps know them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from virl.clock import show_clock
from virl.errors import NoRoute
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.maps import Journey, JourneyLeg, TransitMaps
from virl.serve.google.legacy_json import point
from virl.serve.google.place_json import lat_lng_json
from virl.serve.google.times import TownClock
from virl.serve.google.ways import Ways
from virl.serve.google.wire import Json, invalid
from virl.serve.work import end_if_client_left

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
