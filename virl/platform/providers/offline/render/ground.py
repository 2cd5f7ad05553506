"""The ground: what lies at each point of the plane z = 0, as rasters drawn from the plan."""

from functools import lru_cache
from math import floor
from typing import NamedTuple

import numpy as np
import shapely

from virl.geo import Floats
from virl.platform.providers.offline.plan import StreetPlan
from virl.platform.providers.offline.render.areas import (
    CELL_M,
    lawns,
    shadows,
    share_of,
    signed_distance,
)
from virl.platform.providers.offline.render.beyond import Beyond, uniform_around
from virl.platform.providers.offline.render.kerbs import measure_streets
from virl.platform.providers.offline.render.kernel import inlined
from virl.platform.providers.offline.render.rasters import Heights, Indices, RasterGrid, Shares
from virl.platform.providers.offline.render.segments import segments_within, street_segments

RIM_M = 80.0  # ground kept around the streets
WHOLE_M = 3000.0  # a plan no longer and no wider has one raster; chosen: 130 MB
PATCH_M = 500.0
SEEN_M = 750.0  # ground around a patch: farther off, haze hides it (`light.py`); chosen
PATCHES = 3  # kept at a time: 50 MB each
SHADOW_M = 100.0  # how far off a building may stand that throws one; chosen
BED_M = 1.9  # half the width of a railway's bed; chosen


class GroundRasters(NamedTuple):
    """Rasters over the city, (rows, columns), row 0 in the south.

    Args:
        origin: metres, the centre of cell (0, 0).
        kerb: distance to the edge of the nearest carriageway, negative on it, in `DISTANCE_UNIT_M`.
        parks: negative in parks and on other lawns; with `paths`, the distance to the edge of the nearest
            park, in `DISTANCE_UNIT_M`.
        nearest: index of the segment of street whose carriageway is nearest.
        stone: distance to the edge of the nearest paved pavement, negative on it, in `DISTANCE_UNIT_M`.
        shadow: share of the sun that is kept off, 0 to 255.
        water: share of water, 0 to 255; its edge is where it is half.
        gravel: share of gravel outside pavements, in the same way.
        uniform: see `uniform_around`.
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
    uniform: Shares
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
    kerb, stone, nearest = measure_streets(segments, origin, (rows, columns))
    box = shapely.box(*low, *high)
    west, south, east, north = *(low - SHADOW_M), *(high + SHADOW_M)
    near = shapely.box(west, south, east, north)
    buildings = [one for one in plan.buildings if one.footprint.intersects(near)]
    furniture = [one for one in plan.furniture if west <= one.x <= east and south <= one.y <= north]
    near_parks = [park for park in plan.parks if park.intersects(box)]
    if plan.paved_from < 1:
        parks = lawns(near_parks, plan.paved_from, buildings, origin, kerb.shape)
    else:
        parks = signed_distance(near_parks, origin, kerb.shape)
    beds = [shapely.buffer(shapely.LineString(one.line), BED_M) for one in plan.tracks if one.is_ballasted]
    waters = [area for area in plan.waters if area.intersects(box)]
    gravels = [area for area in (*plan.gravels, *beds) if area.intersects(box)]
    water, gravel = share_of(waters, origin, kerb.shape), share_of(gravels, origin, kerb.shape)
    has_paths = plan.paved_from >= 1
    beyond = Beyond(stone, parks, water, gravel, segments, has_paths)
    return GroundRasters(
        origin,
        kerb,
        parks,
        nearest,
        stone,
        shadows(furniture, buildings, origin, kerb.shape),
        water,
        gravel,
        uniform_around(kerb, nearest, beyond),
        not has_paths,
        has_paths,
        segments,
        1 / CELL_M,
    )


def grid_of(ground: GroundRasters) -> RasterGrid:
    """Where the cells of some rasters lie."""
    rows, columns = ground.kerb.shape
    return RasterGrid(float(ground.origin[0]), float(ground.origin[1]), ground.per_cell, columns, rows)


@inlined
def along_street(segments: Floats, i: int, x: float, y: float) -> tuple[float, float]:
    """Metres along a segment from its start, and to its left."""
    dx, dy, ux, uy = x - segments[i, 0], y - segments[i, 1], segments[i, 2], segments[i, 3]
    return dx * ux + dy * uy, dy * ux - dx * uy
