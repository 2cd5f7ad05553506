"""Compiled kernel, third pass: smooth the edges.

Where neighbouring pixels show different quads, the pixel is split into four samples. Which of the quads
around is the nearest at each sample is decided from their polygons and depth forms, and the colours that
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
_SAMPLES = ((0.125, -0.375), (0.375, 0.125), (-0.125, 0.375), (-0.375, -0.125))
FAINT = 10  # chosen: differences of colour below it make no visible stairs
_AROUND = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))


@kernel
def smooth_edges(drawing: Drawing, sharp: Image, picture: Image) -> None:
    """Write to `picture`, a copy of `sharp`, its pixels on the edges of quads, smoothed."""
    # Taken out of the tuple once: to do so for each pixel would cost more than the work itself.
    shown, forms, polygons, counts = drawing.shown, drawing.forms, drawing.polygons, drawing.counts
    height, width = shown.shape
    found = np.empty((5, 3), np.int64)
    for row in range(height):
        middle, above, below = shown[row], shown[max(row - 1, 0)], shown[min(row + 1, height - 1)]
        for column in range(width):
            own, up, down = middle[column], above[column], below[column]
            left, right = middle[max(column - 1, 0)], middle[min(column + 1, width - 1)]
            if own == up and own == down and own == left and own == right:
                continue
            if _leaf(counts, own) and _leaf(counts, up) and _leaf(counts, down):
                if _leaf(counts, left) and _leaf(counts, right):
                    continue
            count = _quads_around(shown, row, column, found)
            if _differ(sharp, found[:count]):
                _mix(forms, polygons, counts, sharp, picture, row, column, found[:count])


@inlined
def _leaf(counts: Ints, k: int) -> bool:
    """Whether a quad is a cutout."""
    return bool(k >= 0 and counts[k] < 0)


@inlined
def _quads_around(shown: NDArray[np.int32], row: int, column: int, found: Ints) -> int:
    """Write the different quads at a pixel and its neighbours, and where each is; return how many."""
    height, width = shown.shape
    count = 0
    for down, right in _AROUND:
        r, c = min(max(row + down, 0), height - 1), min(max(column + right, 0), width - 1)
        fresh = True
        for i in range(count):
            fresh = fresh and found[i, 0] != shown[r, c]
        if fresh:
            found[count, 0], found[count, 1], found[count, 2] = shown[r, c], r, c
            count += 1
    return count


@inlined
def _differ(sharp: Image, found: Ints) -> bool:
    """Whether the edges between quads can be seen."""
    row, column = found[0, 1], found[0, 2]
    contrast = 0
    for i in range(1, len(found)):
        for c in range(3):
            gap = int(sharp[row, column, c]) - int(sharp[found[i, 1], found[i, 2], c])
            contrast = max(contrast, abs(gap))
    return contrast > FAINT


@inlined
def _mix(
    forms: Floats,
    polygons: Floats,
    counts: Ints,
    sharp: Image,
    picture: Image,
    row: int,
    column: int,
    found: Ints,
) -> None:
    """Colour one pixel from the quads around it; the first of them is its own."""
    red = green = blue = 2
    for right, down in _SAMPLES:
        best, nearest = -1, 0.0
        for i in range(len(found)):
            k = found[i, 0]
            if k < 0:
                best = i if best < 0 else best
                continue
            if counts[k] < 0:
                # Its outline is not its polygon: it counts at home, and a little next door.
                if i > 0 and (found[i, 2] - column) * right + (found[i, 1] - row) * down < 0.3:
                    continue
            elif not _inside(polygons[k], counts[k], column + 0.5 + right, row + 0.5 + down):
                continue
            w = forms[k, 0] + forms[k, 1] * (column + 0.5 + right)
            w += forms[k, 2] * (row + 0.5 + down)
            if w > nearest:
                best, nearest = i, w
        best = max(best, 0)
        red += sharp[found[best, 1], found[best, 2], 0]
        green += sharp[found[best, 1], found[best, 2], 1]
        blue += sharp[found[best, 1], found[best, 2], 2]
    picture[row, column, 0] = red >> 2
    picture[row, column, 1] = green >> 2
    picture[row, column, 2] = blue >> 2


@inlined
def _inside(polygon: Floats, count: int, x: float, y: float) -> bool:
    """Whether a convex polygon of either orientation holds a point."""
    positive = negative = False
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        ax, ay = polygon[i, 0], polygon[i, 1]
        side = (polygon[j, 0] - ax) * (y - ay) - (polygon[j, 1] - ay) * (x - ax)
        positive = positive or side > 0.0
        negative = negative or side < 0.0
    return not (positive and negative)
