"""Compiled kernel, third pass: smooth the edges.

Where neighbouring pixels show different quads, the pixel is split into four samples. Which of the quads
around is the nearest at each sample is decided from their outlines and depth forms, and the colours that
those quads have in the neighbouring pixels are mixed. A cutout's outline says nothing of its leaves: its
pixels are mixed with those around them. Only pixels on an edge cost anything.
"""

import numpy as np

from virl.geo.globe import Floats, Ints
from virl.platform.city.streetview import Image
from virl.towns.render.kernel import inline_kernel, kernel
from virl.towns.render.mesh import Singles
from virl.towns.render.raster import GeometryBuffer

# A rotated grid: each sample has its own row and its own column of quarters.
_RIGHT, _DOWN = (0.125, 0.375, -0.125, -0.375), (-0.375, 0.125, 0.375, -0.125)
_ALL = 15
"""Bits of all four samples of a pixel."""
_PASSING = 0.4
"""Pixels from a pixel's middle, across plus down, within which all its samples lie, and more."""

FAINT = 10
"""Least difference of colours, of 255, across an edge that is smoothed; chosen."""
_TOWARDS = (_ALL, 1 << 0, 1 << 2, 1 << 3, 1 << 1)
"""Bits of a pixel's samples that a cutout covers: all from the pixel itself, one from each neighbour."""


@kernel
def smooth_edges(drawing: GeometryBuffer, sharp: Image, picture: Image) -> None:
    """Write to `picture`, a copy of `sharp`, its pixels on the edges of quads, smoothed.

    Args:
        drawing: with its quads drawn.
        sharp: the picture without smoothing.
        picture: its copy; is changed.
    """
    # Taken out of the tuple once: to do so for each pixel would cost more than the work itself.
    shown, forms, polygons, counts = drawing.shown, drawing.forms, drawing.polygons, drawing.counts
    depth = drawing.depth
    height, width = shown.shape
    around, best, depths = np.empty((5, 3), np.int64), np.empty(4, np.int64), np.empty(4)
    for row in range(height):
        above, below = max(row - 1, 0), min(row + 1, height - 1)
        for column in range(width):
            left, right = max(column - 1, 0), min(column + 1, width - 1)
            own, up, down = shown[row, column], shown[above, column], shown[below, column]
            if own == up and own == down and own == shown[row, left] and own == shown[row, right]:
                continue
            _note(around, 0, own, row, column)
            _note(around, 1, up, above, column)
            _note(around, 2, down, below, column)
            _note(around, 3, shown[row, left], row, left)
            _note(around, 4, shown[row, right], row, right)
            if not _visible(sharp, around):
                continue
            if _is_leaf_before(counts, depth, around):
                for c in range(3):
                    total = 4 + 4 * np.int64(sharp[row, column, c]) + sharp[above, column, c]
                    total += np.int64(sharp[below, column, c]) + sharp[row, left, c] + sharp[row, right, c]
                    picture[row, column, c] = total >> 3
            else:
                _compete(forms, polygons, counts, around, row + 0.5, column + 0.5, best, depths)
                for c in range(3):
                    # Half of the divisor: the shift below then rounds to the nearest.
                    total = 2
                    for sample in range(4):
                        total += sharp[around[best[sample], 1], around[best[sample], 2], c]
                    picture[row, column, c] = total >> 2


@inline_kernel
def _note(around: Ints, n: int, k: int, row: int, column: int) -> None:
    """Write quad `k` and its pixel (row, column) to entry `n` of `around`."""
    around[n, 0], around[n, 1], around[n, 2] = k, row, column


@inline_kernel
def _visible(sharp: Image, around: Ints) -> bool:
    """Return whether a pixel and its neighbours differ visibly in colour."""
    row, column = around[0, 1], around[0, 2]
    for n in range(1, 5):
        y, x = around[n, 1], around[n, 2]
        for c in range(3):
            if abs(np.int64(sharp[row, column, c]) - np.int64(sharp[y, x, c])) > FAINT:
                return True
    return False


@inline_kernel
def _is_leaf_before(counts: Ints, depth: Singles, around: Ints) -> bool:
    """Return whether a pixel shows a cutout, and none of its neighbours shows something whole before it."""
    if around[0, 0] < 0 or counts[around[0, 0]] >= 0:
        return False
    nearest = depth[around[0, 1], around[0, 2]]
    for n in range(1, 5):
        k = around[n, 0]
        if k >= 0 and counts[k] >= 0 and depth[around[n, 1], around[n, 2]] > nearest:
            return False
    return True


@inline_kernel
def _compete(
    forms: Floats,
    polygons: Floats,
    counts: Ints,
    around: Ints,
    y: float,
    x: float,
    best: Ints,
    depths: Floats,
) -> None:
    """Write to `best` which quad in `around` is the nearest at each of the four samples of pixel (x, y).

    Args:
        forms: of the drawing.
        polygons: of the drawing.
        counts: of the drawing.
        around: the quads of the pixel and its neighbours, the own one first, (5, 3).
        y: middle of the pixel.
        x: middle of the pixel.
        best: receives the places of the nearest quads in `around`, (4,).
        depths: scratch, (4,).
    """
    for sample in range(4):
        best[sample], depths[sample] = 0, -1.0
    for n in range(5):
        k = around[n, 0]
        # The same quad in a neighbour: the pixel's own colour serves.
        if n > 0 and k == around[0, 0]:
            continue
        # Met in a neighbour before, where it has won all that it can; a cutout differs from side to side.
        if (
            n > 1
            and (k < 0 or counts[k] >= 0)
            and (k == around[n - 1, 0] or (n > 2 and k == around[1, 0]) or (n > 3 and k == around[2, 0]))
        ):
            continue
        if k < 0:
            for sample in range(4):
                if depths[sample] < 0.0:
                    best[sample], depths[sample] = n, 0.0
            continue
        held = _TOWARDS[n] if counts[k] < 0 else _samples_in(polygons, k, counts[k], x, y)
        for sample in range(4 if held else 0):
            w = forms[k, 0] + forms[k, 1] * (x + _RIGHT[sample]) + forms[k, 2] * (y + _DOWN[sample])
            if (held >> sample) & 1 and w > depths[sample]:
                best[sample], depths[sample] = n, w


@inline_kernel
def _samples_in(polygons: Floats, k: int, count: int, x: float, y: float) -> int:
    """Return the samples of the pixel at (x, y) within a convex outline, as four bits."""
    left, right = 0, 0
    to_x, to_y = polygons[k, count - 1, 0], polygons[k, count - 1, 1]
    for i in range(count):
        from_x, from_y, to_x, to_y = to_x, to_y, polygons[k, i, 0], polygons[k, i, 1]
        dx, dy = to_x - from_x, to_y - from_y
        middle = dx * (y - from_y) - dy * (x - from_x)
        # Most sides pass the pixel by, on the same hand of all its samples.
        if abs(middle) > _PASSING * (abs(dx) + abs(dy)):
            left, right = (_ALL, right) if middle > 0.0 else (left, _ALL)
            if left & right == _ALL:
                return 0
            continue
        for sample in range(4):
            side = middle + dx * _DOWN[sample] - dy * _RIGHT[sample]
            if side > 0.0:
                left |= 1 << sample
            elif side < 0.0:
                right |= 1 << sample
    # A sample with sides of the outline on both hands is outside, whichever way round it runs.
    return _ALL & ~(left & right)
