"""Journeys by public transport, of the Routes API; one request each."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, PlainValidator

from virl.geo import LatLng
from virl.platform.providers.google.departures import departure
from virl.platform.providers.google.http import Call, GoogleHttp
from virl.platform.providers.google.journeys import JourneyStep, Ride, journey_of, line_of
from virl.platform.providers.google.maps import Duration, EncodedPath, no_route, waypoint
from virl.platform.providers.http.bodies import CamelBody
from virl.platform.transit import Journey

_STEP = "routes.legs.steps"
_STOPS = f"{_STEP}.transitDetails.stopDetails"
_LINE = f"{_STEP}.transitDetails.transitLine"
_FIELDS = ",".join(
    (
        "routes.duration",
        *(f"{_STEP}.{name}" for name in ("distanceMeters", "staticDuration", "polyline.encodedPolyline")),
        *(f"{_STOPS}.{name}" for name in ("departureStop.name", "arrivalStop.name")),
        *(f"{_STOPS}.{name}" for name in ("departureTime", "arrivalTime")),
        *(f"{_LINE}.{name}" for name in ("name", "nameShort", "vehicle.name.text")),
        f"{_STEP}.transitDetails.headsign",
    )
)


def _time(text: object) -> datetime:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("not a time such as 2026-11-24T09:00:00Z") from None


Timestamp = Annotated[datetime, PlainValidator(_time)]


class _StopName(CamelBody):
    name: str = ""


class _TransitStops(CamelBody):
    departure_stop: _StopName = _StopName()
    arrival_stop: _StopName = _StopName()
    departure_time: Timestamp | None = None
    arrival_time: Timestamp | None = None


class _VehicleName(CamelBody):
    text: str = ""


class _TransitVehicle(CamelBody):
    name: _VehicleName = _VehicleName()


class _TransitLine(CamelBody):
    name: str = ""
    name_short: str = ""
    vehicle: _TransitVehicle = _TransitVehicle()


class _TransitDetails(CamelBody):
    stop_details: _TransitStops = _TransitStops()
    transit_line: _TransitLine = _TransitLine()
    headsign: str = ""


class _TransitPolyline(CamelBody):
    encoded_polyline: EncodedPath = ()


class _TransitStep(CamelBody):
    distance_meters: float = Field(0.0, ge=0)
    static_duration: Duration = 0.0
    polyline: _TransitPolyline = _TransitPolyline()
    transit_details: _TransitDetails | None = None


class _TransitLeg(CamelBody):
    steps: tuple[_TransitStep, ...] = ()


class _TransitRoute(CamelBody):
    duration: Duration = 0.0
    legs: tuple[_TransitLeg, ...] = Field(min_length=1)


class _TransitRoutes(CamelBody):
    routes: tuple[_TransitRoute, ...] = ()


class RoutesTransit:
    """Transit of the Routes API.

    Args:
        http: the way to Google.
        zone: IANA time zone of the city; `None` for UTC.
    """

    def __init__(self, http: GoogleHttp, zone: str | None) -> None:
        self._http = http
        self._zone = zone

    def journey(self, here: LatLng, there: LatLng, weekday: int, minute: int) -> Journey:
        """As `TransitMaps.journey`, on the next such day."""
        leaves = departure(weekday, minute, self._zone)
        body = {
            "origin": waypoint(here),
            "destination": waypoint(there),
            "travelMode": "TRANSIT",
            "departureTime": leaves.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        found = self._http.read(Call("routes_compute", body=body, fields=_FIELDS), _TransitRoutes).routes
        if not found:
            raise no_route([here, there])
        steps = [_step(one) for leg in found[0].legs for one in leg.steps]
        return journey_of(steps, leaves, found[0].duration, self._zone)


def _step(one: _TransitStep) -> JourneyStep:
    ride = None
    if one.transit_details:
        stops, line = one.transit_details.stop_details, one.transit_details.transit_line
        ride = Ride(
            line_of(line.vehicle.name.text, line.name_short, line.name),
            stops.departure_stop.name,
            stops.arrival_stop.name,
            stops.departure_time,
            stops.arrival_time,
            one.transit_details.headsign,
        )
    return JourneyStep(one.polyline.encoded_polyline, one.distance_meters, one.static_duration, ride)
