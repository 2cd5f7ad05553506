"""Google's maps: Geocoding, and ways of either generation of its services."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Annotated, Protocol

import numpy as np
from pydantic import PlainValidator

from virl.errors import BadInput, NoRoute, NotFound, ProviderError, choices
from virl.geo.globe import Floats, LatLng, distance
from virl.geo.polyline import read_polyline
from virl.platform.city.maps import SPEED_M_S, Journey, Route, TravelMode, in_blocks
from virl.platform.providers.google.client import Call, GoogleHttp
from virl.platform.providers.google.journeys import JourneyStep, departure, journey_of
from virl.platform.providers.http.pace import ask_all
from virl.platform.providers.http.replies import Latitude, Longitude, Notes, ReplyBody, shorten_words

MOST_STOPS = 27
"""Largest number of stops of a route request: 25 between the first and the last."""
MARGIN_M = 5_000.0
"""Distance in metres around a district within which an address counts as in the city; chosen."""

Corners = tuple[LatLng, LatLng]
"""Corners (south-western, north-eastern) of a box."""


EncodedPath = Annotated[tuple[LatLng, ...], PlainValidator(read_polyline)]
"""Positions read from an encoded polyline of a reply."""


class PositionBody(ReplyBody):
    """A latitude and longitude of a reply, degrees."""

    lat: Latitude
    lng: Longitude

    @property
    def position(self) -> LatLng:
        """This position of a reply as a `LatLng`."""
        return LatLng(self.lat, self.lng)


class GeometryBody(ReplyBody):
    """The geometry of a result: its position."""

    location: PositionBody


class NamedBody(ReplyBody):
    """A stop, a line or a kind of vehicle of a reply, of which only the name is read."""

    name: str = ""


class _Component(ReplyBody):
    """A part of an address, of which only the types are read."""

    types: tuple[str, ...] = ()


class _Address(ReplyBody):
    """One result of Geocoding: position, address, and how far the text was understood."""

    geometry: GeometryBody
    formatted_address: str = ""
    partial_match: bool = False
    address_components: tuple[_Component, ...] = ()

    @property
    def position(self) -> LatLng:
        """Position of the result."""
        return self.geometry.location.position

    @property
    def is_meant(self) -> bool:
        """Return whether Google understood the whole address, or at least a house number in a street."""
        numbered = any("street_number" in one.types for one in self.address_components)
        return not self.partial_match or numbered


class _Geocoded(ReplyBody):
    """The reply of Geocoding: its results, best first."""

    results: tuple[_Address, ...]


class Ways(Protocol):
    """A client of routes, matrices and journeys of one generation of Google's services."""

    modes: Mapping[TravelMode, str]
    """Name in the service of each mode of travel."""
    block: tuple[int, int]
    """Largest number of (origins, destinations) of a matrix request."""

    def route(self, stops: Sequence[LatLng], mode: TravelMode) -> Route:
        """Return the shortest way through at most 27 stops; one request.

        Raises:
            NoRoute: two stops are not connected, or one is off the map.
        """
        ...

    def legs(self, stops: Sequence[LatLng], mode: str) -> list[float]:
        """Return the seconds of each leg through at most 12 stops, by the service's name of a mode.

        Raises:
            NoRoute: two stops are not connected, or one is off the map.
        """
        ...

    def times(self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: str) -> Floats:
        """Return the seconds of all pairs, shape (origins, destinations), `inf` without a way; one request.

        Args:
            origins: positions where ways start, few enough for one request.
            destinations: positions where ways end.
            mode: the service's own name of the mode of travel.
        """
        ...

    def ride(self, here: LatLng, there: LatLng, leaves: datetime) -> tuple[list[JourneyStep], float]:
        """Return (steps by public transport from `leaves` on, their seconds without the wait before them).

        Args:
            here: position where the journey starts.
            there: position where the journey ends.
            leaves: time before which it does not set out.

        Raises:
            NoRoute: none is known.
        """
        ...


@dataclass(frozen=True, slots=True)
class GoogleMaps:
    """Maps by Google: geocoding and routes. Driving times leave out traffic."""

    http: GoogleHttp
    """Client of Google."""
    district: Corners | None
    """Corners of the box near which addresses are found; `None` finds them anywhere."""
    ways: Ways
    """Client of the service that is asked for routes."""
    zone: str | None
    """IANA name of the city's time zone, for journeys; `None` for UTC."""

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address; one request."""
        return geocode(self.http, address, self.district)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest way through two or more stops, in their order; one request for each 26 legs."""
        if len(stops) < 2:
            raise BadInput(f"a route needs two or more stops, not {len(stops)}")
        _name_of_mode(mode, self.ways.modes)
        return join_routes([self.ways.route(part, mode) for part in split_stops(stops)])

    def journey(self, here: LatLng, there: LatLng, weekday: int, minute: int) -> Journey:
        """Return the journey that arrives first, from a weekday (0: Monday) and minute of the day on.

        One request.
        """
        leaves = departure(weekday, minute, self.zone)
        steps, seconds = self.ways.ride(here, there, leaves)
        return journey_of(steps, leaves, seconds, self.zone)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return the seconds from every origin to every destination, shape (origins, destinations).

        A single pair is asked as a matrix, more as the legs of routes, which cost less (`tours`).

        Returns:
            `inf` where no way leads, also from or to a stop off the map, which Google does not tell apart.
        """
        name = _name_of_mode(mode, self.ways.modes)

        def times(starts: Sequence[LatLng], ends: Sequence[LatLng]) -> Floats:
            """Return the seconds between all pairs, asked in blocks of the service's size."""
            return in_blocks(starts, ends, self.ways.block, partial(self.ways.times, mode=name))

        if len(origins) * len(destinations) < 2:
            return times(origins, destinations)
        return _times_by_tours(origins, destinations, lambda stops: self.ways.legs(stops, name), times)


def corners(positions: Sequence[LatLng]) -> Corners:
    """Return (south-western, north-eastern) corner of the box around positions."""
    lats, lngs = zip(*positions, strict=True)
    return LatLng(min(lats), min(lngs)), LatLng(max(lats), max(lngs))


def geocode(http: GoogleHttp, address: str, district: Corners | None = None) -> LatLng:
    """Return an address's position, within `MARGIN_M` of a district if given; raise `NotFound` without one.

    Google answers nearly any text. So only a result within `MARGIN_M` of the district is taken, and one that
    leaves out a part of the text (`partial_match`) only if it has a house number.

    Args:
        http: client of Google.
        address: any text.
        district: corners of the box around the district; `None` for anywhere.

    Raises:
        NotFound: nothing matches; says what was found instead, and where.
    """
    query = {"address": address}
    if district:
        query["bounds"] = "|".join(f"{corner.lat!r},{corner.lng!r}" for corner in district)
    results = http.read(http.request(Call("geocode", query=query)), _Geocoded).results
    for one in results:
        if one.is_meant and (district is None or _metres_off(district, one.position) <= MARGIN_M):
            return one.position
    found = ""
    if results:
        first = results[0]
        metres = _metres_off(district, first.position) if district else 0.0
        off = f", {metres / 1000:,.0f} km outside of the city" if metres > MARGIN_M else ""
        found = f" (Google found {shorten_words(first.formatted_address)!r} at {first.position}{off})"
    raise NotFound(f"no position of {address!r}{found}: check the address, or give latitude, longitude")


def _metres_off(district: Corners, position: LatLng) -> float:
    """Return the distance in metres from a position to a box; 0 within the box."""
    low, high = district
    nearest = LatLng(min(max(position.lat, low.lat), high.lat), min(max(position.lng, low.lng), high.lng))
    return distance(nearest, position)


def no_route(stops: Sequence[LatLng]) -> NoRoute:
    """Return the error for stops that no way connects."""
    return NoRoute(f"no way leads from {stops[0]} to {stops[-1]}: one may be off the map, or on an island")


def route_of(
    stops: Sequence[LatLng],
    lines: Iterable[tuple[Sequence[LatLng], str]],
    metres: float | None,
    seconds: float | None,
    mode: TravelMode,
    notes: Notes,
) -> Route:
    """Return a reply's route; `lines` are its steps' (path, street name); what is missing is estimated.

    Args:
        stops: stops of the route, which are its path where it has none.
        lines: (positions, name of the street) of each step.
        metres: length of the route; `None` takes that of the path.
        seconds: duration of the route; `None` takes that at the mean speed of the mode.
        mode: mode of travel.
        notes: function (reason, value) that counts a missing path or duration.
    """
    between = f"from {stops[0]} to {stops[-1]}"
    path, streets = list[LatLng](), list[str]()
    for line, street in lines:
        for position in line:
            if path and path[-1] != position:
                streets.append(street)
            if not path or path[-1] != position:
                path.append(position)
    if len(path) < 2:
        notes(f"routes: a line is empty ({between})", path)
        path, streets = list(stops), []
    if metres is None:
        metres = sum(distance(here, there) for here, there in pairwise(path))
    if seconds is None:
        notes(f"routes: a duration cannot be read ({between})", between)
        seconds = metres / SPEED_M_S[mode]
    return Route(tuple(path), metres, seconds, tuple(streets) if any(streets) else ())


def check_legs(legs: Sequence[object], stops: Sequence[LatLng], service: str) -> None:
    """Raise `ProviderError` unless a reply has one leg for each pair of consecutive stops.

    Args:
        legs: legs of the reply.
        stops: stops that were asked for.
        service: name of the service, for the error.

    Raises:
        ProviderError: the reply has more or fewer legs.
    """
    if len(legs) != len(stops) - 1:
        reason = f"a route through {len(stops)} stops came with {len(legs)} legs"
        raise ProviderError(service, reason, "try again")


def split_stops(stops: Sequence[LatLng]) -> list[Sequence[LatLng]]:
    """Return stops split into parts of at most `MOST_STOPS`; each part begins where the last one ends."""
    return [stops[first : first + MOST_STOPS] for first in range(0, len(stops) - 1, MOST_STOPS - 1)]


def join_routes(parts: Sequence[Route]) -> Route:
    """Return routes, each of which begins where the one before ends, joined into one."""
    path = [parts[0].path[0]]
    streets: list[str] = []
    for part in parts:
        path += part.path[1:]
        streets += part.streets or [""] * (len(part.path) - 1)
    metres, seconds = sum(part.distance for part in parts), sum(part.duration for part in parts)
    return Route(tuple(path), metres, seconds, tuple(streets) if any(streets) else ())


def _name_of_mode(mode: TravelMode, names: Mapping[TravelMode, str]) -> str:
    """Return a service's name of a mode of travel, from `names`; raise `BadInput` for an unknown mode."""
    if mode not in names:
        raise BadInput(f"unknown travel mode {mode!r}: {choices(SPEED_M_S)}")
    return names[mode]


LEGS = 11
"""Largest number of legs of a route without surcharge: ten stops in between (Routes usage page)."""

Pair = tuple[LatLng, LatLng]
"""Positions (origin, destination) of a way."""


def _times_by_tours(
    origins: Sequence[LatLng],
    destinations: Sequence[LatLng],
    legs: Callable[[Sequence[LatLng]], Sequence[float]],
    times: Callable[[Sequence[LatLng], Sequence[LatLng]], Floats],
) -> Floats:
    """Return the seconds of all pairs, asked as `legs` of routes, and by `times` where no route told them.

    A matrix is billed by the pair, a route by the request, whatever its stops are. So a route that goes from
    an origin to a destination, on to the next origin, and so forth tells up to eleven pairs for the price of
    one. Where a leg has no way, `legs` raises `NoRoute` for the whole route.
    """
    pairs = [(here, there) for here in origins for there in destinations]
    routes = tours({pair for pair in pairs if pair[0] != pair[1]})
    known: dict[Pair, float] = {}

    def ask(stops: Sequence[LatLng]) -> dict[Pair, float]:
        """Return the seconds of each leg through stops, by (start, end); empty if any leg has no way."""
        try:
            return dict(zip(pairwise(stops), legs(stops), strict=True))
        except NoRoute:
            return {}

    for seconds_of in ask_all(ask, routes):
        known |= seconds_of
    reached = {stop for pair in known for stop in pair}
    known |= {pair: 0.0 for pair in pairs if pair[0] == pair[1] and pair[0] in reached}
    for here in dict.fromkeys(origins):
        if left := list(dict.fromkeys(there for there in destinations if (here, there) not in known)):
            seconds = times([here], left)[0]
            known |= {(here, there): float(one) for there, one in zip(left, seconds, strict=True)}
    return np.array([[known[here, there] for there in destinations] for here in origins])


def tours(pairs: set[Pair]) -> list[list[LatLng]]:
    """Return lists of stops, with at most `LEGS` legs between them, in which every pair is a leg.

    Further legs join the pairs, and may repeat one.
    """
    left: dict[LatLng, list[LatLng]] = {}
    for here, there in sorted(pairs, reverse=True):
        left.setdefault(here, []).append(there)
    found = []
    while left:
        # Greedy: a list starts, and goes on, where most legs are left, so that few others are needed.
        stops = [max(left, key=lambda stop: (len(left[stop]), stop))]
        used = 1
        while left and len(stops) <= LEGS:
            here = stops[-1]
            if here in left:
                there = max(left[here], key=lambda stop: (len(left.get(stop, ())), stop))
                left[here].remove(there)
                if not left[here]:
                    del left[here]
                stops.append(there)
                used = len(stops)
            else:
                stops.append(max(left, key=lambda stop: (len(left[stop]), stop)))
        found.append(stops[:used])
    return found
