"""Client of the Routes API: routes, matrices and journeys."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Generic, TypeVar

import numpy as np
from pydantic import Field, PlainValidator

from virl.geo.globe import Floats, LatLng
from virl.platform.city.maps import Route, TravelMode
from virl.platform.providers.google.client import Call, GoogleHttp
from virl.platform.providers.google.journeys import LANGUAGE, JourneyStep, line_of, street_in
from virl.platform.providers.google.maps import EncodedPath, NamedBody, check_legs, no_route, route_of
from virl.platform.providers.http.replies import MUST_FIT, CamelBody, OrUnknown

SERVICE = "Routes API"
MOST_PAIRS = 625
"""Largest number of pairs of origin and destination of a matrix request."""
SIDE = 25
"""Largest number of origins, and of destinations, of a matrix request."""

_LEG_FIELDS = "routes.legs.duration"
"""Field mask for the durations of legs."""
_MATRIX_FIELDS = "originIndex,destinationIndex,duration,condition,status"
"""Field mask of a matrix."""
_STEP = "routes.legs.steps"
"""Prefix, in a field mask, of the names of a step's fields."""
_ROUTE_FIELDS = (
    "routes.distanceMeters,routes.duration,routes.polyline.encodedPolyline,"
    f"{_STEP}.polyline.encodedPolyline,{_STEP}.navigationInstruction.instructions"
)
"""Field mask of a route."""
_STOPS = f"{_STEP}.transitDetails.stopDetails"
"""Prefix, in a field mask, of the names of the fields of a ride's stops."""
_LINE = f"{_STEP}.transitDetails.transitLine"
"""Prefix, in a field mask, of the names of the fields of a ride's line."""
_RIDE_FIELDS = ",".join(
    (
        "routes.duration",
        *(f"{_STEP}.{name}" for name in ("distanceMeters", "staticDuration", "polyline.encodedPolyline")),
        *(f"{_STOPS}.{name}" for name in ("departureStop.name", "arrivalStop.name")),
        *(f"{_STOPS}.{name}" for name in ("departureTime", "arrivalTime")),
        *(f"{_LINE}.{name}" for name in ("name", "nameShort", "vehicle.name.text")),
        f"{_STEP}.transitDetails.headsign",
    )
)
"""Field mask of a journey by public transport."""


def _read_seconds(text: object) -> float:
    """Return the seconds of a duration such as `90s`; raise `ValueError` for anything else."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s", text) if isinstance(text, str) else None
    if not found:
        raise ValueError("not a duration such as 90s")
    return float(found[1])


def _read_time(text: object) -> datetime:
    """Return the time, in UTC, of a text such as `2026-11-24T09:00:00Z`; raise `ValueError` for others."""
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("not a time such as 2026-11-24T09:00:00Z") from None


Duration = Annotated[float, PlainValidator(_read_seconds)]
"""Duration in seconds, read from a text such as `"90s"`."""
Timestamp = Annotated[datetime, PlainValidator(_read_time)]
"""Point in time, read from a text such as `"2026-11-24T09:00:00Z"`."""


class _TransitStops(CamelBody):
    """The stops where a ride begins and ends, with times."""

    departure_stop: NamedBody = NamedBody()
    arrival_stop: NamedBody = NamedBody()
    departure_time: Timestamp | None = None
    arrival_time: Timestamp | None = None


class _VehicleName(CamelBody):
    """The name of a kind of vehicle."""

    text: str = ""


class _TransitVehicle(CamelBody):
    """The kind of vehicle of a line."""

    name: _VehicleName = _VehicleName()


class _TransitLine(CamelBody):
    """The line of a ride: names and kind of vehicle."""

    name: str = ""
    name_short: str = ""
    vehicle: _TransitVehicle = _TransitVehicle()


class _TransitDetails(CamelBody):
    """The details of a ride: stops, line and headsign."""

    stop_details: _TransitStops = _TransitStops()
    transit_line: _TransitLine = _TransitLine()
    headsign: str = ""


class _StepLine(CamelBody):
    """The line of a step, an encoded polyline."""

    encoded_polyline: EncodedPath = ()


class _Instruction(CamelBody):
    """The instruction of a step, text or HTML."""

    instructions: str = ""


class _Step(CamelBody):
    """One step of a leg: length, duration, line, instruction, and ride where there is one."""

    distance_meters: float = Field(0.0, ge=0)
    static_duration: Duration = 0.0
    polyline: _StepLine = _StepLine()
    transit_details: _TransitDetails | None = None
    navigation_instruction: _Instruction = _Instruction()

    @property
    def line(self) -> tuple[Sequence[LatLng], str]:
        """(positions of the step, name of its street, empty without one)."""
        return self.polyline.encoded_polyline, street_in(self.navigation_instruction.instructions)

    @property
    def step(self) -> JourneyStep:
        """This step of a reply as a `JourneyStep`."""
        way = self.polyline.encoded_polyline, self.distance_meters, self.static_duration
        if (details := self.transit_details) is None:
            return JourneyStep(*way)
        stops, line = details.stop_details, details.transit_line
        return JourneyStep(
            *way,
            line_of(line.vehicle.name.text, line.name_short, line.name),
            stops.departure_stop.name,
            stops.arrival_stop.name,
            stops.departure_time,
            stops.arrival_time,
            details.headsign,
        )


class _Leg(CamelBody):
    """The way between two stops: duration and steps."""

    duration: Annotated[Duration | None, OrUnknown] = None
    steps: tuple[_Step, ...] = ()


class _Way(CamelBody):
    """A route of a reply: line, length, duration and legs."""

    polyline: _StepLine = _StepLine()
    distance_meters: float | None = Field(None, ge=0)
    duration: Duration | None = None
    legs: tuple[_Leg, ...] = ()


class _Toured(CamelBody):
    """A route of which only the durations of its legs were asked."""

    legs: tuple[_Leg, ...]


class _Ridden(CamelBody):
    """A route by public transport."""

    duration: Duration = 0.0
    legs: tuple[_Leg, ...] = Field(min_length=1)


RouteT = TypeVar("RouteT", bound=CamelBody)


class _Computed(CamelBody, Generic[RouteT]):
    """The reply of `computeRoutes`."""

    routes: tuple[RouteT, ...] = ()


class _Pair(CamelBody):
    """One element of the reply of `computeRouteMatrix`: an origin and a destination."""

    origin_index: Annotated[int, MUST_FIT] = Field(0, ge=0)
    destination_index: Annotated[int, MUST_FIT] = Field(0, ge=0)
    condition: str = ""
    duration: Annotated[Duration, MUST_FIT] = 0.0


class RoutesApi:
    """A client of the Routes API."""

    modes: Mapping[TravelMode, str] = MappingProxyType(
        {"walking": "WALK", "cycling": "BICYCLE", "driving": "DRIVE"}
    )
    """Name in the Routes API of each mode of travel."""
    block = (SIDE, MOST_PAIRS // SIDE)
    """Largest numbers of origins and of destinations in one matrix request."""

    def __init__(self, http: GoogleHttp) -> None:
        """Make a client that sends its requests through `http`."""
        self._http = http

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest route through the stops; one request."""
        asked = {"travelMode": self.modes[mode], "polylineQuality": "HIGH_QUALITY", "languageCode": LANGUAGE}
        way = self._route(stops, {**_stops_body(stops), **asked}, _ROUTE_FIELDS, _Computed[_Way])
        steps = [step for leg in way.legs for step in leg.steps]
        whole = not all(step.polyline.encoded_polyline for step in steps) or not steps
        lines = [(way.polyline.encoded_polyline, "")] if whole else [step.line for step in steps]
        notes = self._http.notes(SERVICE)
        return route_of(stops, lines, way.distance_meters, way.duration, mode, notes)

    def legs(self, stops: Sequence[LatLng], mode: str) -> list[float]:
        """Return the seconds of each leg of a route, `inf` where not told; one request."""
        body = {**_stops_body(stops), "travelMode": mode}
        legs = self._route(stops, body, _LEG_FIELDS, _Computed[_Toured]).legs
        check_legs(legs, stops, SERVICE)
        return [np.inf if leg.duration is None else leg.duration for leg in legs]

    def times(self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: str) -> Floats:
        """Return the seconds between all pairs of a block, `inf` where no way leads; one request."""
        body = {
            "origins": [{"waypoint": _waypoint(stop)} for stop in origins],
            "destinations": [{"waypoint": _waypoint(stop)} for stop in destinations],
            "travelMode": mode,
        }
        seconds = np.full((len(origins), len(destinations)), np.inf)
        for pair in self._http.array(
            self._http.request(Call("routes_matrix", body=body, fields=_MATRIX_FIELDS)), _Pair
        ):
            row, column = pair.origin_index, pair.destination_index
            if row >= len(origins) or column >= len(destinations):
                self._http.notes(SERVICE)(f"a pair {row}, {column} that was not asked for", pair)
            elif pair.condition == "ROUTE_EXISTS":
                seconds[row, column] = pair.duration
        return seconds

    def ride(self, here: LatLng, there: LatLng, leaves: datetime) -> tuple[list[JourneyStep], float]:
        """Return (steps by public transport from `leaves` on, their seconds without the wait before them)."""
        body = {
            "origin": _waypoint(here),
            "destination": _waypoint(there),
            "travelMode": "TRANSIT",
            "departureTime": leaves.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        found = self._route((here, there), body, _RIDE_FIELDS, _Computed[_Ridden])
        return [one.step for leg in found.legs for one in leg.steps], found.duration

    def _route(
        self, stops: Sequence[LatLng], body: Mapping[str, object], fields: str, shape: type[_Computed[RouteT]]
    ) -> RouteT:
        """Return the best route that answers a request, as its model; raise `NoRoute` without one."""
        routes = self._http.read(
            self._http.request(Call("routes_compute", body=body, fields=fields)), shape
        ).routes
        if not routes:
            raise no_route(stops)
        return routes[0]


def _stops_body(stops: Sequence[LatLng]) -> dict[str, object]:
    """Return the JSON of the stops of a route."""
    return {
        "origin": _waypoint(stops[0]),
        "destination": _waypoint(stops[-1]),
        "intermediates": [_waypoint(stop) for stop in stops[1:-1]],
    }


def _waypoint(stop: LatLng) -> dict[str, object]:
    """Return the JSON of one stop."""
    return {"location": {"latLng": {"latitude": stop.lat, "longitude": stop.lng}}}
