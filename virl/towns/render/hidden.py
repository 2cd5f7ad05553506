"""Compiled parts of the kernels: what of a scene lies behind all that a picture shows so far?

The picture is divided into square tiles. Of each the depth of its farthest pixel is noted, once a stage of
the drawing is done; what lies wholly behind that depth, in all tiles that it would touch, cannot be seen.
"""

from typing import NamedTuple

import numpy as np

from virl.towns.render.kernel import array_part, inline_kernel, part
from virl.towns.render.lens import NEAR_M, Lens
from virl.towns.render.mesh import Singles

MOST_TILES = 64
"""Largest number of tiles across a picture; chosen."""
ROUNDING, ROUNDING_PX = 1.001, 0.1
"""Factor on W (1 / depth), and pixels, by which what hides must exceed what is hidden; chosen."""


class Tiles(NamedTuple):
    """Squares of a picture, each with the depth of its farthest pixel, behind which nothing can be seen.

    Args:
        farthest: least W of the pixels of each tile, (rows, columns).
        row: scratch, (width,).
        bits: log2 of a tile's side in pixels.
    """

    farthest: Singles
    row: Singles
    bits: int


@array_part
def blank_tiles(height: int, width: int) -> Tiles:
    """Return the tiles of a picture of this size in pixels, behind which everything can be seen so far."""
    bits = 1
    while width >> bits > MOST_TILES:
        bits += 1
    farthest = np.zeros((-(-height // (1 << bits)), -(-width // (1 << bits))), np.float32)
    return Tiles(farthest, np.empty(width, np.float32), bits)


@part
def note_farthest(depth: Singles, tiles: Tiles) -> None:
    """Write to `tiles` the least W (1 / depth) in each tile, that of its farthest pixel."""
    height, width = depth.shape
    farthest, row_least, side = tiles.farthest, tiles.row, 1 << tiles.bits
    for up in range(farthest.shape[0]):
        # All columns of the tiles' rows first: the compiler takes several at once.
        for column in range(width):
            row_least[column] = depth[up * side, column]
        for row in range(up * side + 1, min((up + 1) * side, height)):
            for column in range(width):
                row_least[column] = min(row_least[column], depth[row, column])
        for across in range(farthest.shape[1]):
            least = row_least[across * side]
            for column in range(across * side + 1, min((across + 1) * side, width)):
                least = min(least, row_least[column])
            farthest[up, across] = least


@inline_kernel
def _is_hidden(
    tiles: Tiles, lens: Lens, left: float, right: float, top: float, bottom: float, nearest: float
) -> bool:
    """Return whether all tiles that a rectangle touches show only what is nearer than `nearest` metres."""
    bits, farthest = tiles.bits, tiles.farthest
    first_row, end_row = (
        max(0, int(top - ROUNDING_PX)) >> bits,
        min(int(bottom + ROUNDING_PX), lens.height - 1) >> bits,
    )
    first, end = (
        max(0, int(left - ROUNDING_PX)) >> bits,
        min(int(right + ROUNDING_PX), lens.width - 1) >> bits,
    )
    w = lens.focal / nearest * ROUNDING
    for row in range(first_row, end_row + 1):
        for column in range(first, end + 1):
            if farthest[row, column] <= w:
                return False
    return True


@inline_kernel
def is_sphere_hidden(tiles: Tiles, lens: Lens, x: float, y: float, z: float, radius: float) -> bool:
    """Return whether a sphere around a point relative to the eye lies behind all that is drawn before it.

    Args:
        tiles: what is drawn before it.
        lens: the camera.
        x: metres east of the eye.
        y: metres north of the eye.
        z: metres above the eye.
        radius: metres.
    """
    frame = lens.frame
    ahead = x * frame[2, 0] + y * frame[2, 1] + z * frame[2, 2]
    near = ahead - radius
    if near < NEAR_M:
        return False
    right = x * frame[0, 0] + y * frame[0, 1] + z * frame[0, 2]
    up = x * frame[1, 0] + y * frame[1, 1] + z * frame[1, 2]
    # The sides of the box around the sphere: each ends farthest out at its front or at its back.
    front, back = lens.focal / near, lens.focal / (ahead + radius)
    left, top = right - radius, -up - radius
    right, bottom = right + radius, -up + radius
    return _is_hidden(
        tiles, lens, lens.cx + min(left * front, left * back), lens.cx + max(right * front, right * back),
        lens.cy + min(top * front, top * back), lens.cy + max(bottom * front, bottom * back), near,
    )  # fmt: skip


@part
def is_cell_hidden(tiles: Tiles, cell: Singles, lens: Lens) -> bool:
    """Return whether the box around a cell's quads lies behind all that is drawn before it.

    Args:
        tiles: what is drawn before it.
        cell: a row of a scene's `cells`, (10,).
        lens: the camera.
    """
    frame, eye = lens.frame, lens.eye
    left, right, up, down, nearest = 1e30, -1e30, 1e30, -1e30, 1e30
    for corner in range(8):
        x = cell[7 if corner & 1 else 4] - eye[0]
        y = cell[8 if corner & 2 else 5] - eye[1]
        z = cell[9 if corner & 4 else 6] - eye[2]
        ahead = x * frame[2, 0] + y * frame[2, 1] + z * frame[2, 2]
        if ahead < NEAR_M:
            return False
        column = lens.cx + (x * frame[0, 0] + y * frame[0, 1] + z * frame[0, 2]) * lens.focal / ahead
        row = lens.cy - (x * frame[1, 0] + y * frame[1, 1] + z * frame[1, 2]) * lens.focal / ahead
        left, right, nearest = min(left, column), max(right, column), min(nearest, ahead)
        up, down = min(up, row), max(down, row)
    return _is_hidden(tiles, lens, left, right, up, down, nearest)
