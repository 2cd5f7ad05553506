"""Client of the legacy Directions and Distance Matrix APIs: routes, matrices and journeys."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Any

import googlemaps
from pydantic import Field

from virl.errors import ProviderError
from virl.geo.globe import Floats, LatLng
from virl.platform.city.maps import Route, TravelMode, table_of_rows
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.client_legacy import GoogleClient
from virl.platform.providers.google.journeys import LANGUAGE, JourneyStep, line_of, street_in
from virl.platform.providers.google.maps import EncodedPath, NamedBody, check_legs, no_route, route_of
from virl.platform.providers.http.replies import OrUnknown, ReplyBody, read_body

DIRECTIONS = "Directions API"
MATRIX = "Distance Matrix API"
SIDE = 10
"""Largest number of origins, and of destinations, of a matrix request."""
LATEST = 2**33
"""Latest time in a reply that is accepted, seconds since 1970."""


class _Amount(ReplyBody):
    """A number of a reply, whose unit follows from its field."""

    value: float = Field(ge=0, le=LATEST)
    """Number in metres, seconds, or seconds since 1970, by the field."""

    @property
    def time(self) -> datetime:
        """Point in time of a value in seconds since 1970."""
        return datetime.fromtimestamp(self.value, UTC)


class _RiddenLine(ReplyBody):
    """The line of a ride: names and kind of vehicle."""

    name: str = ""
    short_name: str = ""
    vehicle: NamedBody = NamedBody()


class _Details(ReplyBody):
    """The details of a ride: stops, times, headsign and line."""

    departure_stop: NamedBody = NamedBody()
    arrival_stop: NamedBody = NamedBody()
    departure_time: _Amount | None = None
    arrival_time: _Amount | None = None
    headsign: str = ""
    line: _RiddenLine = _RiddenLine()


class _StepLine(ReplyBody):
    """The line of a step, an encoded polyline."""

    points: EncodedPath = ()


class _LegacyStep(ReplyBody):
    """One step of a leg: length, duration, line, instruction, and ride where there is one."""

    distance: _Amount | None = None
    duration: _Amount | None = None
    polyline: _StepLine = _StepLine()
    html_instructions: str = ""
    transit_details: _Details | None = None

    @property
    def step(self) -> JourneyStep:
        """This step of a reply as a `JourneyStep`."""
        metres, seconds = (one.value if one else 0.0 for one in (self.distance, self.duration))
        if (details := self.transit_details) is None:
            return JourneyStep(self.polyline.points, metres, seconds)
        return JourneyStep(
            self.polyline.points,
            metres,
            seconds,
            line_of(details.line.vehicle.name, details.line.short_name, details.line.name),
            details.departure_stop.name,
            details.arrival_stop.name,
            details.departure_time.time if details.departure_time else None,
            details.arrival_time.time if details.arrival_time else None,
            details.headsign,
        )


class _LegacyLeg(ReplyBody):
    """The way between two stops: length, duration and steps."""

    distance: _Amount | None = None
    duration: _Amount | None = None
    steps: tuple[_LegacyStep, ...] = ()

    @property
    def seconds(self) -> float:
        """Duration of the leg in seconds; `inf` where it cannot be read."""
        return self.duration.value if self.duration else float("inf")


class _LegacyWay(ReplyBody):
    """A route of a reply, in legs."""

    legs: tuple[_LegacyLeg, ...]


class _LegacyDirections(ReplyBody):
    """The reply of the Directions API."""

    routes: tuple[_LegacyWay, ...]


class _LegacyPair(ReplyBody):
    """The duration from one origin to one destination, with its status."""

    status: str
    duration: _Amount | None = None

    @property
    def seconds(self) -> float:
        """Duration from the origin to the destination in seconds; `inf` where no way leads."""
        return self.duration.value if self.status == "OK" and self.duration else float("inf")


class _LegacyRow(ReplyBody):
    """Durations from one origin to all destinations."""

    elements: tuple[Annotated[_LegacyPair | None, OrUnknown], ...]


class _LegacyMatrix(ReplyBody):
    """The reply of the Distance Matrix API."""

    rows: tuple[Annotated[_LegacyRow | None, OrUnknown], ...]


class LegacyWays:
    """A client of the legacy Directions and Distance Matrix APIs."""

    modes: Mapping[TravelMode, str] = MappingProxyType(
        {"walking": "walking", "cycling": "bicycling", "driving": "driving"}
    )
    """Name in these APIs of each mode of travel."""
    block = (SIDE, SIDE)
    """Largest number of (origins, destinations) of a matrix request."""

    def __init__(self, http: GoogleHttp) -> None:
        """Make a client that sends its requests through `http`."""
        self._client = GoogleClient(http)
        self._http = http

    def route(self, stops: Sequence[LatLng], mode: TravelMode) -> Route:
        """Return the shortest route through the stops; one request."""
        legs = self._legs(stops, self.modes[mode])
        steps = (step for leg in legs for step in leg.steps)
        lines = ((step.polyline.points, street_in(step.html_instructions)) for step in steps)
        metres, seconds = (
            _sum_amounts(leg.distance for leg in legs),
            _sum_amounts(leg.duration for leg in legs),
        )
        return route_of(stops, lines, metres, seconds, mode, self._http.notes(DIRECTIONS))

    def legs(self, stops: Sequence[LatLng], mode: str) -> list[float]:
        """Return the seconds of each leg of the route through the stops; one request."""
        return [leg.seconds for leg in self._legs(stops, mode)]

    def times(self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: str) -> Floats:
        """Return the seconds between all pairs of a block, `inf` where no way leads; one request."""
        reply = self._client.ask(
            googlemaps.Client.distance_matrix, list(origins), list(destinations), mode=mode
        )
        note = self._http.notes(MATRIX)
        read = read_body(_LegacyMatrix, reply, MATRIX, note).rows
        rows = [
            None if row is None else [pair.seconds if pair else None for pair in row.elements] for row in read
        ]
        found = table_of_rows(rows, (len(origins), len(destinations)), note)
        if found is None:
            asked = f"{len(origins)} by {len(destinations)}"
            raise ProviderError(MATRIX, f"the reply is no matrix of {asked} pairs", "try again")
        return found

    def ride(self, here: LatLng, there: LatLng, leaves: datetime) -> tuple[list[JourneyStep], float]:
        """Return (steps by public transport from `leaves` on, their seconds without the wait before them)."""
        legs = self._ask_directions((here, there), mode="transit", departure_time=int(leaves.timestamp()))
        return [step.step for leg in legs for step in leg.steps], _sum_amounts(
            leg.duration for leg in legs
        ) or 0.0

    def _legs(self, stops: Sequence[LatLng], mode: str) -> tuple[_LegacyLeg, ...]:
        """Return the legs of the best route through stops, one for each pair."""
        legs = self._ask_directions(stops, mode=mode, waypoints=list(stops[1:-1]) or None, language=LANGUAGE)
        check_legs(legs, stops, DIRECTIONS)
        return legs

    def _ask_directions(self, stops: Sequence[LatLng], **options: Any) -> tuple[_LegacyLeg, ...]:
        """Return the legs of the best route that the Directions API finds; raise `NoRoute` without one."""
        ways = self._client.ask(googlemaps.Client.directions, stops[0], stops[-1], **options)
        reply, notes = {"routes": ways or []}, self._http.notes(DIRECTIONS)
        routes = read_body(_LegacyDirections, reply, DIRECTIONS, notes).routes
        if not routes:
            raise no_route(stops)
        return routes[0].legs


def _sum_amounts(amounts: Iterable[_Amount | None]) -> float | None:
    """Return the sum of amounts, in their unit; `None` where one is missing."""
    values = [amount and amount.value for amount in amounts]
    return None if None in values else sum(value for value in values if value)
