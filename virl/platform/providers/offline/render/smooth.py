"""Compiled kernel, third pass: smooth the edges.

Where neighbouring pixels show different quads, the pixel is split into four samples. Which of the quads
around is the nearest at each sample is decided from their outlines and depth forms, and the colours that
those quads have in the neighbouring pixels are mixed. Only pixels on an edge cost anything.
"""

import numpy as np
from numpy.typing import NDArray

from virl.platform.providers.offline.render.kernel import inlined, kernel
from virl.platform.providers.offline.render.raster import Drawing
from virl.platform.streetview import Image

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A rotated grid: each sample has its own row and its own column of quarters.
_SAMPLES_RIGHT, _SAMPLES_DOWN = (0.125, 0.375, -0.125, -0.375), (-0.375, 0.125, 0.375, -0.125)
_RIGHT, _DOWN = (0, 0, -1, 1), (-1, 1, 0, 0)
"""The four neighbours of a pixel."""

FAINT = 10  # chosen: differences of colour below it make no visible stairs
NEXT_DOOR = 0.3  # a cutout counts in samples this far towards it, in pixels; chosen


@kernel
def smooth_edges(drawing: Drawing, sharp: Image, picture: Image) -> None:
    """Write to `picture`, a copy of `sharp`, its pixels on the edges of quads, smoothed."""
    # Taken out of the tuple once: to do so for each pixel would cost more than the work itself.
    shown, forms, polygons, counts = drawing.shown, drawing.forms, drawing.polygons, drawing.counts
    height, width = shown.shape
    around = np.empty((4, 3), np.int64)
    for row in range(height):
        above, below = max(row - 1, 0), min(row + 1, height - 1)
        for column in range(width):
            left, right = max(column - 1, 0), min(column + 1, width - 1)
            own = shown[row, column]
            if (
                own == shown[above, column]
                and own == shown[below, column]
                and own == shown[row, left]
                and own == shown[row, right]
            ):
                continue
            leaves, contrast = _is_cutout(counts, own), 0
            for n in range(4):
                r, c = min(max(row + _DOWN[n], 0), height - 1), min(max(column + _RIGHT[n], 0), width - 1)
                around[n, 0], around[n, 1], around[n, 2] = shown[r, c], r, c
                leaves = leaves and _is_cutout(counts, shown[r, c])
                for i in range(3):
                    contrast = max(contrast, abs(int(sharp[row, column, i]) - int(sharp[r, c, i])))
            if contrast > FAINT and not leaves:
                _mix(forms, polygons, counts, sharp, picture, row, column, own, around)


@inlined
def _is_cutout(counts: Ints, k: int) -> bool:
    return bool(k >= 0 and counts[k] < 0)


@inlined
def _mix(
    forms: Floats, polygons: Floats, counts: Ints, sharp: Image, picture: Image,
    row: int, column: int, own: int, around: Ints,
) -> None:  # fmt: skip
    """Colour one pixel from its own quad and those around it."""
    red = green = blue = 2
    for sample in range(4):
        right, down = _SAMPLES_RIGHT[sample], _SAMPLES_DOWN[sample]
        x, y = column + 0.5 + right, row + 0.5 + down
        from_row, from_column = row, column
        nearest = _depth(forms, polygons, counts, own, x, y)
        for n in range(4):
            k = around[n, 0]
            if k == own or (_is_cutout(counts, k) and _RIGHT[n] * right + _DOWN[n] * down < NEXT_DOOR):
                continue
            depth = _depth(forms, polygons, counts, k, x, y)
            if depth > nearest:
                nearest, from_row, from_column = depth, around[n, 1], around[n, 2]
        red += sharp[from_row, from_column, 0]
        green += sharp[from_row, from_column, 1]
        blue += sharp[from_row, from_column, 2]
    picture[row, column, 0] = red >> 2
    picture[row, column, 1] = green >> 2
    picture[row, column, 2] = blue >> 2


@inlined
def _depth(forms: Floats, polygons: Floats, counts: Ints, k: int, x: float, y: float) -> float:
    """The form W of a quad at a point; 0 for the background, -1 beside the quad's outline."""
    if k < 0:
        return 0.0
    positive = negative = False
    count = counts[k]  # below 0 for a cutout, whose outline says little
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        ax, ay = polygons[k, i, 0], polygons[k, i, 1]
        side = (polygons[k, j, 0] - ax) * (y - ay) - (polygons[k, j, 1] - ay) * (x - ax)
        positive = positive or side > 0.0
        negative = negative or side < 0.0
    if positive and negative:
        return -1.0
    return float(forms[k, 0] + forms[k, 1] * x + forms[k, 2] * y)
