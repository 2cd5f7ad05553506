"""Walls of buildings: where they stand, their paints, their ground floors, and which are blank."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import Building, Sign
from virl.towns.render.facades import FACADES
from virl.towns.render.mesh import outward

GROUND_FLOOR_M, DWELLING_FLOOR_M, STOREY_M = 4.2, 3.2, 3.2
"""Heights of a ground floor with places, of one with dwellings, and of the storeys above, metres."""
FROM_WALL_M = 0.3
"""Largest distance in metres from a sign to the wall behind it."""
_BAY_M = (2.5, 3.5)
_BLANK_WALL_M = 1.8
"""Width in metres below which a wall has no window."""
_CONVEX = 0.95
"""Ratio of a footprint's area to its convex hull's from which it counts as convex; chosen."""

# Tints of each wall material; an entry is picked by the building's variant. Chosen by eye.
_PAINTS: dict[str, Floats] = {
    "brick": np.array(
        [[0.66, 0.34, 0.25], [0.56, 0.30, 0.24], [0.74, 0.47, 0.33], [0.80, 0.68, 0.50], [0.48, 0.33, 0.29]]
    ),
    "stone": np.array([[0.82, 0.76, 0.64], [0.74, 0.71, 0.66], [0.86, 0.81, 0.72], [0.70, 0.63, 0.54]]),
    "plaster": np.array(
        [[0.93, 0.88, 0.74], [0.90, 0.76, 0.60], [0.80, 0.86, 0.84], [0.92, 0.91, 0.88],
         [0.86, 0.66, 0.55], [0.75, 0.80, 0.68], [0.72, 0.80, 0.88], [0.93, 0.82, 0.80]]
    ),
    "concrete": np.array([[0.80, 0.80, 0.79], [0.70, 0.72, 0.74], [0.85, 0.82, 0.76]]),
    "wood": np.array([[0.92, 0.92, 0.90], [0.62, 0.72, 0.76], [0.80, 0.72, 0.56], [0.58, 0.66, 0.54]]),
    "tiles": np.array([[0.90, 0.91, 0.90], [0.62, 0.74, 0.74], [0.82, 0.74, 0.66], [0.55, 0.62, 0.70]]),
}  # fmt: skip

WALL_NAMES = tuple(facade.wall for facade in FACADES)
"""Name of the wall material of each facade, by the facade's index."""
_ALL = tuple(range(len(FACADES)))
_OF_WALL = {wall: tuple(n for n in _ALL if WALL_NAMES[n] == wall) for wall in _PAINTS}
_OF_HALLS = (7, 10)
"""Facades with broad windows, for halls of concrete and of tiles."""


@dataclass(frozen=True, slots=True)
class Walls:
    """All walls of some buildings, as arrays of length n."""

    number: Ints
    """Index of each wall among those of the town."""
    open_number: Ints
    """Index of each wall among those with windows that start at the ground; -1 for all others."""
    building: Ints
    """Index of the building that each wall belongs to."""
    left: Floats
    """Left end as seen from outside, metres, shape (n, 2)."""
    right: Floats
    """Right end as seen from outside, metres, shape (n, 2)."""
    centre: Floats
    """Centre of the building, metres, shape (n, 2)."""
    base: Floats
    """Metres from the ground to the foot of each wall."""
    height: Floats
    """Metres from the ground to the top of each wall."""
    ground: Floats
    """Metres from the ground to the top of the ground floor."""
    length: Floats
    """Length of each wall, metres."""
    bays: Floats
    """Number of bays, which are columns of windows, of each wall."""
    is_hall: NDArray[np.bool_]
    """True for walls of halls, which have no windows at the ground."""
    roof: NDArray[np.str_]
    roof_height: Floats
    """Metres from the top of each wall to that of the roof."""
    variant: Ints
    style: Ints
    """Index in `FACADES` of the facade of each wall."""
    paint: Floats
    """Tint of each wall, RGB in [0, 1], shape (n, 3)."""
    simple: NDArray[np.bool_]
    """True for walls of a convex building without a courtyard."""
    blank: NDArray[np.bool_]
    """True for walls without windows."""

    def of_buildings(self, numbers: Ints) -> "Walls":
        """Return the walls of some buildings, in the same order."""
        mine = np.isin(self.building, numbers)
        return Walls(*(getattr(self, column.name)[mine] for column in fields(self)))

    def at(self, wall: Ints, place: NDArray[np.number]) -> Floats:
        """Return the points, (n, 2), some bays from the left ends of walls."""
        run = self.right[wall] - self.left[wall]
        return np.asarray(self.left[wall] + run * (place / self.bays[wall])[:, None])

    def span(self, wall: Ints, floor: Ints) -> tuple[Floats, Floats]:
        """Return the heights of both ends of floors, metres; -1 is the ground floor, 0 the next."""
        rise = (self.height - self.ground)[wall] / np.maximum(self.floors[wall], 1)
        low, high = (self.ground[wall] + (floor + step) * rise for step in (0, 1))
        return np.where(floor < 0, 0.0, low), high

    @property
    def floors(self) -> Ints:
        """Number of floors above the ground floor."""
        return np.rint((self.height - self.ground) / STOREY_M).astype(np.int64)

    @property
    def direction(self) -> Floats:
        """Unit vectors from left to right, (n, 2)."""
        return (self.right - self.left) / self.length[:, None]

    @property
    def out(self) -> Floats:
        """Unit vectors away from the house, (n, 2)."""
        return outward(self.left, self.right)


def count_out(counts: Ints) -> tuple[Ints, Ints]:
    """Return (index of the thing, number from 0 on) of as many copies of each thing as `counts` says."""
    index = np.repeat(np.arange(len(counts)), counts)
    return index, np.arange(len(index)) - np.searchsorted(index, index)


def walls_of(buildings: Sequence[Building], signs: Sequence[Sign] = ()) -> Walls:
    """Return the walls of buildings, courtyards included; where `signs` hang, ground floors are high."""
    footprints = shapely.orient_polygons(
        np.array([b.footprint for b in buildings], object), exterior_cw=False
    )
    rings, house = shapely.get_rings(footprints, return_index=True)  # those of courtyards too
    points, ring = shapely.get_coordinates(rings, return_index=True)
    inner = ring[:-1] == ring[1:]
    left, right, owner = points[:-1][inner], points[1:][inner], house[ring[:-1][inner]]
    length = np.linalg.norm(right - left, axis=1)
    keep = length > 0.05
    left, right, owner, length = left[keep], right[keep], owner[keep], length[keep]
    variant = np.array([b.variant for b in buildings], np.int64)
    looks = [looks_of(b) for b in buildings]
    style = np.array([number for number, _ in looks], np.int64)
    paint = np.reshape([colour for _, colour in looks], (-1, 3)).astype(float)
    base, height = np.array([b.base for b in buildings]), np.array([b.height for b in buildings])
    blank = (length < _BLANK_WALL_M) | (height - base < STOREY_M - 1.0)[owner]
    blank |= _party(footprints, left, right, owner, np.stack([base, height, variant]))
    blank |= np.array([b.use == "shed" for b in buildings], bool)[owner]
    is_open = ~blank & (base == 0)[owner]
    ground = np.minimum(np.where(_has_places(footprints, signs), GROUND_FLOOR_M, DWELLING_FLOOR_M), height)
    bay = _BAY_M[0] + (_BAY_M[1] - _BAY_M[0]) * (variant // 7 % 5) / 4
    return Walls(
        number=np.arange(len(owner)),
        open_number=np.where(is_open, np.cumsum(is_open) - 1, -1),
        building=owner,
        left=left,
        right=right,
        centre=shapely.get_coordinates(shapely.centroid(footprints))[owner],
        base=base[owner],
        height=height[owner],
        ground=ground[owner],
        length=length,
        bays=np.maximum(1.0, np.rint(length / bay[owner])),
        is_hall=np.array([b.use == "hall" for b in buildings], bool)[owner],
        roof=np.array([b.roof for b in buildings])[owner],
        roof_height=np.array([b.roof_height for b in buildings])[owner],
        variant=variant[owner],
        style=style[owner],
        paint=paint[owner],
        simple=(shapely.area(footprints) > _CONVEX * shapely.area(shapely.convex_hull(footprints)))[owner],
        blank=blank,
    )


def looks_of(building: Building) -> tuple[int, Floats]:
    """Return (index in `FACADES`, RGB colour of the walls, each in [0, 1]) of a building."""
    facades = _OF_WALL.get(building.material, _ALL)
    style = facades[building.variant % len(facades)]
    if building.use == "hall" and not {*facades}.isdisjoint(_OF_HALLS):
        style = next(one for one in _OF_HALLS if one in facades)
    if building.paint is not None:
        return style, np.array(building.paint)
    choices = _PAINTS[WALL_NAMES[style]]
    return style, choices[building.variant // len(FACADES) % len(choices)]


def _has_places(footprints: NDArray[np.object_], signs: Sequence[Sign]) -> NDArray[np.bool_]:
    """Return True for each building on whose walls signs of places hang."""
    hung = [one for one in signs if one.kind in {"fascia", "directory"}]
    found = np.zeros(len(footprints), bool)
    if hung:
        middles = np.array([(one.left, one.right) for one in hung]).mean(axis=1)
        points = np.asarray(shapely.points(middles))
        found[shapely.STRtree(footprints).query(points, "dwithin", FROM_WALL_M)[1]] = True
    return found


def _party(
    footprints: NDArray[np.object_], left: Floats, right: Floats, owner: Ints, measures: Floats
) -> NDArray[np.bool_]:
    """Return True for each wall that a neighbour adjoins; `measures`: base, height, variant, (3, buildings).

    Against a piece of the same building, which has the same variant, only where that is as tall.
    """
    probe = (left + right) / 2 + outward(left, right) * 0.4
    # Each footprint asks for the points within: so it is made ready once, not for each point.
    other, wall = shapely.STRtree(np.asarray(shapely.points(probe))).query(footprints, predicate="contains")
    base, height, variant = measures[:, owner[wall]]
    base_beside, height_beside, variant_beside = measures[:, other]
    hidden = (base_beside <= base + 0.5) & (height_beside >= height - 0.5)
    alone = (variant_beside != variant) & (base_beside == 0)
    against = np.zeros(len(left), bool)
    against[wall[hidden | alone]] = True
    return against
