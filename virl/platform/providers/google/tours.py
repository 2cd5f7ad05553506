"""Travel times between many stops from the legs of few routes.

A matrix is billed by the pair, a route by the request, whatever its stops are. So a route that goes from an
origin to a destination, on to the next origin, and so forth tells up to eleven pairs for the price of one.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from virl.errors import NoRoute
from virl.geo import LatLng
from virl.platform.providers.http.together import together

LEGS = 11
"""Of a route without surcharge: up to ten stops between its first and its last (Routes usage page)."""

Seconds = NDArray[np.float64]
Pair = tuple[LatLng, LatLng]


def times_by_tours(
    origins: Sequence[LatLng],
    destinations: Sequence[LatLng],
    legs: Callable[[Sequence[LatLng]], Sequence[float]],
    times: Callable[[Sequence[LatLng], Sequence[LatLng]], Seconds],
) -> Seconds:
    """Seconds from every origin to every destination.

    Args:
        origins: one or more.
        destinations: one or more.
        legs: the seconds of each leg of a route through up to 12 stops; raises `NoRoute` if one has no way.
        times: the matrix of a block; asked about the pairs of a route that cannot be.
    """
    wanted = [(here, there) for here in origins for there in destinations]
    routes = tours({pair for pair in wanted if pair[0] != pair[1]})
    known: dict[Pair, float] = {}

    def ask(stops: Sequence[LatLng]) -> dict[Pair, float]:
        try:
            return dict(zip(pairwise(stops), legs(stops), strict=True))
        except NoRoute:
            return {}

    for told in together(ask, routes):
        known |= told
    reached = {stop for pair in known for stop in pair}
    known |= {pair: 0.0 for pair in wanted if pair[0] == pair[1] and pair[0] in reached}
    for here in dict.fromkeys(origins):
        if left := list(dict.fromkeys(there for there in destinations if (here, there) not in known)):
            seconds = times([here], left)[0]
            known |= {(here, there): float(one) for there, one in zip(left, seconds, strict=True)}
    return np.array([[known[here, there] for there in destinations] for here in origins])


def tours(pairs: set[Pair]) -> list[list[LatLng]]:
    """Stops of routes, of up to `LEGS` legs each, in which each pair is a leg; further legs join them."""
    left: dict[LatLng, list[LatLng]] = {}
    for here, there in sorted(pairs, reverse=True):
        left.setdefault(here, []).append(there)
    found = []
    while left:
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
