"""What the ground is made of beyond the pavements, and how far around a point it stays so."""

from typing import NamedTuple

import cv2
import numpy as np

from virl.geo.globe import Floats
from virl.towns.render.kernel import inline_kernel, kernel
from virl.towns.render.rasters import Heights, Indices, Shares

LAWN, OPEN, GRAVEL, WATER = 1, 2, 3, 4
"""The material beyond a pavement; `OPEN` is paved or lawn, as the town is."""

PATH_M = (1.2, 3.4)
"""Metres inside a park's edge where its path begins and ends."""
HALF_SHARE = 127.5
UNIFORM_CELLS = 2
"""Raster cells along a side of a cell of `uniform_distance`; chosen."""
EDGE_M = 0.2
"""Metres of the kerb stone and its joint."""


class Beyond(NamedTuple):
    """Rasters of the materials beyond the pavements, as in `GroundRasters`."""

    stone: Heights
    parks: Heights
    water: Shares
    gravel: Shares
    segments: Floats
    has_paths: bool


@inline_kernel
def material_beyond(park: float, water: float, gravel: float, is_path: bool, has_paths: bool) -> int:
    """Return the material beyond the pavement for these raster values; `is_path`: on a path of gravel.

    Args:
        park: of the raster of lawns; negative inside.
        water: share.
        gravel: share.
        is_path: whether the point is on a path of gravel.
        has_paths: whether parks have paths.
    """
    if water > HALF_SHARE and not is_path:
        return WATER
    inside = -park / 256.0
    if gravel > HALF_SHARE or is_path or (has_paths and PATH_M[0] < inside < PATH_M[1]):
        return GRAVEL
    return LAWN if inside > 0.0 else OPEN


def uniform_distance(kerb: Heights, nearest: Indices, beyond: Beyond) -> Shares:
    """Return how many large cells around each are of one material; 0 where it is mixed itself.

    0 where it is not even in this cell; n where nothing else lies nearer than n - 1 of them.

    Args:
        kerb: raster of distances to the kerb.
        nearest: raster of the nearest segment.
        beyond: rasters of what lies there.
    """
    materials = np.zeros(kerb.shape, np.uint8)
    _write_materials(kerb, nearest, beyond, materials)
    same = np.zeros((kerb.shape[0] // UNIFORM_CELLS, kerb.shape[1] // UNIFORM_CELLS), np.uint8)
    _mark_uniform(materials, same)
    return np.asarray(cv2.convertScaleAbs(cv2.distanceTransform(same, cv2.DIST_C, 3)), np.uint8)


@kernel
def _write_materials(kerb: Heights, nearest: Indices, beyond: Beyond, materials: Shares) -> None:
    """Write the material of each cell, 0 on streets and pavements."""
    stone, parks, water, gravel = beyond.stone, beyond.parks, beyond.water, beyond.gravel
    segments, has_paths = beyond.segments, beyond.has_paths
    rows, columns = kerb.shape
    for r in range(rows):
        for c in range(columns):
            d = kerb[r, c] / 256.0
            if stone[r, c] > 0 and d > EDGE_M:
                i = nearest[r, c]
                is_path = segments[i, 12] == 1.0 and d <= segments[i, 8]
                materials[r, c] = material_beyond(
                    float(parks[r, c]), float(water[r, c]), float(gravel[r, c]), is_path, has_paths
                )


@kernel
def _mark_uniform(materials: Shares, same: Shares) -> None:
    """Write 1 for each large cell that is, with its surroundings, of one material."""
    rows, columns = materials.shape
    for r in range(same.shape[0]):
        for c in range(same.shape[1]):
            top, left = r * UNIFORM_CELLS, c * UNIFORM_CELLS
            bottom, right = top + UNIFORM_CELLS, left + UNIFORM_CELLS
            first = materials[top, left]
            if first == 0 or bottom >= rows or right >= columns:
                continue
            is_same = True
            for y in range(top, bottom + 1):
                for x in range(left, right + 1):
                    is_same = is_same and materials[y, x] == first
            same[r, c] = 1 if is_same else 0
