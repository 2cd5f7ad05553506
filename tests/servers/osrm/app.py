"""Endpoints of the OSRM stand-in."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import isfinite
from typing import Any

from fastapi import Response
from starlette.types import ASGIApp

from servers.dispatch import OpenEndpoint, OpenRequest, Refusal, answer, make_server
from servers.options import MapServeOptions
from virl.errors import NoRoute
from virl.geo.globe import LatLng, bearing, distance, signed_turn
from virl.geo.polyline import encode_polyline
from virl.pages.notebooks import length_m
from virl.platform.city.city import City
from virl.platform.city.maps import SPEED_M_S, Route, TravelMode
from virl.serve.city_server import Pools, Stats
from virl.serve.google.ways import Stretch, steps_of

DEFAULT_PORT = 8771
MODES: dict[str, TravelMode] = {
    "foot": "walking", "walking": "walking", "bike": "cycling", "cycling": "cycling", "car": "driving",
    "driving": "driving",
}  # fmt: skip
MOST_PLACES = 100
"""Places of a table at most; the default of `osrm-routed`."""
DIGITS = {"polyline": 5, "polyline6": 6}
_KEPT = 10_000  # snapped stops


class Unanswerable(Refusal):
    """A request that OSRM refuses with status 400 and a code of its own.

    Args:
        code: such as `"NoRoute"`.
        message: what the client is told.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(400, message)
        self.said = code


class OsrmApi:
    """Answers questions for ways.

    Args:
        city: whose ways they are. Pieces that lead straight to and from them are left out, as OSRM does.
    """

    def __init__(self, city: City) -> None:
        self._maps = city.maps
        self._streetview = city.streetview
        self._snapped = lru_cache(maxsize=_KEPT)(self._snap)

    def route(self, asked: OpenRequest) -> Response:
        """`/route/v1/{profile}/{coordinates}`."""
        mode, stops = _mode(asked), _stops(asked)
        if len(stops) < 2:
            raise Unanswerable("InvalidOptions", "Number of coordinates needs to be at least two.")
        form = asked.query.get("geometries", "polyline")
        if form not in {"geojson", *DIGITS}:
            raise Unanswerable("InvalidQuery", "Query string malformed close to position 0")
        ways = [self._between(here, there, mode) for here, there in pairwise(stops)]
        with_steps = asked.query.get("steps") == "true"
        legs = [_leg(way, mode, form, with_steps=with_steps) for way in ways]
        metres, seconds = (round(sum(leg[name] for leg in legs), 1) for name in ("distance", "duration"))
        whole: dict[str, Any] = {
            "distance": metres,
            "duration": seconds,
            "weight": seconds,
            "weight_name": "duration",
            "legs": legs,
        }
        if asked.query.get("overview", "simplified") != "false":
            whole["geometry"] = _geometry([spot for way in ways for spot in way.path], form)
        ends = [ways[0].path[0], *(way.path[-1] for way in ways)]
        waypoints = [_waypoint(stop, spot) for stop, spot in zip(stops, ends, strict=True)]
        return answer({"code": "Ok", "waypoints": waypoints, "routes": [whole]})

    def table(self, asked: OpenRequest) -> Response:
        """`/table/v1/{profile}/{coordinates}`."""
        mode, stops = _mode(asked), _stops(asked)
        if len(stops) > MOST_PLACES:
            raise Unanswerable("TooBig", f"Too many table coordinates: {len(stops)} > {MOST_PLACES}")
        sources = _chosen(asked.query.get("sources", "all"), len(stops))
        destinations = _chosen(asked.query.get("destinations", "all"), len(stops))
        spots = [self._snapped(stop, mode) for stop in stops]
        froms, tos = [stops[number] for number in sources], [stops[number] for number in destinations]
        away = [distance(stop, spot) / SPEED_M_S[mode] for stop, spot in zip(stops, spots, strict=True)]
        try:
            times = self._maps.travel_times(froms, tos, mode)
        except NoRoute as fault:
            raise Unanswerable("NoSegment", str(fault)) from None
        rows = [
            [
                round(max(float(times[i, j]) - away[one] - away[other], 0.0), 1)
                if isfinite(times[i, j])
                else None
                for j, other in enumerate(destinations)
            ]
            for i, one in enumerate(sources)
        ]
        return answer(
            {
                "code": "Ok",
                "durations": rows,
                "sources": [_waypoint(stops[number], spots[number]) for number in sources],
                "destinations": [_waypoint(stops[number], spots[number]) for number in destinations],
            }
        )

    def nearest(self, asked: OpenRequest) -> Response:
        """`/nearest/v1/{profile}/{coordinates}`."""
        (stop, *_), mode = _stops(asked), _mode(asked)
        return answer({"code": "Ok", "waypoints": [_waypoint(stop, self._snapped(stop, mode))]})

    def _between(self, here: LatLng, there: LatLng, mode: TravelMode) -> Route:
        try:
            return _without_ends(self._maps.route([here, there], mode))
        except NoRoute as fault:
            code = "NoSegment" if "off the map" in str(fault) else "NoRoute"
            raise Unanswerable(code, str(fault)) from None

    def _snap(self, stop: LatLng, mode: TravelMode) -> LatLng:
        """Return the beginning of a way from a stop, seen on the way to a panorama nearby."""
        near = self._streetview.nearest(stop, 300.0)
        if near is None or not near.links:
            raise Unanswerable("NoSegment", f"Could not find a matching segment for {stop}")
        beyond = self._streetview.panorama(near.links[0].pano_id).position
        return self._between(stop, beyond, mode).path[0]


def _without_ends(route: Route) -> Route:
    """Without the straight pieces from and to the stops themselves."""
    if len(route.path) < 4:
        return route
    path, streets = route.path[1:-1], route.streets[1:-1] if route.streets else ()
    cut = distance(route.path[0], path[0]) + distance(path[-1], route.path[-1])
    share = max(route.distance - cut, 0.0)
    return Route(path, share, route.duration * share / route.distance if route.distance else 0.0, streets)


def _leg(way: Route, mode: TravelMode, form: str, *, with_steps: bool) -> dict[str, Any]:
    seconds = round(way.duration, 1)
    steps = steps_of(way.path, way.streets, SPEED_M_S[mode]) if with_steps else []
    names = list(dict.fromkeys(filter(None, way.streets)))
    return {
        "distance": round(way.distance, 1),
        "duration": seconds,
        "weight": seconds,
        "summary": ", ".join(names[:2]) if with_steps else "",
        "steps": _steps(steps, way, mode, form),
    }


def _steps(steps: Sequence[Stretch], way: Route, mode: TravelMode, form: str) -> list[dict[str, Any]]:
    """Those of a leg, and the one that arrives."""
    if not steps:
        return []
    written: list[dict[str, Any]] = []
    before: float | None = None
    at = 0
    for number, step in enumerate(steps):
        name, at = _street_of(way, step, at)
        after = bearing(step.path[0], step.path[1]) if len(step.path) > 1 else 0.0
        turn = None if before is None else signed_turn(before, after)
        written.append(
            _step(step.path, name, mode, form, "turn" if number else "depart", before, after, turn)
        )
        before = bearing(step.path[-2], step.path[-1]) if len(step.path) > 1 else after
    end = way.path[-1]
    return [*written, _step((end, end), written[-1]["name"], mode, form, "arrive", before, None, None)]


def _street_of(way: Route, step: Stretch, at: int) -> tuple[str, int]:
    """The street of a step, and the corner of the way at which it ends."""
    end = next((n for n in range(at + 1, len(way.path)) if way.path[n] == step.path[-1]), len(way.path) - 1)
    pieces = way.streets[at:end]
    return max(set(pieces), key=pieces.count) if pieces else "", end


def _step(
    path: Sequence[LatLng], name: str, mode: TravelMode, form: str, kind: str,
    before: float | None, after: float | None, turn: float | None,
) -> dict[str, Any]:  # fmt: skip
    metres = length_m(path)
    seconds = round(metres / SPEED_M_S[mode], 1)
    spot = [round(path[0].lng, 6), round(path[0].lat, 6)]
    maneuver: dict[str, Any] = {
        "location": spot,
        "bearing_before": round(before or 0.0) % 360,
        "bearing_after": round(after or 0.0) % 360,
        "type": kind,
    }
    if turn is not None:
        maneuver["modifier"] = _modifier(turn)
    return {
        "distance": round(metres, 1),
        "duration": seconds,
        "weight": seconds,
        "name": name,
        "mode": mode,
        "driving_side": "right",
        "geometry": _geometry(path, form),
        "maneuver": maneuver,
        "intersections": [
            {"location": spot, "bearings": [maneuver["bearing_after"]], "entry": [True], "out": 0}
        ],
    }


def _modifier(turn: float) -> str:
    """OSRM's word for a turn of so many degrees, clockwise."""
    side, size = "right" if turn > 0 else "left", abs(turn)
    if size > 170:
        return "uturn"
    if size > 120:
        return f"sharp {side}"
    if size > 60:
        return side
    return f"slight {side}" if size > 20 else "straight"


def _geometry(path: Sequence[LatLng], form: str) -> str | dict[str, Any]:
    if form in DIGITS:
        return encode_polyline(path, DIGITS[form])
    return {"type": "LineString", "coordinates": [[round(lng, 6), round(lat, 6)] for lat, lng in path]}


def _waypoint(stop: LatLng, spot: LatLng) -> dict[str, Any]:
    where = [round(spot.lng, 6), round(spot.lat, 6)]
    return {"hint": "", "distance": round(distance(stop, spot), 3), "name": "", "location": where}


def _mode(asked: OpenRequest) -> TravelMode:
    profile = asked.path["profile"]
    if profile not in MODES:
        raise Unanswerable("InvalidUrl", f"URL string malformed: profile {profile!r}")
    return MODES[profile]


def _stops(asked: OpenRequest) -> list[LatLng]:
    try:
        pairs = [tuple(map(float, part.split(","))) for part in asked.path["coordinates"].split(";")]
        stops = [LatLng(lat, lng) for lng, lat in pairs]
    except ValueError:
        raise Unanswerable("InvalidQuery", "Query string malformed close to position 0") from None
    if not all(abs(lat) <= 90 and abs(lng) <= 180 for lat, lng in stops):
        raise Unanswerable("InvalidValue", "Invalid coordinate value.")
    return stops


def _chosen(text: str, count: int) -> list[int]:
    if text == "all":
        return list(range(count))
    parts = text.split(";")
    if not all(part.isdecimal() and int(part) < count for part in parts):
        raise Unanswerable("InvalidOptions", "Coordinate number out of bounds.")
    return [int(part) for part in parts]


def refused(refusal: Refusal) -> Response:
    """Return a refusal as OSRM words it."""
    code = refusal.said if isinstance(refusal, Unanswerable) else "InvalidUrl"
    return answer({"code": code, "message": refusal.message}, refusal.status)


def make_app(city: City, options: MapServeOptions, stats: Stats, pools: Pools) -> ASGIApp:
    """Return the server of a town's ways, as `/route` and as `/routed-PROFILE/route` of each profile."""
    api = OsrmApi(city)
    endpoints = [
        OpenEndpoint(name, f"{prefix}/{name}/v1/{{profile}}/{{coordinates}}", handler)
        for name, handler in (("route", api.route), ("table", api.table), ("nearest", api.nearest))
        for prefix in ("", "/routed-{server}")
    ]
    return make_server("OSRM", endpoints, refused, options, stats, pools)
