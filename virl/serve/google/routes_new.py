"""Routes API: routes, and matrices of routes."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Response

from virl.errors import NotFound
from virl.geo import LatLng
from virl.platform.city import City
from virl.platform.maps import TravelMode
from virl.serve.google.fields import FIELDS
from virl.serve.google.masks import masked, parse_mask
from virl.serve.google.polyline import encode_polyline
from virl.serve.google.reading import lat_lng, message_in
from virl.serve.google.steps import Stretch
from virl.serve.google.ways import RouteLeg, joined, legs_between, matrix
from virl.serve.google.wire import Ask, GoogleStatus, Json, Refused, answer, invalid

MODES: dict[str, TravelMode | None] = {
    "TRAVEL_MODE_UNSPECIFIED": "driving",
    "DRIVE": "driving",
    "TWO_WHEELER": "driving",
    "BICYCLE": "cycling",
    "WALK": "walking",
    "TRANSIT": None,
}
"""What each mode of travel is in a city; none has transit."""
MAX_INTERMEDIATES = 25
MAX_ELEMENTS, MAX_NAMED = 625, 50  # of a matrix; named are stops by address or place id


@dataclass(frozen=True, slots=True)
class Routes:
    """Handlers of `/directions/v2:computeRoutes` and `/distanceMatrix/v2:computeRouteMatrix`."""

    city: City

    def routes(self, ask: Ask) -> Response:
        """One route through all stops in their order; an empty answer where there is no way."""
        tree = parse_mask(ask.fields, FIELDS.routes)
        stops = [
            message_in(ask.body, "origin"),
            *_intermediates(ask.body),
            message_in(ask.body, "destination"),
        ]
        positions = [self._position(stop) for stop in stops]
        mode = _mode(ask.body)
        legs = mode and legs_between(self.city.maps, positions, mode)
        if not legs:
            return answer({})
        as_geojson = ask.body.get("polylineEncoding") == "GEO_JSON_LINESTRING"
        return answer(masked({"routes": [_route(legs, as_geojson)]}, tree))

    def matrix(self, ask: Ask) -> Response:
        """One element for each origin and destination."""
        tree = parse_mask(ask.fields, FIELDS.element)
        sides = [[message_in(item, "waypoint") for item in _items(ask.body, name)] for name in _SIDES]
        if len(sides[0]) * len(sides[1]) > MAX_ELEMENTS:
            raise invalid(f"The number of elements must not exceed {MAX_ELEMENTS}.")
        if sum("location" not in stop for side in sides for stop in side) > MAX_NAMED:
            raise invalid(f"At most {MAX_NAMED} waypoints may be given by address or place id.")
        origins, destinations = ([self._position(stop) for stop in side] for side in sides)
        mode = _mode(ask.body)
        cells = matrix(self.city.maps, origins, destinations, mode) if mode else None
        elements = [
            _element(i, j, cells[i][j] if cells else None)
            for i in range(len(origins))
            for j in range(len(destinations))
        ]
        return answer([masked(element, tree) for element in elements])

    def _position(self, stop: Json) -> LatLng:
        if "location" in stop:
            return lat_lng(message_in(stop, "location").get("latLng"), "location.lat_lng")
        try:
            if stop.get("placeId"):
                return self.city.places.details(str(stop["placeId"])).position
            if stop.get("address"):
                return self.city.maps.geocode(str(stop["address"]))
        except NotFound as fault:
            raise Refused(GoogleStatus.NOT_FOUND, f"Address not found: {fault}") from None
        raise invalid("Origin and destination must be set, each with a location, placeId or address.")


_SIDES = ("origins", "destinations")


def _intermediates(body: Json) -> list[Json]:
    stops = body.get("intermediates", [])
    if not isinstance(stops, list) or not all(isinstance(stop, dict) for stop in stops):
        raise invalid("Invalid value at 'intermediates'.")
    if len(stops) > MAX_INTERMEDIATES:
        raise invalid(
            f"Too many intermediate waypoints in the request ({len(stops)}): at most {MAX_INTERMEDIATES}."
        )
    return stops


def _items(body: Json, name: str) -> list[Json]:
    items = body.get(name)
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise invalid(f"{name} must be set.")
    return items


def _mode(body: Json) -> TravelMode | None:
    name = body.get("travelMode", "DRIVE")
    if not isinstance(name, str) or name not in MODES:
        raise invalid(f"Invalid value at 'travel_mode': there is {', '.join(MODES)}.")
    return MODES[name]


def _route(legs: Sequence[RouteLeg], as_geojson: bool) -> Json:
    wholes = [leg.whole for leg in legs]
    seconds = sum(whole.seconds for whole in wholes)
    path = joined(wholes)
    lats, lngs = zip(*path, strict=True)
    low, high = LatLng(min(lats), min(lngs)), LatLng(max(lats), max(lngs))
    return {
        "legs": [_leg(leg, as_geojson) for leg in legs],
        "distanceMeters": round(sum(whole.metres for whole in wholes)),
        "duration": _seconds(seconds),
        "staticDuration": _seconds(seconds),
        "polyline": _line(path, as_geojson),
        "viewport": {"low": _lat_lng(low), "high": _lat_lng(high)},
        "routeLabels": ["DEFAULT_ROUTE"],
    }


def _leg(leg: RouteLeg, as_geojson: bool) -> Json:
    steps = [_stretch(step, as_geojson) | {"navigationInstruction": _instruction(step)} for step in leg.steps]
    return _stretch(leg.whole, as_geojson) | {"duration": _seconds(leg.whole.seconds), "steps": steps}


def _stretch(stretch: Stretch, as_geojson: bool) -> Json:
    return {
        "distanceMeters": round(stretch.metres),
        "staticDuration": _seconds(stretch.seconds),
        "polyline": _line(stretch.path, as_geojson),
        "startLocation": {"latLng": _lat_lng(stretch.path[0])},
        "endLocation": {"latLng": _lat_lng(stretch.path[-1])},
    }


def _instruction(step: Stretch) -> Json:
    maneuver = step.maneuver.upper().replace("-", "_") or "DEPART"
    return {"maneuver": maneuver, "instructions": html.unescape(re.sub(r"</?b>", "", step.instruction))}


def _line(path: Sequence[LatLng], as_geojson: bool) -> Json:
    if not as_geojson:
        return {"encodedPolyline": encode_polyline(path)}
    return {
        "geoJsonLinestring": {"type": "LineString", "coordinates": [[place.lng, place.lat] for place in path]}
    }


def _element(i: int, j: int, cell: tuple[float, float] | None) -> Json:
    element: dict[str, Any] = {"originIndex": i, "destinationIndex": j, "status": {}}
    if cell is None:
        return element | {"condition": "ROUTE_NOT_FOUND"}
    metres, seconds = cell
    times = {"duration": _seconds(seconds), "staticDuration": _seconds(seconds)}
    return element | {"condition": "ROUTE_EXISTS", "distanceMeters": round(metres)} | times


def _seconds(seconds: float) -> str:
    return f"{round(seconds)}s"


def _lat_lng(position: LatLng) -> Json:
    return {"latitude": position.lat, "longitude": position.lng}
