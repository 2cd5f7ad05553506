"""Which tiles of a panorama a view is made of."""

from math import ceil

import numpy as np

from virl.platform.attitude import Attitude
from virl.platform.providers.graph.projection import PAD, sample_points
from virl.platform.streetview import Camera

Tile = tuple[int, int]
"""Column and row, counted from the top left."""


def tiles_seen(camera: Camera, attitude: Attitude, width: int, height: int, tile: int) -> set[Tile]:
    """The tiles that `perspective` samples for a camera.

    Args:
        camera: the camera.
        attitude: how the panorama was held.
        width: pixels of the panorama.
        height: pixels of the panorama.
        tile: pixels of a side of a tile.
    """
    columns, rows = sample_points(attitude, camera, width, height)
    u = np.floor(columns).astype(np.int64)
    v = np.floor(rows - PAD).astype(np.int64)
    seen = np.zeros((ceil(height / tile), ceil(width / tile)), bool)
    for right_one in (0, 1):
        for lower in (0, 1):
            row, over = v + lower, (v + lower < 0) | (v + lower >= height)
            column = np.where(over, u + right_one + width // 2, u + right_one) % width
            seen[np.clip(row, 0, height - 1) // tile, column // tile] = True
    return {(int(x), int(y)) for y, x in np.argwhere(seen)}
