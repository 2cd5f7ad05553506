"""The ground: what lies at each point of the plane z = 0, as rasters drawn from the plan."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import cv2
import numpy as np
import shapely
from shapely import LinearRing, Polygon

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Building, Land, StreetPlan
from virl.towns.render.kerbs import DISTANCE_UNIT_M, FAR_M, measure_streets
from virl.towns.render.kernel import inline_kernel
from virl.towns.render.rasters import (
    CELL_M,
    DIRECTIONS,
    LAND_SHIFT,
    LANDS,
    Beyond,
    Heights,
    Indices,
    RasterGrid,
    Shares,
    cells,
    uniform_distance,
)
from virl.towns.render.segments import (  # fmt: skip
    LAID_M,
    MARGIN_M,
    NO_ROAD_M,
    TRACK_M,
    TRAM_M,
    segments_within,
    street_segments,
)
from virl.towns.render.shadows import cast_shadows
from virl.towns.render.squares import RIM_M, Index, Square, Squares, bounds_of

SEEN_M = 450.0
"""Width in metres of the margin of ground laid around a square; chosen: haze hides what is farther off."""
KEPT_SQUARES = 3
"""Number of squares whose ground rasters are kept in memory, 50 MB each."""
SHADOW_M = 100.0
"""Distance in metres to the farthest building whose shadow is drawn; chosen."""
BED_M = 1.9
"""Half the width in metres of a railway's bed; chosen."""

FOOT_M = 1.5
"""Largest gap in metres between a pavement and a wall that is paved; chosen."""
_BLOCK = 128
"""Number of rows and columns of a raster that are worked on at a time; chosen."""

_BUILT_M = 120.0
"""Side in metres of the square in which the share of ground under houses is measured; chosen."""
_BUILT_CELLS = 4
"""Number of raster cells along a side of one cell of the raster of built ground; chosen."""
SOIL = "meadow"
"""Kind of green ground below shrubs and flowers."""
_PAVED_STEEPNESS = 4000.0  # what a share stands for, so that the edge of a lawn is smooth; chosen


class GroundRasters(NamedTuple):
    """Rasters over the city, (rows, columns), row 0 in the south.

    Args:
        origin: metres, the centre of cell (0, 0).
        kerb: distance to the edge of the nearest carriageway, negative on it, in `DISTANCE_UNIT_M`.
        parks: negative in parks and on other lawns; with `paths`, the distance to the edge of the nearest
            park, in `DISTANCE_UNIT_M`.
        nearest: index of the segment of street whose carriageway is nearest, and above `LAND_SHIFT` the kind
            of green ground and the direction of its rows.
        stone: distance to the edge of the nearest paved pavement, negative on it, in `DISTANCE_UNIT_M`.
        shadow: share of the light that is kept off, 0 to 255; at `NO_SUN` that of the sun.
        water: share of water, 0 to 255; its edge is where it is half.
        gravel: share of gravel outside pavements, in the same way.
        uniform: see `uniform_distance`.
        paved: whether the ground outside pavements and parks is paved; else it is lawn.
        paths: whether a path of gravel runs along the inner edge of every park.
        segments: see `SEGMENT_FIELDS`.
        per_cell: cells in a metre.
        axis: unit vector (east, north) along which slabs off the streets are laid.
    """

    origin: Floats
    kerb: Heights
    parks: Heights
    nearest: Indices
    stone: Heights
    shadow: Shares
    water: Shares
    gravel: Shares
    uniform: Shares
    paved: bool
    paths: bool
    segments: Floats
    per_cell: float
    axis: tuple[float, float]


class Grounds:
    """The ground rasters of a plan, made square by square when they are first needed.

    Args:
        plan: what to draw.
    """

    def __init__(self, plan: StreetPlan) -> None:
        """Keep the plan, and divide its ground into squares; no raster is made yet."""
        self._plan = plan
        self._squares = Squares(plan)
        self._streets = Index(plan.streets, bounds_of([street.line for street in plan.streets]))
        self._furniture = Index(plan.furniture, bounds_of([((one.x, one.y),) for one in plan.furniture]))
        self._buildings = Index(plan.buildings, shapely.bounds([one.footprint for one in plan.buildings]))
        self._parks, self._waters, self._gravels = (
            Index(areas, shapely.bounds(areas)) for areas in (plan.parks, plan.waters, plan.gravels)
        )
        self._lands = Index(plan.lands, shapely.bounds([one.outline for one in plan.lands]))
        self._tracks = Index(plan.tracks, bounds_of([one.line for one in plan.tracks]))
        self._widest = max(street.road / 2 + street.pavement for street in plan.streets) + MARGIN_M
        self._axis = main_axis([street.line for street in plan.streets])
        self._near = lru_cache(maxsize=KEPT_SQUARES)(self._lay)

    def ground_around(self, x: float, y: float) -> GroundRasters:
        """Return the rasters of the ground seen from a point (east, north) in metres."""
        return self._near(self._squares.at(x, y))

    def _lay(self, square: Square) -> GroundRasters:
        """Return the rasters of the ground seen from a square."""
        plan, low, high = self._plan, self._squares.low, self._squares.high
        if self._squares.is_one:
            return lay_ground(plan, street_segments(plan, plan.streets), self._axis, low, high)
        corners = self._squares.box_around(square, SEEN_M)
        low, high = np.maximum(corners[0], low), np.minimum(corners[1], high)
        # Looked at from far outside the plan, nothing of it would be left to draw.
        high = np.maximum(high, low + RIM_M)
        # The first street of all, for a square that none reaches.
        streets = self._streets.find(low - self._widest, high + self._widest) or plan.streets[:1]
        # Rows of parked cars are as long from whichever square they are seen.
        lines = np.concatenate([street.line for street in streets])
        beside = self._plan_within(lines.min(axis=0), lines.max(axis=0))
        segments = street_segments(beside, streets)
        return lay_ground(self._plan_within(low, high), segments, self._axis, low, high)

    def _plan_within(self, low: Floats, high: Floats) -> StreetPlan:
        """Return the plan with all its streets, but only what else changes the ground of a box, metres."""
        around = low - SHADOW_M, high + SHADOW_M
        return replace(
            self._plan,
            furniture=tuple(self._furniture.find(*around)),
            buildings=tuple(self._buildings.find(*around)),
            tracks=tuple(self._tracks.find(low - BED_M, high + BED_M)),
            parks=tuple(self._parks.find(low, high)),
            waters=tuple(self._waters.find(low, high)),
            gravels=tuple(self._gravels.find(low, high)),
            lands=tuple(self._lands.find(low, high)),
        )


def main_axis(lines: Sequence[Floats]) -> tuple[float, float]:
    """Return the unit vector (east, north) along which, or square to which, most metres of lines run."""
    steps = np.concatenate([np.diff(line, axis=0) for line in lines])
    # To the fourth power, directions at right angles to each other are one.
    turned = steps[:, 0] + 1j * steps[:, 1]
    angle = np.angle(np.sum(np.abs(turned) * np.exp(4j * np.angle(turned)))) / 4
    return float(np.cos(angle)), float(np.sin(angle))


def lay_ground(
    plan: StreetPlan, segments: Floats, axis: tuple[float, float], low: Floats, high: Floats
) -> GroundRasters:
    """Return the rasters of the ground between corners `low`, south-west, and `high`, north-east, metres.

    Args:
        plan: of the streets.
        segments: as `street_segments` gives them.
        axis: unit vector along which slabs off the streets are laid.
        low: south-west corner, metres.
        high: north-east corner, metres.
    """
    origin = low
    segments = segments_within(segments, low, high)
    columns, rows = (np.ceil((high - origin) / CELL_M).astype(int) + 1).tolist()
    shape = rows, columns
    box = shapely.box(*low, *high)
    west, south, east, north = *(low - SHADOW_M), *(high + SHADOW_M)
    near = shapely.box(west, south, east, north)
    buildings = [one for one in plan.buildings if one.footprint.intersects(near)]
    furniture = [one for one in plan.furniture if west <= one.x <= east and south <= one.y <= north]
    near_parks = [park for park in plan.parks if park.intersects(box)]
    has_paths = plan.paved_from >= 1
    parks = None if has_paths else lawns(near_parks, plan.paved_from, buildings, origin, shape)
    segments = stand_off(segments, parks, origin)
    kerb, stone, nearest = measure_streets(segments, origin, shape)
    if parks is None:
        parks = _signed_distance(near_parks, origin, shape)
    _pave_to_walls(stone, buildings, origin)
    trams = [shapely.LineString(one.line) for one in plan.tracks if not one.is_ballasted]
    if trams:
        off = _signed_distance([line.buffer(TRAM_M) for line in trams if line.intersects(box)], origin, shape)
        # Farther off than the widest pavement, a track lowers nothing.
        near = np.nonzero(off < -int(stone.min()))
        # Only where no carriageway is nearer: there `kerb` is the distance to the track itself.
        nearer = kerb[near].astype(np.int32) - off[near] - round((TRAM_M - TRACK_M - 0.05) / DISTANCE_UNIT_M)
        stone[near] = np.maximum(stone[near], np.minimum(-off[near], nearer))
    _mark_lands(nearest, [land for land in plan.lands if land.outline.intersects(box)], origin)
    beds = [shapely.buffer(shapely.LineString(one.line), BED_M) for one in plan.tracks if one.is_ballasted]
    waters = [area for area in plan.waters if area.intersects(box)]
    gravels = [area for area in (*plan.gravels, *beds) if area.intersects(box)]
    water, gravel = _share_of(waters, origin, shape), _share_of(gravels, origin, shape)
    beyond = Beyond(stone, parks, water, gravel, segments, has_paths)
    return GroundRasters(
        origin,
        kerb,
        parks,
        nearest,
        stone,
        cast_shadows(furniture, buildings, origin, shape),
        water,
        gravel,
        uniform_distance(kerb, nearest, beyond),
        not has_paths,
        has_paths,
        segments,
        1 / CELL_M,
        axis,
    )


def stand_off(segments: Floats, parks: Heights | None, origin: Floats) -> Floats:
    """Return segments in which ways of slabs only for people keep `LAID_M` off, so that no slabs follow them.

    On paved ground, ways of asphalt and gravel are such, too: a stripe across a square would look torn.

    Args:
        segments: as `street_segments` gives them.
        parks: raster of lawns, positive where the ground is paved; `None` where it is paved nowhere.
        origin: south-west corner, metres.
    """
    segments = segments.copy()
    if parks is not None:
        middle = segments[:, :2] + segments[:, 2:4] * segments[:, 4:5] / 2
        most = np.array(parks.shape[::-1]) - 1
        column, row = np.clip(((middle - origin) / CELL_M).astype(int), 0, most).T
        segments[(segments[:, 7] == NO_ROAD_M) & (parks[row, column] > 0), 12] = 0.0
    segments[(segments[:, 7] == NO_ROAD_M) & (segments[:, 12] == 0.0), 13] = LAID_M
    return segments


def _pave_to_walls(stone: Heights, buildings: Sequence[Building], origin: Floats) -> None:
    """Write distances below 0 to `stone` between pavements and walls within `FOOT_M` of each other."""
    built = np.ones(stone.shape, np.uint8)
    _fill(built, [one.footprint for one in buildings if one.base == 0], origin, 0)
    rows, columns = (range(0, size, _BLOCK) for size in stone.shape)
    for row, column in product(rows, columns):
        # The cells around a block tell of walls beyond it; where there is none, nothing is lowered.
        top, left = max(0, row - 3), max(0, column - 3)
        around = built[top : row + _BLOCK + 3, left : column + _BLOCK + 3]
        if around.all():
            continue
        block = stone[row : row + _BLOCK, column : column + _BLOCK]
        to_wall = cv2.distanceTransform(around, cv2.DIST_L2, 3)[row - top :, column - left :]
        off = np.minimum(to_wall[: block.shape[0], : block.shape[1]], 9.0) * CELL_M - FOOT_M
        # Half of the sum, so that the distance still grows by at most a metre a metre.
        lowered = ((block + off / DISTANCE_UNIT_M) / 2).astype(np.int16)
        np.copyto(block, np.minimum(block, lowered), where=off < 0)


def _mark_lands(nearest: Indices, lands: Sequence[Land], origin: Floats) -> None:
    """Write the kind of green ground, and the direction of its rows, into the upper bits of `nearest`."""
    if not lands:
        return
    codes = np.zeros(nearest.shape, np.uint8)
    for land in lands:
        steps = np.diff(shapely.get_coordinates(land.outline.exterior), axis=0)
        east, north = steps[np.hypot(*steps.T).argmax()]
        rows = round(np.arctan2(north, east) / np.pi * DIRECTIONS) % DIRECTIONS
        _fill(
            codes, [land.outline], origin, LANDS.index(land.kind if land.kind in LANDS else SOIL) + 8 * rows
        )
    # A few rows at a time: memory for all at once would take longer to get than to fill.
    for first in range(0, len(codes), _BLOCK):
        rows = slice(first, first + _BLOCK)
        nearest[rows] |= codes[rows].astype(np.uint32) << LAND_SHIFT


def grid_of(ground: GroundRasters) -> RasterGrid:
    """Return the position, resolution and size of some ground rasters."""
    rows, columns = ground.kerb.shape
    return RasterGrid(float(ground.origin[0]), float(ground.origin[1]), ground.per_cell, columns, rows)


@inline_kernel
def along_street(segments: Floats, i: int, x: float, y: float) -> tuple[float, float]:
    """Return (metres along segment `i` from its start, metres to its left) of a point (x, y) in metres.

    Args:
        segments: as `street_segments` gives them.
        i: number of the segment.
        x: metres east.
        y: metres north.
    """
    dx, dy, ux, uy = x - segments[i, 0], y - segments[i, 1], segments[i, 2], segments[i, 3]
    return dx * ux + dy * uy, dy * ux - dx * uy


def _signed_distance(areas: Sequence[Polygon], origin: Floats, shape: tuple[int, int]) -> Heights:
    """Return cells' distances to the edge of areas in `DISTANCE_UNIT_M`, below 0 inside, exact near areas."""
    distance = np.full(shape, int(FAR_M / DISTANCE_UNIT_M), np.int16)
    for area in areas:
        west, south, east, north = area.bounds
        low = np.maximum(((np.array([west, south]) - origin) / CELL_M).astype(int) - 4, 0)
        high = ((np.array([east, north]) - origin) / CELL_M).astype(int) + 6
        window = distance[low[1] : high[1], low[0] : high[0]]
        inside = np.zeros(window.shape, np.uint8)
        if not inside.size:
            continue
        rings = [cells(shapely.get_coordinates(ring), origin + low * CELL_M) for ring in _rings(area)]
        cv2.fillPoly(inside, rings, 1, cv2.LINE_8, 4)
        into = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
        away = cv2.distanceTransform(1 - inside, cv2.DIST_L2, 5)
        smooth = cv2.GaussianBlur(away - into, (5, 5), 0)  # no steps from cell to cell along an edge
        metres = np.clip(np.asarray(smooth) * CELL_M, -FAR_M, FAR_M)
        np.minimum(window, (metres / DISTANCE_UNIT_M).astype(np.int16), out=window)
    return distance


def _share_of(areas: Sequence[Polygon], origin: Floats, shape: tuple[int, int]) -> Shares:
    """Return the cover of each cell by areas (metres, as `origin`), 0 to 255, blurred by one cell."""
    if not areas:
        return np.zeros(shape, np.uint8)
    # Drawn with soft edges in cells half as wide: read between cells, an edge is then straight to 0.1 m.
    fine = np.zeros((2 * shape[0], 2 * shape[1]), np.uint8)
    for area in areas:
        rings = [2 * cells(shapely.get_coordinates(ring), origin) + 8 for ring in _rings(area)]
        cv2.fillPoly(fine, rings, 255, cv2.LINE_AA, 4)
    share = cv2.resize(fine, shape[::-1], interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(share, (3, 3), 0), np.uint8)


def _fill(raster: Shares, areas: Sequence[Polygon], origin: Floats, value: int = 255) -> None:
    """Write a value to the cells of a raster within areas."""
    for area in areas:
        rings = [cells(shapely.get_coordinates(ring), origin) for ring in _rings(area)]
        cv2.fillPoly(raster, rings, value, cv2.LINE_8, 4)


def _rings(area: Polygon) -> list[LinearRing]:
    """Return the outer ring of a polygon and the rings of its holes."""
    return [area.exterior, *area.interiors]


def lawns(
    parks: Sequence[Polygon], paved_from: float, buildings: Sequence[Building], origin: Floats,
    shape: tuple[int, int],
) -> Heights:  # fmt: skip
    """Return a raster, below 0 on lawns: parks, and ground where houses cover less than `paved_from`, [0, 1].

    Args:
        parks: outlines, metres.
        paved_from: share of ground under houses above which what lies between them is paved.
        buildings: of the town.
        origin: south-west corner, metres.
        shape: rows and columns.
    """
    green = _share_of(parks, origin, shape)
    rows, columns = -(-shape[0] // _BUILT_CELLS), -(-shape[1] // _BUILT_CELLS)
    built = np.zeros((rows * _BUILT_CELLS, columns * _BUILT_CELLS), np.uint8)
    _fill(built, [one.footprint for one in buildings], origin)
    coarse = cv2.resize(built, (columns, rows), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    side = int(_BUILT_M / CELL_M / _BUILT_CELLS)
    share = cv2.blur(coarse, (side, side), borderType=cv2.BORDER_REPLICATE)
    share = cv2.blur(share, (side // 4, side // 4), borderType=cv2.BORDER_REPLICATE)  # no ragged edges
    paved = np.clip((share - paved_from) * _PAVED_STEEPNESS, -255, 255).astype(np.int16)
    paved = np.asarray(cv2.resize(paved, built.shape[::-1]))
    # 127 is half of a blurred edge, so that the outline of a park stays where it is.
    off = np.subtract(127, green, dtype=np.int16)
    return np.asarray(np.minimum(paved[: shape[0], : shape[1]], off, out=off))
