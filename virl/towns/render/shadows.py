"""Shadows on the ground: of houses, of trees by their crowns, and of what stands in the streets."""

from collections.abc import Iterable, Sequence

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray
from shapely import get_coordinates, get_exterior_ring, orient_polygons

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Building, Furniture, FurnitureKind
from virl.towns.render.light import SUN
from virl.towns.render.rasters import CELL_M, Shares, cells
from virl.towns.render.trees import AGES, SPECIES, crown_of

NO_SUN = 200
"""Value of the raster of shadows where no sun falls; above it the sky is kept off too, by half at 255."""
_THROW = -SUN[:2] / SUN[2]
"""Offset (east, north) in metres of a point's shadow for each metre of its height."""
_WALL_M, _AT_WALL, _BELOW = (0.9, 1.2), 140, 205
"""Metres from a wall at which the ground begins to be lighter, and over which it does; how much darker it is
there, and below a car, in the raster: 0.65 and 0.45 of the light in the open. Chosen."""
_IN_SHADE = 0.73
"""Share of that which is left out in full shade, so that the light falls by the same factor there."""
_LEAVES, _GAPS = 0.96, 0.64
"""Darkness of a crown's shadow, and how much of it gaps between leaves take at most: 0.64 on average."""
_LEAF_CELLS = 64
"""Number of raster cells after which the gaps between leaves repeat."""

_FEET: dict[FurnitureKind, tuple[float, float]] = {
    "parked car": (4.3, 1.7), "car": (4.3, 1.7), "person": (0.4, 0.5), "bicycle": (1.4, 0.2),
    "bench": (0.5, 1.6), "cafe table": (1.2, 1.6), "trash bin": (0.5, 0.5), "planter": (0.7, 0.7),
    "mailbox": (0.5, 0.5), "tree": (0.4, 0.4),
}  # fmt: skip
"""Length and width in metres of the ground below a thing that is darker, by kind."""
_BODY = [(y, x, 0.4) for y in (-2.2, 2.2) for x in (-0.85, 0.85)]
_BODY += [(y, x, z) for y, z in ((-2.1, 0.9), (2.1, 0.8), (-1.3, 1.42), (0.5, 1.42)) for x in (-0.7, 0.7)]
_FORMS: dict[FurnitureKind, tuple[int, list[tuple[float, float, float]]]] = {
    "street lamp": (110, [(0.0, 0.0, 0.0), (0.0, 0.0, 6.0)]),
    "traffic light": (150, [(0.0, 0.0, 0.0), (0.0, 0.0, 3.4)]),
    "bollard": (170, [(0.0, 0.0, 0.0), (0.0, 0.0, 0.9)]),
    "bicycle": (230, [(-0.8, 0.0, 0.0), (0.8, 0.0, 0.0), (0.1, -0.2, 1.5), (0.1, 0.2, 1.5)]),
    "person": (255, [(0.0, -0.1, 0.0), (0.0, 0.1, 0.0), (0.0, -0.1, 1.6), (0.0, 0.1, 1.6)]),
    "trash bin": (255, [(0.0, -0.2, 0.0), (0.0, 0.2, 0.0), (0.0, -0.2, 0.9), (0.0, 0.2, 0.9)]),
    "mailbox": (255, [(0.0, -0.2, 0.0), (0.0, 0.2, 0.0), (0.0, -0.2, 1.1), (0.0, 0.2, 1.1)]),
    "parked car": (255, _BODY),
    "car": (255, _BODY),
}
"""Darkness, [0, 255], of a thing's shadow, less where it is narrower than a cell, and points (ahead, aside,
up) in metres around whose shadows it lies, by kind."""


def cast_shadows(
    furniture: Sequence[Furniture], buildings: Sequence[Building], origin: Floats, shape: tuple[int, int]
) -> Shares:
    """Return the shadow on each cell: `NO_SUN` without the sun, and more beside walls and below things.

    Args:
        furniture: what stands in the streets and parks.
        buildings: whose shadows may reach the raster.
        origin: metres, the centre of cell (0, 0).
        shape: rows and columns.
    """
    dark, near = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    if buildings:
        _shade_buildings(dark, buildings, origin)
        cv2.GaussianBlur(dark, (3, 3), 0, dst=dark)
    cv2.max(dark, _shade_crowns([one for one in furniture if one.kind == "tree"], origin, shape), dst=dark)
    things = np.zeros(shape, np.uint8)
    for kind, (depth, form) in _FORMS.items():
        _draw(things, _cast_points([one for one in furniture if one.kind == kind], form, origin), depth)
    cv2.max(dark, things, dst=dark)
    for kind, (length, width) in _FEET.items():
        foot = [(y * length / 2, x * width / 2, 0.0) for y in (-1, 1) for x in (-1, 1)]
        _draw(near, _cast_points([one for one in furniture if one.kind == kind], foot, origin), _BELOW)
    cv2.max(near, _beside_walls(buildings, origin, shape), dst=near)
    shadow = cv2.LUT(dark, (np.arange(256) * (NO_SUN / 255)).astype(np.uint8))
    cv2.subtract(near, cv2.multiply(near, shadow, scale=_IN_SHADE / NO_SUN), dst=near)
    return np.asarray(cv2.add(shadow, near), np.uint8)


def _beside_walls(buildings: Sequence[Building], origin: Floats, shape: tuple[int, int]) -> Shares:
    """Return how much darker each cell is for the walls near it."""
    clear = np.full(shape, 255, np.uint8)
    outlines = [cells(get_coordinates(one.footprint.exterior), origin) for one in buildings if not one.base]
    cv2.fillPoly(clear, outlines, 0, cv2.LINE_8, 4)
    away = cv2.distanceTransform(clear, cv2.DIST_L1, 3, dstType=cv2.CV_8U)
    share = np.clip(1 - (np.arange(256) * CELL_M - _WALL_M[0]) / _WALL_M[1], 0, 1)
    return np.asarray(cv2.LUT(away, (share * _AT_WALL).astype(np.uint8)), np.uint8)


def _shade_crowns(trees: Sequence[Furniture], origin: Floats, shape: tuple[int, int]) -> Shares:
    """Return the shadow of the crowns of trees, with gaps between their leaves."""
    dark = np.zeros(shape, np.uint8)
    if not trees:
        return dark
    kinds = [crown_of(variant) for variant in range(len(SPECIES) * len(AGES))]
    foot, top, radius, belly = np.array(kinds)[[one.variant % len(kinds) for one in trees]].T[..., None, None]
    middle, deep = foot + belly * (top - foot), (top - foot) / 2
    turn = np.linspace(0, 2 * np.pi, 17)[:-1, None]
    long = np.hypot(radius, deep * np.hypot(*_THROW))
    away = _THROW / np.hypot(*_THROW)
    aside = np.array([away[1], -away[0]])
    xy = np.array([(one.x, one.y) for one in trees])[:, None]
    rings = xy + middle * _THROW + long * np.cos(turn) * away + radius * np.sin(turn) * aside
    _draw(dark, cells(rings, origin), 255)
    cv2.GaussianBlur(dark, (3, 3), 0, dst=dark)
    gaps = np.random.default_rng(7).integers(0, 256, (_LEAF_CELLS, _LEAF_CELLS), np.uint8)
    column, row = np.rint(origin / CELL_M).astype(int)
    gaps = np.roll(gaps, (-row, -column), (0, 1))
    gaps = np.tile(gaps, (shape[0] // _LEAF_CELLS + 1, shape[1] // _LEAF_CELLS + 1))[: shape[0], : shape[1]]
    return np.asarray(cv2.addWeighted(dark, _LEAVES, gaps, -_GAPS, 0), np.uint8)


def _cast_points(things: Sequence[Furniture], points: ArrayLike, origin: Floats) -> NDArray[np.int32]:
    """Return the shadows of points (ahead, aside, up), metres, of each thing, in sixteenths of cells."""
    if not things:
        return np.empty((0, 1, 2), np.int32)
    x, y, heading = np.array([(one.x, one.y, one.heading) for one in things]).T[..., None]
    ahead, aside, up = np.asarray(points).T
    sin, cos = np.sin(np.radians(heading)), np.cos(np.radians(heading))
    east, north = x + ahead * sin + aside * cos, y + ahead * cos - aside * sin
    return cells(np.stack([east + up * _THROW[0], north + up * _THROW[1]], axis=-1), origin)


def _draw(raster: Shares, groups: Iterable[NDArray[np.int32]], value: int) -> None:
    """Write a value, softly at its edge, to the smallest convex area around each group of points."""
    for points in groups:
        cv2.fillConvexPoly(raster, cv2.convexHull(points), value, cv2.LINE_AA, 4)


def _shade_buildings(dark: NDArray[np.uint8], buildings: Sequence[Building], origin: Floats) -> None:
    """Write 255 to the raster `dark` wherever the shadow of a building's wall or roof falls."""
    # Anticlockwise, so that the right of each wall is outside, as `sunny` takes it.
    footprints = orient_polygons(np.array([b.footprint for b in buildings]), exterior_cw=False)
    ring, owner = get_coordinates(get_exterior_ring(footprints), return_index=True)
    far = ring + _THROW * np.array([b.height for b in buildings])[owner, None]
    walls = np.stack([ring[:-1], ring[1:], far[1:], far[:-1]], axis=1)
    along = ring[1:] - ring[:-1]
    # Rings lie end to end: what leads from one building to the next is no wall.
    sunny = (owner[1:] == owner[:-1]) & (along[:, 1] * SUN[0] - along[:, 0] * SUN[1] > 0)
    for wall in cells(walls[sunny], origin):
        cv2.fillConvexPoly(dark, wall, 255, cv2.LINE_8, 4)
    for roof in np.split(cells(far, origin), np.flatnonzero(np.diff(owner)) + 1):
        cv2.fillPoly(dark, [roof], 255, cv2.LINE_8, 4)
