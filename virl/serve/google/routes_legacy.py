"""The legacy Directions and Distance Matrix APIs."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from fastapi import Response

from virl.errors import NotFound
from virl.geo.polyline import encode_polyline
from virl.pages.numbers import count_noun
from virl.platform.city.maps import TravelMode
from virl.serve.google.geocoding import Stop, address_id, resolve_stop
from virl.serve.google.legacy_json import bounds, point
from virl.serve.google.streetview import COPYRIGHT
from virl.serve.google.ways import (
    RouteLeg,
    Stretch,
    TimedJourney,
    WayFinder,
    join_paths,
    legacy_ride_json,
    legacy_time_json,
)
from virl.serve.google.wire import ApiRequest, GoogleStatus, Json, Refused, answer, invalid

MODES: dict[str, TravelMode | None] = {
    "driving": "driving",
    "walking": "walking",
    "bicycling": "cycling",
    "transit": None,
}
"""The city's mode of travel for each of Google's; `None` for transit, whose journeys no route covers."""
MAX_WAYPOINTS = 25  # stops besides origin and destination, as Google allows
MAX_SIDE, MAX_ELEMENTS = 25, 100  # origins or destinations, and pairs, of a matrix, as Google allows
FEET_PER_METRE, FEET_PER_MILE = 3.28084, 5280
PLACE_ID, VIA = "place_id:", "via:"


@dataclass(frozen=True, slots=True)
class LegacyRoutes:
    """Handlers of the legacy APIs `/maps/api/directions/json` and `/maps/api/distancematrix/json`."""

    ways: WayFinder

    def directions(self, request: ApiRequest) -> Response:
        """Return one route through all stops in their order as JSON; no route if there is no way.

        Raises:
            Refused: origin or destination is missing, or a limit is exceeded.
        """
        between = [
            part
            for part in request.query.get("waypoints", "").split("|")
            if part and not part.startswith("optimize:")
        ]
        if len(between) > MAX_WAYPOINTS:
            raise Refused(
                GoogleStatus.MAX_WAYPOINTS, f"Too many waypoints in the request: at most {MAX_WAYPOINTS}."
            )
        bare = [text.removeprefix(VIA) for text in between]
        texts = [request.query.get("origin", ""), *bare, request.query.get("destination", "")]
        via = [number for number, text in enumerate(between, 1) if text.startswith(VIA)]
        if not all(texts):
            raise invalid("Invalid request. Missing the 'origin' or 'destination' parameter.")
        mode, is_imperial = _requested_mode(request), request.query.get("units") == "imperial"
        try:
            stops = [self._stop(text) for text in texts]
        except NotFound:
            return answer({"geocoded_waypoints": [], "routes": [], "status": "NOT_FOUND"})
        positions = [stop.position for stop in stops]
        geocoded = [
            {"geocoder_status": "OK", "place_id": address_id(stop.text), "types": ["street_address"]}
            for stop in stops
        ]
        ends = [stop for number, stop in enumerate(stops) if number not in via]
        route: Json | None = None
        if mode is None:
            timed = self.ways.journey(positions, _requested_departure(request))
            route = _journey_json(timed, ends, is_imperial) if timed else None
        elif legs := self.ways.legs(positions, mode, via):
            route = _route_json(legs, ends, request.query.get("mode", "driving").upper(), is_imperial)
        if route is None:
            return answer({"geocoded_waypoints": geocoded, "routes": [], "status": "ZERO_RESULTS"})
        route["copyrights"] = self.ways.city.attribution or COPYRIGHT
        return answer({"geocoded_waypoints": geocoded, "routes": [route], "status": "OK"})

    def matrix(self, request: ApiRequest) -> Response:
        """Return a matrix as JSON: a row for each origin, with an element for each destination.

        Raises:
            Refused: a side is missing, or there are too many elements.
        """
        sides = [request.query.get(name, "").split("|") for name in ("origins", "destinations")]
        if not all(text for side in sides for text in side):
            raise invalid("Invalid request. Missing the 'origins' or 'destinations' parameter.")
        if max(map(len, sides)) > MAX_SIDE:
            raise Refused(
                GoogleStatus.MAX_DIMENSIONS, f"At most {MAX_SIDE} origins or {MAX_SIDE} destinations."
            )
        if len(sides[0]) * len(sides[1]) > MAX_ELEMENTS:
            raise Refused(GoogleStatus.MAX_ELEMENTS, f"At most {MAX_ELEMENTS} elements.")
        mode, is_imperial = _requested_mode(request), request.query.get("units") == "imperial"
        stops = [[self._find_stop(text) for text in side] for side in sides]
        rows = self._cells(stops[0], stops[1], mode, _requested_departure(request), is_imperial)
        return answer(
            {
                "origin_addresses": [stop.text if stop else "" for stop in stops[0]],
                "destination_addresses": [stop.text if stop else "" for stop in stops[1]],
                "rows": [{"elements": row} for row in rows],
                "status": "OK",
            }
        )

    def _cells(
        self,
        origins: Sequence[Stop | None],
        destinations: Sequence[Stop | None],
        mode: TravelMode | None,
        departs: datetime | None,
        is_imperial: bool,
    ) -> list[list[Json]]:
        """Return the matrix's elements as JSON, a row for each origin; NOT_FOUND where a stop is `None`."""
        starts = [(i, stop.position) for i, stop in enumerate(origins) if stop]
        ends = [(j, stop.position) for j, stop in enumerate(destinations) if stop]
        ways = self.ways.matrix([at for _, at in starts], [at for _, at in ends], mode, departs)
        known = {}
        for row, (i, _) in zip(ways, starts, strict=True):
            for cell, (j, _) in zip(row, ends, strict=True):
                is_known = {"status": "ZERO_RESULTS" if cell is None else "OK"}
                known[i, j] = is_known if cell is None else _measures_json(*cell, is_imperial) | is_known
        return [
            [known.get((i, j), {"status": "NOT_FOUND"}) for j in range(len(destinations))]
            for i in range(len(origins))
        ]

    def _find_stop(self, text: str) -> Stop | None:
        """Return the stop that a "lat,lng", an address or `place_id:ID` names; `None` if it is not found."""
        try:
            return self._stop(text)
        except NotFound:
            return None

    def _stop(self, text: str) -> Stop:
        """Return the stop that a "lat,lng", an address or `place_id:ID` names; else raise `NotFound`."""
        if text.startswith(PLACE_ID):
            return resolve_stop(self.ways.city, "", text.removeprefix(PLACE_ID))
        return resolve_stop(self.ways.city, text)


def _requested_mode(request: ApiRequest) -> TravelMode | None:
    """Return the mode of travel that a request asks for, driving if none; `None` for transit."""
    name = request.query.get("mode", "driving")
    if name not in MODES:
        raise invalid("Invalid request. Invalid 'mode' parameter.")
    return MODES[name]


def _requested_departure(request: ApiRequest) -> datetime | None:
    """Return the time of departure that a request asks for, in UTC; `None` for now."""
    text = request.query.get("departure_time", "now")
    if text == "now":
        return None
    if not (text.isdecimal() and text.isascii() and len(text) <= 10):
        raise invalid("Invalid request. Invalid 'departure_time' parameter.")
    return datetime.fromtimestamp(int(text), UTC)


def _journey_json(timed: TimedJourney, ends: Sequence[Stop], is_imperial: bool) -> Json:
    """Return a public-transport journey as JSON: a route of one leg, with its walks and rides as steps."""
    steps = []
    for leg in timed.journey.legs:
        instruction = html.escape(f"{leg.line} towards {leg.headsign}" if leg.line else "Walk", quote=False)
        stretch = Stretch(leg.path, leg.distance, leg.duration, instruction)
        mode = "TRANSIT" if leg.line else "WALKING"
        details = {"transit_details": legacy_ride_json(leg, timed)} if leg.line else {}
        steps.append(_stretch_json(stretch, is_imperial) | _instruction_json(stretch, mode) | details)
    whole = Stretch(timed.journey.path, timed.journey.distance, timed.journey.duration)
    arrives = timed.leaves + timedelta(seconds=round(timed.journey.duration))
    times = {"departure_time": legacy_time_json(timed.leaves), "arrival_time": legacy_time_json(arrives)}
    route = _route_json([RouteLeg(whole, ())], ends, "TRANSIT", is_imperial)
    route["legs"][0] |= {"steps": steps, **times}
    return route


def _route_json(legs: Sequence[RouteLeg], stops: Sequence[Stop], mode: str, is_imperial: bool) -> Json:
    """Return a route as JSON of the Directions API; `stops` are its legs' ends, `mode` Google's word."""
    path = join_paths([leg.whole for leg in legs])
    written = []
    for leg, (start, end) in zip(legs, pairwise(stops), strict=False):
        steps = [_stretch_json(step, is_imperial) | _instruction_json(step, mode) for step in leg.steps]
        written.append(
            {
                **_stretch_json(leg.whole, is_imperial),
                "start_address": start.text,
                "end_address": end.text,
                "steps": steps,
                "traffic_speed_entry": [],
                "via_waypoint": [
                    {"location": point(position), "step_index": step, "step_interpolation": 1.0}
                    for position, step in leg.via
                ],
            }
        )
    return {
        "bounds": bounds(path),
        "legs": written,
        "overview_polyline": {"points": encode_polyline(path)},
        "summary": "",
        "warnings": [],
        "waypoint_order": list(range(len(stops) - 2)),
    }


def _stretch_json(stretch: Stretch, is_imperial: bool) -> Json:
    """Return a stretch's length, duration and end points as JSON."""
    return {
        **_measures_json(stretch.metres, stretch.seconds, is_imperial),
        "start_location": point(stretch.path[0]),
        "end_location": point(stretch.path[-1]),
    }


def _instruction_json(step: Stretch, mode: str) -> Json:
    """Return a step's instruction, polyline, maneuver and `mode` of travel, Google's word, as JSON."""
    turn = {"maneuver": step.maneuver} if step.maneuver else {}
    line = {"points": encode_polyline(step.path)}
    return {"html_instructions": step.instruction, "polyline": line, "travel_mode": mode, **turn}


def _measures_json(metres: float, seconds: float, is_imperial: bool) -> Json:
    """Return JSON of a length and a time, as text (feet, miles if `is_imperial`) and in whole m and s."""
    if is_imperial:
        feet = metres * FEET_PER_METRE
        length = f"{feet:.0f} ft" if feet < FEET_PER_MILE / 10 else f"{feet / FEET_PER_MILE:.1f} mi"
    else:
        length = f"{metres:.0f} m" if metres < 1000 else f"{metres / 1000:.1f} km"
    hours, minutes = divmod(max(round(seconds / 60), 1), 60)
    duration = count_noun(minutes, "min")
    if hours:
        duration = f"{count_noun(hours, 'hour')} {duration}"
    return {
        "distance": {"text": length, "value": round(metres)},
        "duration": {"text": duration, "value": round(seconds)},
    }
