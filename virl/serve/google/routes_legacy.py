"""The legacy Directions and Distance Matrix APIs."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fastapi import Response

from virl.errors import NotFound
from virl.geo.globe import LatLng
from virl.geo.polyline import encode_polyline
from virl.platform.city.city import City
from virl.platform.city.maps import TravelMode
from virl.serve.google.geocoding import Stop, address_id, stop_of
from virl.serve.google.legacy_json import bounds, point
from virl.serve.google.streetview import COPYRIGHT
from virl.serve.google.ways import (
    RouteLeg,
    Stretch,
    TimedJourney,
    Transit,
    Ways,
    join_paths,
    legacy_details,
    legacy_time,
    legs_between,
    matrix,
)
from virl.serve.google.wire import Ask, GoogleStatus, Json, Refused, answer, invalid

MODES: dict[str, TravelMode | None] = {
    "driving": "driving",
    "walking": "walking",
    "bicycling": "cycling",
    "transit": None,
}
"""City's mode of travel for each mode of the API; transit is no way but a journey."""
MAX_WAYPOINTS = 25  # besides origin and destination
MAX_SIDE, MAX_ELEMENTS = 25, 100  # of a matrix: origins or destinations, and pairs
FEET_PER_METRE, FEET_PER_MILE = 3.28084, 5280
PLACE_ID, VIA = "place_id:", "via:"


@dataclass(frozen=True, slots=True)
class LegacyRoutes:
    """Handlers of `/maps/api/directions/json` and `/maps/api/distancematrix/json`."""

    city: City
    transit: Transit

    def directions(self, ask: Ask) -> Response:
        """Return one route through all stops in their order.

        Raises:
            Refused: origin or destination is missing, or a limit is exceeded.
        """
        between = _waypoints(ask)
        bare = [text.removeprefix(VIA) for text in between]
        texts = [ask.query.get("origin", ""), *bare, ask.query.get("destination", "")]
        via = [number for number, text in enumerate(between, 1) if text.startswith(VIA)]
        if not all(texts):
            raise invalid("Invalid request. Missing the 'origin' or 'destination' parameter.")
        mode, is_imperial = _mode_asked(ask), ask.query.get("units") == "imperial"
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
            timed = self.transit.journey(positions, _departure_asked(ask))
            route = _ridden(timed, ends, is_imperial) if timed else None
        elif legs := legs_between(self.city.maps, positions, mode, via):
            route = _route_json(legs, ends, ask.query.get("mode", "driving").upper(), is_imperial)
        if route is None:
            return answer({"geocoded_waypoints": geocoded, "routes": [], "status": "ZERO_RESULTS"})
        route["copyrights"] = self.city.attribution or COPYRIGHT
        return answer({"geocoded_waypoints": geocoded, "routes": [route], "status": "OK"})

    def matrix(self, ask: Ask) -> Response:
        """Return a row for each origin, in it an element for each destination.

        Raises:
            Refused: a side is missing, or there are too many elements.
        """
        sides = [ask.query.get(name, "").split("|") for name in ("origins", "destinations")]
        if not all(text for side in sides for text in side):
            raise invalid("Invalid request. Missing the 'origins' or 'destinations' parameter.")
        if max(map(len, sides)) > MAX_SIDE:
            raise Refused(
                GoogleStatus.MAX_DIMENSIONS, f"At most {MAX_SIDE} origins or {MAX_SIDE} destinations."
            )
        if len(sides[0]) * len(sides[1]) > MAX_ELEMENTS:
            raise Refused(GoogleStatus.MAX_ELEMENTS, f"At most {MAX_ELEMENTS} elements.")
        mode, is_imperial = _mode_asked(ask), ask.query.get("units") == "imperial"
        stops = [[self._find_stop(text) for text in side] for side in sides]
        rows = self._cells(stops[0], stops[1], mode, _departure_asked(ask), is_imperial)
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
        """Return the elements of the matrix by origin and destination; NOT_FOUND where a stop is None."""
        starts = [(i, stop.position) for i, stop in enumerate(origins) if stop]
        ends = [(j, stop.position) for j, stop in enumerate(destinations) if stop]
        if mode is None:
            ways: Ways = self.transit.cells([at for _, at in starts], [at for _, at in ends], departs)
        else:
            ways = matrix(self.city.maps, [at for _, at in starts], [at for _, at in ends], mode)
        known = {
            (i, j): _element_json(ways[row][column], is_imperial)
            for row, (i, _) in enumerate(starts)
            for column, (j, _) in enumerate(ends)
        }
        return [
            [known.get((i, j), {"status": "NOT_FOUND"}) for j in range(len(destinations))]
            for i in range(len(origins))
        ]

    def _find_stop(self, text: str) -> Stop | None:
        """Return the stop that a text means; None if none is found."""
        try:
            return self._stop(text)
        except NotFound:
            return None

    def _stop(self, text: str) -> Stop:
        """Return the stop that a text or `place_id:` means."""
        if text.startswith(PLACE_ID):
            return stop_of(self.city, "", text.removeprefix(PLACE_ID))
        return stop_of(self.city, text)


def _waypoints(ask: Ask) -> list[str]:
    """Return the stops on the way with their `via:` marks; an order that may be changed is kept."""
    parts = [
        part
        for part in ask.query.get("waypoints", "").split("|")
        if part and not part.startswith("optimize:")
    ]
    if len(parts) > MAX_WAYPOINTS:
        raise Refused(
            GoogleStatus.MAX_WAYPOINTS, f"Too many waypoints in the request: at most {MAX_WAYPOINTS}."
        )
    return parts


def _mode_asked(ask: Ask) -> TravelMode | None:
    """Return the mode of travel asked for; None is transit."""
    name = ask.query.get("mode", "driving")
    if name not in MODES:
        raise invalid("Invalid request. Invalid 'mode' parameter.")
    return MODES[name]


def _departure_asked(ask: Ask) -> datetime | None:
    """Return the time of departure, UTC; None is now."""
    text = ask.query.get("departure_time", "now")
    if text == "now":
        return None
    if not (text.isdecimal() and text.isascii() and len(text) <= 10):
        raise invalid("Invalid request. Invalid 'departure_time' parameter.")
    return datetime.fromtimestamp(int(text), UTC)


def _ridden(timed: TimedJourney, ends: Sequence[Stop], is_imperial: bool) -> Json:
    """Return a journey as a route of one leg, whose steps are its ways on foot and its rides."""
    steps = []
    for leg in timed.journey.legs:
        stretch = Stretch(
            leg.path,
            leg.distance,
            leg.duration,
            html.escape(f"{leg.line} towards {leg.headsign}" if leg.line else "Walk", quote=False),
        )
        mode = "TRANSIT" if leg.line else "WALKING"
        details = {"transit_details": legacy_details(leg, timed)} if leg.line else {}
        steps.append(_stretch_json(stretch, is_imperial) | _instruction_json(stretch, mode) | details)
    whole = Stretch(timed.journey.path, timed.journey.distance, timed.journey.duration)
    arrives = timed.leaves + timedelta(seconds=round(timed.journey.duration))
    times = {"departure_time": legacy_time(timed.leaves), "arrival_time": legacy_time(arrives)}
    route = _route_json([RouteLeg(whole, ())], ends, "TRANSIT", is_imperial)
    route["legs"][0] |= {"steps": steps, **times}
    return route


def _route_json(legs: Sequence[RouteLeg], stops: Sequence[Stop], mode: str, is_imperial: bool) -> Json:
    """Return a route as the legacy API writes it."""
    path = join_paths([leg.whole for leg in legs])
    written = []
    for leg, start, end in zip(legs, stops, stops[1:], strict=False):
        steps = [_stretch_json(step, is_imperial) | _instruction_json(step, mode) for step in leg.steps]
        ends = {"start_address": start.text, "end_address": end.text}
        written.append(
            _stretch_json(leg.whole, is_imperial)
            | ends
            | {
                "steps": steps,
                "traffic_speed_entry": [],
                "via_waypoint": [_via_json(*one) for one in leg.via],
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


def _via_json(position: LatLng, step: int) -> Json:
    """Return a stop on the way as JSON."""
    return {"location": point(position), "step_index": step, "step_interpolation": 1.0}


def _stretch_json(stretch: Stretch, is_imperial: bool) -> Json:
    """Return a stretch's length, duration and ends as JSON."""
    return {
        **_measures_json(stretch.metres, stretch.seconds, is_imperial),
        "start_location": point(stretch.path[0]),
        "end_location": point(stretch.path[-1]),
    }


def _instruction_json(step: Stretch, mode: str) -> Json:
    """Return a step's instruction, line and turn as JSON."""
    turn = {"maneuver": step.maneuver} if step.maneuver else {}
    line = {"points": encode_polyline(step.path)}
    return {"html_instructions": step.instruction, "polyline": line, "travel_mode": mode, **turn}


def _element_json(cell: tuple[float, float] | None, is_imperial: bool) -> Json:
    """Return an element of the matrix, of (metres, seconds); None is no way."""
    if cell is None:
        return {"status": "ZERO_RESULTS"}
    return {**_measures_json(*cell, is_imperial), "status": "OK"}


def _measures_json(metres: float, seconds: float, is_imperial: bool) -> Json:
    """Return metres and seconds as JSON, as text and as numbers."""
    return {
        "distance": {"text": _distance_text(metres, is_imperial), "value": round(metres)},
        "duration": {"text": _duration_text(seconds), "value": round(seconds)},
    }


def _distance_text(metres: float, is_imperial: bool) -> str:
    """Return metres as text, in m and km or in ft and mi."""
    if is_imperial:
        feet = metres * FEET_PER_METRE
        return f"{feet:.0f} ft" if feet < FEET_PER_MILE / 10 else f"{feet / FEET_PER_MILE:.1f} mi"
    return f"{metres:.0f} m" if metres < 1000 else f"{metres / 1000:.1f} km"


def _duration_text(seconds: float) -> str:
    """Return seconds as text, in minutes and hours."""
    minutes = max(round(seconds / 60), 1)
    hours, rest = divmod(minutes, 60)
    shown = f"{rest} min" + ("s" if rest != 1 else "")
    return shown if not hours else f"{hours} hour{'s' if hours != 1 else ''} {shown}"
