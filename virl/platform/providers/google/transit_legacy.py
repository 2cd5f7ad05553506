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


class _RiddenAmount(ReplyBody):
    value: float = Field(ge=0, le=LATEST)


class _RiddenStop(ReplyBody):
    name: str = ""


class _RiddenVehicle(ReplyBody):
    name: str = ""


class _RiddenLine(ReplyBody):
    name: str = ""
    short_name: str = ""
    vehicle: _RiddenVehicle = _RiddenVehicle()


class _RiddenDetails(ReplyBody):
    departure_stop: _RiddenStop = _RiddenStop()
    arrival_stop: _RiddenStop = _RiddenStop()
    departure_time: _RiddenAmount | None = None
    arrival_time: _RiddenAmount | None = None
    headsign: str = ""
    line: _RiddenLine = _RiddenLine()


class _RiddenPoints(ReplyBody):
    points: EncodedPath


class _RiddenStep(ReplyBody):
    distance: _RiddenAmount
    duration: _RiddenAmount
    polyline: _RiddenPoints
    transit_details: _RiddenDetails | None = None


class _RiddenLeg(ReplyBody):
    duration: _RiddenAmount
    steps: tuple[_RiddenStep, ...]


class _RiddenWay(ReplyBody):
    legs: tuple[_RiddenLeg, ...]


class _RiddenWays(ReplyBody):
    routes: tuple[_RiddenWay, ...]


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
        legs = read_body(_RiddenWays, {"routes": ways}, SERVICE).routes[0].legs
        steps = [_step(step) for leg in legs for step in leg.steps]
        return journey_of(steps, leaves, sum(leg.duration.value for leg in legs), self._zone)


def _step(one: _RiddenStep) -> JourneyStep:
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


def _when(time: _RiddenAmount | None) -> datetime | None:
    return datetime.fromtimestamp(time.value, UTC) if time else None
