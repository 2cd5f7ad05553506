"""Which street a leg runs along, by the addresses of the places beside it."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import shapely

from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.places import Place, Places

# Chosen on single stretches of Virlton's streets, 40 m and longer, the hardest case: of 281, 89 are named
# rightly, 4 wrongly (a shop on a corner stands in the other street), and 188 not at all.
BESIDE_M = 18.0
"""Metres from the way within which a place belongs to its street."""
ENDS_M = 12.0
"""Metres from a leg's ends within which a place may belong to the street that crosses there."""
LEAST, LEAST_SHARE = 2, 0.75
"""Least number of addresses, and least share of them, that must agree."""
SAMPLES = 5
"""Upper bound on the look-ups of places near a leg."""
LOOK_M = 40.0
"""Metres around a sample within which places are looked up."""

StreetOf = Callable[[Sequence[LatLng]], str | None]
"""A function that returns the street along a line of positions; `None` if unknown."""

_NUMBER_FIRST = re.compile(r"^\d+\w?(?:-\d+\w?)?\s+(?P<street>.+)$")


def no_streets(positions: Sequence[LatLng]) -> str | None:
    """Return `None` for any positions, where no streets are known."""
    del positions
    return None


def streets_by_addresses(places: Places) -> StreetOf:
    """Return a function that names a street by the addresses beside it, if enough agree.

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
    """Return the street in an address such as `"18 Harbor Street, Virlton"`; `None` without one.

    `None` if it does not begin so.
    """
    found = _NUMBER_FIRST.match(address.partition(",")[0].strip())
    return found["street"] if found else None


def _is_beside(line: shapely.LineString, point: tuple[float, float]) -> bool:
    """Return whether a point is beside a line, and not level with its first or last `ENDS_M`."""
    where = shapely.Point(point)
    along = line.project(where)
    return bool(line.distance(where) <= BESIDE_M and ENDS_M <= along <= line.length - ENDS_M)
