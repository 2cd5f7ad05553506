"""Where people enter houses, as far as it is mapped."""

from dataclasses import dataclass

import numpy as np
import shapely

from virl.geo.globe import Floats, Ints
from virl.osm.extract import OsmExtract
from virl.osm.houses import Houses

ON_OUTLINE_M = 0.5
"""Metres within which an entrance is on a footprint; chosen."""
MAIN = frozenset({"main", "shop"})
"""Values of `entrance` of main entrances."""
NOT_FOR_VISITORS = frozenset({"emergency", "exit", "fire_exit", "garage", "no", "parking", "service"})
"""Values of `entrance` that visitors do not use."""


@dataclass(frozen=True, slots=True)
class Entrances:
    """Entrances that visitors use, as arrays of length n."""

    xy: Floats
    """Metres east and north, shape (n, 2)."""
    main: Ints
    """1 for a main entrance, 0 for others."""
    house: Ints
    """Index of the house that each leads into; -1 for none."""

    def of_area(self, area: shapely.Geometry, near: shapely.Point) -> shapely.Point:
        """Return the best entrance on an area's edge, main and then nearest first; else `near`.

        Else `near` itself.
        """
        points = np.asarray(shapely.points(self.xy))
        on_edge = np.flatnonzero(shapely.dwithin(shapely.boundary(area), points, ON_OUTLINE_M))
        if not len(on_edge):
            return near
        away = shapely.distance(points[on_edge], near)
        chosen: shapely.Point = points[on_edge[np.lexsort((away, -self.main[on_edge]))[0]]]
        return chosen


def entrances_of(extract: OsmExtract, houses: Houses) -> Entrances:
    """Return all mapped entrances for visitors."""
    kinds = [tags.get("entrance", "no") for tags in extract.points.tags]
    chosen = [number for number, kind in enumerate(kinds) if kind not in NOT_FOR_VISITORS]
    points = extract.points.shapes[chosen]
    house = np.full(len(chosen), -1, np.int64)
    if chosen and len(houses.ids):
        entrance, found = shapely.STRtree(houses.footprints).query_nearest(
            points, max_distance=ON_OUTLINE_M, all_matches=False
        )
        house[entrance] = found
    main = np.array([kinds[number] in MAIN for number in chosen], np.int64)
    return Entrances(shapely.get_coordinates(points).reshape(-1, 2), main, house)
