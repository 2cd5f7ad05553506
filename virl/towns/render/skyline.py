"""What stands beyond the drawn quads: far houses, trees and hills, as a picture around the horizon.

The picture lies on the four sides of a cube around a cell of the plan, in perspective, so that the upright
edges of houses stay straight and a pixel is found without trigonometry. Hills and the edge of a wood are
invented by the plan's seed and place: no map is asked how high the land is.
"""

from functools import cached_property, lru_cache
from math import floor
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.towns.plan.layout import ORIGIN
from virl.towns.plan.town_plan import CAMERA_HEIGHT_M, CityPlan
from virl.towns.render.kernel import inline_kernel, kernel, part
from virl.towns.render.light import HAZE_M, HAZE_RGB
from virl.towns.render.scene import REACH_M
from virl.towns.render.walls import looks_of

WIDE, HIGH = 768, 60
"""Columns and rows of one side of the cube; a row is as high as a column is wide."""
KEPT, CELL_M = 64, 250.0
"""Number of skylines that are kept, and the side in metres of the cell that each serves; chosen."""
FARTHEST_M = 2000.0
"""Distance in metres beyond which houses and trees are too small to be drawn; chosen."""
_SHADED = 0.5
"""Light on a far wall, as a factor on its colour; chosen."""
_WINDOW_M, _WINDOW = 3.2, 0.5
"""Distance in metres between far windows, and what they take of the light; chosen."""
_TREE_M, _TREE_RGB = (2.6, 7.5), (70.0, 84.0, 52.0)
"""Radius and height in metres of a far tree, and its colour."""
_ROUND = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
_RIDGES = (
    (0.062, 0.48, (62.0, 82.0, 92.0)),
    (0.040, 0.34, (62.0, 80.0, 70.0)),
    (0.020, 0.20, (58.0, 76.0, 44.0)),
)
"""Invented land, from far to near: tangent of its greatest height, share of haze, and its colour."""

_SIDES = np.array([[[1, 0], [0, 1]], [[0, -1], [1, 0]], [[-1, 0], [0, -1]], [[0, 1], [-1, 0]]], float)
"""Directions (east, north) to the right and ahead of each side of the cube: north, east, south, west."""
_SOFT = (255 * np.exp(-((((np.arange(16)[:, None] - 7.75) / 16 + [1, 0, -1]) / 0.75) ** 2))).astype(np.int64)
"""Weights, in 256ths, of an edge in the pixels before, at and after it, by the 16th of a pixel where it is,
(16, 3): a Gaussian, that of OpenCV's smooth lines."""
_EDGE = 181
"""Weight of an edge away from its ends, in 256ths: the root of a half, as OpenCV's."""

Colours = NDArray[np.uint8]
Box = tuple[int, int, int, int]
"""Left, right and top of a house or tree in 16ths of pixels, and the lowest row in which it is in sight."""


class Weather(NamedTuple):
    """The clouds of a town.

    Args:
        east: repeats of their texture by which the clouds are moved east.
        north: likewise north.
        scale: repeats of their texture over a level distance equal to the height of the clouds.
        least: what of their texture, [0, 1], is clear sky.
        edge: growth of their opacity with their thickness.
    """

    east: float
    north: float
    scale: float
    least: float
    edge: float


_WEATHER = (0.44, 0.72, 4.0), (0.50, 0.63, 7.0), (0.30, 0.60, 5.0), (0.40, 0.53, 5.0)
"""Scale, least and edge of fair weather: nearly clear, small clouds, few large ones, broken; chosen."""


class Skyline(NamedTuple):
    """The picture around the horizon, (4, `HIGH`, `WIDE`, 4), and the weather.

    Args:
        sides: of the cube: north, east, south, west; row 0 is at the horizon. RGB, scaled by opacity, and it.
        weather: of the town.
        top: number of rows from the horizon up that show anything.
    """

    sides: Colours
    weather: Weather
    top: int


class Things(NamedTuple):
    """Houses and trees, as drawn from afar.

    Args:
        corners: of their outlines, metres east and north, (k, 2).
        first: first corner of each, and `k`, (n + 1,).
        rise: metres of their tops above the camera, (n,).
        paints: their colours, (n, 3).
        houses: number of those that are houses, the first ones.
    """

    corners: Floats
    first: Ints
    rise: Floats
    paints: Floats
    houses: int


class Skylines:
    """The skylines of a plan, each made when it is first seen from its cell.

    Args:
        plan: what to draw.
    """

    def __init__(self, plan: CityPlan) -> None:
        """Measure the plan's houses and trees; no skyline is drawn yet."""
        # Made towns lie at one place and differ by their seeds, twins by where they lie.
        away = np.abs(np.subtract(plan.layout.frame.origin, ORIGIN))
        rng = np.random.default_rng([plan.seed, *np.rint(away * 1e5).astype(int)])
        east, north = rng.uniform(size=2).tolist()
        self._phases = rng.uniform(0, 2 * np.pi, (len(_RIDGES), 9))
        scale, least, edge = _WEATHER[rng.integers(len(_WEATHER))]
        self._weather = Weather(east, north, scale * rng.uniform(0.9, 1.1), least, edge)
        houses = plan.layout.buildings
        outlines = shapely.convex_hull(np.array([one.footprint for one in houses], object))
        corners, owner = shapely.get_coordinates(outlines, return_index=True)
        trees = np.array([(one.x, one.y) for one in plan.layout.furniture if one.kind == "tree"])
        crowns = (trees.reshape(-1, 1, 2) + _TREE_M[0] * _ROUND).reshape(-1, 2)
        # Of each house and tree, and the end of the last one.
        first = np.searchsorted(owner, np.arange(len(houses)))
        first = np.append(first, len(corners) + len(_ROUND) * np.arange(len(trees) + 1))
        tops = np.append([one.height + one.roof_height for one in houses], [_TREE_M[1]] * len(trees))
        paints = [looks_of(one)[1] * 255 * _SHADED for one in houses]
        self._things = Things(
            np.concatenate([corners, crowns]),
            first,
            tops - CAMERA_HEIGHT_M,
            np.array([*paints, *[_TREE_RGB] * len(trees)]).reshape(-1, 3),
            len(houses),
        )
        self._places = self._things.corners[first[:-1]].T.copy()
        """Metres east and north of all of them, (2, n)."""
        self._kept = lru_cache(maxsize=KEPT)(self._draw)

    def skyline_around(self, x: float, y: float) -> Skyline:
        """Return the skyline seen from a point, metres east and north."""
        return self._kept(int(x // CELL_M), int(y // CELL_M))

    def _draw(self, across: int, up: int) -> Skyline:
        """Return the skyline of a cell of the plan, by its column and row."""
        sides = np.zeros((4, HIGH, WIDE, 4), np.uint8)
        # Rows above the land are left as they are: memory that is never touched costs neither time nor space.
        sides[:, : self._land.shape[1]] = self._land
        middle = (np.array([across, up]) + 0.5) * CELL_M
        away = np.hypot(*(self._places - middle[:, None]))
        far = np.flatnonzero((away > REACH_M) & (away < FARTHEST_M))
        # Sorted as whole numbers, twice as fast: metres without their last bits, then the thing's number.
        mask = (1 << len(away).bit_length()) - 1
        far = ~np.sort((away[far].view(np.int64) & ~mask) | (mask ^ far)) & mask
        top = _draw_things(sides, self._things, far, away, middle)
        return Skyline(sides, self._weather, max(top, self._land.shape[1]))

    @cached_property
    def _land(self) -> NDArray[np.uint8]:
        """Hills and the edge of a wood on the four sides of the cube, from all cells; their rows only."""
        sides = np.zeros((4, HIGH, WIDE, 4), np.uint8)
        for side, (right, ahead) in zip(sides, _SIDES, strict=True):
            self._draw_land(side, right, ahead)
        return sides[:, : np.flatnonzero(sides.any(axis=(0, 2, 3))).max() + 1]

    def _draw_land(self, side: Colours, right: Floats, ahead: Floats) -> None:
        """Draw the hills and the edge of a wood on one side of the cube."""
        u = (np.arange(WIDE) + 0.5) / (WIDE / 2) - 1
        east, north = u * right[0] + ahead[0], u * right[1] + ahead[1]
        turn, stretch = np.arctan2(east, north), np.hypot(east, north)
        waves = np.array([1, 2, 3, 5, 8, 13, 21, 55, 89])
        for (height, haze, paint), phases in zip(_RIDGES, self._phases, strict=True):
            lumps = (np.sin(turn[:, None] * waves + phases) / waves**0.7).sum(axis=1)
            tall = height * np.clip(0.55 + 0.28 * lumps, 0.08, 1.0) * stretch * (WIDE / 2)
            share = np.clip(tall[None] - np.arange(HIGH)[:, None], 0, 1)[..., None]
            colour = np.append(_hazed(paint, haze), 255.0)
            side[:] = np.rint(side + share * (colour - side)).astype(np.uint8)


def _hazed(paint: Floats | tuple[float, ...], haze: float | Floats) -> Floats:
    """Return one colour or several, [0, 255], behind a share of haze."""
    return np.asarray(paint) + haze * (np.array(HAZE_RGB) - paint)


@kernel
def _draw_things(sides: Colours, things: Things, far: Ints, away: Floats, middle: Floats) -> int:
    """Draw far houses and trees, but for what nearer ones hide; return the number of rows drawn on.

    Args:
        sides: of the cube.
        things: all houses and trees.
        far: numbers of those to draw, the nearest first, (n,).
        away: metres to all.
        middle: metres (east, north) of the middle of the cube.
    """
    # A thing is seen on two sides at most. Side, thing, left, right and top as in `Box`, and low.
    boxes = np.empty((2 * len(far), 6), np.int32)
    hidden, colour, seen, rows = np.full((4, WIDE), -1, np.int32), np.full(4, 255, np.uint8), 0, 0
    for thing in far:
        for side in range(4):
            left, right, top = _box_around(things, thing, middle, side)
            low = _hide_behind(hidden, side, left, right, top)
            if low <= (top + 8 >> 4) + 1:
                boxes[seen] = side, thing, left, right, top, low
                seen += 1
    for number in range(seen - 1, -1, -1):
        side, thing, left, right, top, low = boxes[number]
        _mix_haze(colour, things, thing, away[thing])
        box = left, right, top, low
        _draw_edge(sides, side, colour, box, 0, top, left, upright=True)
        _draw_edge(sides, side, colour, box, 0, top, right, upright=True)
        _draw_edge(sides, side, colour, box, left, right, top, upright=False)
        metre = WIDE / 2 / away[thing] if thing < things.houses else 0.0
        _fill_box(sides, side, colour, box, metre, HAZE_M / (away[thing] + HAZE_M))
        rows = max(rows, min((top + 8 >> 4) + 2, HIGH))
    return rows


@part
def _box_around(things: Things, thing: int, middle: Floats, side: int) -> tuple[int, int, int]:
    """Return left, right and top of a thing on a side of the cube, in 16ths of pixels; (0, 0, -32) off it."""
    near, left, right = np.inf, np.inf, -np.inf
    for corner in range(things.first[thing], things.first[thing + 1]):
        east, north = things.corners[corner, 0] - middle[0], things.corners[corner, 1] - middle[1]
        ahead = east * _SIDES[side, 1, 0] + north * _SIDES[side, 1, 1]
        if ahead <= 1:
            return 0, 0, -32
        column = ((east * _SIDES[side, 0, 0] + north * _SIDES[side, 0, 1]) / ahead + 1) * (WIDE / 2)
        near, left, right = min(near, ahead), min(left, column), max(right, column)
    if left >= WIDE or right <= 0:
        return 0, 0, -32
    top = things.rise[thing] / near * (WIDE / 2)
    return int(np.rint(left * 16 - 8)), int(np.rint(right * 16 - 8)), int(np.rint(top * 16 - 8))


@part
def _hide_behind(hidden: NDArray[np.int32], side: int, left: int, right: int, top: int) -> int:
    """Return the lowest row of a box that nearer ones leave in sight, and hide what is behind the box.

    Args:
        hidden: highest row that nearer boxes fill, by side and column.
        side: of the cube.
        left: of the box, in 16ths of pixels.
        right: likewise.
        top: likewise.
    """
    low, row = HIGH, min(top + 8 >> 4, HIGH - 1)
    for column in range(max((left + 8 >> 4) - 1, 0), min((right + 8 >> 4) + 1, WIDE - 1) + 1):
        low = min(low, hidden[side, column] + 1)
    if low <= row:
        for column in range(max(left + 15 >> 4, 0), min(right >> 4, WIDE - 1) + 1):
            hidden[side, column] = max(hidden[side, column], row)
    return low


@part
def _draw_edge(
    sides: Colours, side: int, colour: Colours, box: Box, start: int, end: int, across: int, upright: bool
) -> None:
    """Draw an edge of a box as OpenCV does: three pixels wide, paler at its ends.

    Args:
        sides: of the cube.
        side: of the box.
        colour: of the box.
        box: the box, which is filled afterwards.
        start: of the edge, in 16ths of pixels.
        end: likewise.
        across: its column if it runs up, or its row; likewise.
        upright: whether the edge runs up, not to the right.
    """
    left, right, top, low = box
    long, wide = (HIGH, WIDE) if upright else (WIDE, HIGH)
    start, end = max(start, 0), min(end, long * 16 - 1)
    if end < start or not 0 <= across < wide * 16:
        return
    first, last, middle = start >> 4, (end >> 4) + 1, across + 8 >> 4
    # Within two pixels of an end an edge grows paler; OpenCV adds 4 where both ends are that near.
    for along in range(max(first, low) if upright else first, min(last, long - 1) + 1):
        head = min(124 - (start & 15) * 8 + 128 * (along - first), 256)
        tail = min(4 + (end & 15) * 8 + 128 * (last - along), 256)
        drawn = _EDGE * (head + tail - (256 if max(head, tail) == 256 else 252)) >> 8
        for beside in range(3):
            row, column = (along, middle + beside - 1) if upright else (middle + beside - 1, along)
            is_filled = row <= top + 8 >> 4 and left + 15 >> 4 <= column <= right >> 4
            if low <= row < HIGH and 0 <= column < WIDE and not is_filled:
                _mix(sides[side, row, column], colour, drawn * _SOFT[across + 8 & 15, beside] >> 8)


@inline_kernel
def _mix(pixel: Colours, colour: Colours, weight: int) -> None:
    """Draw a colour over a pixel, twice, as OpenCV does; `weight`: in 256ths."""
    for channel in range(4):
        value = np.int64(pixel[channel])
        for _ in range(2):
            value += ((np.int64(colour[channel]) - value) * weight + 127) >> 8
        pixel[channel] = value


@part
def _fill_box(sides: Colours, side: int, colour: Colours, box: Box, metre: float, clear: float) -> None:
    """Fill the pixels of a box that are in sight, with rows of windows where they are wide enough to show.

    Args:
        sides: of the cube.
        side: of the box.
        colour: of the box.
        box: the box.
        metre: rows per metre on a house; 0 for none.
        clear: share of contrast that haze leaves, [0, 1].
    """
    left, right, top, low = box
    period = _WINDOW_M * metre
    dark = _WINDOW * clear * min(max(period - 1.0, 0.0), 1.0)
    per = 1.0 / max(period, 1.0)
    for row in range(low, min(top + 8 >> 4, HIGH - 1) + 1):
        across = dark * _wave((top / 16 - row) * per)
        for column in range(max(left + 15 >> 4, 0), min(right >> 4, WIDE - 1) + 1):
            lit = 1.0 - across * _wave((column - left / 16) * per)
            for channel in range(3):
                sides[side, row, column, channel] = np.uint8(colour[channel] * lit)
            sides[side, row, column, 3] = 255


@inline_kernel
def _wave(turns: float) -> float:
    """Return a wave between 0, at whole numbers, and 1."""
    return 1.0 - abs(2.0 * (turns - floor(turns)) - 1.0)


@part
def _mix_haze(colour: Colours, things: Things, thing: int, away: float) -> None:
    """Set a colour to that of a thing behind so many metres of haze, as `_hazed` does."""
    haze = away / (away + HAZE_M)
    for channel in range(3):
        paint = things.paints[thing, channel]
        colour[channel] = np.uint8(np.rint(paint + haze * (HAZE_RGB[channel] - paint)))


@inline_kernel
def look_up(x: float, y: float, z: float) -> tuple[int, int, int]:
    """Return (side, row, column) of the skyline along a ray (east, north, up); row -1 if it is above all.

    Args:
        x: metres east.
        y: metres north.
        z: metres up, not below 0.
    """
    if abs(x) > abs(y):
        side, u, ahead = (1, -y, x) if x > 0 else (3, y, -x)
    else:
        side, u, ahead = (0, x, y) if y > 0 else (2, -x, -y)
    half = WIDE / 2
    per = half / ahead
    row = int(z * per)
    if row >= HIGH:
        return side, -1, 0
    return side, row, min(int(u * per + half), WIDE - 1)
