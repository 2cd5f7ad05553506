"""Meshes of woods, shrubs and flower beds: clumps of plants as flat pictures.

Those of a wood close the view between the trees by the ways.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import shapely

from virl.geo.flat import near_lines
from virl.geo.globe import Flags, Floats, Ints
from virl.towns.plan.town_plan import Building, Land, LandKind, Street
from virl.towns.render.mesh import CUTOUT, Quads, join, quads, upright
from virl.towns.render.textures import TILE_INDEX


class Growth(NamedTuple):
    """Flat pictures of clumps of plants of a kind; lengths in metres, all chosen.

    Args:
        tile: with the pictures.
        part: lower edge of the pictures in the tile, and the side of one; those of a row differ in sort.
        spacing: distance from clump to clump.
        wide: width of a clump.
        high: its least and greatest height.
        turns: number of its pictures, which cross each other.
        house: its least distance to a house.
        deep: its greatest distance to a street.
        edge: width of the edge of an area that is filled however far off the streets are.
    """

    tile: str
    part: tuple[float, float]
    spacing: float
    wide: float
    high: tuple[float, float]
    turns: int
    house: float
    deep: float
    edge: float


GROWTHS: Mapping[LandKind, Growth] = {
    "wood": Growth("thicket", (0.0, 1.0), 8.0, 9.0, (7.0, 13.0), 1, 20.0, 45.0, 10.0),
    "shrubs": Growth("plants", (0.0, 0.5), 0.8, 1.6, (0.7, 1.3), 2, 0.5, 20.0, 2.0),
    "flowers": Growth("plants", (0.5, 0.5), 0.42, 0.8, (0.28, 0.48), 1, 0.3, 20.0, 1.0),
}
"""Plants that fill ground of each kind."""
JITTER = 0.8
"""Width of the random moves of clumps as a share of their spacing; chosen."""
CLEAR_M, BESIDE_M = 8.0, 0.9
"""Least distance in metres from a clump of trees to the middle of a street, and from others to its edge.
Chosen: branches may hang over a street."""
_UPWARDS = (0.0, 0.0, 0.75)
"""Normal of all clumps, so that they are lit alike from all sides."""


def plant_mesh(
    lands: Sequence[Land], streets: Sequence[Street], houses: Sequence[Building], low: Floats, high: Floats
) -> Quads:
    """Return the quads of the plants in the box from `low` to `high`, metres, which the truth does not name.

    Args:
        lands: of the town.
        streets: of the town.
        houses: in the box.
        low: south-west corner.
        high: north-east corner.
    """
    box, found = shapely.box(*low, *high), []
    for kind, growth in GROWTHS.items():
        outlines = [land.outline for land in lands if land.kind == kind and land.outline.intersects(box)]
        if outlines:
            found.append(_clumps(shapely.union_all(outlines), growth, streets, houses, low, high))
    return join(found)


def _clumps(
    area: shapely.Geometry, growth: Growth, streets: Sequence[Street], houses: Sequence[Building],
    low: Floats, high: Floats,
) -> Quads:  # fmt: skip
    """Return the quads of the clumps of plants in an area within a box, metres."""
    apart, (foot, side) = growth.spacing, growth.part
    cells = np.concatenate([_cells_in(part, apart, low, high) for part in shapely.get_parts(area)])
    chance = _chances(cells)
    xy = (cells + 0.5 + JITTER * (chance[:, :2] - 0.5)) * apart
    shapely.prepare(area)
    inside = np.flatnonzero(shapely.contains_xy(area, *xy.T))
    inside = inside[_is_free(xy[inside], area, growth, streets, houses)]
    inside = np.repeat(inside, growth.turns)
    xy, chance = xy[inside], chance[inside]
    turn = 2 * np.pi * chance[:, 2] + np.arange(len(inside)) % growth.turns * np.pi / growth.turns
    way = np.column_stack([np.cos(turn), np.sin(turn)]) * (growth.wide / 2)
    tall = growth.high[0] + (growth.high[1] - growth.high[0]) * chance[:, 3]
    tint = np.array([0.85, 0.9, 0.9]) + np.outer(chance[:, 0] + chance[:, 3] - 1, (0.22, 0.14, 0.08))
    uv = np.full((len(xy), 4), (0.0, foot, side, side))
    uv[:, 0] = chance[:, 1] // side * side
    return quads(
        upright(xy - way, xy + way, 0.0, tall), texture=TILE_INDEX[growth.tile], uv=uv, normal=_UPWARDS,
        paint=tint, mode=CUTOUT,
    )  # fmt: skip


def _cells_in(area: shapely.Geometry, apart: float, low: Floats, high: Floats) -> Ints:
    """Return the cells (column, row), `apart` metres wide, that an area may hold in a box, shape (n, 2)."""
    # One grid for the whole world: a clump is the same from whichever square it is seen.
    west, south, east, north = area.bounds
    first = np.floor(np.maximum(low, (west, south)) / apart).astype(np.int64)
    end = np.floor(np.minimum(high, (east + apart, north + apart)) / apart).astype(np.int64)
    columns = (np.arange(*ends) for ends in zip(first, end, strict=True))
    return np.stack(np.meshgrid(*columns), -1).reshape(-1, 2)


def _is_free(
    xy: Floats, area: shapely.Geometry, growth: Growth, streets: Sequence[Street],
    houses: Sequence[Building],
) -> Flags:  # fmt: skip
    """Return whether a clump of plants may stand at each point in an area, metres."""
    points, edge, away = shapely.points(xy), shapely.boundary(area), np.full(len(xy), np.inf)
    lines = shapely.STRtree([shapely.LineString(street.line) for street in streets])
    (near, _), metres = lines.query_nearest(points, growth.deep, return_distance=True, all_matches=False)
    away[near] = metres
    shapely.prepare(edge)
    is_free = (away <= growth.deep) | shapely.dwithin(points, edge, growth.edge)
    if growth is GROWTHS["wood"]:
        is_free &= away >= CLEAR_M
    else:
        half = np.array([street.road / 2 + street.pavement for street in streets])
        is_free &= ~near_lines(xy, lines, half, BESIDE_M)
    walls = shapely.STRtree([house.footprint for house in houses])
    is_free[walls.query(points, "dwithin", growth.house)[0]] = False
    return np.asarray(is_free)


def _chances(cells: Ints) -> Floats:
    """Return four random numbers in [0, 1) for each cell (column, row), equal for equal cells, (n, 4)."""
    mixed = cells.astype(np.uint64) * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
    word = mixed[:, 0] ^ (mixed[:, 1] >> np.uint64(1))
    word = (word ^ (word >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(32)
    return np.stack([(word >> np.uint64(at) & np.uint64(4095)) / 4096.0 for at in (0, 13, 26, 39)], axis=1)
