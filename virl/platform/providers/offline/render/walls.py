"""The walls of buildings: their ends, materials and colours, and which have no windows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo import Floats, Ints
from virl.platform.providers.offline.plan import Building
from virl.platform.providers.offline.render.facades import FACADES
from virl.platform.providers.offline.render.mesh import outward

GROUND_FLOOR_M, STOREY_M = 4.0, 3.2
BAY_M = (2.5, 3.5)
BLANK_WALL_M = 1.8  # a narrower wall has no window
CONVEX = 0.95  # share of its convex hull that a convex footprint fills; chosen

# Tints of each wall material; an entry is picked by the building's variant. Chosen by eye.
PAINTS: dict[str, Floats] = {
    "brick": np.array(
        [[0.66, 0.34, 0.25], [0.56, 0.30, 0.24], [0.74, 0.47, 0.33], [0.80, 0.68, 0.50], [0.48, 0.33, 0.29]]
    ),
    "stone": np.array([[0.82, 0.76, 0.64], [0.74, 0.71, 0.66], [0.86, 0.81, 0.72], [0.70, 0.63, 0.54]]),
    "plaster": np.array(
        [
            [0.93, 0.88, 0.74], [0.90, 0.76, 0.60], [0.80, 0.86, 0.84], [0.92, 0.91, 0.88],
            [0.86, 0.66, 0.55], [0.75, 0.80, 0.68], [0.72, 0.80, 0.88], [0.93, 0.82, 0.80],
        ]
    ),
    "concrete": np.array([[0.80, 0.80, 0.79], [0.70, 0.72, 0.74], [0.85, 0.82, 0.76]]),
    "wood": np.array([[0.92, 0.92, 0.90], [0.62, 0.72, 0.76], [0.80, 0.72, 0.56], [0.58, 0.66, 0.54]]),
    "tiles": np.array([[0.90, 0.91, 0.90], [0.62, 0.74, 0.74], [0.82, 0.74, 0.66], [0.55, 0.62, 0.70]]),
}  # fmt: skip

WALL_NAMES = tuple(facade.wall for facade in FACADES)
_ALL = tuple(range(len(FACADES)))
_OF_WALL = {wall: tuple(n for n in _ALL if WALL_NAMES[n] == wall) for wall in PAINTS}


@dataclass(frozen=True, slots=True)
class Walls:
    """All walls of some buildings, (n,) each unless said otherwise."""

    building: Ints
    left: Floats
    right: Floats
    """Ends as seen from outside, (n, 2)."""
    centre: Floats
    """Of the building, (n, 2)."""
    base: Floats
    height: Floats
    roof: NDArray[np.str_]
    variant: Ints
    style: Ints
    """Index of the facade."""
    paint: Floats
    """(n, 3)."""
    simple: NDArray[np.bool_]
    """Whether the building is convex, with no courtyard."""
    blank: NDArray[np.bool_]


def walls_of(buildings: Sequence[Building]) -> Walls:
    """The walls of buildings, those of courtyards too."""
    footprints = shapely.orient_polygons(np.array([b.footprint for b in buildings]), exterior_cw=False)
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
    paint = np.array([colour for _, colour in looks], float)
    base, height = np.array([b.base for b in buildings]), np.array([b.height for b in buildings])
    return Walls(
        building=owner,
        left=left,
        right=right,
        centre=shapely.get_coordinates(shapely.centroid(footprints))[owner],
        base=base[owner],
        height=height[owner],
        roof=np.array([b.roof for b in buildings])[owner],
        variant=variant[owner],
        style=style[owner],
        paint=paint[owner],
        simple=(shapely.area(footprints) > CONVEX * shapely.area(shapely.convex_hull(footprints)))[owner],
        blank=(length < BLANK_WALL_M)
        | (height - base < STOREY_M - 1.0)[owner]
        | _party(footprints, left, right, owner, np.stack([base, height, variant])),
    )


def looks_of(building: Building) -> tuple[int, Floats]:
    """The index of a building's facade, and the paint of its walls."""
    facades = _OF_WALL.get(building.material, _ALL)
    style = facades[building.variant % len(facades)]
    if building.paint is not None:
        return style, np.array(building.paint)
    choices = PAINTS[WALL_NAMES[style]]
    return style, choices[building.variant // len(FACADES) % len(choices)]


def _party(
    footprints: NDArray[np.object_], left: Floats, right: Floats, owner: Ints, measures: Floats
) -> NDArray[np.bool_]:
    """Which walls stand against another building: no windows there.

    Against a piece of the same building, which has the same variant, only where that is as tall.

    Args:
        footprints: of the buildings.
        left: ends of the walls, as seen from outside.
        right: the other ends.
        owner: the building of each wall.
        measures: base, height and variant of the buildings, shape (3, n).
    """
    probe = (left + right) / 2 + outward(left, right) * 0.4
    wall, other = shapely.STRtree(footprints).query(shapely.points(probe), predicate="within")
    base, height, variant = measures[:, owner[wall]]
    base_beside, height_beside, variant_beside = measures[:, other]
    hidden = (base_beside <= base + 0.5) & (height_beside >= height - 0.5)
    alone = (variant_beside != variant) & (base_beside == 0)
    against = np.zeros(len(left), bool)
    against[wall[hidden | alone]] = True
    return against


def bays_of(walls: Walls) -> Floats:
    """How many bays of windows each wall has, (n,)."""
    width = BAY_M[0] + (BAY_M[1] - BAY_M[0]) * (walls.variant // 7 % 5) / 4
    bays: Floats = np.maximum(1.0, np.rint(np.linalg.norm(walls.right - walls.left, axis=1) / width))
    return bays
