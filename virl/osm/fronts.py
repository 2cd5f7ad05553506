"""Fronts of houses: walls that a panorama sees, the stretch that each place has, and entrances."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from shapely import Geometry

from virl.geo.flat import left_normals
from virl.geo.globe import Floats, Ints
from virl.osm.extract import OsmExtract, Shapes
from virl.osm.houses import Houses
from virl.towns.plan.town_plan import Panoramas

CELL_M = 3.2
"""Least width in metres of the equal cells that a wall is cut into; chosen: the narrowest shop front."""
SHORTEST_WALL_M = 2.4
"""Least length of a wall with cells in metres."""
SEEN_FROM_M = 40.0
"""Largest distance in metres from a panorama to a wall whose sign can be read; chosen."""
VIEWPOINTS = 6
"""Number of nearest panoramas that are tried for a free line of sight to each cell."""
FACING = 0.35
"""Least cosine of the angle between the normal of a wall and the line to a panorama that sees it."""
PROUD_M = 0.4
"""Metres before the wall where a line of sight ends, so that the wall itself does not cut it."""
EYE_M = 0.6
"""Metres from a panorama where a line of sight begins, so that what is at the camera does not cut it."""
LOW_M = 4.2
"""Height in metres below which a part that hangs over hides a sign; shop fronts are 4.05 m tall."""


@dataclass(frozen=True, slots=True)
class FacadeCells:
    """Cells of wall where fronts can be, as arrays of length n."""

    house: Ints
    """Index of the house that each cell belongs to, shape (n,)."""
    wall: Ints
    """Number of the wall of each cell, shape (n,); cells of a wall follow each other from left to right."""
    left: Floats
    """Left end as seen from outside, (east, north) metres, shape (n, 2)."""
    right: Floats
    """Right end as seen from outside, (east, north) metres, shape (n, 2)."""
    panorama: Ints
    """Index of the nearest panorama that sees each cell, shape (n,)."""
    distance: Floats
    """Metres from each cell to its panorama in `panorama`, shape (n,)."""

    @property
    def middle(self) -> Floats:
        """Middle of each cell, (east, north) metres, shape (n, 2)."""
        return (self.left + self.right) / 2


def facade_cells(houses: Houses, panoramas: Panoramas) -> FacadeCells:
    """Return the cells of all walls of houses that some panorama sees at most `SEEN_FROM_M` metres away."""
    house, wall, left, right = _cut_walls(houses)
    out = -left_normals(right - left)
    before = (left + right) / 2 + PROUD_M * out
    low = houses.above.footprints[houses.above.bases < LOW_M]
    hidden = shapely.STRtree(low).query(shapely.points(before), predicate="intersects")[0]
    open_ = np.setdiff1d(np.arange(len(house)), hidden)
    # Lines of sight last: they are most of the work.
    sees, away = _viewpoints(before[open_], out[open_], houses, panoramas)
    seen = open_[sees >= 0]
    return FacadeCells(house[seen], wall[seen], left[seen], right[seen], sees[sees >= 0], away[sees >= 0])


def _cut_walls(houses: Houses) -> tuple[Ints, Ints, Floats, Floats]:
    """Return (house index, wall number, left end, right end) of the cells that all walls are cut into."""
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


def _viewpoints(middle: Floats, out: Floats, houses: Houses, panoramas: Panoramas) -> tuple[Ints, Floats]:
    """Return (nearest panorama that sees each cell, -1 for none; metres to that panorama), each (n,).

    `middle` is a point before each cell, metres, and `out` the unit normal of its wall, shape (n, 2).
    """
    away, near = cKDTree(panoramas.xy).query(middle, k=VIEWPOINTS, distance_upper_bound=SEEN_FROM_M)
    sees, metres = np.full(len(middle), -1, np.int64), np.full(len(middle), np.inf)
    tree = shapely.STRtree(houses.footprints)
    # From the nearest on: each cell keeps the first panorama that sees it.
    for rank in range(VIEWPOINTS):
        open_ = np.flatnonzero((sees < 0) & np.isfinite(away[:, rank]))
        eye = panoramas.xy[near[open_, rank]]
        toward = (eye - middle[open_]) / np.maximum(away[open_, rank, None], 1e-6)
        faced = np.sum(toward * out[open_], axis=1) > FACING
        open_, eye, toward = open_[faced], eye[faced], toward[faced]
        sights = np.asarray(shapely.linestrings(np.stack([middle[open_], eye - EYE_M * toward], axis=1)))
        free = ~np.isin(np.arange(len(sights)), tree.query(sights, predicate="intersects")[0])
        sees[open_[free]], metres[open_[free]] = near[open_[free], rank], away[open_[free], rank]
    return sees, metres


OWN_HOUSE_M = 5.0
"""Largest distance in metres from a place to the house that it belongs to."""
FROM_POINT_M = 15.0
"""Largest distance in metres from a mapped place to its front."""
OTHER_STREET_M = 8.0
"""Metres added to the cost of a front on another street than the place's address; chosen."""
UPSTAIRS_M = 6.0
"""Metres added to the cost of a front on the first floor; chosen."""
TALL_M = 7.5
"""Least height in metres of a house with signs on its first floor."""
WIDEST_CELLS = 3
"""Largest width of a front in cells."""
PARALLEL = 0.9
"""Least cosine of the angle between two walls that count as on one spot."""
BEHIND_M = 1.5
"""Largest distance in metres between the planes of two walls that count as on one spot; chosen."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A place's wish for a front: its shape, street and entrance."""

    shape: Geometry
    """Point or area of the place in metres."""
    street: str = ""
    """Name of the street in the place's address; empty where it is not mapped."""
    at: Geometry | None = None
    """Point that the front should be near, such as an area's entrance, metres; `None` for `shape` itself."""


@dataclass(frozen=True, slots=True)
class Front:
    """A range of wall cells, on the ground floor or the first floor, that one place has."""

    first: int
    """Index of the leftmost cell."""
    last: int
    """Index of the rightmost cell."""
    floor: int
    """0 for the ground floor, 1 for the one above."""


class FreeCells:
    """A record of the wall cells that no front has taken yet, on each floor."""

    def __init__(self, cells: FacadeCells) -> None:
        """Begin with all cells free, and find those of different walls on the same spot."""
        self._taken: set[tuple[int, int]] = set()
        self._rivals: dict[int, list[int]] = {}
        for one, other in _on_one_spot(cells).tolist():
            self._rivals.setdefault(one, []).append(other)
            self._rivals.setdefault(other, []).append(one)

    def has(self, cell: int, floor: int) -> bool:
        """Return whether the cell of this index is free on a floor: 0, the ground floor, or 1."""
        return (cell, floor) not in self._taken

    def take(self, cell: int, floor: int) -> None:
        """Mark a cell, by its index, and cells of other walls on its spot as taken on a floor, 0 or 1."""
        self._taken.add((cell, floor))
        self._taken.update((rival, floor) for rival in self._rivals.get(cell, ()))


def _on_one_spot(cells: FacadeCells) -> Ints:
    """Return the pairs of indices of cells of different walls on the same spot, shape (n, 2)."""
    if not len(cells.wall):
        return np.empty((0, 2), np.int64)
    run = cells.right - cells.left
    length = np.linalg.norm(run, axis=1)
    along = run / length[:, None]
    reach = float(length.max())
    one, other = cKDTree(cells.middle).query_pairs(reach, output_type="ndarray").reshape(-1, 2).T
    apart = cells.middle[other] - cells.middle[one]
    side = np.abs(np.sum(apart * along[one], axis=1))
    behind = np.abs(apart[:, 0] * along[one, 1] - apart[:, 1] * along[one, 0])
    same_way = np.sum(along[one] * along[other], axis=1) > PARALLEL
    # 5 cm less: neighbours on one wall only touch.
    close = (side < (length[one] + length[other]) / 2 - 0.05) & (behind < BEHIND_M)
    chosen = same_way & close & (cells.wall[one] != cells.wall[other])
    return np.asarray(np.column_stack([one, other])[chosen])


def own_houses(shapes: Shapes, houses: Houses, within: float = OWN_HOUSE_M) -> Ints:
    """Return the index of the house that each place is in, or at most `within` metres from; -1 for none.

    Args:
        shapes: of the places, metres.
        houses: of the town.
        within: metres.
    """
    found = np.full(len(shapes), -1, np.int64)
    if not len(shapes) or not len(houses.ids):
        return found
    place, house = shapely.STRtree(houses.footprints).query_nearest(
        shapely.point_on_surface(shapes), max_distance=within, all_matches=False
    )
    found[place] = house
    return found


def cells_by_house(cells: FacadeCells) -> Mapping[int, Ints]:
    """Return the indices of the cells of each house, by the house's index."""
    order = np.argsort(cells.house, kind="stable")
    owners, starts = np.unique(cells.house[order], return_index=True)
    return dict(zip(owners.tolist(), np.split(order, starts[1:]), strict=True)) if len(order) else {}


def assign_fronts(
    claims: Sequence[Claim],
    house: Ints,
    cells: FacadeCells,
    free: FreeCells,
    street: NDArray[np.str_],
    heights: Floats,
) -> list[Front | None]:
    """Take a free cell of its house as each place's front (`None`: none); `street`: street name by cell.

    Args:
        claims: the wish of each place.
        house: index of the house of each place, -1 for none.
        cells: of all houses.
        free: record of free cells, in which the assigned ones are marked as taken.
        street: name of the street before each cell.
        heights: of the walls of all houses, metres.
    """
    of_house = cells_by_house(cells)
    bids = []
    middles = np.asarray(shapely.points(cells.middle))
    for number, claim in enumerate(claims):
        mine = of_house.get(int(house[number]))
        if mine is None:
            continue
        near = shapely.distance(claim.shape, middles[mine]) <= FROM_POINT_M
        cost = shapely.distance(claim.at or claim.shape, middles[mine])
        cost += OTHER_STREET_M * (street[mine] != claim.street) if claim.street else 0.0
        for floor in (0, 1) if heights[house[number]] >= TALL_M else (0,):
            bids += [
                (float(price) + floor * UPSTAIRS_M, number, int(cell), floor)
                for price, cell in zip(cost[near], mine[near], strict=True)
            ]
    fronts: list[Front | None] = [None] * len(claims)
    # The cheapest of all bids first: no place takes a cell before one that it suits better.
    for _, number, cell, floor in sorted(bids):
        if fronts[number] is None and free.has(cell, floor):
            free.take(cell, floor)
            fronts[number] = Front(cell, cell, floor)
    return fronts


def grow(front: Front, cells: FacadeCells, free: FreeCells, widest: int = WIDEST_CELLS) -> Front:
    """Return a front widened by the free cells beside it, up to `widest` cells, and mark them as taken.

    Args:
        front: of one cell.
        cells: of all houses.
        free: record of free cells, in which the added ones are marked as taken.
        widest: largest number of cells of the front.
    """
    first, last = front.first, front.last
    # By turns to both sides, so that the front stays about where the place is.
    for step in (1, -1, 1, -1):
        if last - first + 1 >= widest:
            break
        cell = last + 1 if step > 0 else first - 1
        # Cells are numbered along the walls: the next number may be on the next wall.
        beside = 0 <= cell < len(cells.wall) and cells.wall[cell] == cells.wall[front.first]
        if not beside or not free.has(cell, front.floor):
            continue
        low, high = min(cell, first), max(cell, last)
        gaps = np.linalg.norm(cells.left[low + 1 : high + 1] - cells.right[low:high], axis=1)
        if (gaps < 0.05).all():
            free.take(cell, front.floor)
            first, last = low, high
    return Front(first, last, front.floor)


ON_OUTLINE_M = 0.5
"""Largest distance in metres from the edge of a footprint at which an entrance belongs to it; chosen."""
MAIN = frozenset({"main", "shop"})
"""Values of the tag `entrance` for main entrances."""
NOT_FOR_VISITORS = frozenset({"emergency", "exit", "fire_exit", "garage", "no", "parking", "service"})
"""Values of the tag `entrance` for entrances that visitors do not use."""


@dataclass(frozen=True, slots=True)
class Entrances:
    """Entrances that visitors use, as arrays of length n."""

    xy: Floats
    """Metres east and north of each entrance, shape (n, 2)."""
    main: Ints
    """1 for a main entrance, 0 for others, shape (n,)."""
    house: Ints
    """Index of the house that each leads into, shape (n,); -1 for none."""

    def of_area(self, area: shapely.Geometry, near: shapely.Point) -> shapely.Point:
        """Return the entrance on an area's edge nearest to `near`, main ones first; `near` without one."""
        points = np.asarray(shapely.points(self.xy))
        on_edge = np.flatnonzero(shapely.dwithin(shapely.boundary(area), points, ON_OUTLINE_M))
        if not len(on_edge):
            return near
        away = shapely.distance(points[on_edge], near)
        chosen: shapely.Point = points[on_edge[np.lexsort((away, -self.main[on_edge]))[0]]]
        return chosen


def entrances_of(extract: OsmExtract, houses: Houses) -> Entrances:
    """Return all mapped entrances that visitors may use, and the house of each."""
    kinds = [tags.get("entrance", "no") for tags in extract.points.tags]
    chosen = [number for number, kind in enumerate(kinds) if kind not in NOT_FOR_VISITORS]
    points = extract.points.shapes[chosen]
    house = own_houses(points, houses, ON_OUTLINE_M)
    main = np.array([kinds[number] in MAIN for number in chosen], np.int64)
    return Entrances(shapely.get_coordinates(points).reshape(-1, 2), main, house)
