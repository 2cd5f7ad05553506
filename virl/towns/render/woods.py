"""Meshes of plants on the ground as flat pictures: grass, shrubs, flowers, and clumps that close a wood."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.flat import line_strings, near_lines, near_shapes
from virl.geo.globe import Floats, Ints
from virl.towns.plan.furnish import Kerbs
from virl.towns.plan.town_plan import Building, Land, LandKind, Street, StreetPlan
from virl.towns.render.mesh import CUTOUT, TUFT, Quads, join, quads, upright
from virl.towns.render.segments import NO_ROAD_M, SHOULDER_M
from virl.towns.render.textures import TILE_INDEX


class Growth(NamedTuple):
    """Clumps of plants of a kind, in metres; all chosen.

    Args:
        tile: with the pictures.
        foot: lower edge of the pictures in the tile.
        side: of a picture in the tile.
        turns: number of pictures that cross each other.
        apart: distance from clump to clump.
        wide: width of a clump.
        low: least height.
        high: greatest height.
    """

    tile: str
    foot: float
    side: float
    turns: int
    apart: float
    wide: float
    low: float
    high: float


GROWTHS: Mapping[LandKind, Growth] = {
    "wood": Growth("thicket", 0.0, 1.0, 1, 8.0, 9.0, 7.0, 13.0),
    "shrubs": Growth("plants", 0.0, 0.5, 2, 0.8, 1.6, 0.7, 1.3),
    "flowers": Growth("plants", 0.5, 0.5, 1, 0.42, 0.8, 0.28, 0.48),
}
# All chosen.
JITTER = 0.8
"""Width of the random moves of clumps as a share of the metres between them."""
BESIDE_M = 0.9
"""Least distance in metres from shrubs and flowers to the edge of a street."""
ALONE_M = 13.0
"""Distance in metres from a street up to which each shrub and flower is drawn; farther off, `_TOGETHER` by
`_TOGETHER` of them are one picture."""
_TOGETHER = 3
_PLACES = np.indices((_TOGETHER, _TOGETHER)).reshape(2, -1).T
CLEAR_M, DEEP_M = 8.0, 45.0
"""Least distance in metres from a clump to a street, and the greatest to which the wood is filled."""
EDGE_M = 10.0
"""Width in metres of the edge of a wood that is filled however far off the streets are."""
HOUSE_M = 20.0
"""Least distance in metres from a clump to a house."""
_UPWARDS = (0.0, 0.0, 0.75)
"""Normal of all clumps, so that they are lit alike from all sides."""
TUFT_M, TUFT_HIGH_M, TUFTS_APART_M = (0.6, 1.0), (0.14, 0.34), 0.3
"""Least and greatest width and height of a tuft of grass, and metres of a way for each, on both sides."""
VERGE_M, MEADOW_M, TUFT_CLEAR_M = 1.1, 5.0, 2.2
"""Greatest distance in metres from a road's edge to tufts on its verge, and from a way's edge to those in a
meadow; least from one to other carriageways, houses, water, gravel and rails."""


def plant_mesh(
    lands: Sequence[Land], streets: Sequence[Street], houses: Sequence[Building], low: Floats, high: Floats
) -> Quads:
    """Return the quads of the plants in the box from `low` to `high`, metres, which the truth does not name.

    Args:
        lands: of the town.
        streets: up to `DEEP_M` around the box.
        houses: in the box.
        low: south-west corner.
        high: north-east corner.
    """
    # Wider than the edge of a wood, so that no edge is where the box cuts it.
    box, found = shapely.box(*(low - 2 * EDGE_M), *(high + 2 * EDGE_M)), []
    lines = shapely.STRtree(line_strings(street.line for street in streets))
    half = np.array([street.road / 2 + street.pavement for street in streets])
    for kind, growth in GROWTHS.items():
        outlines = [land.outline for land in lands if land.kind == kind and land.outline.intersects(box)]
        if not outlines:
            continue
        area = shapely.union_all(shapely.intersection(outlines, box))
        shapely.prepare(area)
        if kind == "wood":
            xy, chance = _spread(growth, area, _cells_in(area, growth.apart, low, high))
            free = _is_free(xy, area, lines, houses)
            found.append(_clumps(growth, xy[free], chance[free]))
            continue
        wide = growth._replace(apart=_TOGETHER * growth.apart, wide=_TOGETHER * growth.wide)
        cells = _cells_in(area, wide.apart, low, high)
        is_near = near_shapes(np.asarray((cells + 0.5) * wide.apart, float), lines, ALONE_M)
        parts = (cells[is_near, None] * _TOGETHER + _PLACES).reshape(-1, 2)
        for form, places in ((growth, parts), (wide, cells[~is_near])):
            xy, chance = _spread(form, area, places)
            free = ~near_lines(xy, lines, half, BESIDE_M)
            found.append(_clumps(form, xy[free], chance[free]))
    return join(found)


def _cells_in(area: shapely.Geometry, apart: float, low: Floats, high: Floats) -> Ints:
    """Return the cells (column, row), `apart` metres wide, of a box that an area touches, shape (n, 2)."""
    # One grid for the whole world: a clump is the same from whichever square it is seen.
    first = np.floor(low / apart).astype(np.int64)
    columns, rows = np.floor(high / apart).astype(np.int64) - first
    touched = np.zeros((rows, columns), np.uint8)
    for part in shapely.get_parts(area):
        rings = [shapely.get_coordinates(ring) / apart - first - 0.5 for ring in shapely.get_rings(part)]
        cv2.fillPoly(touched, [np.rint(ring * 16).astype(np.int32) for ring in rings], 1, cv2.LINE_8, 4)
    # Cells that an outline only touches are not filled.
    row, column = np.nonzero(cv2.dilate(touched, np.ones((3, 3), np.uint8)))
    return np.stack([column, row], axis=1) + first


def _spread(growth: Growth, area: shapely.Geometry, cells: Ints) -> tuple[Floats, Floats]:
    """Return (points in metres, four random numbers each), one for each cell whose point lies in an area."""
    chance = _chances(cells)
    xy = (cells + 0.5 + JITTER * (chance[:, :2] - 0.5)) * growth.apart
    inside = shapely.contains_xy(area, *xy.T)
    return xy[inside], chance[inside]


def _clumps(growth: Growth, xy: Floats, chance: Floats) -> Quads:
    """Return the quads of clumps at points in metres, each with four random numbers in [0, 1)."""
    xy, chance = np.repeat(xy, growth.turns, axis=0), np.repeat(chance, growth.turns, axis=0)
    turn = 2 * np.pi * chance[:, 2] + np.arange(len(xy)) % growth.turns * np.pi / growth.turns
    way = np.column_stack([np.cos(turn), np.sin(turn)]) * (growth.wide / 2)
    tall = growth.low + (growth.high - growth.low) * chance[:, 3]
    tint = np.array([0.85, 0.9, 0.9]) + np.outer(chance[:, 0] + chance[:, 3] - 1, (0.22, 0.14, 0.08))
    uv = np.full((len(xy), 4), (0.0, growth.foot, growth.side, growth.side))
    uv[:, 0] = chance[:, 1] // growth.side * growth.side
    return quads(
        upright(xy - way, xy + way, 0.0, tall), texture=TILE_INDEX[growth.tile], uv=uv, normal=_UPWARDS,
        paint=tint, mode=CUTOUT,
    )  # fmt: skip


def grass_mesh(
    plan: StreetPlan, streets: Sequence[Street], houses: Sequence[Building], low: Floats, high: Floats
) -> Quads:
    """Return tufts of grass by roads without kerbs, and by ways in meadows, in the box from `low` to `high`.

    Args:
        plan: of the town.
        streets: in the box.
        houses: in the box.
        low: south-west corner, metres.
        high: north-east corner.
    """
    if all(one.has_kerb and not one.is_gravel for one in streets):
        return join([])
    box = shapely.box(*low, *high)
    meadows = shapely.STRtree([one.outline for one in plan.lands if one.kind == "meadow"])
    kerbs = Kerbs(replace(plan, streets=tuple(streets)))
    has_kerb, has_road = np.array([(one.has_kerb, one.road > 0) for one in streets], bool).T
    is_path = np.array([one.is_gravel and one.road == 0 for one in streets], bool)
    in_meadow = np.isin(np.arange(len(streets)), meadows.query(kerbs.lines, "dwithin", MEADOW_M)[0])
    grows = ((has_road & ~has_kerb) | (is_path & in_meadow)) & shapely.intersects(kerbs.lines, box)
    count = (grows * kerbs.lengths / TUFTS_APART_M).astype(np.int64)
    street = np.repeat(np.arange(len(count)), count)
    rank = np.arange(len(street)) - np.repeat(np.cumsum(count) - count, count)
    edge = np.where(has_road, kerbs.half_road + SHOULDER_M, kerbs.pavement + NO_ROAD_M)
    # By the street's own number: a tuft is the same from whichever square it is seen.
    chance = _chances(np.column_stack([np.array([one.id for one in streets])[street], rank]))
    deep = MEADOW_M * chance[:, 0] ** 3
    kept = (deep < VERGE_M) | in_meadow[street]
    street, rank, chance, deep = street[kept], rank[kept], chance[kept], deep[kept]
    side = np.where(rank % 2, 1.0, -1.0)
    xy, _ = kerbs.at(street, (rank + chance[:, 1]) * TUFTS_APART_M, side * (edge[street] + deep + 0.05))
    free = np.flatnonzero(np.all((xy >= low) & (xy < high), axis=1))
    tracks = line_strings(track.line for track in plan.tracks)
    others = shapely.STRtree([*(house.footprint for house in houses), *plan.waters, *plan.gravels, *tracks])
    free = free[~near_shapes(xy[free], others, TUFT_CLEAR_M)]
    by_road = has_road[street[free]] & (deep[free] < VERGE_M)
    free = free[by_road | near_shapes(xy[free], meadows, 0.0)]
    wide = kerbs.half_road + np.where(has_kerb, kerbs.pavement, SHOULDER_M)
    free = free[~near_lines(xy[free], shapely.STRtree(kerbs.lines), wide, 0.3, street[free])]
    xy, chance = xy[free], chance[free]
    turn = 2 * np.pi * chance[:, 2]
    wide, tall = (least + (most - least) * chance[:, 3] for least, most in (TUFT_M, TUFT_HIGH_M))
    way = np.column_stack([np.cos(turn), np.sin(turn)]) * wide[:, None] / 2
    tint = np.array([0.95, 0.95, 0.95]) + np.outer(chance[:, 1] - 0.5, (0.3, 0.16, 0.2))
    return quads(
        upright(xy - way, xy + way, 0.0, tall),
        texture=TILE_INDEX["tuft"],
        normal=_UPWARDS,
        paint=tint,
        mode=TUFT,
    )


def _is_free(
    xy: Floats, wood: shapely.Geometry, lines: shapely.STRtree, houses: Sequence[Building]
) -> NDArray[np.bool_]:
    """Return whether a clump may stand at each point in a wood, metres; `lines`: of streets."""
    walls = shapely.STRtree([house.footprint for house in houses])
    is_free = ~near_shapes(xy, lines, CLEAR_M) & ~near_shapes(xy, walls, HOUSE_M)
    deep = np.flatnonzero(is_free)
    deep = deep[~near_shapes(xy[deep], lines, DEEP_M)]
    edge = shapely.boundary(wood)
    shapely.prepare(edge)
    is_free[deep] = shapely.dwithin(shapely.points(xy[deep]), edge, EDGE_M)
    return is_free


def _chances(cells: Ints) -> Floats:
    """Return four random numbers in [0, 1) for each cell (column, row), equal for equal cells, (n, 4)."""
    mixed = cells.astype(np.uint64) * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
    word = mixed[:, 0] ^ (mixed[:, 1] >> np.uint64(1))
    word = (word ^ (word >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(32)
    return np.stack([(word >> np.uint64(at) & np.uint64(4095)) / 4096.0 for at in (0, 13, 26, 39)], axis=1)
