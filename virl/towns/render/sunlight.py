"""How far up houses keep the sun off: a raster of heights, and meshes cut where shade ends on a wall."""

from collections.abc import Sequence
from dataclasses import replace
from math import log2, radians, tan
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from shapely import get_coordinates

from virl.geo.globe import Floats
from virl.towns.plan.town_plan import Building
from virl.towns.render.light import SUN, SUN_ELEVATION
from virl.towns.render.mesh import FRONT_ONLY, NOBODY, Quads, Singles, join, take

CELL_M, REACH_M = 1.5, 100.0
"""Metres of a cell of the raster, and of the longest shadow that is looked for."""
COLUMN_M = 4.0
"""Most metres of wall along which the edge of a shadow is straight; chosen."""
_OFF_WALL_M = 2.2
"""Metres before a wall at which its shade is read, so that its own house does not count; chosen."""
_LEAST_M, _EDGE_M = 1.5, 0.2
"""Least width and height of a wall that is cut, and least height of a piece of it, metres; chosen."""
_LEAST = 0.02
"""Least share of a wall's height that a piece of it has: its texture lies along its sides."""


class Shade(NamedTuple):
    """The height in metres up to which each cell lies in the shade of houses, (rows, columns).

    Args:
        origin: metres east and north of the middle of cell (0, 0), (2,).
        heights: metres above the ground.
    """

    origin: Floats
    heights: Singles

    def at(self, points: NDArray[np.floating]) -> Singles:
        """Return the height of the shade at points, metres, (n, 2)."""
        rows, columns = self.heights.shape
        cell = np.rint((points - self.origin) / CELL_M).astype(int)
        found: Singles = self.heights[np.clip(cell[:, 1], 0, rows - 1), np.clip(cell[:, 0], 0, columns - 1)]
        return found


def cast_shade(buildings: Sequence[Building], low: Floats, high: Floats) -> Shade:
    """Return the shade of buildings on the ground between two corners.

    Args:
        buildings: whose shadows may reach it; what stands on posts throws none.
        low: south-west corner, metres.
        high: north-east corner, metres.
    """
    # From whole cells on, so that the shade of a square is that of the whole plan.
    low, high = np.floor((low - REACH_M) / CELL_M) * CELL_M, high + REACH_M
    columns, rows = np.ceil((high - low) / CELL_M).astype(int) + 1
    heights = np.zeros((rows, columns), np.float32)
    for house in sorted((one for one in buildings if one.base == 0), key=lambda one: one.height):
        ring = np.rint((get_coordinates(house.footprint.exterior) - low) / CELL_M * 16).astype(np.int32)
        cv2.fillPoly(heights, [ring], house.height, cv2.LINE_8, 4)
    slope = tan(radians(SUN_ELEVATION))
    toward = SUN[:2] / np.hypot(*SUN[:2])
    # What shades a cell shades what lies behind it, lower by the slope of the light: twice as far each time.
    for power in range(int(log2(REACH_M / CELL_M))):
        shift = toward * 2**power
        move = np.array([[1, 0, shift[0]], [0, 1, shift[1]]])
        before = cv2.warpAffine(
            heights, move, (int(columns), int(rows)), flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
        )
        np.maximum(heights, before - np.float32(slope * CELL_M * 2**power), out=heights)
    return Shade(low, heights)


def cut_walls(mesh: Quads, shade: Shade) -> tuple[Quads, Singles]:
    """Return (houses with walls cut where shade ends, the share of shade on each quad, [0, 1], (n,))."""
    walls = _walls_in_the_sun(mesh)
    low, high = mesh.corners[walls, 0, 2], mesh.corners[walls, 3, 2]
    tops = np.stack([shade.at(_points_before(mesh, walls, share)) for share in (0.0, 0.5, 1.0)])
    cut = walls[(tops.max(axis=0) > low + _EDGE_M) & (tops.min(axis=0) < high - _EDGE_M)]
    kept = np.ones(len(mesh), bool)
    kept[cut] = False
    shaded, lit = _cut(take(mesh, cut), shade)
    rest = take(mesh, kept)
    shares = [share_of_shade(rest, shade), np.ones(len(shaded), np.float32), np.zeros(len(lit), np.float32)]
    return join([rest, shaded, lit]), np.concatenate(shares)


def share_of_shade(mesh: Quads, shade: Shade) -> Singles:
    """Return the share of each quad's height that lies in shade, [0, 1], (n,)."""
    low, high = mesh.corners[:, :, 2].min(axis=1), mesh.corners[:, :, 2].max(axis=1)
    middle = mesh.corners[:, 0, :2] + mesh.corners[:, 2, :2]
    top = shade.at(middle / 2 + np.float32(_OFF_WALL_M) * mesh.normal[:, :2])
    share: Singles = np.clip((top - low) / np.maximum(high - low, np.float32(0.01)), 0, 1)
    return share


def _walls_in_the_sun(mesh: Quads) -> NDArray[np.intp]:
    """Return the numbers of upright rectangles large enough to show the edge of a shadow."""
    facing = (mesh.normal * SUN.astype(np.float32)).sum(axis=1)
    walls = np.flatnonzero((mesh.owner == NOBODY) & (mesh.mode == FRONT_ONLY) & (facing > 0.1))
    corners = mesh.corners[walls]
    upright = np.all(np.abs(corners[:, [0, 1], :2] - corners[:, [3, 2], :2]) < 1e-3, axis=(1, 2))
    level = np.all(np.abs(corners[:, [0, 2], 2] - corners[:, [1, 3], 2]) < 1e-3, axis=1)
    tall = corners[:, 3, 2] - corners[:, 0, 2] > _LEAST_M
    wide = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1) > _LEAST_M
    found: NDArray[np.intp] = walls[upright & level & tall & wide]
    return found


def _points_before(mesh: Quads, walls: NDArray[np.intp], share: Floats | float) -> Floats:
    """Return points before walls, metres, (n, 2), at a share of the way from their left to their right."""
    left, right = mesh.corners[walls, 0, :2], mesh.corners[walls, 1, :2]
    # Not at the very corner, where the shade of the house next to it would be read.
    inside = np.clip(np.broadcast_to(share, len(walls)), 0.04, 0.96)[:, None]
    points: Floats = left + inside * (right - left) + _OFF_WALL_M * mesh.normal[walls, :2]
    return points


def _cut(walls: Quads, shade: Shade) -> tuple[Quads, Quads]:
    """Return (shaded, lit) pieces of walls, cut in columns along which the edge of the shadow is straight."""
    wide = np.linalg.norm(walls.corners[:, 1] - walls.corners[:, 0], axis=1)
    count = np.ceil(wide / COLUMN_M).astype(int)
    wall = np.repeat(np.arange(len(walls)), count)
    place = np.arange(len(wall)) - np.repeat(np.cumsum(count) - count, count)
    left, right = place / count[wall], (place + 1) / count[wall]
    foot, height = walls.corners[wall, 0, 2], walls.corners[wall, 3, 2] - walls.corners[wall, 0, 2]
    ends = np.stack([shade.at(_points_before(walls, wall, share)) for share in (left, right)])
    ends = np.clip((ends - foot) / height, 0, 1)
    is_shaded, is_lit = ends.max(axis=0) > _LEAST, ends.min(axis=0) < 1 - _LEAST
    ends = np.where(is_shaded, np.where(is_lit, ends, 1), 0)
    pieces, across = take(walls, wall), np.stack([left, right])
    shaded, lit = (_piece(pieces, across, level, ends) for level in (0.0, 1.0))
    return take(shaded, is_shaded), take(lit, is_lit)


def _piece(walls: Quads, across: Floats, level: float, slanted: NDArray[np.floating]) -> Quads:
    """Return pieces of walls: from a level side to a slanted one, both from corner 0 to corner 1.

    Args:
        walls: one for each piece.
        across: shares of the wall's width at which the piece begins and ends, (2, n).
        level: share of its height at which the level side lies.
        slanted: shares of its height at both ends of the other side, (2, n).
    """
    # From the end where it is higher: its texture lies along its first and last side.
    turned = np.abs(slanted[1] - level) > np.abs(slanted[0] - level)
    across, slanted = np.where(turned, across[::-1], across), np.where(turned, slanted[::-1], slanted)
    corner, right, up = (walls.corners[:, i] for i in (0, 1, 3))
    flat = np.full(len(turned), level)
    spots = ((across[0], flat), (across[1], flat), (across[1], slanted[1]), (across[0], slanted[0]))
    corners = np.stack(
        [corner + s[:, None] * (right - corner) + t[:, None] * (up - corner) for s, t in spots], axis=1
    )
    u, v, du, dv = walls.uv.T
    uv = np.stack(
        [u + across[0] * du, v + level * dv, (across[1] - across[0]) * du, (slanted[0] - level) * dv],
        axis=1,
    )
    return replace(walls, corners=corners.astype(np.float32), uv=uv.astype(np.float32))
