"""Routes API: routes, and matrices of routes."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import Response

from virl.errors import NotFound
from virl.geo.globe import LatLng
from virl.geo.polyline import encode_polyline
from virl.platform.city.city import City
from virl.platform.city.maps import SPEED_M_S, JourneyLeg, TravelMode
from virl.serve.google.geocoding import stop_of
from virl.serve.google.place_json import box_json, lat_lng_json
from virl.serve.google.protojson import FIELDS, apply_mask, parse_mask
from virl.serve.google.ways import (
    RouteLeg,
    Stretch,
    TimedJourney,
    Transit,
    join_paths,
    legs_between,
    matrix,
    new_details,
    steps_of,
)
from virl.serve.google.wire import Ask, GoogleStatus, Json, Refused, answer, invalid, lat_lng, message_in

MODES: dict[str, TravelMode | None] = {
    "TRAVEL_MODE_UNSPECIFIED": "driving",
    "DRIVE": "driving",
    "TWO_WHEELER": "driving",
    "BICYCLE": "cycling",
    "WALK": "walking",
    "TRANSIT": None,
}
"""City's mode of travel for each mode of the API; transit is no way but a journey."""
MAX_INTERMEDIATES = 25
MAX_ELEMENTS, MAX_NAMED = 625, 50  # of a matrix; named are stops by address or place id
MAX_TRANSIT = 100  # elements of a matrix of journeys


@dataclass(frozen=True, slots=True)
class Routes:
    """Handlers of `/directions/v2:computeRoutes` and `/distanceMatrix/v2:computeRouteMatrix`."""

    city: City
    transit: Transit

    def routes(self, ask: Ask) -> Response:
        """Return one route through all stops in their order; an empty answer where there is no way.

        Raises:
            Refused: origin or destination is a via waypoint.
        """
        tree = parse_mask(ask.fields, FIELDS.routes)
        stops = [
            message_in(ask.body, "origin"),
            *_intermediates(ask.body),
            message_in(ask.body, "destination"),
        ]
        positions = [self._position(stop) for stop in stops]
        mode = _mode_asked(ask.body)
        via = [number for number, stop in enumerate(stops) if stop.get("via")]
        if via and (0 in via or len(stops) - 1 in via):
            raise invalid("Origin and destination cannot be via waypoints.")
        _check_preference(ask.body)
        as_geojson = ask.body.get("polylineEncoding") == "GEO_JSON_LINESTRING"
        if mode is None:
            timed = self.transit.journey(positions, _departure(ask.body))
            return answer(apply_mask({"routes": [_ridden(timed, as_geojson)]}, tree) if timed else {})
        legs = legs_between(self.city.maps, positions, mode, via)
        if not legs:
            return answer({})
        name = ask.body.get("travelMode", "DRIVE")
        return answer(apply_mask({"routes": [_route_json(legs, name, as_geojson)]}, tree))

    def matrix(self, ask: Ask) -> Response:
        """Return one element for each origin and destination.

        Raises:
            Refused: there are too many elements, or too many addresses.
        """
        tree = parse_mask(ask.fields, FIELDS.element)
        sides = [[message_in(item, "waypoint") for item in _items_in(ask.body, name)] for name in _SIDES]
        if len(sides[0]) * len(sides[1]) > MAX_ELEMENTS:
            raise invalid(f"The number of elements must not exceed {MAX_ELEMENTS}.")
        if sum("location" not in stop for side in sides for stop in side) > MAX_NAMED:
            raise invalid(f"At most {MAX_NAMED} waypoints may be given by address or place id.")
        origins, destinations = ([self._position(stop) for stop in side] for side in sides)
        mode = _mode_asked(ask.body)
        _check_preference(ask.body)
        if mode is None and len(origins) * len(destinations) > MAX_TRANSIT:
            raise invalid(
                f"The number of elements must not exceed {MAX_TRANSIT} for the travel mode TRANSIT."
            )
        if mode is None:
            cells = self.transit.cells(origins, destinations, _departure(ask.body))
        else:
            cells = matrix(self.city.maps, origins, destinations, mode)
        elements = [
            _element_json(i, j, cells[i][j]) for i in range(len(origins)) for j in range(len(destinations))
        ]
        return answer([apply_mask(element, tree) for element in elements])

    def _position(self, stop: Json) -> LatLng:
        """Return the position of a stop, given by location, place id or address."""
        if "location" in stop:
            return lat_lng(message_in(stop, "location").get("latLng"), "location.lat_lng")
        try:
            if stop.get("placeId") or stop.get("address"):
                return stop_of(self.city, stop.get("address", ""), stop.get("placeId", "")).position
        except NotFound as fault:
            raise Refused(GoogleStatus.NOT_FOUND, f"Address not found: {fault}") from None
        raise invalid("Origin and destination must be set, each with a location, placeId or address.")


_SIDES = ("origins", "destinations")


def _intermediates(body: Json) -> list[Json]:
    """Return the stops on the way; refuses too many."""
    stops = body.get("intermediates", [])
    if not isinstance(stops, list) or not all(isinstance(stop, dict) for stop in stops):
        raise invalid("Invalid value at 'intermediates'.")
    if len(stops) > MAX_INTERMEDIATES:
        raise invalid(
            f"Too many intermediate waypoints in the request ({len(stops)}): at most {MAX_INTERMEDIATES}."
        )
    return stops


def _items_in(body: Json, name: str) -> list[Json]:
    """Return a list of messages in a body; refuses an empty or missing one."""
    items = body.get(name)
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise invalid(f"{name} must be set.")
    return items


def _check_preference(body: Json) -> None:
    """Raise an error if traffic is asked for with another mode than driving."""
    preference = body.get("routingPreference", "ROUTING_PREFERENCE_UNSPECIFIED")
    is_car = body.get("travelMode", "DRIVE") in {"TRAVEL_MODE_UNSPECIFIED", "DRIVE", "TWO_WHEELER"}
    if preference != "ROUTING_PREFERENCE_UNSPECIFIED" and not is_car:
        raise invalid("Routing preference cannot be set for travel modes other than DRIVE or TWO_WHEELER.")


def _mode_asked(body: Json) -> TravelMode | None:
    """Return the mode of travel asked for; None is transit."""
    return MODES[body.get("travelMode", "DRIVE")]


def _departure(body: Json) -> datetime | None:
    """Return the departure time of a journey, `None` if the body names none."""
    text = body.get("departureTime")
    if not text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise invalid(f"Invalid value at 'departure_time': \"{text}\".") from None


def _ridden(timed: TimedJourney, as_geojson: bool) -> Json:
    """Return a journey as a route of one leg."""
    legs = [_ridden_leg(leg) for leg in timed.journey.legs]
    waits = max(timed.journey.duration - sum(leg.whole.seconds for leg in legs), 0.0)
    route = _route_json(legs, "WALK", as_geojson)
    steps = []
    for leg, shown in zip(timed.journey.legs, route["legs"], strict=True):
        if leg.line:
            ride = {"travelMode": "TRANSIT", "transitDetails": new_details(leg, timed)}
            steps.append({**shown["steps"][0], **ride})
        else:
            steps += shown["steps"]
    seconds = _show_seconds(sum(leg.whole.seconds for leg in legs) + waits)
    whole = {**_stretch_json(_joined_legs(legs), as_geojson), "duration": seconds, "steps": steps}
    return {**route, "legs": [whole], "duration": seconds, "staticDuration": seconds}


def _ridden_leg(leg: JourneyLeg) -> RouteLeg:
    """Return a leg of a journey, ridden or walked, as a leg of a route."""
    whole = Stretch(leg.path, leg.distance, leg.duration)
    if not leg.line:
        return RouteLeg(whole, tuple(steps_of(leg.path, (), SPEED_M_S["walking"])))
    said = f"{leg.line} towards {leg.headsign}".capitalize()
    return RouteLeg(whole, (Stretch(leg.path, leg.distance, leg.duration, html.escape(said, quote=False)),))


def _joined_legs(legs: Sequence[RouteLeg]) -> Stretch:
    """Return the legs as one stretch."""
    wholes = [leg.whole for leg in legs]
    return Stretch(join_paths(wholes), sum(one.metres for one in wholes), sum(one.seconds for one in wholes))


def _route_json(legs: Sequence[RouteLeg], mode: str, as_geojson: bool) -> Json:
    """Return a route as the new API writes it."""
    wholes = [leg.whole for leg in legs]
    seconds = sum(whole.seconds for whole in wholes)
    path = join_paths(wholes)
    lats, lngs = zip(*path, strict=True)
    low, high = LatLng(min(lats), min(lngs)), LatLng(max(lats), max(lngs))
    return {
        "legs": [_leg_json(leg, mode, as_geojson) for leg in legs],
        "distanceMeters": round(sum(whole.metres for whole in wholes)),
        "duration": _show_seconds(seconds),
        "staticDuration": _show_seconds(seconds),
        "polyline": _line_json(path, as_geojson),
        "viewport": box_json(low, high),
        "routeLabels": ["DEFAULT_ROUTE"],
    }


def _leg_json(leg: RouteLeg, mode: str, as_geojson: bool) -> Json:
    """Return a leg as the new API writes it."""
    steps = [
        _stretch_json(step, as_geojson)
        | {"navigationInstruction": _instruction_json(step), "travelMode": mode}
        for step in leg.steps
    ]
    return _stretch_json(leg.whole, as_geojson) | {
        "duration": _show_seconds(leg.whole.seconds),
        "steps": steps,
    }


def _stretch_json(stretch: Stretch, as_geojson: bool) -> Json:
    """Return a stretch's length, duration, line and ends as JSON."""
    return {
        "distanceMeters": round(stretch.metres),
        "staticDuration": _show_seconds(stretch.seconds),
        "polyline": _line_json(stretch.path, as_geojson),
        "startLocation": {"latLng": lat_lng_json(stretch.path[0])},
        "endLocation": {"latLng": lat_lng_json(stretch.path[-1])},
    }


def _instruction_json(step: Stretch) -> Json:
    """Return a step's turn and instruction as JSON."""
    maneuver = step.maneuver.upper().replace("-", "_") or "DEPART"
    return {"maneuver": maneuver, "instructions": html.unescape(re.sub(r"</?b>", "", step.instruction))}


def _line_json(path: Sequence[LatLng], as_geojson: bool) -> Json:
    """Return a path as GeoJSON or as an encoded polyline."""
    if not as_geojson:
        return {"encodedPolyline": encode_polyline(path)}
    return {
        "geoJsonLinestring": {"type": "LineString", "coordinates": [[place.lng, place.lat] for place in path]}
    }


def _element_json(i: int, j: int, cell: tuple[float, float] | None) -> Json:
    """Return the element (i, j) of the matrix, of (metres, seconds); None is no way."""
    element: dict[str, Any] = {"originIndex": i, "destinationIndex": j, "status": {}}
    if cell is None:
        return element | {"condition": "ROUTE_NOT_FOUND"}
    metres, seconds = cell
    times = {"duration": _show_seconds(seconds), "staticDuration": _show_seconds(seconds)}
    return element | {"condition": "ROUTE_EXISTS", "distanceMeters": round(metres)} | times


def _show_seconds(seconds: float) -> str:
    """Return seconds as the API writes them, such as "12s"."""
    return f"{round(seconds)}s"
