"""The ground: what lies at each point of the plane z = 0, as rasters drawn from the plan."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import floor
from typing import NamedTuple

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LinearRing, Polygon

from virl.platform.providers.offline.plan import Building, Street, StreetPlan
from virl.platform.providers.offline.render.kernel import inlined, kernel
from virl.platform.providers.offline.render.light import SUN
from virl.platform.providers.offline.render.markings import NO_ZEBRA_M, ZEBRA_LENGTH_M

Floats = NDArray[np.float64]
Heights = NDArray[np.int16]
Indices = NDArray[np.uint32]
Shares = NDArray[np.uint8]
Cell = tuple[int, int, float, float]

CELL_M = 0.75  # chosen: kerbs of the blended distance turn corners with about this radius
RIM_M = 80.0  # ground kept around the streets
DISTANCE_UNIT_M = 1 / 256
FAR_M = 120.0
WHOLE_M = 3000.0  # a plan no longer and no wider has one raster; chosen: 130 MB
PATCH_M = 500.0
SEEN_M = 750.0  # ground around a patch: farther off, haze hides it (`light.py`); chosen
PATCHES = 3  # kept at a time: 50 MB each
SHADOW_M = 100.0  # how far off a building may stand that throws one; chosen
BED_M = 1.9  # half the width of a railway's bed; chosen
BUILT_M = 120.0  # side of the square that is looked at for how dense houses stand; chosen
LAWN_SLOPE_M = 1000.0  # what a share stands for in metres, so that the edge of a lawn is smooth; chosen
MARGIN_M = 4.0  # beyond a pavement, where distances to the kerb still count
PATH_REACH_M = 60.0  # of a path's nearness; chosen: more than any pavement is wide
KERBSIDE_M = 2.5  # a pavement goes on so wide beside a path of gravel that lies nearer; chosen
CLOSED_M = 2.0
"""Where two carriageways come nearer to each other than half of this, no sliver of pavement is left between
them; chosen: a traffic island is wider."""

ASIDE_M = 0.8  # of a street beside a mapped zebra, which is its own piece: more than a cell
ZEBRA_STREET_M = 45.0  # a shorter street has no zebras at its ends
NO_ROAD_M = -0.25  # half of the width of no carriageway: so far in, no kerb is drawn either
DASH_ROAD_M = 6.0  # a narrower road has no centre line

SEGMENT_FIELDS = 13
"""Columns of a segment: x, y, direction x, y, length, metres of street before it, length of its street,
half its road, its pavement, where the zebra at the street's start begins, where the one at its end does
(both measured from that end, `NO_ZEBRA_M` or more for none), 1 where a centre line is painted, and 1 where
its pavement is gravel."""


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
    segments = _within(segments, low, high)
    columns, rows = np.ceil((high - origin) / CELL_M).astype(int) + 1
    kerb = np.full((rows, columns), int(FAR_M / DISTANCE_UNIT_M), np.int16)
    stone, nearest = kerb.copy(), np.zeros((rows, columns), np.uint32)
    uphill = np.zeros((rows, columns, 2), np.int8)
    _measure_streets(segments, origin, CELL_M, kerb, stone, nearest, uphill)
    np.maximum(stone, _beside_paths(segments, origin, kerb.shape), out=stone)
    box = shapely.box(*low, *high)
    parks = _signed_distance([park for park in plan.parks if park.intersects(box)], origin, kerb.shape)
    near = shapely.box(*(low - SHADOW_M), *(high + SHADOW_M))
    buildings = [one for one in plan.buildings if one.footprint.intersects(near)]
    _sow_lawns(parks, plan.paved_from, buildings, origin)
    beds = [shapely.buffer(shapely.LineString(one.line), BED_M) for one in plan.tracks if one.is_ballasted]
    return GroundRasters(
        origin,
        kerb,
        parks,
        nearest,
        stone,
        _shadows(plan, buildings, origin, kerb.shape),
        _share_of([area for area in plan.waters if area.intersects(box)], origin, kerb.shape),
        _share_of([area for area in (*plan.gravels, *beds) if area.intersects(box)], origin, kerb.shape),
        plan.paved_from < 1,
        plan.paved_from >= 1,
        segments,
        1 / CELL_M,
    )


def _within(segments: Floats, low: Floats, high: Floats) -> Floats:
    """The segments that may reach into a box; any where none does: every cell has a nearest."""
    start = segments[:, :2]
    end = start + segments[:, 2:4] * segments[:, 4:5]
    reach = (segments[:, 7] + segments[:, 8] + MARGIN_M)[:, None]
    near = np.all((np.minimum(start, end) - reach <= high) & (np.maximum(start, end) + reach >= low), axis=1)
    return segments[near] if near.any() else segments[:1]


def street_segments(plan: StreetPlan) -> Floats:
    """The straight pieces of all streets, shape (n, `SEGMENT_FIELDS`)."""
    ends = _zebras_at_junctions(plan) if plan.crossings is None else {}
    across: dict[int, list[float]] = {}
    for crossing in plan.crossings or ():
        across.setdefault(crossing.street, []).append(crossing.along)
    rows = []
    for street in plan.streets:
        half = street.road / 2 or NO_ROAD_M
        steps = np.diff(street.line, axis=0)
        lengths = np.hypot(steps[:, 0], steps[:, 1])
        before = np.concatenate([[0.0], np.cumsum(lengths)])
        zebras = ends.get(street.id, (NO_ZEBRA_M, NO_ZEBRA_M))
        for i, length in enumerate(lengths):
            if length <= 0:
                continue
            way = steps[i] / length
            for start, end, zebra in _cut(before[i], before[i + 1], across.get(street.id, ())):
                rows.append(
                    (
                        *(street.line[i] + way * (start - before[i])), *way, end - start, start, before[-1],
                        half, street.pavement, zebras[0] if zebra is None else zebra, zebras[1],
                        float(street.road >= DASH_ROAD_M), float(street.is_gravel),
                    )
                )  # fmt: skip
    return np.array(rows, float).reshape(-1, SEGMENT_FIELDS)


def _zebras_at_junctions(plan: StreetPlan) -> dict[int, tuple[float, float]]:
    """Where the zebras of each street begin, from its start and from its end."""
    degree = np.zeros(len(plan.junctions), int)
    widest = np.zeros(len(plan.junctions))
    for street in plan.streets:
        for end in (street.start, street.end):
            degree[end] += 1
            widest[end] = max(widest[end], street.road / 2)

    def begins(street: Street, end: int) -> float:
        long = np.hypot(*np.diff(street.line, axis=0).T).sum() > ZEBRA_STREET_M
        return float(widest[end] * 1.25 + 1.2) if degree[end] >= 3 and long else NO_ZEBRA_M

    return {one.id: (begins(one, one.start), begins(one, one.end)) for one in plan.streets}


def _cut(start: float, end: float, crossings: Sequence[float]) -> Iterator[tuple[float, float, float | None]]:
    """A straight piece of a street cut around its zebras: from, to, and where the zebra of a part begins.

    All are metres from the start of the street.
    """
    at = start
    for middle in sorted(crossings):
        low, high = (
            max(middle - ZEBRA_LENGTH_M / 2 - ASIDE_M, at),
            min(middle + ZEBRA_LENGTH_M / 2 + ASIDE_M, end),
        )
        if high - low <= 0:
            continue
        if low > at:
            yield at, low, None
        yield low, high, middle - ZEBRA_LENGTH_M / 2
        at = high
    if end > at:
        yield at, end, None


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


def _signed_distance(areas: Sequence[Polygon], origin: Floats, shape: tuple[int, int]) -> Heights:
    """Distance to the edge of the areas, negative inside; exact inside and right around them."""
    distance = np.full(shape, int(FAR_M / DISTANCE_UNIT_M), np.int16)
    for area in areas:
        west, south, east, north = area.bounds
        low = np.maximum(((np.array([west, south]) - origin) / CELL_M).astype(int) - 4, 0)
        high = ((np.array([east, north]) - origin) / CELL_M).astype(int) + 6
        window = distance[low[1] : high[1], low[0] : high[0]]
        inside = np.zeros(window.shape, np.uint8)
        if not inside.size:
            continue
        rings = [_cells(shapely.get_coordinates(ring), origin + low * CELL_M) for ring in _rings(area)]
        cv2.fillPoly(inside, rings, 1, cv2.LINE_8, 4)
        into = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
        away = cv2.distanceTransform(1 - inside, cv2.DIST_L2, 5)
        smooth = cv2.GaussianBlur(away - into, (5, 5), 0)  # no steps from cell to cell along an edge
        metres = np.clip(np.asarray(smooth) * CELL_M, -FAR_M, FAR_M)
        np.minimum(window, (metres / DISTANCE_UNIT_M).astype(np.int16), out=window)
    return distance


def _share_of(areas: Sequence[Polygon], origin: Floats, shape: tuple[int, int]) -> Shares:
    """How much of each cell lies in the areas, softened by one cell."""
    share = np.zeros(shape, np.uint8)
    for area in areas:
        rings = [_cells(shapely.get_coordinates(ring), origin) for ring in _rings(area)]
        cv2.fillPoly(share, rings, 255, cv2.LINE_8, 4)
    return np.asarray(cv2.GaussianBlur(share, (3, 3), 0), np.uint8) if areas else share


def _rings(area: Polygon) -> list[LinearRing]:
    return [area.exterior, *area.interiors]


def _sow_lawns(parks: Heights, paved_from: float, buildings: Sequence[Building], origin: Floats) -> None:
    """Where a plan paves its town, what lies between scattered houses is as green as a park."""
    if paved_from >= 1:
        return
    built = np.zeros(parks.shape, np.float32)
    for building in buildings:
        rings = [_cells(shapely.get_coordinates(ring), origin) for ring in _rings(building.footprint)]
        cv2.fillPoly(built, rings, 1.0, cv2.LINE_8, 4)
    side = int(BUILT_M / CELL_M)
    share = cv2.blur(built, (side, side), borderType=cv2.BORDER_REPLICATE)
    share = cv2.blur(share, (side // 4, side // 4), borderType=cv2.BORDER_REPLICATE)  # no ragged edges
    lawn = np.clip((share - paved_from) * LAWN_SLOPE_M, -FAR_M, FAR_M) / DISTANCE_UNIT_M
    np.minimum(parks, lawn.astype(np.int16), out=parks)


def _shadows(
    plan: StreetPlan, buildings: Sequence[Building], origin: Floats, shape: tuple[int, int]
) -> NDArray[np.uint8]:
    """Shadows of buildings and trees, softened by one cell."""
    dark = np.zeros(shape, np.uint8)
    if buildings:
        _shade_buildings(dark, buildings, origin)
    for thing in plan.furniture:
        if thing.kind in _SHADE:
            radius, height, depth = _SHADE[thing.kind]
            at = (np.array([thing.x, thing.y]) + _THROW * height - origin) / CELL_M * 16
            patch = (int(at[0]), int(at[1]))
            cv2.circle(dark, patch, int(radius / CELL_M * 16), depth, -1, cv2.LINE_8, 4)
    return np.asarray(cv2.GaussianBlur(dark, (3, 3), 0), np.uint8)


def _shade_buildings(dark: NDArray[np.uint8], buildings: Sequence[Building], origin: Floats) -> None:
    """A building's shadow is that of its roof, and the way there from the walls that face the sun."""
    footprints = shapely.orient_polygons(np.array([b.footprint for b in buildings]), exterior_cw=False)
    ring, owner = shapely.get_coordinates(shapely.get_exterior_ring(footprints), return_index=True)
    far = ring + _THROW * np.array([b.height for b in buildings])[owner, None]
    walls = np.stack([ring[:-1], ring[1:], far[1:], far[:-1]], axis=1)
    along = ring[1:] - ring[:-1]
    sunny = (owner[1:] == owner[:-1]) & (along[:, 1] * SUN[0] - along[:, 0] * SUN[1] > 0)
    for wall in _cells(walls[sunny], origin):
        cv2.fillConvexPoly(dark, wall, 255, cv2.LINE_8, 4)
    for roof in np.split(_cells(far, origin), np.flatnonzero(np.diff(owner)) + 1):
        cv2.fillPoly(dark, [roof], 255, cv2.LINE_8, 4)


_THROW = -SUN[:2] / SUN[2]
"""Where the shadow of a point falls, for each metre of its height."""

_SHADE = {"tree": (2.1, 3.6, 190), "parked car": (1.7, 0.3, 200)}
"""Radius, height of what throws the shadow, and its depth."""


def _cells(points: Floats, origin: Floats) -> NDArray[np.int32]:
    """Points in sixteenths of cells, as OpenCV takes them with a shift of 4."""
    return np.rint((points - origin) / CELL_M * 16).astype(np.int32)


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
