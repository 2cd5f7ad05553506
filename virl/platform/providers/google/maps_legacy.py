"""The legacy Directions and Distance Matrix APIs."""

from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType

import googlemaps
import numpy as np
from pydantic import Field

from virl.errors import ProviderError
from virl.geo import LatLng
from virl.platform.maps import Route, TravelMode
from virl.platform.providers.google.client_legacy import GoogleClient
from virl.platform.providers.google.http import GoogleHttp
from virl.platform.providers.google.maps import EncodedPath, no_route
from virl.platform.providers.google.tours import Seconds
from virl.platform.providers.http.bodies import ReplyBody, read_body

DIRECTIONS = "Directions API"
MATRIX = "Distance Matrix API"
SIDE = 10  # origins, and destinations, of a matrix request: 100 pairs are allowed


class _Amount(ReplyBody):
    value: float = Field(ge=0)
    """Metres, or seconds."""


class _StepLine(ReplyBody):
    points: EncodedPath


class _Step(ReplyBody):
    polyline: _StepLine


class _Leg(ReplyBody):
    distance: _Amount
    duration: _Amount
    steps: tuple[_Step, ...]


class _LegacyWay(ReplyBody):
    legs: tuple[_Leg, ...]


class _LegacyDirections(ReplyBody):
    """What Directions answers."""

    routes: tuple[_LegacyWay, ...]


class _LegacyPair(ReplyBody):
    status: str
    duration: _Amount | None = None

    @property
    def seconds(self) -> float:
        """`inf` where no way leads."""
        return self.duration.value if self.status == "OK" and self.duration else float("inf")


class _LegacyRow(ReplyBody):
    elements: tuple[_LegacyPair, ...]


class _LegacyMatrix(ReplyBody):
    """What Distance Matrix answers."""

    rows: tuple[_LegacyRow, ...]


class LegacyWays:
    """The legacy Directions and Distance Matrix.

    Args:
        http: the way to Google.
    """

    modes: Mapping[TravelMode, str] = MappingProxyType(
        {"walking": "walking", "cycling": "bicycling", "driving": "driving"}
    )
    block = (SIDE, SIDE)

    def __init__(self, http: GoogleHttp) -> None:
        self._client = GoogleClient(http)

    def route(self, stops: Sequence[LatLng], mode: str) -> Route:
        """As `Ways.route`."""
        legs = self._legs(stops, mode)
        lines = (step.polyline.points for leg in legs for step in leg.steps)
        path = list(chain.from_iterable(lines))
        return Route(
            tuple(here for i, here in enumerate(path) if i == 0 or here != path[i - 1]),
            sum(leg.distance.value for leg in legs),
            sum(leg.duration.value for leg in legs),
        )

    def legs(self, stops: Sequence[LatLng], mode: str) -> list[float]:
        """As `Ways.legs`."""
        return [leg.duration.value for leg in self._legs(stops, mode)]

    def times(self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: str) -> Seconds:
        """As `Ways.times`."""
        reply = self._client.ask(
            googlemaps.Client.distance_matrix, list(origins), list(destinations), mode=mode
        )
        rows = read_body(_LegacyMatrix, reply, MATRIX).rows
        if len(rows) != len(origins) or any(len(row.elements) != len(destinations) for row in rows):
            asked = f"{len(origins)} by {len(destinations)}"
            raise ProviderError(MATRIX, f"the reply is no matrix of {asked} pairs", "try again")
        return np.array([[pair.seconds for pair in row.elements] for row in rows])

    def _legs(self, stops: Sequence[LatLng], mode: str) -> tuple[_Leg, ...]:
        ways = self._client.ask(
            googlemaps.Client.directions, stops[0], stops[-1], mode=mode, waypoints=list(stops[1:-1]) or None
        )
        if not ways:
            raise no_route(stops)
        legs = read_body(_LegacyDirections, {"routes": ways}, DIRECTIONS).routes[0].legs
        if len(legs) != len(stops) - 1:
            reason = f"a route through {len(stops)} stops came with {len(legs)} legs"
            raise ProviderError(DIRECTIONS, reason, "try again")
        return legs
