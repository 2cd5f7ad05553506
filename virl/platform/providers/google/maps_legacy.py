"""The legacy Directions and Distance Matrix APIs."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import googlemaps
import numpy as np

from virl.geo import LatLng
from virl.platform.maps import Route, TravelMode
from virl.platform.providers.google.client_legacy import GoogleClient
from virl.platform.providers.google.http import GoogleHttp
from virl.platform.providers.google.maps import Seconds, no_route
from virl.platform.providers.google.polyline import decode_polyline
from virl.platform.providers.http.bodies import reading

DIRECTIONS = "Directions API"
MATRIX = "Distance Matrix API"
SIDE = 10  # origins, and destinations, of a matrix request: 100 pairs are allowed


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
        ways = self._client.ask(
            googlemaps.Client.directions, stops[0], stops[-1], mode=mode, waypoints=list(stops[1:-1]) or None
        )
        if not ways:
            raise no_route(stops)
        with reading(DIRECTIONS):
            legs = ways[0]["legs"]
            lines = [decode_polyline(step["polyline"]["points"]) for leg in legs for step in leg["steps"]]
            path = [position for line in lines for position in line]
            return Route(
                tuple(here for i, here in enumerate(path) if i == 0 or here != path[i - 1]),
                float(sum(leg["distance"]["value"] for leg in legs)),
                float(sum(leg["duration"]["value"] for leg in legs)),
            )

    def times(self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: str) -> Seconds:
        """As `Ways.times`."""
        reply = self._client.ask(
            googlemaps.Client.distance_matrix, list(origins), list(destinations), mode=mode
        )
        seconds = np.full((len(origins), len(destinations)), np.inf)
        with reading(MATRIX):
            for row, line in zip(seconds, reply["rows"], strict=True):
                row[:] = [_pair_seconds(pair) for pair in line["elements"]]
        return seconds


def _pair_seconds(pair: Mapping[str, Any]) -> float:
    return float(pair["duration"]["value"]) if pair["status"] == "OK" else float("inf")
