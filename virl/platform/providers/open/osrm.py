"""Client of OSRM: routes with the streets that they follow, and tables of durations."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import numpy as np
from pydantic import Field

from virl.errors import BadInput, NoRoute, ProviderError
from virl.geo.globe import Floats, LatLng, distances
from virl.platform.city.maps import OFF_MAP_M, SPEED_M_S, TravelMode, table_of_rows
from virl.platform.providers.http.osm_servers import MapServer, MapServiceSettings, map_judge, service_url
from virl.platform.providers.http.replies import (
    ASKED_WRONG,
    MUST_FIT,
    Latitude,
    Longitude,
    OrUnknown,
    ReplyBody,
    shorten_words,
)
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.maps import Leg, ServerWays

PROFILES: dict[TravelMode, str] = {"walking": "foot", "cycling": "bike", "driving": "car"}
"""OSRM's name of the profile of each mode of travel, for `{profile}` and the path."""
_UNREACHED = frozenset({"NoRoute", "NoSegment", "NoTable"})
"""Codes of replies that say that no way connects the stops."""
_judge = map_judge(200, 400)
"""Judge of replies; status 400 comes with a code that says why."""

_Positive = Annotated[float, Field(ge=0)]
"""Duration in seconds, or length in metres."""


class _OsrmLine(ReplyBody):
    """The line of a step, as (longitude, latitude) points in degrees."""

    coordinates: tuple[tuple[Longitude, Latitude], ...]


class _OsrmStep(ReplyBody):
    """One step of a leg: line and street name."""

    geometry: _OsrmLine
    name: str = ""


class _OsrmLeg(ReplyBody):
    """The way between two stops: metres, seconds and steps."""

    distance: _Positive
    duration: _Positive
    steps: tuple[_OsrmStep, ...] = ()


class _OsrmRoute(ReplyBody):
    """A route of a reply, in legs."""

    legs: tuple[_OsrmLeg, ...]


class _OsrmWaypoint(ReplyBody):
    """The distance in metres from a stop to the nearest road."""

    distance: Annotated[_Positive, MUST_FIT] = 0.0


class _OsrmAnswer(ReplyBody):
    """The fields of every reply: a code, and a message on faults."""

    code: str
    message: str = ""


class _OsrmRouted(_OsrmAnswer):
    """The reply of the route service."""

    routes: tuple[_OsrmRoute, ...] = ()


class _OsrmTable(_OsrmAnswer):
    """The reply of the table service: seconds by origin and destination, and the stops' distances."""

    durations: tuple[
        Annotated[tuple[Annotated[_Positive | None, OrUnknown], ...] | None, OrUnknown], ...
    ] = ()
    sources: tuple[Annotated[_OsrmWaypoint | None, OrUnknown], ...] = ()
    destinations: tuple[Annotated[_OsrmWaypoint | None, OrUnknown], ...] = ()


AnswerT = TypeVar("AnswerT", bound=_OsrmAnswer)
FoundT = TypeVar("FoundT")


class OsrmWays(ServerWays):
    """A source of routes and travel times by an OSRM server.

    Args:
        settings: URL, pace and policy of the service.
        keeping: cache, recording and ledger.
        url: URL of the server, in which `{profile}` stands for `foot`, `bike` or `car`; by default that of
            `VIRL_OSRM_URL`, or the public one. A server without `{profile}` is asked for ways on foot alone,
            because it answers all profiles with the one that it was built for.

    Raises:
        BadInput: the URL is none.
    """

    name = "OSRM"
    most_stops = side = 50  # of the 100 positions that OSRM takes, a table has origins and destinations

    def __init__(self, settings: MapServiceSettings, keeping: Keeping, url: str | None = None) -> None:
        """Make the client of the server at `url`, or else at the URL of `settings`; nothing is sent yet."""
        given = service_url(settings, url)
        modes: Sequence[TravelMode] = tuple(PROFILES) if "{profile}" in given else ("walking",)
        self._servers = {
            mode: MapServer(settings, keeping, url, profile=PROFILES[mode], judge=_judge) for mode in modes
        }
        self._variable = settings.variable

    def close(self) -> None:
        """Close the connections to the server."""
        for server in self._servers.values():
            server.close()

    def _legs(self, mode: TravelMode, stops: Sequence[LatLng]) -> list[Leg]:
        """Return the way between each two consecutive stops, at most 50, in their order."""
        query = {"overview": "false", "geometries": "geojson", "steps": "true"}
        routes = self._ask("route", stops, query, mode, _OsrmRouted, lambda answer: answer.routes or None)
        legs = routes[0].legs
        if len(legs) != len(stops) - 1:
            raise ProviderError(self._servers[mode].title, f"{len(legs)} legs of a route", ASKED_WRONG)
        return [_to_leg(leg) for leg in legs]

    def _table(self, mode: TravelMode, origins: Sequence[LatLng], destinations: Sequence[LatLng]) -> Floats:
        """Return the seconds of one table, shape (origins, destinations); `inf` at a stop off the map."""
        count = len(origins)
        numbers = range(count + len(destinations))
        query = {
            "annotations": "duration",
            "sources": ";".join(map(str, numbers[:count])),
            "destinations": ";".join(map(str, numbers[count:])),
        }
        shape = (count, len(destinations))
        note = self._servers[mode].service.notes("table")

        def table(answer: _OsrmTable) -> tuple[Floats, list[_OsrmWaypoint | None]] | None:
            """Return (seconds, waypoints of the stops); `None` if the reply has another size."""
            ends = [*answer.sources, *answer.destinations]
            fits = (len(answer.sources), len(answer.destinations)) == shape
            rows = table_of_rows(answer.durations, shape, note) if fits else None
            return None if rows is None else (rows, ends)

        rows, ends = self._ask("table", [*origins, *destinations], query, mode, _OsrmTable, table)
        away = np.array([one.distance if one and one.distance <= OFF_MAP_M[mode] else np.inf for one in ends])
        beside = np.add.outer(away[:count], away[count:])
        (south, west), (north, east) = np.array(origins).T[:, :, None], np.array(destinations).T
        straight = distances(south, west, north, east)
        seconds: Floats = np.where(
            (straight <= beside) & np.isfinite(beside),  # nearer to each other than to the way
            straight / SPEED_M_S[mode],
            rows + beside / SPEED_M_S[mode],
        )
        return seconds

    def _ask(
        self,
        service: str,
        stops: Sequence[LatLng],
        query: dict[str, str],
        mode: TravelMode,
        shape: type[AnswerT],
        read: Callable[[AnswerT], FoundT | None],
    ) -> FoundT:
        """Return the result of `read` on a reply of an OSRM service; raise `NoRoute` if no way leads."""
        server = self._servers[mode]
        places = ";".join(f"{stop.lng:.6f},{stop.lat:.6f}" for stop in stops)
        path = f"{service}/v1/{PROFILES[mode]}/{places}"
        request = server.request(f"osrm_{service}", query, url=server.url.url_below(path), path=path)
        answer = server.service.read(request, shape)
        if answer.code in _UNREACHED:
            raise NoRoute(f"no way leads {mode} from {stops[0]} to {stops[-1]} ({answer.code})")
        if answer.code != "Ok":
            reason = shorten_words(f"{service}: {answer.code} {answer.message}")
            raise ProviderError(server.title, reason, ASKED_WRONG, code=answer.code)
        found = read(answer)
        if found is None:
            raise ProviderError(server.title, f"{service}: the reply lacks the result", ASKED_WRONG)
        return found

    def _check_mode(self, mode: TravelMode) -> None:
        """Raise `BadInput` for an unknown mode, or for all but walking where the server has one profile."""
        super()._check_mode(mode)
        if mode not in self._servers:
            raise BadInput(
                f"no routes for {mode}: the URL in {self._variable} or in the city file serves one "
                "profile, used for walking: write {profile} in it in place of foot, bike or car"
            )


def _to_leg(leg: _OsrmLeg) -> Leg:
    """Return a reply's leg with the corners and street names of its steps."""
    path: list[LatLng] = []
    streets: list[str] = []
    for step in leg.steps:
        corners = [LatLng(lat, lng) for lng, lat in step.geometry.coordinates]
        streets += [step.name] * (len(corners) - 1)
        path += corners[1:] if path else corners  # a step begins where the one before ends
    return Leg(path, streets, leg.distance, leg.duration)
