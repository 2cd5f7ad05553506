"""How far up houses keep the sun off: a raster of heights, and meshes cut where shade ends on a wall."""

from collections.abc import Sequence
from dataclasses import replace
from math import log2, radians, tan
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from shapely import get_coordinates

from virl.geo.globe import Flags, Floats
from virl.towns.plan.town_plan import Building
from virl.towns.render.light import SUN, SUN_ELEVATION
from virl.towns.render.mesh import FRONT_ONLY, NOBODY, Quads, Singles, join, take
from virl.towns.render.walls import count_out

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
        houses: True where a house stands.
    """

    origin: Floats
    heights: Singles
    houses: Flags

    def at(self, points: NDArray[np.floating]) -> Singles:
        """Return the height of the shade at points, metres, (..., 2)."""
        found: Singles = self.heights[self._cell(points)]
        return found

    def in_house(self, points: NDArray[np.floating]) -> Flags:
        """Return True for each point, metres, (..., 2), in a house."""
        found: Flags = self.houses[self._cell(points)]
        return found

    def _cell(self, points: NDArray[np.floating]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return (rows, columns) of the cells of points, metres, (..., 2)."""
        rows, columns = self.heights.shape
        column, row = np.moveaxis(np.rint((points - self.origin) / CELL_M).astype(int), -1, 0)
        return np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)


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
    built, slope = heights > 0, tan(radians(SUN_ELEVATION))
    toward = SUN[:2] / np.hypot(*SUN[:2])
    # What shades a cell shades what lies behind it, lower by the slope of the light: twice as far each time.
    for power in range(int(log2(REACH_M / CELL_M))):
        shift = toward * 2**power
        move = np.array([[1, 0, shift[0]], [0, 1, shift[1]]])
        before = cv2.warpAffine(
            heights, move, (int(columns), int(rows)), flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
        )
        np.maximum(heights, before - np.float32(slope * CELL_M * 2**power), out=heights)
    return Shade(low, heights, built)


def cut_walls(mesh: Quads, shade: Shade) -> tuple[Quads, Singles]:
    """Return (houses with walls cut where shade ends, the share of shade on each quad, [0, 1], (n,))."""
    walls = _walls_in_the_sun(mesh)
    if not len(walls):
        return mesh, share_of_shade(mesh, shade)
    low, high = mesh.corners[walls, 0, 2], mesh.corners[walls, 3, 2]
    columns = _columns_of(take(mesh, walls), shade)
    first = np.searchsorted(columns.wall, np.arange(len(walls)))
    top = np.maximum.reduceat(columns.tops.max(axis=0), first)
    bottom = np.minimum.reduceat(columns.tops.min(axis=0), first)
    is_cut = (top > low + _EDGE_M) & (bottom < high - _EDGE_M)
    kept = np.ones(len(mesh), bool)
    kept[walls[is_cut]] = False
    mine = is_cut[columns.wall]
    shaded, lit = _cut(take(mesh, walls[columns.wall[mine]]), columns.across[:, mine], columns.tops[:, mine])
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


class _Columns(NamedTuple):
    """Columns of walls, along each of which the edge of the shadow is straight.

    Args:
        wall: of each column, in order, (n,).
        across: shares of the wall's width at which the column begins and ends, (2, n).
        tops: heights of the shade there, metres above the ground, (2, n).
    """

    wall: NDArray[np.intp]
    across: Floats
    tops: Floats


def _columns_of(walls: Quads, shade: Shade) -> _Columns:
    """Return the columns of walls, which lie above each other on all floors of a house."""
    left, right = walls.corners[:, 0, :2].astype(float), walls.corners[:, 1, :2].astype(float)
    # Counted along a rounded direction, so that those of parts of one wall begin at the same places.
    turn = np.round(np.arctan2(*(right - left).T), 2)
    way = np.column_stack([np.sin(turn), np.cos(turn)]) / COLUMN_M
    begin, end = (left * way).sum(axis=1), (right * way).sum(axis=1)
    first = np.floor(begin + _LEAST)
    count = np.maximum(np.ceil(end - _LEAST) - first, 1).astype(int)
    wall, place = count_out(count)
    marks = np.stack([first[wall] + place, first[wall] + place + 1])
    marks = (marks - begin[wall]) / (end - begin)[wall]
    before = (left + np.float32(_OFF_WALL_M) * walls.normal[:, :2])[wall]
    points = before + marks[..., None] * (right - left)[wall]
    tops, built = shade.at(points), shade.in_house(points)
    # The height of a house beside the wall tells nothing of the shade on it.
    tops = np.where(built & ~built[::-1], tops[::-1], tops)
    # A sliver at an end belongs to the column beside it.
    across = np.stack([np.where(place == 0, 0, marks[0]), np.where(place + 1 == count[wall], 1, marks[1])])
    return _Columns(wall, across, tops[0] + (across - marks[0]) / (marks[1] - marks[0]) * (tops[1] - tops[0]))


def _cut(walls: Quads, across: Floats, tops: Floats) -> tuple[Quads, Quads]:
    """Return (shaded, lit) pieces of walls, one for each column; `across`, `tops`: as in `_Columns`."""
    foot, height = walls.corners[:, 0, 2], walls.corners[:, 3, 2] - walls.corners[:, 0, 2]
    ends = np.clip((tops - foot) / height, 0, 1)
    is_shaded, is_lit = ends.max(axis=0) > _LEAST, ends.min(axis=0) < 1 - _LEAST
    ends = np.where(is_shaded, np.where(is_lit, ends, 1), 0)
    shaded, lit = (_piece(walls, across, level, ends) for level in (0.0, 1.0))
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
