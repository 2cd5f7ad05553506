"""Nearby places of Google with few requests, and the distance up to which none is missing.

A reply tells the 20 nearest places of a circle. So first the middle of a square of a grid is asked, a reply
that all who stand in that square share, and where many places are near that of a smaller square; then the
position itself; then two halves of all place types apart; and smaller circles only where more requests are
allowed.
"""

import heapq
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from math import cos, radians, sqrt
from typing import Protocol

from virl.geo.globe import MEAN_RADIUS_M, LatLng, destination, distance
from virl.platform.city.places import Place

log = logging.getLogger(__name__)

SQUARES_M = (80.0, 40.0, 20.0)
"""Sides in metres of the grid squares, tried in turn, around whose middles places are asked for; chosen."""
FITTING = 2.0
"""Largest side of a square to try, as a multiple of the distance in which all places are needed; chosen."""
SHARED_M = 200.0
"""Radius in metres of the circle of places that is asked for around a square's middle; chosen: two blocks."""
MOST = 20
"""Largest number of places in a reply of Places (New)."""


@dataclass(frozen=True, slots=True)
class PlaceKinds:
    """The place types to ask for and to leave out, and whether to ask for details."""

    only: frozenset[str] = frozenset()
    """Place types to ask for; empty for all."""
    but: frozenset[str] = frozenset()
    """Place types to leave out."""
    in_full: bool = False
    """True to ask for hours and reviews, too."""


@dataclass(frozen=True, slots=True)
class NearbyResult:
    """The places that a nearby search found, and the distance up to which it misses none."""

    places: list[Place]
    """Places in the order of the replies; a place may be there twice."""
    complete: float
    """Distance in metres from the centre up to which no place is missing."""


class NearbyApi(Protocol):
    """An API that lists places within a circle."""

    tells_nearest: bool
    """True if replies list the nearest places first, so that a wider circle costs no more."""

    def places_within(self, center: LatLng, radius: float, kinds: PlaceKinds) -> NearbyResult:
        """Return some of the places of these kinds within `radius` metres of a position.

        Args:
            center: middle of the circle.
            radius: radius of the circle in metres.
            kinds: place types to ask for and to leave out.
        """
        ...

    def halves(self, kinds: PlaceKinds) -> tuple[PlaceKinds, ...]:
        """Return the place types as two parts for separate requests; empty if they cannot be split."""
        ...


@dataclass(slots=True)
class _KnownPlaces:
    """The places found around a position so far, and the distance up to which none is missing."""

    position: LatLng
    """Position around which places are asked for."""
    places: list[Place] = field(default_factory=list)
    """Places of all replies; a place may be there twice."""
    complete: float = 0.0
    """Distance in metres from the position up to which no place is missing."""
    requests: int = 0
    """Number of requests made."""

    def add(self, center: LatLng, *replies: NearbyResult) -> None:
        """Add the replies around one centre, one for each part of the place types."""
        self.places += [place for reply in replies for place in reply.places]
        # Around another centre a reply is complete for the position only as far as its circle reaches.
        reach = min(reply.complete for reply in replies) - distance(center, self.position)
        self.complete = max(self.complete, reach)
        self.requests += len(replies)

    def count(self, radius: float) -> int:
        """Return the number of known places within `radius` metres of the position."""
        return len({one.id for one in self.places if distance(self.position, one.position) <= radius})


def places_around(
    api: NearbyApi, position: LatLng, radius: float, kinds: PlaceKinds, *, need: float, requests: int
) -> NearbyResult:
    """Return the places found by up to `requests` requests, made until none within `need` metres is missing.

    Args:
        api: client that is asked.
        position: middle of the circle.
        radius: radius of the circle in metres.
        kinds: place types to ask for and to leave out.
        need: metres up to which none should be missing; once none is, no further request is made.
        requests: largest number of requests.
    """
    known = _KnownPlaces(position)
    if api.tells_nearest and not kinds.only and requests > 1:
        _ask_squares(api, known, kinds, need, requests)
    if known.complete < need and known.count(need) < MOST and known.requests < requests:
        known.add(position, api.places_within(position, radius, kinds))
    halves = api.halves(kinds) if known.complete < need else ()
    if halves and known.requests + len(halves) <= requests:
        known.add(position, *(api.places_within(position, radius, half) for half in halves))
    if known.complete < need and known.requests < requests:
        left = requests - known.requests
        known.add(
            position,
            cover_circle(lambda at, reach: api.places_within(at, reach, kinds), position, radius, left),
        )
    if known.complete < need:
        log.warning(
            "nearby: places more than %.0f m from %s may be missing after %d requests; raise nearby_requests",
            max(known.complete, 0.0),
            position,
            requests,
        )
    return NearbyResult(known.places, min(known.complete, radius))


def _ask_squares(api: NearbyApi, known: _KnownPlaces, kinds: PlaceKinds, need: float, requests: int) -> None:
    """Ask for places around the middle of the position's square, then of smaller ones; fill `known`."""
    first, *smaller_sides = [side for side in SQUARES_M if side <= FITTING * need] or SQUARES_M[-1:]
    square = middle_of_square(known.position, first)
    reply = api.places_within(square, SHARED_M, kinds)
    known.add(square, reply)
    for side in smaller_sides:
        smaller = middle_of_square(known.position, side)
        reach = min(reply.complete, SHARED_M) - distance(smaller, known.position)
        if known.complete < need <= reach and known.requests < requests - 1:
            known.add(smaller, api.places_within(smaller, SHARED_M, kinds))


def middle_of_square(position: LatLng, side: float) -> LatLng:
    """Return the middle of the grid square, `side` metres wide, that a position lies in."""
    step = side / radians(1.0) / MEAN_RADIUS_M
    lat = (position.lat // step + 0.5) * step
    across = step / max(cos(radians(lat)), 0.01)
    return LatLng(round(lat, 6), round((position.lng // across + 0.5) * across, 6))


def cover_circle(
    ask: Callable[[LatLng, float], NearbyResult], center: LatLng, radius: float, requests: int
) -> NearbyResult:
    """Return the places in a circle by up to `requests` calls of `ask`; too full a circle is split in seven.

    The circles nearest to the centre come first, so that what is missing after the last request is far away.

    Args:
        ask: function (centre, radius in metres) to the places of one request.
        center: middle of the circle.
        radius: radius of the circle in metres.
        requests: largest number of requests.
    """
    order = count()
    parts = [(0.0, next(order), center, radius)]
    places: list[Place] = []
    for _ in range(requests):
        if not parts:
            break
        _, _, middle, reach = heapq.heappop(parts)
        found = ask(middle, reach)
        places += found.places
        if found.complete >= reach:
            continue
        # Seven circles of half the radius cover a circle: one in its middle, six around it.
        smaller = [destination(middle, 60.0 * side, reach * sqrt(3) / 2) for side in range(6)]
        for part in ([middle] if found.complete < reach / 2 else []) + smaller:
            if (away := distance(center, part) - reach / 2) <= radius:
                heapq.heappush(parts, (away, next(order), part, reach / 2))
    return NearbyResult(places, max(parts[0][0], 0.0) if parts else radius)
