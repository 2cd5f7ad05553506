"""Client of Valhalla: routes with the streets that they follow, and matrices of durations."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, TypeVar

from pydantic import Field, PlainValidator

from virl.errors import NoRoute, ProviderError
from virl.geo.globe import Floats, LatLng
from virl.geo.polyline import read_polyline
from virl.platform.city.maps import TravelMode, table_of_rows
from virl.platform.providers.http.osm_servers import MapServer, MapServiceSettings, map_judge
from virl.platform.providers.http.replies import ASKED_WRONG, OrUnknown, ReplyBody, shorten_words
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.maps import Leg, ServerWays

COSTINGS: dict[TravelMode, str] = {"walking": "pedestrian", "cycling": "bicycle", "driving": "auto"}
"""Valhalla's name of the costing of each mode of travel."""
DIGITS = 6
"""Number of decimal digits of the degrees in Valhalla's polylines."""
_NO_WAY = frozenset({154, 170, 171, 442})
"""Codes of errors for stops that no way connects: too far apart, not linked, no road near, no path."""


Seconds = Annotated[float, Field(ge=0)]
"""Duration in seconds."""


class _ValhallaSummary(ReplyBody):
    """The duration and length of a leg."""

    time: Seconds
    """Duration of the leg in seconds."""
    length: Annotated[float, Field(ge=0)]
    """Length of the leg in kilometres."""


class _Maneuver(ReplyBody):
    """A stretch of a leg with its street names, from one corner of the line to another."""

    street_names: tuple[str, ...] = ()
    begin_shape_index: int = Field(ge=0)
    end_shape_index: int = Field(ge=0)


class _ValhallaLeg(ReplyBody):
    """The way between two stops: summary, line and stretches."""

    summary: _ValhallaSummary
    shape: Annotated[tuple[LatLng, ...], PlainValidator(partial(read_polyline, digits=DIGITS))]
    maneuvers: tuple[_Maneuver, ...] = ()


class _ValhallaTrip(ReplyBody):
    """A route of a reply, in legs."""

    legs: tuple[_ValhallaLeg, ...]
    units: str = "kilometers"


class _ValhallaAnswer(ReplyBody):
    """The fields of every reply: code and text of an error."""

    error_code: int | None = None
    error: str = ""


class _ValhallaRouted(_ValhallaAnswer):
    """The reply of the route service."""

    trip: _ValhallaTrip | None = None


class _Cell(ReplyBody):
    """The seconds from one origin to one destination."""

    time: Seconds | None = None


class _ValhallaMatrix(_ValhallaAnswer):
    """The reply of the matrix service: seconds by origin and destination."""

    sources_to_targets: tuple[
        Annotated[tuple[Annotated[_Cell | None, OrUnknown], ...] | None, OrUnknown], ...
    ] = ()


AnswerT = TypeVar("AnswerT", bound=_ValhallaAnswer)
FoundT = TypeVar("FoundT")


class ValhallaWays(ServerWays):
    """A source of routes and travel times by a Valhalla server.

    Args:
        settings: URL, pace and policy of the service.
        keeping: cache, recording and ledger.
        url: URL of the server; by default that of `VIRL_VALHALLA_URL`, or the public one.

    Raises:
        BadInput: the URL is none.
    """

    name = "Valhalla"
    most_stops = 20  # its default limit for bicycles; pedestrians have 50
    side = 50  # its default limit is 2,500 pairs

    def __init__(self, settings: MapServiceSettings, keeping: Keeping, url: str | None = None) -> None:
        """Make the client of the server at `url`, or else at the URL of `settings`; nothing is sent yet."""
        self._server = MapServer(settings, keeping, url, judge=map_judge(200, 400))
        self.close = self._server.close

    def _legs(self, mode: TravelMode, stops: Sequence[LatLng]) -> list[Leg]:
        """Return the way between each two consecutive stops, at most 20, in their order."""
        body = {"locations": _locations(stops), "costing": COSTINGS[mode], "units": "kilometers"}
        between = f"{mode} from {stops[0]} to {stops[-1]}"

        def legs(answer: _ValhallaRouted) -> list[Leg] | None:
            """Return the legs of a reply; `None` if there is not one between each two stops."""
            found = answer.trip.legs if answer.trip else ()
            return [_to_leg(leg) for leg in found] if len(found) == len(stops) - 1 else None

        return self._ask("route", body, _ValhallaRouted, legs, between)

    def _table(self, mode: TravelMode, origins: Sequence[LatLng], destinations: Sequence[LatLng]) -> Floats:
        """Return the seconds of one table, shape (origins, destinations), `inf` where no way leads."""
        body = {
            "sources": _locations(origins),
            "targets": _locations(destinations),
            "costing": COSTINGS[mode],
            "units": "kilometers",
        }
        note = self._server.service.notes("sources_to_targets")

        def table(answer: _ValhallaMatrix) -> Floats | None:
            """Return the seconds in a reply; `None` if it has another size."""
            rows = [
                None if row is None else [cell.time if cell else None for cell in row]
                for row in answer.sources_to_targets
            ]
            return table_of_rows(rows, (len(origins), len(destinations)), note)

        return self._ask("sources_to_targets", body, _ValhallaMatrix, table, mode)

    def _ask(
        self,
        service: str,
        body: Mapping[str, object],
        shape: type[AnswerT],
        read: Callable[[AnswerT], FoundT | None],
        between: str,
    ) -> FoundT:
        """Return what `read` makes of a service's reply; `between` names the ends in the error for no way."""
        server, url = self._server, self._server.url.url_below(service)
        request = server.request(f"valhalla_{service}", {}, url=url, path=service, body=body)
        answer = server.service.read(request, shape)
        if answer.error_code is not None or answer.error:
            code, words = answer.error_code, shorten_words(answer.error)
            if code in _NO_WAY:
                raise NoRoute(f"no way leads {between} ({words})")
            raise ProviderError(server.title, f"{service}: {words}", ASKED_WRONG, code=str(code or ""))
        found = read(answer)
        if found is None:
            raise ProviderError(server.title, f"{service}: the reply lacks the result", ASKED_WRONG)
        return found


def _locations(stops: Sequence[LatLng]) -> list[dict[str, float]]:
    """Return stops as JSON in degrees, rounded to 6 decimal places."""
    return [{"lat": round(stop.lat, 6), "lon": round(stop.lng, 6)} for stop in stops]


def _to_leg(leg: _ValhallaLeg) -> Leg:
    """Return a reply's leg with its corners and street names, in metres and seconds."""
    streets = [""] * max(len(leg.shape) - 1, 0)
    for maneuver in leg.maneuvers:
        name = maneuver.street_names[0] if maneuver.street_names else ""
        for piece in range(maneuver.begin_shape_index, min(maneuver.end_shape_index, len(streets))):
            streets[piece] = name
    return Leg(leg.shape, streets, leg.summary.length * 1000, leg.summary.time)
