"""Distances to kerbs and pavements: rasters that tell each point of the ground its nearest street."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats
from virl.towns.render.kernel import inline_kernel, kernel
from virl.towns.render.rasters import CELL_M, Heights, Indices
from virl.towns.render.segments import MARGIN_M

DISTANCE_UNIT_M = 1 / 256
FAR_M = 120.0
_PATH_REACH_M = 60.0
"""Distance in metres from a gravel path beyond which it does not change the ground; chosen."""
_KERBSIDE_M = 2.5
"""Width in metres of pavement beside a street that stays paved even where a gravel path is nearer; chosen."""
_CLOSED_M = 2.0
"""Twice the gap in metres between two carriageways up to which no sliver of pavement is left there.
Chosen: a traffic island is wider."""
Directions = NDArray[np.int8]


class KerbRasters(NamedTuple):
    """Distances to streets as rasters, (rows, columns), in `DISTANCE_UNIT_M`; `FAR_M` far from all streets.

    Args:
        kerb: distance to the edge of the nearest carriageway, negative on it.
        stone: distance to the edge of the nearest paved pavement, negative on it.
        nearest: index of the segment of street whose carriageway is nearest.
    """

    kerb: Heights
    stone: Heights
    nearest: Indices


def measure_streets(segments: Floats, origin: Floats, shape: tuple[int, int]) -> KerbRasters:
    """Return the distances of raster cells to streets, exact up to `MARGIN_M` metres from each segment.

    Args:
        segments: as `street_segments` gives them.
        origin: south-west corner, metres.
        shape: rows and columns.
    """
    far = int(FAR_M / DISTANCE_UNIT_M)
    kerb, nearest = np.full(shape, far, np.int16), np.zeros(shape, np.uint32)
    stone, uphill = kerb.copy(), np.zeros((*shape, 2), np.int8)
    is_path = segments[:, 12] == 1.0
    is_mixed = bool(is_path.any() and not is_path.all())
    apart = np.full((2, *shape), far, np.int16) if is_mixed else np.zeros((2, 0, 0), np.int16)
    _measure(segments, origin, kerb, stone, nearest, uphill, apart[0], apart[1])
    if is_mixed:
        street, path = apart
        np.clip(path, int(_KERBSIDE_M / DISTANCE_UNIT_M), int(_PATH_REACH_M / DISTANCE_UNIT_M), out=path)
        # A wide pavement lies along its kerb, or nearer to it than to a path of gravel.
        np.maximum(stone, np.subtract(street, path, out=street), out=stone)
    return KerbRasters(kerb, stone, nearest)


@kernel
def _measure(
    segments: Floats, origin: Floats, kerb: Heights, stone: Heights, nearest: Indices, uphill: Directions,
    street: Heights, path: Heights,
) -> None:  # fmt: skip
    """Write for each cell its nearest street segment, the direction away from that, and distances to streets.

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
        reach, aloof = half + pavement + MARGIN_M, segments[i, 13]
        y0, y1 = min(y, y + uy * length) - reach, max(y, y + uy * length) + reach
        for row in range(max(0, int(y0 / CELL_M)), min(rows, int(y1 / CELL_M) + 2)):
            dy = row * CELL_M - y
            x0, x1 = _reach_along(dy, ux, uy, length, reach)
            for column in range(max(0, int((x + x0) / CELL_M)), min(columns, int((x + x1) / CELL_M) + 2)):
                dx = column * CELL_M - x
                # The nearest point of the segment; beyond its ends it is the end itself.
                along = min(max(dx * ux + dy * uy, 0.0), length)
                out_x, out_y = dx - along * ux, dy - along * uy
                far = np.sqrt(out_x * out_x + out_y * out_y)
                if is_stone:
                    stone[row, column] = min(stone[row, column], _units(min(far - half, FAR_M) - pavement))
                away = min(far - half + aloof, FAR_M)
                units = _units(away)
                if is_mixed and is_stone:
                    street[row, column] = min(street[row, column], units)
                elif is_mixed and segments[i, 12] == 1.0:
                    path[row, column] = min(path[row, column], units)
                before = kerb[row, column] / 256.0
                is_nearer = away < before
                # Nothing is closed from here on: `facing` is 1 at most.
                if not is_nearer and away > before + _CLOSED_M:
                    continue
                out_x, out_y = out_x * 127.0 / max(far, 1e-6), out_y * 127.0 / max(far, 1e-6)
                # 1 between carriageways that lie opposite, below 0 for pieces of one street on the same side.
                facing = -(out_x * uphill[row, column, 0] + out_y * uphill[row, column, 1]) / (127.0 * 127.0)
                if min(half, segments[nearest[row, column], 7]) < 0.0:
                    facing = 0.0  # a path beside a carriageway leaves its kerb straight
                closed = min(away, before) - _smooth_lowering(abs(away - before), _CLOSED_M * facing)
                kerb[row, column] = _units(closed)
                if is_nearer:
                    nearest[row, column] = i
                    uphill[row, column, 0], uphill[row, column, 1] = np.int8(out_x), np.int8(out_y)


@inline_kernel
def _units(metres: float) -> np.int16:
    """Return a distance in metres in raster units of 1/256 metre."""
    return np.int16(np.floor(metres * 256.0 + 0.5))


@inline_kernel
def _reach_along(dy: float, ux: float, uy: float, length: float, reach: float) -> tuple[float, float]:
    """Return (first, last) metres east of a segment's start within its reach, on a row `dy` metres north."""
    low, high = 1e9, -1e9
    # The reach is round at both ends of the segment.
    for end in (0.0, length):
        off = dy - uy * end
        if abs(off) <= reach:
            wide = np.sqrt(reach * reach - off * off)
            low, high = min(low, ux * end - wide), max(high, ux * end + wide)
    # Between the ends it is a stripe to both sides, which the row cuts along and across.
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


@inline_kernel
def _smooth_lowering(apart: float, within: float) -> float:
    """Return how far a smooth minimum of values `apart` apart lies below the lesser; 0 from `within` on."""
    if within <= apart:
        return 0.0
    return (within - apart) * (within - apart) / (4.0 * within)
