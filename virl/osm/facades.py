"""Façades of a twin: cells of wall that a panorama sees, where shop fronts can be."""

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from virl.geo.globe import Floats, Ints
from virl.osm.houses import Houses
from virl.towns.plan.town_plan import Panoramas

CELL_M = 3.2
"""Least width of a shop front in metres; chosen."""
SHORTEST_WALL_M = 2.4
"""Least length of a wall with cells in metres."""
SEEN_FROM_M = 40.0
"""Metres of the farthest panorama from which a sign is read; chosen."""
VIEWPOINTS = 6
"""Panoramas tried for each cell."""
FACING = 0.35
"""Cosine of the steepest angle at which a wall is seen."""
PROUD_M = 0.4
"""Metres before the wall at which lines of sight end."""
EYE_M = 0.6
"""Metres kept free around a panorama."""
LOW_M = 4.2
"""Height in metres below which a part that hangs over hides a sign; shop fronts are 4.05 m tall."""


@dataclass(frozen=True, slots=True)
class FacadeCells:
    """Cells of wall where fronts can be, as arrays of length n."""

    house: Ints
    """Index of the house of each cell."""
    wall: Ints
    """Number of the wall of each cell; cells of a wall follow each other from left to right."""
    left: Floats
    """Left end as seen from outside, metres, shape (n, 2)."""
    right: Floats
    """Right end as seen from outside, metres, shape (n, 2)."""
    panorama: Ints
    """Index of the nearest panorama that sees each cell."""
    distance: Floats
    """Metres to that panorama."""

    @property
    def middle(self) -> Floats:
        """Middle of each cell, metres, shape (n, 2)."""
        return (self.left + self.right) / 2


def facade_cells(houses: Houses, panoramas: Panoramas) -> FacadeCells:
    """Return the cells of all walls that some panorama sees."""
    cells = _in_the_open(_cut_walls(houses), houses)
    sees, away = _viewpoints(cells, houses, panoramas)
    seen = np.flatnonzero(sees >= 0)
    house, wall, left, right = cells
    return FacadeCells(house[seen], wall[seen], left[seen], right[seen], sees[seen], away[seen])


def _cut_walls(houses: Houses) -> tuple[Ints, Ints, Floats, Floats]:
    """Return (house, wall, left end, right end) of the cells of all walls."""
    rings = shapely.get_exterior_ring(houses.footprints)
    points, ring = shapely.get_coordinates(rings, return_index=True)
    inner = ring[:-1] == ring[1:]
    left, right, house = points[:-1][inner], points[1:][inner], ring[:-1][inner]
    length = np.linalg.norm(right - left, axis=1)
    long = length >= SHORTEST_WALL_M
    left, right, house, length = left[long], right[long], house[long], length[long]
    count = np.maximum(1, (length / CELL_M).astype(int))
    wall = np.repeat(np.arange(len(left)), count)
    rank = np.arange(len(wall)) - np.repeat(np.cumsum(count) - count, count)
    step = ((right - left) / count[:, None])[wall]
    first = left[wall] + step * rank[:, None]
    return house[wall], wall, np.round(first, 3), np.round(first + step, 3)


def _in_the_open(
    cells: tuple[Ints, Ints, Floats, Floats], houses: Houses
) -> tuple[Ints, Ints, Floats, Floats]:
    """Return the cells before which nothing hangs low enough to hide a sign."""
    house, wall, left, right = cells
    low = houses.above.footprints[houses.above.bases < LOW_M]
    if not len(low) or not len(house):
        return cells
    along = (right - left) / np.linalg.norm(right - left, axis=1, keepdims=True)
    before = (left + right) / 2 + PROUD_M * np.stack([along[:, 1], -along[:, 0]], axis=1)
    open_ = np.ones(len(house), bool)
    open_[shapely.STRtree(low).query(shapely.points(before), predicate="intersects")[0]] = False
    return house[open_], wall[open_], left[open_], right[open_]


def _viewpoints(
    cells: tuple[Ints, Ints, Floats, Floats], houses: Houses, panoramas: Panoramas
) -> tuple[Ints, Floats]:
    """Return (nearest panorama that sees each cell, -1 for none, and the metres to it)."""
    _, _, left, right = cells
    along = (right - left) / np.linalg.norm(right - left, axis=1, keepdims=True)
    out = np.stack([along[:, 1], -along[:, 0]], axis=1)
    middle = (left + right) / 2 + PROUD_M * out
    away, near = cKDTree(panoramas.xy).query(middle, k=VIEWPOINTS, distance_upper_bound=SEEN_FROM_M)
    sees, metres = np.full(len(middle), -1, np.int64), np.full(len(middle), np.inf)
    tree = shapely.STRtree(houses.footprints)
    for rank in range(VIEWPOINTS):
        open_ = np.flatnonzero((sees < 0) & np.isfinite(away[:, rank]))
        eye = panoramas.xy[near[open_, rank]]
        toward = (eye - middle[open_]) / np.maximum(away[open_, rank, None], 1e-6)
        faced = np.sum(toward * out[open_], axis=1) > FACING
        open_, eye, toward = open_[faced], eye[faced], toward[faced]
        free = _free(middle[open_], eye - EYE_M * toward, tree)
        sees[open_[free]], metres[open_[free]] = near[open_[free], rank], away[open_[free], rank]
    return sees, metres


def _free(start: Floats, end: Floats, tree: shapely.STRtree) -> NDArray[np.bool_]:
    """Return True for each line of sight that no shape of the tree cuts."""
    sights = np.asarray(shapely.linestrings(np.stack([start, end], axis=1)))
    free = np.ones(len(sights), np.bool_)
    free[tree.query(sights, predicate="intersects")[0]] = False
    return free
