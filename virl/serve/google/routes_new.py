"""Routes API: routes, and matrices of routes."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fastapi import Response

from virl.errors import NotFound
from virl.geo.globe import LatLng
from virl.geo.polyline import encode_polyline
from virl.platform.city.maps import SPEED_M_S, JourneyLeg, TravelMode
from virl.serve.google.geocoding import resolve_stop
from virl.serve.google.place_json import box_json, lat_lng_json
from virl.serve.google.protojson import FIELDS, apply_mask, parse_mask
from virl.serve.google.ways import (
    RouteLeg,
    Stretch,
    TimedJourney,
    WayFinder,
    join_paths,
    new_ride_json,
    steps_of,
)
from virl.serve.google.wire import (
    ApiRequest,
    GoogleStatus,
    Json,
    Refused,
    answer,
    invalid,
    lat_lng,
    message_in,
)

MODES: dict[str, TravelMode | None] = {
    "TRAVEL_MODE_UNSPECIFIED": "driving",
    "DRIVE": "driving",
    "TWO_WHEELER": "driving",
    "BICYCLE": "cycling",
    "WALK": "walking",
    "TRANSIT": None,
}
"""The city's mode of travel for each of Google's; `None` for transit, whose journeys no route covers."""
MAX_INTERMEDIATES = 25  # stops besides origin and destination, as Google allows
MAX_ELEMENTS, MAX_NAMED = 625, 50  # pairs, and stops by address or place id, of a matrix; Google's
MAX_TRANSIT = 100  # pairs of a matrix by public transport, as Google allows
_SIDES = ("origins", "destinations")


@dataclass(frozen=True, slots=True)
class Routes:
    """Handlers of `/directions/v2:computeRoutes` and `/distanceMatrix/v2:computeRouteMatrix`."""

    ways: WayFinder

    def routes(self, request: ApiRequest) -> Response:
        """Return one route through all stops in their order as JSON; an empty object if there is no way.

        Raises:
            Refused: origin or destination is a via waypoint.
        """
        tree = parse_mask(request.fields, FIELDS.routes)
        between = request.body.get("intermediates", [])
        if not isinstance(between, list) or not all(isinstance(stop, dict) for stop in between):
            raise invalid("Invalid value at 'intermediates'.")
        if (count := len(between)) > MAX_INTERMEDIATES:
            raise invalid(
                f"Too many intermediate waypoints in the request ({count}): at most {MAX_INTERMEDIATES}."
            )
        stops = [message_in(request.body, "origin"), *between, message_in(request.body, "destination")]
        positions = [self._position(stop) for stop in stops]
        mode = MODES[request.body.get("travelMode", "DRIVE")]
        via = [number for number, stop in enumerate(stops) if stop.get("via")]
        if via and (0 in via or len(stops) - 1 in via):
            raise invalid("Origin and destination cannot be via waypoints.")
        _check_preference(request.body)
        as_geojson = request.body.get("polylineEncoding") == "GEO_JSON_LINESTRING"
        if mode is None:
            timed = self.ways.journey(positions, _requested_departure(request.body))
            return answer(apply_mask({"routes": [_journey_json(timed, as_geojson)]}, tree) if timed else {})
        legs = self.ways.legs(positions, mode, via)
        if not legs:
            return answer({})
        name = request.body.get("travelMode", "DRIVE")
        return answer(apply_mask({"routes": [_route_json(legs, name, as_geojson)]}, tree))

    def matrix(self, request: ApiRequest) -> Response:
        """Return a matrix as a JSON list: one element for each pair of origin and destination.

        Raises:
            Refused: there are too many elements, or too many addresses.
        """
        tree = parse_mask(request.fields, FIELDS.element)
        sides = []
        for name in _SIDES:
            items = request.body.get(name)
            if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
                raise invalid(f"{name} must be set.")
            sides.append([message_in(item, "waypoint") for item in items])
        if len(sides[0]) * len(sides[1]) > MAX_ELEMENTS:
            raise invalid(f"The number of elements must not exceed {MAX_ELEMENTS}.")
        if sum("location" not in stop for side in sides for stop in side) > MAX_NAMED:
            raise invalid(f"At most {MAX_NAMED} waypoints may be given by address or place id.")
        origins, destinations = ([self._position(stop) for stop in side] for side in sides)
        mode = MODES[request.body.get("travelMode", "DRIVE")]
        _check_preference(request.body)
        if mode is None and len(origins) * len(destinations) > MAX_TRANSIT:
            raise invalid(
                f"The number of elements must not exceed {MAX_TRANSIT} for the travel mode TRANSIT."
            )
        departs = _requested_departure(request.body) if mode is None else None
        elements = []
        for i, row in enumerate(self.ways.matrix(origins, destinations, mode, departs)):
            for j, cell in enumerate(row):
                element: Json = {"originIndex": i, "destinationIndex": j, "status": {}}
                if cell is None:
                    element["condition"] = "ROUTE_NOT_FOUND"
                else:
                    metres, seconds = round(cell[0]), _show_seconds(cell[1])
                    element |= {"condition": "ROUTE_EXISTS", "distanceMeters": metres}
                    element |= {"duration": seconds, "staticDuration": seconds}
                elements.append(apply_mask(element, tree))
        return answer(elements)

    def _position(self, stop: Json) -> LatLng:
        """Return the position of a stop given by location, place id or address; else raise `Refused`."""
        if "location" in stop:
            return lat_lng(message_in(stop, "location").get("latLng"), "location.lat_lng")
        try:
            if stop.get("placeId") or stop.get("address"):
                return resolve_stop(self.ways.city, stop.get("address", ""), stop.get("placeId", "")).position
        except NotFound as fault:
            raise Refused(GoogleStatus.NOT_FOUND, f"Address not found: {fault}") from None
        raise invalid("Origin and destination must be set, each with a location, placeId or address.")


def _check_preference(body: Json) -> None:
    """Raise `Refused` for a body that sets a routing preference for another mode of travel than driving."""
    preference = body.get("routingPreference", "ROUTING_PREFERENCE_UNSPECIFIED")
    is_car = body.get("travelMode", "DRIVE") in {"TRAVEL_MODE_UNSPECIFIED", "DRIVE", "TWO_WHEELER"}
    if preference != "ROUTING_PREFERENCE_UNSPECIFIED" and not is_car:
        raise invalid("Routing preference cannot be set for travel modes other than DRIVE or TWO_WHEELER.")


def _requested_departure(body: Json) -> datetime | None:
    """Return the time of departure that a body names in ISO 8601; `None` if it names none."""
    text = body.get("departureTime")
    if not text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise invalid(f"Invalid value at 'departure_time': \"{text}\".") from None


def _journey_json(timed: TimedJourney, as_geojson: bool) -> Json:
    """Return a public-transport journey as JSON of the Routes API: a route of one leg."""
    legs = [_journey_leg(leg) for leg in timed.journey.legs]
    route = _route_json(legs, "WALK", as_geojson)
    steps = []
    for leg, shown in zip(timed.journey.legs, route["legs"], strict=True):
        if leg.line:
            ride = {"travelMode": "TRANSIT", "transitDetails": new_ride_json(leg, timed)}
            steps.append({**shown["steps"][0], **ride})
        else:
            steps += shown["steps"]
    wholes = [leg.whole for leg in legs]
    moving = sum(whole.seconds for whole in wholes)
    joined = Stretch(join_paths(wholes), sum(whole.metres for whole in wholes), moving)
    # The journey also waits at stops, which no leg holds.
    seconds = _show_seconds(moving + max(timed.journey.duration - moving, 0.0))
    only_leg = {**_stretch_json(joined, as_geojson), "duration": seconds, "steps": steps}
    return {**route, "legs": [only_leg], "duration": seconds, "staticDuration": seconds}


def _journey_leg(leg: JourneyLeg) -> RouteLeg:
    """Return a ride or walk of a journey as a leg of a route; a ride is one step."""
    whole = Stretch(leg.path, leg.distance, leg.duration)
    if not leg.line:
        return RouteLeg(whole, tuple(steps_of(leg.path, (), SPEED_M_S["walking"])))
    instruction = html.escape(f"{leg.line} towards {leg.headsign}".capitalize(), quote=False)
    return RouteLeg(whole, (replace(whole, instruction=instruction),))


def _route_json(legs: Sequence[RouteLeg], mode: str, as_geojson: bool) -> Json:
    """Return a route as JSON of the Routes API; `mode` is Google's word for its mode of travel."""
    wholes = [leg.whole for leg in legs]
    seconds = sum(whole.seconds for whole in wholes)
    path = join_paths(wholes)
    lats, lngs = zip(*path, strict=True)
    low, high = LatLng(min(lats), min(lngs)), LatLng(max(lats), max(lngs))
    written = []
    for leg in legs:
        steps = [
            {
                **_stretch_json(step, as_geojson),
                "navigationInstruction": {
                    "maneuver": step.maneuver.upper().replace("-", "_") or "DEPART",
                    "instructions": html.unescape(re.sub(r"</?b>", "", step.instruction)),
                },
                "travelMode": mode,
            }
            for step in leg.steps
        ]
        times = {"duration": _show_seconds(leg.whole.seconds), "steps": steps}
        written.append(_stretch_json(leg.whole, as_geojson) | times)
    return {
        "legs": written,
        "distanceMeters": round(sum(whole.metres for whole in wholes)),
        "duration": _show_seconds(seconds),
        "staticDuration": _show_seconds(seconds),
        "polyline": _line_json(path, as_geojson),
        "viewport": box_json(low, high),
        "routeLabels": ["DEFAULT_ROUTE"],
    }


def _stretch_json(stretch: Stretch, as_geojson: bool) -> Json:
    """Return a stretch's length, duration, line and end points as JSON."""
    return {
        "distanceMeters": round(stretch.metres),
        "staticDuration": _show_seconds(stretch.seconds),
        "polyline": _line_json(stretch.path, as_geojson),
        "startLocation": {"latLng": lat_lng_json(stretch.path[0])},
        "endLocation": {"latLng": lat_lng_json(stretch.path[-1])},
    }


def _line_json(path: Sequence[LatLng], as_geojson: bool) -> Json:
    """Return a path as JSON: a GeoJSON line, else an encoded polyline."""
    if not as_geojson:
        return {"encodedPolyline": encode_polyline(path)}
    return {
        "geoJsonLinestring": {"type": "LineString", "coordinates": [[place.lng, place.lat] for place in path]}
    }


def _show_seconds(seconds: float) -> str:
    """Return seconds, rounded to whole ones, as the Routes API writes them, such as "12s"."""
    return f"{round(seconds)}s"
