"""Journeys by public transport, of the legacy Directions API; one request each."""

from datetime import UTC, datetime

import googlemaps
from pydantic import Field

from virl.geo import LatLng
from virl.platform.providers.google.client_legacy import GoogleClient
from virl.platform.providers.google.departures import departure
from virl.platform.providers.google.http import GoogleHttp
from virl.platform.providers.google.journeys import JourneyStep, Ride, journey_of, line_of
from virl.platform.providers.google.maps import EncodedPath, no_route
from virl.platform.providers.http.bodies import ReplyBody, read_body
from virl.platform.transit import Journey

SERVICE = "Directions API"
LATEST = 2**33  # seconds since 1970; a later time is no answer


class _Amount(ReplyBody):
    value: float = Field(ge=0, le=LATEST)


class _Stop(ReplyBody):
    name: str = ""


class _Vehicle(ReplyBody):
    name: str = ""


class _Line(ReplyBody):
    name: str = ""
    short_name: str = ""
    vehicle: _Vehicle = _Vehicle()


class _Details(ReplyBody):
    departure_stop: _Stop = _Stop()
    arrival_stop: _Stop = _Stop()
    departure_time: _Amount | None = None
    arrival_time: _Amount | None = None
    headsign: str = ""
    line: _Line = _Line()


class _Points(ReplyBody):
    points: EncodedPath


class _Step(ReplyBody):
    distance: _Amount
    duration: _Amount
    polyline: _Points
    transit_details: _Details | None = None


class _Leg(ReplyBody):
    duration: _Amount
    steps: tuple[_Step, ...]


class _Way(ReplyBody):
    legs: tuple[_Leg, ...]


class _Ways(ReplyBody):
    routes: tuple[_Way, ...]


class LegacyTransit:
    """Transit of the legacy Directions API.

    Args:
        http: the way to Google.
        zone: IANA time zone of the city; `None` for UTC.
    """

    def __init__(self, http: GoogleHttp, zone: str | None) -> None:
        self._client = GoogleClient(http)
        self._zone = zone

    def journey(self, here: LatLng, there: LatLng, weekday: int, minute: int) -> Journey:
        """As `TransitMaps.journey`, on the next such day."""
        leaves = departure(weekday, minute, self._zone)
        ways = self._client.ask(
            googlemaps.Client.directions, here, there, mode="transit", departure_time=int(leaves.timestamp())
        )
        if not ways:
            raise no_route([here, there])
        legs = read_body(_Ways, {"routes": ways}, SERVICE).routes[0].legs
        steps = [_step(step) for leg in legs for step in leg.steps]
        return journey_of(steps, leaves, sum(leg.duration.value for leg in legs), self._zone)


def _step(one: _Step) -> JourneyStep:
    ride = None
    if details := one.transit_details:
        ride = Ride(
            line_of(details.line.vehicle.name, details.line.short_name, details.line.name),
            details.departure_stop.name,
            details.arrival_stop.name,
            _when(details.departure_time),
            _when(details.arrival_time),
            details.headsign,
        )
    return JourneyStep(one.polyline.points, one.distance.value, one.duration.value, ride)


def _when(time: _Amount | None) -> datetime | None:
    return datetime.fromtimestamp(time.value, UTC) if time else None
