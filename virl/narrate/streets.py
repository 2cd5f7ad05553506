"""Which street a leg runs along, by the addresses of the places beside it."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import shapely

from virl.geo import LatLng, LocalFrame
from virl.platform.places import Place, Places

# Chosen on single stretches of Virlton's streets, 40 m and longer, the hardest case: of 281, 89 are named
# rightly, 4 wrongly (a shop on a corner stands in the other street), and 188 not at all.
BESIDE_M = 18.0
"""A place this near to the way stands on it."""
ENDS_M = 12.0
"""Metres from a leg's ends within which a place may belong to the street that crosses there."""
LEAST, LEAST_SHARE = 2, 0.75
"""Least number of addresses, and least share of them, that must agree."""
SAMPLES = 5
"""Upper bound on the look-ups of places near a leg."""
LOOK_M = 40.0

StreetOf = Callable[[Sequence[LatLng]], str | None]
"""The name of the street that runs along positions; `None` where the maps do not know."""

_NUMBER_FIRST = re.compile(r"^\d+\w?(?:-\d+\w?)?\s+(?P<street>.+)$")


def no_streets(positions: Sequence[LatLng]) -> str | None:
    """Return `None`: no street is known."""
    del positions
    return None


def streets_by_addresses(places: Places) -> StreetOf:
    """Name a street where two or more of the addresses beside the way, and three of four, agree on it.

    Only places within 18 m of the way count, none of those level with its first or last 12 m.
    """

    def street_of(positions: Sequence[LatLng]) -> str | None:
        frame = LocalFrame(positions[0])
        line = shapely.LineString([frame.point(position) for position in positions])
        picked = np.unique(np.linspace(0, len(positions) - 1, SAMPLES).round().astype(int))
        near: dict[str, Place] = {}
        for index in picked:
            near |= {place.id: place for place in places.nearby(positions[index], LOOK_M)}
        names = [
            name
            for place in near.values()
            if (name := street_in(place.address)) and _is_beside(line, frame.point(place.position))
        ]
        if not names:
            return None
        name, count = Counter(names).most_common(1)[0]
        return name if count >= max(LEAST, LEAST_SHARE * len(names)) else None

    return street_of


def street_in(address: str) -> str | None:
    """Return the street of an address such as `"18 Harbor Street, Virlton"`.

    `None` if it does not begin so.
    """
    found = _NUMBER_FIRST.match(address.partition(",")[0].strip())
    return found["street"] if found else None


def _is_beside(line: shapely.LineString, point: tuple[float, float]) -> bool:
    where = shapely.Point(point)
    along = line.project(where)
    return bool(line.distance(where) <= BESIDE_M and ENDS_M <= along <= line.length - ENDS_M)
