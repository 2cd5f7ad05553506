"""The legacy Directions and Distance Matrix APIs."""

from collections.abc import Mapping, Sequence
from typing import Any

import googlemaps
import numpy as np

from virl.geo import LatLng
from virl.platform.maps import Route, TravelMode
from virl.platform.providers.google.bodies import reading
from virl.platform.providers.google.http import GoogleHttp
from virl.platform.providers.google.legacy_client import GoogleClient
from virl.platform.providers.google.maps import (
    Corners,
    Seconds,
    blocks,
    checked_mode,
    geocode,
    joined,
    named_mode,
    no_route,
    parts_of,
)
from virl.platform.providers.google.polyline import decode_polyline

DIRECTIONS = "Directions API"
MATRIX = "Distance Matrix API"
SIDE = 10  # origins, and destinations, of a matrix request: 100 pairs are allowed

_MODES: dict[TravelMode, str] = {"walking": "walking", "cycling": "bicycling", "driving": "driving"}


class LegacyMaps:
    """The legacy Directions and Distance Matrix, and Geocoding, which is not legacy.

    Args:
        http: the way to Google.
        district: where an address is preferred to one of the same name elsewhere; `None` leaves it to Google.
    """

    def __init__(self, http: GoogleHttp, district: Corners | None = None) -> None:
        self._http = http
        self._client = GoogleClient(http)
        self._district = district

    def geocode(self, address: str) -> LatLng:
        """The position of an address; one request.

        Raises:
            NotFound: nothing matches.
        """
        return geocode(self._http, address, self._district)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """The shortest way through two or more stops, in their order; one request for each 26 legs.

        Raises:
            BadInput: fewer than two stops, or an unknown mode.
            NoRoute: two stops are not connected, or one is off the map.
        """
        name = checked_mode(stops, mode, _MODES)
        return joined([self._part(part, name) for part in parts_of(stops)])

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Seconds:
        """Seconds from every origin to every destination, shape (origins, destinations); each pair is paid.

        Returns:
            `inf` where no way leads, also from or to a stop off the map.

        Raises:
            BadInput: an unknown mode.
        """
        name = named_mode(mode, _MODES)
        seconds = np.full((len(origins), len(destinations)), np.inf)
        for rows in blocks(len(origins), SIDE):
            for columns in blocks(len(destinations), SIDE):
                reply = self._client.ask(
                    googlemaps.Client.distance_matrix,
                    list(origins[rows]),
                    list(destinations[columns]),
                    mode=name,
                )
                with reading(MATRIX):
                    for row, line in zip(seconds[rows, columns], reply["rows"], strict=True):
                        row[:] = [_pair_seconds(pair) for pair in line["elements"]]
        return seconds

    def _part(self, stops: Sequence[LatLng], mode: str) -> Route:
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


def _pair_seconds(pair: Mapping[str, Any]) -> float:
    return float(pair["duration"]["value"]) if pair["status"] == "OK" else float("inf")
