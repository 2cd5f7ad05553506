"""Where there is room for what no map has: off streets and houses, and out of the sight of signs."""

from collections.abc import Sequence

import numpy as np
import shapely
from scipy.spatial import cKDTree

from virl.geo.globe import Flags, Floats, Ints
from virl.osm.houses import Houses
from virl.towns.plan.town_plan import Furniture, Panoramas, Sign, Street

READERS = 3
"""Panoramas from which each sign stays readable; chosen."""
READ_FROM_M = 40.0
"""Metres of the farthest panorama from which a sign is read."""


class Spots:
    """The free ground of a town, off streets, houses, things and lines of sight to signs.

    Args:
        houses: of the town.
        streets: of the town.
        panoramas: of the town.
        signs: of the town.
        furniture: that is mapped.
    """

    def __init__(
        self, houses: Houses, streets: Sequence[Street], panoramas: Panoramas, signs: Sequence[Sign],
        furniture: Sequence[Furniture],
    ) -> None:  # fmt: skip
        self._houses = shapely.STRtree(np.concatenate([houses.footprints, houses.above.footprints]))
        self._streets = shapely.STRtree([shapely.LineString(street.line) for street in streets])
        self._half = np.array([street.road / 2 or street.pavement for street in streets])
        self._lines = self._streets.geometries
        self._middles = cKDTree(shapely.get_coordinates(shapely.centroid(houses.footprints)).reshape(-1, 2))
        self._eyes = cKDTree(panoramas.xy)
        self._things = cKDTree(np.array([(thing.x, thing.y) for thing in furniture], float).reshape(-1, 2))
        low = [sign for sign in signs if sign.kind in {"board", "directory"}]
        self._sights = {
            every: shapely.STRtree(_sights(chosen, panoramas))
            for every, chosen in ((True, signs), (False, low))
        }

    def near_panoramas(self, xy: Floats) -> Floats:
        """Return the metres from each point to the nearest panorama, shape (n,)."""
        return np.asarray(self._eyes.query(xy)[0], float)

    def near_houses(self, xy: Floats) -> Floats:
        """Return the metres from each point to the nearest house's middle, shape (n,); 0 without houses."""
        return np.asarray(self._middles.query(xy)[0], float) if self._middles.n else np.zeros(len(xy))

    def off_streets(self, xy: Floats, margin: float, own: Ints | None = None) -> Flags:
        """Return True for each point over `margin` metres from all streets but its own, shape (n,).

        Args:
            xy: points, (n, 2), metres.
            margin: metres.
            own: street of each point; `None` for none.
        """
        point, street = self._pairs_beside(self._streets, xy, float(self._half.max(initial=0.0)) + margin)
        gap = shapely.distance(np.asarray(shapely.points(xy[point])), self._lines[street])
        hit = gap < self._half[street] + margin
        if own is not None:
            hit &= street != own[point]
        return _free_flags(len(xy), point[hit])

    def off_houses(self, xy: Floats, margin: float) -> Flags:
        """Return True for each point over `margin` metres from all houses and overhangs, shape (n,)."""
        return _free_flags(len(xy), self._pairs_beside(self._houses, xy, margin)[0])

    def off_things(self, xy: Floats, margin: float) -> Flags:
        """Return which points lie over `margin` metres beside the lines of sight to signs, or to low ones."""
        return np.asarray(self._things.query(xy, distance_upper_bound=margin)[0] >= margin)

    def off_sights(self, xy: Floats, margin: float, *, tall: bool) -> Flags:
        """Return True for each point over `margin` metres from lines of sight to signs, shape (n,).

        Args:
            xy: points, (n, 2), metres.
            margin: metres.
            tall: whether what stands there is tall.
        """
        return _free_flags(len(xy), self._pairs_beside(self._sights[tall], xy, margin)[0])

    def _pairs_beside(self, tree: shapely.STRtree, xy: Floats, margin: float) -> tuple[Ints, ...]:
        """Return (index of a point, index of a shape within `margin` metres of it) pairs as arrays."""
        found = tree.query(shapely.points(xy), predicate="dwithin", distance=margin).reshape(2, -1)
        return found[0], found[1]


def _free_flags(count: int, hit: Ints) -> Flags:
    """Return True for each of `count` points that is not hit."""
    free = np.ones(count, bool)
    free[hit] = False
    return free


def _sights(signs: Sequence[Sign], panoramas: Panoramas) -> list[shapely.LineString]:
    """Return the lines from the middle of each sign to the panoramas around it."""
    if not signs:
        return []
    middle = np.array([(np.array(sign.left) + np.array(sign.right)) / 2 for sign in signs])
    away, near = cKDTree(panoramas.xy).query(middle, READERS, distance_upper_bound=READ_FROM_M)
    sign, rank = np.nonzero(np.isfinite(away))
    ends = np.stack([middle[sign], panoramas.xy[near[sign, rank]]], axis=1)
    return [shapely.LineString(pair) for pair in ends]
