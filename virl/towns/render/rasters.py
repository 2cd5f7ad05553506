"""How the rasters of the ground are read between their cells."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.towns.render.kernel import inline_kernel

Heights = NDArray[np.int16]
"""Raster of distances in `DISTANCE_UNIT_M`."""
Indices = NDArray[np.uint32]
"""Raster of indices of segments."""
Shares = NDArray[np.uint8]
"""Raster of shares, of 255."""
Cell = tuple[int, int, float, float]
"""(column, row, share to the next column, share to the next row)."""


class RasterGrid(NamedTuple):
    """The position, resolution and size of the ground's rasters."""

    x: float
    """Metres east of the centre of cell (0, 0)."""
    y: float
    """Metres north of the centre of cell (0, 0)."""
    per_metre: float
    """Cells a metre."""
    columns: int
    rows: int


@inline_kernel
def cell_at(grid: RasterGrid, x: float, y: float) -> Cell:
    """Return the cell south-west of a point, and the shares of the way to the next ones, [0, 1).

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
    """Return (value between four cells, difference per cell along x, along y) of a raster."""
    c, r, fx, fy = cell
    a, b = float(raster[r, c]), float(raster[r, c + 1])
    d, e = float(raster[r + 1, c]), float(raster[r + 1, c + 1])
    low, high = a + (b - a) * fx, d + (e - d) * fx
    return low + (high - low) * fy, (b - a) * (1.0 - fy) + (e - d) * fy, high - low


@inline_kernel
def segment_at(nearest: Indices, cell: Cell) -> int:
    """Return the index of the segment with the nearest carriageway."""
    return int(nearest[cell[1] + int(cell[3] + 0.5), cell[0] + int(cell[2] + 0.5)])
