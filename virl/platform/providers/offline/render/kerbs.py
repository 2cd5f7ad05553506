"""How far each cell of the ground is from the nearest carriageway and pavement."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.geo import Floats
from virl.platform.providers.offline.render.areas import CELL_M, DISTANCE_UNIT_M, FAR_M
from virl.platform.providers.offline.render.kernel import inlined, kernel
from virl.platform.providers.offline.render.rasters import Heights, Indices
from virl.platform.providers.offline.render.segments import MARGIN_M

Directions = NDArray[np.int8]

PATH_REACH_M = 60.0  # of a path's nearness; chosen: more than any pavement is wide
KERBSIDE_M = 2.5  # a pavement goes on so wide beside a path of gravel that lies nearer; chosen
CLOSED_M = 2.0
"""Where two carriageways come nearer to each other than half of this, no sliver of pavement is left between
them; chosen: a traffic island is wider."""


class KerbRasters(NamedTuple):
    """Rasters, (rows, columns); distances in `DISTANCE_UNIT_M`, `FAR_M` away from all streets.

    Args:
        kerb: distance to the edge of the nearest carriageway, negative on it.
        stone: distance to the edge of the nearest paved pavement, negative on it.
        nearest: index of the segment of street whose carriageway is nearest.
    """

    kerb: Heights
    stone: Heights
    nearest: Indices


def measure_streets(segments: Floats, origin: Floats, shape: tuple[int, int]) -> KerbRasters:
    """Measure from segments as `street_segments` gives them, around each as far as `MARGIN_M` says."""
    far = int(FAR_M / DISTANCE_UNIT_M)
    kerb, nearest = np.full(shape, far, np.int16), np.zeros(shape, np.uint32)
    stone, uphill = kerb.copy(), np.zeros((*shape, 2), np.int8)
    is_path = segments[:, 12] == 1.0
    is_mixed = bool(is_path.any() and not is_path.all())
    apart = np.full((2, *shape), far, np.int16) if is_mixed else np.zeros((2, 0, 0), np.int16)
    _measure(segments, origin, kerb, stone, nearest, uphill, apart[0], apart[1])
    if is_mixed:
        street, path = apart
        np.clip(path, int(KERBSIDE_M / DISTANCE_UNIT_M), int(PATH_REACH_M / DISTANCE_UNIT_M), out=path)
        # A wide pavement lies along its kerb, or nearer to it than to a path of gravel.
        np.maximum(stone, np.subtract(street, path, out=street), out=stone)
    return KerbRasters(kerb, stone, nearest)


@kernel
def _measure(
    segments: Floats, origin: Floats, kerb: Heights, stone: Heights, nearest: Indices, uphill: Directions,
    street: Heights, path: Heights,
) -> None:  # fmt: skip
    """Write the distances around every segment.

    `uphill` receives the direction away from the nearest carriageway, (rows, columns, 2), in 1 / 127;
    `street` and `path`, unless they are empty, the distances to paved streets and to paths of gravel alone.
    """
    rows, columns = kerb.shape
    is_mixed = street.size > 0
    for i in range(len(segments)):
        x, y, ux, uy, length, half, pavement = (
            segments[i, 0] - origin[0], segments[i, 1] - origin[1], segments[i, 2], segments[i, 3],
            segments[i, 4], segments[i, 7], segments[i, 8],
        )  # fmt: skip
        is_stone = segments[i, 12] == 0.0
        reach = half + pavement + MARGIN_M
        y0, y1 = min(y, y + uy * length) - reach, max(y, y + uy * length) + reach
        for row in range(max(0, int(y0 / CELL_M)), min(rows, int(y1 / CELL_M) + 2)):
            dy = row * CELL_M - y
            x0, x1 = _reached(dy, ux, uy, length, reach)
            for column in range(max(0, int((x + x0) / CELL_M)), min(columns, int((x + x1) / CELL_M) + 2)):
                dx = column * CELL_M - x
                along = min(max(dx * ux + dy * uy, 0.0), length)
                out_x, out_y = dx - along * ux, dy - along * uy
                far = np.sqrt(out_x * out_x + out_y * out_y)
                away = min(far - half, FAR_M)
                units = _units(away)
                if is_stone:
                    stone[row, column] = min(stone[row, column], _units(away - pavement))
                if is_mixed and is_stone:
                    street[row, column] = min(street[row, column], units)
                elif is_mixed:
                    path[row, column] = min(path[row, column], units)
                before = kerb[row, column] / 256.0
                is_nearer = away < before
                if not is_nearer and away > before + CLOSED_M:
                    continue
                out_x, out_y = out_x * 127.0 / max(far, 1e-6), out_y * 127.0 / max(far, 1e-6)
                facing = -(out_x * uphill[row, column, 0] + out_y * uphill[row, column, 1]) / (127.0 * 127.0)
                closed = min(away, before) - _closing(abs(away - before), CLOSED_M * facing)
                kerb[row, column] = _units(closed)
                if is_nearer:
                    nearest[row, column] = i
                    uphill[row, column, 0], uphill[row, column, 1] = np.int8(out_x), np.int8(out_y)


@inlined
def _units(metres: float) -> np.int16:
    return np.int16(np.floor(metres * 256.0 + 0.5))


@inlined
def _reached(dy: float, ux: float, uy: float, length: float, reach: float) -> tuple[float, float]:
    """Where a line dy north of a segment's start comes within reach of it: metres east of that start."""
    low, high = 1e9, -1e9
    for end in (0.0, length):
        off = dy - uy * end
        if abs(off) <= reach:
            wide = np.sqrt(reach * reach - off * off)
            low, high = min(low, ux * end - wide), max(high, ux * end + wide)
    first, last = -1e9, 1e9
    if abs(ux) > 1e-9:
        a, b = -dy * uy / ux, (length - dy * uy) / ux
        first, last = max(first, min(a, b)), min(last, max(a, b))
    elif not 0.0 <= dy * uy <= length:
        return low, high
    if abs(uy) > 1e-9:
        a, b = (dy * ux - reach) / uy, (dy * ux + reach) / uy
        first, last = max(first, min(a, b)), min(last, max(a, b))
    elif abs(dy) > reach:
        return low, high
    if first <= last:
        low, high = min(low, first), max(high, last)
    return low, high


@inlined
def _closing(apart: float, within: float) -> float:
    """How far the lesser of two distances is lowered for the other: the polynomial smooth minimum."""
    if within <= apart:
        return 0.0
    return (within - apart) * (within - apart) / (4.0 * within)
