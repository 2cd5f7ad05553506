"""The region that a city covers."""

from collections.abc import Sequence

import shapely

from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame
from virl.geo.region import Region
from virl.platform.city.city import City

AROUND_STREETS_M = 15.0
"""Metres beyond the outermost streets at which a city without a district ends; chosen."""


def region_of_city(city: City) -> Region:
    """Return the district of a city, or else the region around all its streets.

    Raises:
        BadInput: there is neither.
    """
    if city.region:
        return city.region
    if city.street_map is None:
        raise BadInput(f"{city.title} has no default district: give a `region:`")
    return around_streets(city.street_map.lines())


def around_streets(lines: Sequence[Sequence[LatLng]]) -> Region:
    """Return the convex region around streets, `AROUND_STREETS_M` metres wider.

    Args:
        lines: centre lines; at least one position.
    """
    positions = [position for line in lines for position in line]
    frame = LocalFrame(positions[0])
    x, y = frame.to_metres([one.lat for one in positions], [one.lng for one in positions])
    hull = shapely.MultiPoint(list(zip(x.tolist(), y.tolist(), strict=True))).convex_hull
    outline = shapely.get_coordinates(hull.buffer(AROUND_STREETS_M, quad_segs=2).simplify(1.0))
    return Region(tuple(frame.position(*corner) for corner in outline.tolist()))
