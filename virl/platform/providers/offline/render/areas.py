"""What areas, houses and trees leave on the rasters of the ground."""

from collections.abc import Sequence

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LinearRing, Polygon

from virl.geo import Floats
from virl.platform.providers.offline.plan import Building, Furniture
from virl.platform.providers.offline.render.light import SUN
from virl.platform.providers.offline.render.rasters import Heights, Shares

CELL_M = 0.75  # chosen: kerbs of the blended distance turn corners with about this radius
DISTANCE_UNIT_M = 1 / 256
FAR_M = 120.0
BUILT_M = 120.0  # side of the square that is looked at for how dense houses stand; chosen
BUILT_CELLS = 4  # along the side of a cell of that; chosen
PAVED_STEEPNESS = 4000.0  # what a share stands for, so that the edge of a lawn is smooth; chosen


def signed_distance(areas: Sequence[Polygon], origin: Floats, shape: tuple[int, int]) -> Heights:
    """Distance to the edge of the areas, negative inside; exact inside and right around them."""
    distance = np.full(shape, int(FAR_M / DISTANCE_UNIT_M), np.int16)
    for area in areas:
        west, south, east, north = area.bounds
        low = np.maximum(((np.array([west, south]) - origin) / CELL_M).astype(int) - 4, 0)
        high = ((np.array([east, north]) - origin) / CELL_M).astype(int) + 6
        window = distance[low[1] : high[1], low[0] : high[0]]
        inside = np.zeros(window.shape, np.uint8)
        if not inside.size:
            continue
        rings = [_cells(shapely.get_coordinates(ring), origin + low * CELL_M) for ring in _rings(area)]
        cv2.fillPoly(inside, rings, 1, cv2.LINE_8, 4)
        into = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
        away = cv2.distanceTransform(1 - inside, cv2.DIST_L2, 5)
        smooth = cv2.GaussianBlur(away - into, (5, 5), 0)  # no steps from cell to cell along an edge
        metres = np.clip(np.asarray(smooth) * CELL_M, -FAR_M, FAR_M)
        np.minimum(window, (metres / DISTANCE_UNIT_M).astype(np.int16), out=window)
    return distance


def share_of(areas: Sequence[Polygon], origin: Floats, shape: tuple[int, int]) -> Shares:
    """How much of each cell lies in the areas, softened by one cell."""
    share = np.zeros(shape, np.uint8)
    _fill(share, areas, origin)
    return np.asarray(cv2.GaussianBlur(share, (3, 3), 0), np.uint8) if areas else share


def _fill(raster: Shares, areas: Sequence[Polygon], origin: Floats) -> None:
    for area in areas:
        rings = [_cells(shapely.get_coordinates(ring), origin) for ring in _rings(area)]
        cv2.fillPoly(raster, rings, 255, cv2.LINE_8, 4)


def _rings(area: Polygon) -> list[LinearRing]:
    return [area.exterior, *area.interiors]


def lawns(
    parks: Sequence[Polygon], paved_from: float, buildings: Sequence[Building], origin: Floats,
    shape: tuple[int, int],
) -> Heights:  # fmt: skip
    """Negative on lawns: in parks, and between scattered houses, where less than a share is built upon."""
    green = np.zeros(shape, np.uint8)
    _fill(green, parks, origin)
    green = np.asarray(cv2.GaussianBlur(green, (5, 5), 0), np.uint8)
    rows, columns = -(-shape[0] // BUILT_CELLS), -(-shape[1] // BUILT_CELLS)
    built = np.zeros((rows * BUILT_CELLS, columns * BUILT_CELLS), np.uint8)
    _fill(built, [one.footprint for one in buildings], origin)
    coarse = cv2.resize(built, (columns, rows), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    side = int(BUILT_M / CELL_M / BUILT_CELLS)
    share = cv2.blur(coarse, (side, side), borderType=cv2.BORDER_REPLICATE)
    share = cv2.blur(share, (side // 4, side // 4), borderType=cv2.BORDER_REPLICATE)  # no ragged edges
    paved = np.clip((share - paved_from) * PAVED_STEEPNESS, -255, 255).astype(np.int16)
    paved = np.asarray(cv2.resize(paved, built.shape[::-1]))
    return np.asarray(np.minimum(paved[: shape[0], : shape[1]], 127 - green.astype(np.int16)), np.int16)


def shadows(
    furniture: Sequence[Furniture], buildings: Sequence[Building], origin: Floats, shape: tuple[int, int]
) -> NDArray[np.uint8]:
    """Shadows of buildings and trees, softened by one cell."""
    dark = np.zeros(shape, np.uint8)
    if buildings:
        _shade_buildings(dark, buildings, origin)
    for thing in furniture:
        if thing.kind in _SHADE:
            radius, height, depth = _SHADE[thing.kind]
            at = (np.array([thing.x, thing.y]) + _THROW * height - origin) / CELL_M * 16
            patch = (int(at[0]), int(at[1]))
            cv2.circle(dark, patch, int(radius / CELL_M * 16), depth, -1, cv2.LINE_8, 4)
    return np.asarray(cv2.GaussianBlur(dark, (3, 3), 0), np.uint8)


def _shade_buildings(dark: NDArray[np.uint8], buildings: Sequence[Building], origin: Floats) -> None:
    """A building's shadow is that of its roof, and the way there from the walls that face the sun."""
    footprints = shapely.orient_polygons(np.array([b.footprint for b in buildings]), exterior_cw=False)
    ring, owner = shapely.get_coordinates(shapely.get_exterior_ring(footprints), return_index=True)
    far = ring + _THROW * np.array([b.height for b in buildings])[owner, None]
    walls = np.stack([ring[:-1], ring[1:], far[1:], far[:-1]], axis=1)
    along = ring[1:] - ring[:-1]
    sunny = (owner[1:] == owner[:-1]) & (along[:, 1] * SUN[0] - along[:, 0] * SUN[1] > 0)
    for wall in _cells(walls[sunny], origin):
        cv2.fillConvexPoly(dark, wall, 255, cv2.LINE_8, 4)
    for roof in np.split(_cells(far, origin), np.flatnonzero(np.diff(owner)) + 1):
        cv2.fillPoly(dark, [roof], 255, cv2.LINE_8, 4)


_THROW = -SUN[:2] / SUN[2]
"""Where the shadow of a point falls, for each metre of its height."""

_SHADE = {"tree": (2.1, 3.6, 190), "parked car": (1.7, 0.3, 200)}
"""Radius, height of what throws the shadow, and its depth."""


def _cells(points: Floats, origin: Floats) -> NDArray[np.int32]:
    """Points in sixteenths of cells, as OpenCV takes them with a shift of 4."""
    return np.rint((points - origin) / CELL_M * 16).astype(np.int32)
