"""Compiled kernel, third pass: smooth the edges.

Where neighbouring pixels show different quads, the pixel is split into four samples. Which of the quads
around is the nearest at each sample is decided from their polygons and depth forms, and the colours that
those quads have in the neighbouring pixels are mixed. Only pixels on an edge cost anything.
"""

import numpy as np
from virl.platform.providers.offline.render.kernel import inlined, kernel

from virl.platform.providers.offline.render.mesh import CUTOUT

# A rotated grid: each sample has its own row and its own column of quarters.
_SAMPLES = ((0.125, -0.375), (0.375, 0.125), (-0.125, 0.375), (-0.375, -0.125))
_AROUND = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))


@inlined
def _inside(polygon, count, x, y):
    """Whether a convex polygon of either orientation holds a point."""
    positive = negative = False
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        ax, ay = polygon[i, 0], polygon[i, 1]
        side = (polygon[j, 0] - ax) * (y - ay) - (polygon[j, 1] - ay) * (x - ax)
        positive = positive or side > 0.0
        negative = negative or side < 0.0
        if positive and negative:
            return False
    return True


@kernel
def smooth_edges(order, shown, forms, polygons, counts, mode, sharp, picture):
    """Copy `sharp` to `picture` with the edges of quads smoothed."""
    height, width = shown.shape
    ids = np.empty(5, np.int32)
    rows = np.empty(5, np.int64)
    columns = np.empty(5, np.int64)
    for row in range(height):
        for column in range(width):
            own = shown[row, column]
            up = shown[max(row - 1, 0), column]
            down = shown[min(row + 1, height - 1), column]
            left = shown[row, max(column - 1, 0)]
            right = shown[row, min(column + 1, width - 1)]
            if own == up and own == down and own == left and own == right:
                for c in range(3):
                    picture[row, column, c] = sharp[row, column, c]
                continue
            found = 0
            for dy, dx in _AROUND:
                r, c = min(max(row + dy, 0), height - 1), min(max(column + dx, 0), width - 1)
                fresh = True
                for i in range(found):
                    fresh = fresh and ids[i] != shown[r, c]
                if fresh:
                    ids[found], rows[found], columns[found] = shown[r, c], r, c
                    found += 1
            red = green = blue = 0
            for ox, oy in _SAMPLES:
                x, y = column + 0.5 + ox, row + 0.5 + oy
                best, nearest = -1, 0.0
                for i in range(found):
                    k = ids[i]
                    if k < 0:
                        if best < 0:
                            best = i
                        continue
                    if mode[order[k]] == CUTOUT:
                        # Its outline is not its polygon: it counts at home, and a little next door.
                        if i > 0 and (columns[i] - column) * ox + (rows[i] - row) * oy < 0.3:
                            continue
                    elif not _inside(polygons[k], counts[k], x, y):
                        continue
                    w = forms[k, 0] + forms[k, 1] * x + forms[k, 2] * y
                    if w > nearest:
                        best, nearest = i, w
                if best < 0:
                    best = 0
                red += sharp[rows[best], columns[best], 0]
                green += sharp[rows[best], columns[best], 1]
                blue += sharp[rows[best], columns[best], 2]
            picture[row, column, 0] = (red + 2) >> 2
            picture[row, column, 1] = (green + 2) >> 2
            picture[row, column, 2] = (blue + 2) >> 2
