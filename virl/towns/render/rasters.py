"""Rasters of the ground: how they are read between their cells, and what lies beyond the pavements."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats
from virl.towns.render.kernel import inline_kernel, kernel
from virl.towns.render.segments import ASPHALT_WAY

Heights = NDArray[np.int16]
"""Raster of distances, in `DISTANCE_UNIT_M` to a step."""
Indices = NDArray[np.uint32]
"""Raster of indices of street segments."""
Shares = NDArray[np.uint8]
"""Raster of shares, 0 to 255 for 0 to 1."""
Cell = tuple[int, int, float, float]
"""(column, row, share of the way to the next column, to the next row) of a point in a raster."""


CELL_M = 0.75
"""Metres of a raster cell; chosen: kerbs turn corners with about this radius."""


def cells(points: Floats, origin: Floats) -> NDArray[np.int32]:
    """Return points in metres as whole sixteenths of raster cells from cell (0, 0), for OpenCV."""
    return np.rint((points - origin) / CELL_M * 16).astype(np.int32)


class RasterGrid(NamedTuple):
    """The position, resolution and size of the ground's rasters."""

    x: float
    """East coordinate of the centre of cell (0, 0), in metres."""
    y: float
    """North coordinate of the centre of cell (0, 0), in metres."""
    per_metre: float
    """Number of cells in a metre."""
    columns: int
    rows: int


@inline_kernel
def cell_at(grid: RasterGrid, x: float, y: float) -> Cell:
    """Return (column, row) of the cell south-west of a point in metres, and shares of the way to the next.

    Args:
        grid: of the raster.
        x: metres east.
        y: metres north.
    """
    px, py = (x - grid.x) * grid.per_metre, (y - grid.y) * grid.per_metre
    px, py = min(max(px, 0.0), grid.columns - 1.001), min(max(py, 0.0), grid.rows - 1.001)
    c, r = int(px), int(py)
    return c, r, px - c, py - r


@inline_kernel
def raster_at(raster: NDArray[np.generic], cell: Cell) -> tuple[float, float, float]:
    """Return (value interpolated between four cells, its change per cell along x, along y) of a raster."""
    c, r, fx, fy = cell
    a, b = float(raster[r, c]), float(raster[r, c + 1])
    d, e = float(raster[r + 1, c]), float(raster[r + 1, c + 1])
    low, high = a + (b - a) * fx, d + (e - d) * fx
    return low + (high - low) * fy, (b - a) * (1.0 - fy) + (e - d) * fy, high - low


@inline_kernel
def segment_at(nearest: Indices, cell: Cell) -> int:
    """Return the index of the segment with the nearest carriageway."""
    return int(np.int64(nearest[cell[1] + int(cell[3] + 0.5), cell[0] + int(cell[2] + 0.5)]) & SEGMENT_MASK)


@inline_kernel
def land_at(nearest: Indices, cell: Cell) -> int:
    """Return the kind of green ground (lower three bits), and its rows' direction, in the nearest cell."""
    return int(np.int64(nearest[cell[1] + int(cell[3] + 0.5), cell[0] + int(cell[2] + 0.5)]) >> LAND_SHIFT)


@inline_kernel
def land_around(nearest: Indices, cell: Cell) -> int:
    """Return what `land_at` does, with smooth borders: what has most weight among the four cells around."""
    c, r, fx, fy = cell
    a, b = int(np.int64(nearest[r, c]) >> LAND_SHIFT), int(np.int64(nearest[r, c + 1]) >> LAND_SHIFT)
    d, e = int(np.int64(nearest[r + 1, c]) >> LAND_SHIFT), int(np.int64(nearest[r + 1, c + 1]) >> LAND_SHIFT)
    low, high = (1.0 - fx) * (1.0 - fy), fx * fy
    right, up = fx * (1.0 - fy), (1.0 - fx) * fy
    if low + (b == a) * right + (d == a) * up + (e == a) * high >= 0.5:
        return a
    if (b == e) * high + right >= 0.5 and b != a:
        return b
    return d if d != a and (up >= high or d == e) else e


SEGMENT_MASK, LAND_SHIFT = 0xFFFFFF, 24
"""Bits of an entry of `Indices` that hold the segment, and the first of the eight that hold `LAND` below."""
LANDS = "lawn", "meadow", "field", "vineyard", "wood"
"""Kinds of green ground; an entry of `Indices` holds the number of one in three bits and its rows in five."""
DIRECTIONS = 32
"""Number of directions in half a turn that rows of green ground may have."""
STONE, LAWN, OPEN, GRAVEL, WATER, ROAD = 0, 1, 2, 3, 4, 5
"""Numbers of the materials of pavements and beyond; `OPEN` is paved or lawn, as the town is."""

PATH_M = (1.2, 3.4)
"""Distances in metres from a park's edge at which its path begins and ends."""
HALF_SHARE = 127.5
EDGE_M = 0.2
"""Width in metres of a kerb stone and its joint."""


class Beyond(NamedTuple):
    """Rasters of the materials beyond the pavements, as in `GroundRasters`."""

    stone: Heights
    parks: Heights
    water: Shares
    gravel: Shares
    segments: Floats
    has_paths: bool


@inline_kernel
def material_beyond(park: float, water: float, gravel: float, path: float, has_paths: bool) -> int:
    """Return the material's number beyond a pavement by raster values; `has_paths`: whether parks have paths.

    Args:
        park: of the raster of lawns; negative inside.
        water: share.
        gravel: share.
        path: 1 on a path of gravel, 2 on one of asphalt, else 0.
        has_paths: whether parks have paths.
    """
    if path == ASPHALT_WAY:
        return ROAD
    if water > HALF_SHARE and path == 0.0:
        return WATER
    inside = -park / 256.0
    if gravel > HALF_SHARE or path == 1.0 or (has_paths and PATH_M[0] < inside < PATH_M[1]):
        return GRAVEL
    return LAWN if inside > 0.0 else OPEN


def uniform_distance(kerb: Heights, nearest: Indices, beyond: Beyond) -> Shares:
    """Return the cells from each square between four to the nearest with a street or several materials.

    Args:
        kerb: raster of distances to the kerb.
        nearest: raster of the nearest segment.
        beyond: rasters of what lies there.
    """
    materials = np.zeros(kerb.shape, np.uint8)
    _write_materials(kerb, nearest, beyond, materials)
    same = np.zeros((kerb.shape[0] - 1, kerb.shape[1] - 1), np.uint8)
    _mark_uniform(materials, same)
    return np.asarray(cv2.convertScaleAbs(cv2.distanceTransform(same, cv2.DIST_C, 3)), np.uint8)


@inline_kernel
def uniform_around(uniform: Shares, cell: Cell) -> float:
    """Return the cells around a point in which nothing but its own material lies; below 0 for several."""
    c, r, fx, fy = cell
    return float(uniform[r, c]) - 1.0 + min(fx, 1.0 - fx, fy, 1.0 - fy)


@kernel
def _write_materials(kerb: Heights, nearest: Indices, beyond: Beyond, materials: Shares) -> None:
    """Write to `materials` the number of the material of each cell, 0 on streets and pavements."""
    stone, parks, water, gravel = beyond.stone, beyond.parks, beyond.water, beyond.gravel
    segments, has_paths = beyond.segments, beyond.has_paths
    rows, columns = kerb.shape
    for r in range(rows):
        for c in range(columns):
            d = kerb[r, c] / 256.0
            if stone[r, c] > 0 and d > EDGE_M:
                entry = np.int64(nearest[r, c])
                i = entry & SEGMENT_MASK
                path = segments[i, 12] if d <= segments[i, 8] else 0.0
                found = material_beyond(
                    float(parks[r, c]), float(water[r, c]), float(gravel[r, c]), path, has_paths
                )
                # Each kind of green ground counts as a material of its own, and where two meet, several do.
                if found == LAWN:
                    land = (entry >> LAND_SHIFT) & 7
                    materials[r, c] = 0 if _is_by_border(nearest, r, c) else found + 8 * land
                else:
                    materials[r, c] = found


@inline_kernel
def _is_by_border(nearest: Indices, r: int, c: int) -> bool:
    """Return whether another kind of green ground lies in a cell beside one."""
    up, down = min(r + 1, nearest.shape[0] - 1), max(r - 1, 0)
    right, left = min(c + 1, nearest.shape[1] - 1), max(c - 1, 0)
    there = (nearest[up, c] ^ nearest[r, c]) | (nearest[down, c] ^ nearest[r, c])
    beside = (nearest[r, right] ^ nearest[r, c]) | (nearest[r, left] ^ nearest[r, c])
    return bool(np.int64(there | beside) >> LAND_SHIFT & 7)


@kernel
def _mark_uniform(materials: Shares, same: Shares) -> None:
    """Write 1 to `same` for each square between four cells that have one material, off streets."""
    for r in range(same.shape[0]):
        for c in range(same.shape[1]):
            first = materials[r, c]
            is_level = first == materials[r, c + 1] and first == materials[r + 1, c]
            same[r, c] = 1 if first != 0 and is_level and first == materials[r + 1, c + 1] else 0
