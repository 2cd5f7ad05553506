"""Meshes of woods and verges: flat clumps of trees, which close the view between those by ways, and grass."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.flat import near_lines, near_shapes
from virl.geo.globe import Floats, Ints
from virl.towns.plan.furnish import Kerbs
from virl.towns.plan.town_plan import Building, Land, Street, StreetPlan
from virl.towns.render.mesh import CUTOUT, TUFT, Quads, join, quads, upright
from virl.towns.render.segments import NO_ROAD_M, SHOULDER_M
from virl.towns.render.textures import TILE_INDEX

# All chosen.
SPACING_M, JITTER = 8.0, 0.8
"""Distance in metres from clump to clump, and the width of their random moves as a share of it."""
WIDE_M, HIGH_M = 9.0, (7.0, 13.0)
"""Width, and least and greatest height of a clump, metres."""
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


def wood_mesh(
    lands: Sequence[Land], streets: Sequence[Street], houses: Sequence[Building], low: Floats, high: Floats
) -> Quads:
    """Return the quads of the woods in the box from `low` to `high`, metres, which the truth does not name.

    Args:
        lands: of the town.
        streets: of the town.
        houses: in the box.
        low: south-west corner.
        high: north-east corner.
    """
    box = shapely.box(*low, *high)
    outlines = [land.outline for land in lands if land.kind == "wood" and land.outline.intersects(box)]
    if not outlines:
        return join([])
    wood = shapely.union_all(outlines)
    # One grid for the whole world: a clump is the same from whichever square it is seen.
    span = np.floor([low / SPACING_M, high / SPACING_M]).astype(np.int64)
    cells = np.stack(np.meshgrid(*(np.arange(*ends) for ends in span.T)), -1).reshape(-1, 2)
    chance = _chances(cells)
    xy = (cells + 0.5 + JITTER * (chance[:, :2] - 0.5)) * SPACING_M
    shapely.prepare(wood)
    inside = np.flatnonzero(shapely.contains_xy(wood, *xy.T))
    inside = inside[_is_free(xy[inside], wood, streets, houses)]
    xy, chance = xy[inside], chance[inside]
    turn = 2 * np.pi * chance[:, 2]
    way = np.column_stack([np.cos(turn), np.sin(turn)]) * (WIDE_M / 2)
    tall = HIGH_M[0] + (HIGH_M[1] - HIGH_M[0]) * chance[:, 3]
    tint = np.array([0.85, 0.9, 0.9]) + np.outer(chance[:, 0] + chance[:, 3] - 1, (0.22, 0.14, 0.08))
    return quads(
        upright(xy - way, xy + way, 0.0, tall), texture=TILE_INDEX["thicket"], normal=_UPWARDS, paint=tint,
        mode=CUTOUT,
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
    # By the street's own number: a tuft is the same from whichever square it is seen.
    chance = _chances(np.column_stack([np.array([one.id for one in streets])[street], rank]))
    deep = MEADOW_M * chance[:, 0] ** 3
    kept = (deep < VERGE_M) | in_meadow[street]
    street, rank, chance, deep = street[kept], rank[kept], chance[kept], deep[kept]
    edge = np.where(has_road, kerbs.half_road + SHOULDER_M, kerbs.pavement + NO_ROAD_M)[street]
    side = np.where(rank % 2, 1.0, -1.0)
    xy, _ = kerbs.at(street, (rank + chance[:, 1]) * TUFTS_APART_M, side * (edge + deep + 0.05))
    tracks = (shapely.LineString(track.line) for track in plan.tracks)
    others = [*(house.footprint for house in houses), *plan.waters, *plan.gravels, *tracks]
    free = np.all((xy >= low) & (xy < high), axis=1) & ~near_shapes(xy, shapely.STRtree(others), TUFT_CLEAR_M)
    free &= (has_road[street] & (deep < VERGE_M)) | near_shapes(xy, meadows, 0.0)
    wide = kerbs.half_road + np.where(has_kerb, kerbs.pavement, SHOULDER_M)
    free &= ~near_lines(xy, shapely.STRtree(kerbs.lines), wide, 0.3, street)
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
    xy: Floats, wood: shapely.Geometry, streets: Sequence[Street], houses: Sequence[Building]
) -> NDArray[np.bool_]:
    """Return whether a clump may stand at each point in a wood, metres."""
    points, edge, away = shapely.points(xy), shapely.boundary(wood), np.full(len(xy), np.inf)
    lines = shapely.STRtree([shapely.LineString(street.line) for street in streets])
    (near, _), metres = lines.query_nearest(points, DEEP_M, return_distance=True, all_matches=False)
    away[near] = metres
    shapely.prepare(edge)
    is_free = (away >= CLEAR_M) & ((away <= DEEP_M) | shapely.dwithin(points, edge, EDGE_M))
    walls = shapely.STRtree([house.footprint for house in houses])
    is_free[walls.query(points, "dwithin", HOUSE_M)[0]] = False
    return np.asarray(is_free)


def _chances(cells: Ints) -> Floats:
    """Return four random numbers in [0, 1) for each cell (column, row), equal for equal cells, (n, 4)."""
    mixed = cells.astype(np.uint64) * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
    word = mixed[:, 0] ^ (mixed[:, 1] >> np.uint64(1))
    word = (word ^ (word >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(32)
    return np.stack([(word >> np.uint64(at) & np.uint64(4095)) / 4096.0 for at in (0, 13, 26, 39)], axis=1)
