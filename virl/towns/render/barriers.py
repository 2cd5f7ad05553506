"""Meshes along lines: hedges, walls, fences and the rails of railways."""

from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import ArrayLike

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import Barrier, Rgb, Track
from virl.towns.render.mesh import CUTOUT, Quads, join, level, outward, quads, repeats, unit, upright
from virl.towns.render.textures import TILE_INDEX

LONGEST_M = 8.0
"""Largest length of a quad in metres, so that far ones can be left out."""
THICK_M = {"hedge": 0.8, "wall": 0.3}
"""Thickness in metres of a barrier, by kind."""
TILE_M = {"hedge": 1.2, "wall": 3.0, "fence": 1.2}
"""Width of a barrier's texture in metres; a fence's tile is as high as the fence."""
TWIGS_M = 0.7
"""Width in metres of a clump of leaves that stands out over a hedge; chosen."""
WALLS = ("stone", "plaster", "brick", "concrete")
"""Materials of which a wall along a line is drawn."""
FENCE_PAINTS: tuple[Rgb, ...] = (
    (0.46, 0.34, 0.22), (0.24, 0.27, 0.25), (0.74, 0.73, 0.70), (0.36, 0.30, 0.24)
)  # fmt: skip
WALL_PAINTS: tuple[Rgb, ...] = (
    (0.62, 0.60, 0.56), (0.74, 0.71, 0.65), (0.55, 0.36, 0.29), (0.58, 0.58, 0.57)
)  # fmt: skip
HEDGE_PAINTS: tuple[Rgb, ...] = ((1.0, 1.0, 1.0), (0.86, 0.94, 0.84), (1.05, 0.98, 0.84))
SHARPEST = 0.6
"""Squared length of the sum of two sides' unit normals below which their corner is not mitred; chosen."""
COPING: Rgb = (0.70, 0.69, 0.66)

_GAUGE_M = 1.435
"""Distance in metres between the two rails of a track."""
_RAIL_M = 0.09
"""Width of a rail in metres, more than the true one so that it shows; chosen."""
_GROOVE_M = 0.06
"""Width in metres of the groove in a street inside each rail; chosen."""
_LONGEST_RAIL_M = 15.0
"""Largest length of a rail's quad in metres, so that far ones can be left out."""
_STEEL, _POLISHED, _GROOVE = (0.46, 0.46, 0.47), (0.56, 0.56, 0.57), (0.14, 0.14, 0.14)


def barrier_mesh(barriers: Sequence[Barrier]) -> Quads:
    """Return the quads of all barriers, which the ground truth does not know."""
    return join(_mesh(one) for one in barriers)


def _mesh(barrier: Barrier) -> Quads:
    """Return the quads of one barrier."""
    line = shapely.get_coordinates(shapely.segmentize(shapely.LineString(barrier.line), LONGEST_M))
    if barrier.kind == "fence":
        left, right = line[:-1], line[1:]
        uv = _lay_tiles(left, right, TILE_M["fence"], 1.0)
        paint = FENCE_PAINTS[barrier.variant % len(FENCE_PAINTS)]
        faces = upright(left, right, 0.0, barrier.height)
        return quads(faces, uv=uv, texture=TILE_INDEX["pales"], paint=paint, mode=CUTOUT)
    return _solid(barrier, line)


def _solid(barrier: Barrier, line: Floats) -> Quads:
    """Return the quads of a hedge or wall along a line: sides, ends, top, and the twigs over a hedge."""
    pick, tile, thick = barrier.variant, TILE_M[barrier.kind], THICK_M[barrier.kind]
    if barrier.kind == "hedge":
        texture, paint = TILE_INDEX["hedge"], HEDGE_PAINTS[pick % len(HEDGE_PAINTS)]
        top = paint
    else:
        texture, paint = TILE_INDEX[f"wall/{WALLS[pick % len(WALLS)]}"], WALL_PAINTS[pick % len(WALL_PAINTS)]
        top = COPING
    aside = _mitre(line) * (thick / 2)
    right, left = line + aside, line - aside
    starts = np.concatenate([right[:-1], left[1:], left[:1], right[-1:]])
    ends = np.concatenate([right[1:], left[:-1], right[:1], left[-1:]])
    uv = _lay_tiles(starts, ends, tile, barrier.height / tile)
    sides = quads(upright(starts, ends, 0.0, barrier.height), uv=uv, texture=texture, paint=paint)
    flat = np.stack([right[:-1], right[1:], left[1:], left[:-1]], axis=1)
    uv = _lay_tiles(line[:-1], line[1:], tile, thick / tile)
    parts = [sides, quads(level(flat, barrier.height), uv=uv, texture=texture, paint=top)]
    if barrier.kind == "hedge":
        # The upper halves of clumps of leaves, so that no ruler seems to have drawn the top.
        uv = _lay_tiles(starts, ends, TWIGS_M, 0.5) + np.array([0.0, 0.5, 0.0, 0.0])
        faces = upright(starts, ends, barrier.height - 0.12, barrier.height + 0.14)
        dark = 0.8 * np.array(paint)
        parts.append(quads(faces, uv=uv, texture=TILE_INDEX["leaves/0"], paint=dark, mode=CUTOUT))
    return join(parts)


def _mitre(line: Floats) -> Floats:
    """Return vectors to the right at a line's points for a mitred band of width 2, shape (n, 2)."""
    sides = outward(line[:-1], line[1:])
    before, after = np.concatenate([sides[:1], sides]), np.concatenate([sides, sides[-1:]])
    if np.array_equal(line[0], line[-1]):
        before[0], after[-1] = sides[-1], sides[0]
    mean = before + after
    squared = np.sum(mean * mean, axis=1, keepdims=True)
    return np.asarray(np.where(squared > SHARPEST, 2 * mean / np.maximum(squared, SHARPEST), after))


def _lay_tiles(left: Floats, right: Floats, tile_m: float, high: float) -> Floats:
    """Return texture coordinates of upright quads, shape (n, 4): `high` tiles high, a whole number wide."""
    return repeats(np.maximum(np.hypot(*(right - left).T) / tile_m, 0.05), high)


def track_mesh(tracks: Sequence[Track]) -> Quads:
    """Return the quads of the rails of all tracks; what they lie in is part of the ground."""
    lines = [shapely.segmentize(shapely.LineString(track.line), _LONGEST_RAIL_M) for track in tracks]
    if not lines:
        return join([])
    xy, owner = shapely.get_coordinates(lines, return_index=True)
    inner = owner[1:] == owner[:-1]
    start, end = xy[:-1][inner], xy[1:][inner]
    side = _left_normals(xy, owner)
    begin, stop = side[:-1][inner], side[1:][inner]

    def strip(low: float, high: float, which: Ints, paint: ArrayLike) -> Quads:
        """Return quads of some pieces from `low` to `high` metres to the left of their middles."""
        corners = (start, low, begin), (end, low, stop), (end, high, stop), (start, high, begin)
        flat = np.stack([at[which] + aside * left[which] for at, aside, left in corners], axis=1)
        return quads(level(flat, 0.01), paint=paint)

    half, is_sunk = _GAUGE_M / 2, ~np.array([track.is_ballasted for track in tracks])[owner[:-1][inner]]
    every, sunk = np.arange(len(is_sunk)), np.flatnonzero(is_sunk)
    steel = np.where(is_sunk[:, None], _POLISHED, _STEEL)
    return join(
        [
            strip(-half - _RAIL_M, -half, every, steel),
            strip(half, half + _RAIL_M, every, steel),
            strip(-half, _GROOVE_M - half, sunk, _GROOVE),
            strip(half - _GROOVE_M, half, sunk, _GROOVE),
        ]
    )


def _left_normals(xy: Floats, owner: Ints) -> Floats:
    """Return unit vectors to the left at points of lines, shape (n, 2); `owner`: the line of each point."""
    way = unit(np.diff(xy, axis=0))
    way[owner[1:] != owner[:-1]] = 0.0
    mean = unit(np.concatenate([way[:1] * 0, way]) + np.concatenate([way, way[:1] * 0]))
    return np.stack([-mean[:, 1], mean[:, 0]], axis=1)
