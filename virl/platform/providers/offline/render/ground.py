"""The ground: what lies at each point of the plane z = 0, as rasters drawn from the plan."""

from functools import lru_cache
from math import floor
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.platform.providers.offline.plan import StreetPlan
from virl.platform.providers.offline.render.areas import (
    CELL_M,
    DISTANCE_UNIT_M,
    FAR_M,
    shadows,
    share_of,
    signed_distance,
    sow_lawns,
)
from virl.platform.providers.offline.render.kernel import inlined, kernel
from virl.platform.providers.offline.render.segments import MARGIN_M, segments_within, street_segments

Floats = NDArray[np.float64]
Heights = NDArray[np.int16]
Indices = NDArray[np.uint32]
Shares = NDArray[np.uint8]
Cell = tuple[int, int, float, float]

RIM_M = 80.0  # ground kept around the streets
WHOLE_M = 3000.0  # a plan no longer and no wider has one raster; chosen: 130 MB
PATCH_M = 500.0
SEEN_M = 750.0  # ground around a patch: farther off, haze hides it (`light.py`); chosen
PATCHES = 3  # kept at a time: 50 MB each
SHADOW_M = 100.0  # how far off a building may stand that throws one; chosen
BED_M = 1.9  # half the width of a railway's bed; chosen
PATH_REACH_M = 60.0  # of a path's nearness; chosen: more than any pavement is wide
KERBSIDE_M = 2.5  # a pavement goes on so wide beside a path of gravel that lies nearer; chosen
CLOSED_M = 2.0
"""Where two carriageways come nearer to each other than half of this, no sliver of pavement is left between
them; chosen: a traffic island is wider."""


class GroundRasters(NamedTuple):
    """Rasters over the city, (rows, columns), row 0 in the south.

    Args:
        origin: metres, the centre of cell (0, 0).
        kerb: distance to the edge of the nearest carriageway, negative on it, in `DISTANCE_UNIT_M`.
        parks: distance to the edge of the nearest park, negative in it, in `DISTANCE_UNIT_M`.
        nearest: index of the segment of street whose carriageway is nearest.
        stone: distance to the edge of the nearest paved pavement, negative on it, in `DISTANCE_UNIT_M`.
        shadow: share of the sun that is kept off, 0 to 255.
        water: share of water, 0 to 255; its edge is where it is half.
        gravel: share of gravel outside pavements, in the same way.
        paved: whether the ground outside pavements and parks is paved; else it is lawn.
        paths: whether a path of gravel runs along the inner edge of every park.
        segments: see `SEGMENT_FIELDS`.
        per_cell: cells in a metre.
    """

    origin: Floats
    kerb: Heights
    parks: Heights
    nearest: Indices
    stone: Heights
    shadow: Shares
    water: Shares
    gravel: Shares
    paved: bool
    paths: bool
    segments: Floats
    per_cell: float


class Grounds:
    """The ground of a plan: one raster, or for a large plan one around wherever it is looked from.

    Args:
        plan: what to draw.
    """

    def __init__(self, plan: StreetPlan) -> None:
        self._plan = plan
        self._segments = street_segments(plan)
        everything = np.concatenate([street.line for street in plan.streets])
        self._low, self._high = everything.min(axis=0) - RIM_M, everything.max(axis=0) + RIM_M
        self._whole = bool(np.all(self._high - self._low <= WHOLE_M))
        self._patch = lru_cache(maxsize=PATCHES)(self._lay)

    def around(self, x: float, y: float) -> GroundRasters:
        """The ground that is seen from a point."""
        if self._whole:
            return self._patch(0, 0)
        return self._patch(floor((x - self._low[0]) / PATCH_M), floor((y - self._low[1]) / PATCH_M))

    def _lay(self, across: int, up: int) -> GroundRasters:
        if self._whole:
            return lay_ground(self._plan, self._segments, self._low, self._high)
        corner = self._low + np.array([across, up]) * PATCH_M
        low = np.maximum(corner - SEEN_M, self._low)
        high = np.minimum(corner + PATCH_M + SEEN_M, self._high)
        return lay_ground(self._plan, self._segments, low, np.maximum(high, low + RIM_M))


def lay_ground(plan: StreetPlan, segments: Floats, low: Floats, high: Floats) -> GroundRasters:
    """Draw the ground of a plan between two corners, in metres; segments as `street_segments` gives them."""
    origin = low
    segments = segments_within(segments, low, high)
    columns, rows = np.ceil((high - origin) / CELL_M).astype(int) + 1
    kerb = np.full((rows, columns), int(FAR_M / DISTANCE_UNIT_M), np.int16)
    stone, nearest = kerb.copy(), np.zeros((rows, columns), np.uint32)
    uphill = np.zeros((rows, columns, 2), np.int8)
    _measure_streets(segments, origin, CELL_M, kerb, stone, nearest, uphill)
    np.maximum(stone, _beside_paths(segments, origin, kerb.shape), out=stone)
    box = shapely.box(*low, *high)
    parks = signed_distance([park for park in plan.parks if park.intersects(box)], origin, kerb.shape)
    west, south, east, north = *(low - SHADOW_M), *(high + SHADOW_M)
    near = shapely.box(west, south, east, north)
    buildings = [one for one in plan.buildings if one.footprint.intersects(near)]
    furniture = [one for one in plan.furniture if west <= one.x <= east and south <= one.y <= north]
    sow_lawns(parks, plan.paved_from, buildings, origin)
    beds = [shapely.buffer(shapely.LineString(one.line), BED_M) for one in plan.tracks if one.is_ballasted]
    return GroundRasters(
        origin,
        kerb,
        parks,
        nearest,
        stone,
        shadows(furniture, buildings, origin, kerb.shape),
        share_of([area for area in plan.waters if area.intersects(box)], origin, kerb.shape),
        share_of([area for area in (*plan.gravels, *beds) if area.intersects(box)], origin, kerb.shape),
        plan.paved_from < 1,
        plan.paved_from >= 1,
        segments,
        1 / CELL_M,
    )


@kernel
def _measure_streets(
    segments: Floats, origin: Floats, cell: float, kerb: Heights, stone: Heights, nearest: Indices,
    uphill: NDArray[np.int8],
) -> None:  # fmt: skip
    """Write the distances to the nearest carriageway and pavement and the segment around every segment.

    `uphill` receives the direction away from the nearest carriageway, (rows, columns, 2), in 1 / 127.
    """
    rows, columns = kerb.shape
    for i in range(len(segments)):
        x, y, ux, uy, length, half, pavement = (
            segments[i, 0], segments[i, 1], segments[i, 2], segments[i, 3], segments[i, 4], segments[i, 7],
            segments[i, 8],
        )  # fmt: skip
        reach = half + pavement + MARGIN_M
        x0, x1 = min(x, x + ux * length) - reach, max(x, x + ux * length) + reach
        y0, y1 = min(y, y + uy * length) - reach, max(y, y + uy * length) + reach
        first_row, end_row = max(0, int((y0 - origin[1]) / cell)), min(rows, int((y1 - origin[1]) / cell) + 2)
        first, end = max(0, int((x0 - origin[0]) / cell)), min(columns, int((x1 - origin[0]) / cell) + 2)
        is_stone = segments[i, 12] == 0.0
        for row in range(first_row, end_row):
            dy = origin[1] + row * cell - y
            for column in range(first, end):
                dx = origin[0] + column * cell - x
                along = min(max(dx * ux + dy * uy, 0.0), length)
                out_x, out_y = dx - along * ux, dy - along * uy
                far = np.hypot(out_x, out_y)
                away = min(far - half, 120.0)
                if is_stone and (away - pavement) * 256.0 < stone[row, column]:
                    stone[row, column] = np.int16(round((away - pavement) * 256.0))
                before = kerb[row, column] / 256.0
                is_nearer = away < before
                if not is_nearer and away > before + CLOSED_M:
                    continue
                out_x, out_y = out_x * 127.0 / max(far, 1e-6), out_y * 127.0 / max(far, 1e-6)
                facing = -(out_x * uphill[row, column, 0] + out_y * uphill[row, column, 1]) / (127.0 * 127.0)
                closed = min(away, before) - _closing(abs(away - before), CLOSED_M * facing)
                kerb[row, column] = np.int16(round(closed * 256.0))
                if is_nearer:
                    nearest[row, column] = i
                    uphill[row, column, 0], uphill[row, column, 1] = np.int8(out_x), np.int8(out_y)


def _beside_paths(segments: Floats, origin: Floats, shape: tuple[int, int]) -> Heights:
    """Below 0 where a wide pavement may lie: along its kerb, or nearer to it than to a path of gravel."""
    is_path = segments[:, 12] == 1.0
    if not is_path.any() or is_path.all():
        return np.full(shape, -int(FAR_M / DISTANCE_UNIT_M), np.int16)
    away = []
    for chosen in (segments[~is_path], segments[is_path]):
        to_kerb = np.full(shape, int(FAR_M / DISTANCE_UNIT_M), np.int16)
        rest = np.empty_like(to_kerb), np.zeros(shape, np.uint32), np.zeros((*shape, 2), np.int8)
        _measure_streets(chosen, origin, CELL_M, to_kerb, *rest)
        away.append(to_kerb)
    street, path = away
    return street - np.maximum(
        np.minimum(path, int(PATH_REACH_M / DISTANCE_UNIT_M)), int(KERBSIDE_M / DISTANCE_UNIT_M)
    )


@inlined
def _closing(apart: float, within: float) -> float:
    """How far the lesser of two distances is lowered for the other: the polynomial smooth minimum."""
    if within <= apart:
        return 0.0
    return (within - apart) * (within - apart) / (4.0 * within)


class RasterGrid(NamedTuple):
    """Where the cells of the ground's rasters lie."""

    x: float
    y: float
    per_metre: float
    columns: int
    rows: int


def grid_of(ground: GroundRasters) -> RasterGrid:
    """Where the cells of some rasters lie."""
    rows, columns = ground.kerb.shape
    return RasterGrid(float(ground.origin[0]), float(ground.origin[1]), ground.per_cell, columns, rows)


@inlined
def cell_at(grid: RasterGrid, x: float, y: float) -> Cell:
    """Column and row of the cell south-west of a point, and the way to the next ones, [0, 1)."""
    px, py = (x - grid.x) * grid.per_metre, (y - grid.y) * grid.per_metre
    px, py = min(max(px, 0.0), grid.columns - 1.001), min(max(py, 0.0), grid.rows - 1.001)
    c, r = int(px), int(py)
    return c, r, px - c, py - r


@inlined
def raster_at(raster: NDArray[np.generic], cell: Cell) -> tuple[float, float, float]:
    """Value of a raster between four cells, and its differences per cell along x and y."""
    c, r, fx, fy = cell
    a, b = float(raster[r, c]), float(raster[r, c + 1])
    d, e = float(raster[r + 1, c]), float(raster[r + 1, c + 1])
    low, high = a + (b - a) * fx, d + (e - d) * fx
    return low + (high - low) * fy, (b - a) * (1.0 - fy) + (e - d) * fy, high - low


@inlined
def segment_at(nearest: Indices, cell: Cell) -> int:
    """The segment of street whose carriageway is nearest."""
    return int(nearest[cell[1] + int(cell[3] + 0.5), cell[0] + int(cell[2] + 0.5)])


@inlined
def along_street(segments: Floats, i: int, x: float, y: float) -> tuple[float, float]:
    """Metres along a segment from its start, and to its left."""
    dx, dy, ux, uy = x - segments[i, 0], y - segments[i, 1], segments[i, 2], segments[i, 3]
    return dx * ux + dy * uy, dy * ux - dx * uy
