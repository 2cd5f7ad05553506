"""What stands beyond the drawn quads: far houses, trees and hills, as a picture around the horizon.

The picture lies on the four sides of a cube around a cell of the plan, in perspective, so that the upright
edges of houses stay straight and a pixel is found without trigonometry. Hills and the edge of a wood are
invented by the plan's seed and place: no map is asked how high the land is.
"""

from functools import cached_property, lru_cache
from typing import NamedTuple

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

from virl.geo.globe import Floats
from virl.towns.plan.layout import ORIGIN
from virl.towns.plan.town_plan import CAMERA_HEIGHT_M, CityPlan
from virl.towns.render.kernel import inline_kernel
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


class Skyline(NamedTuple):
    """The picture around the horizon, RGB and opacity, (4, `HIGH`, `WIDE`, 4), and the clouds' place.

    Args:
        sides: of the cube: north, east, south, west; row 0 is at the horizon.
        clouds: repeats of their texture by which the clouds are moved (east, north), (2,).
        top: number of rows from the horizon up that show anything.
    """

    sides: NDArray[np.uint8]
    clouds: Floats
    top: int


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
        self._clouds = rng.uniform(size=2)
        self._phases = rng.uniform(0, 2 * np.pi, (len(_RIDGES), 9))
        houses = plan.layout.buildings
        outlines = shapely.convex_hull(np.array([one.footprint for one in houses], object))
        corners, owner = shapely.get_coordinates(outlines, return_index=True)
        trees = np.array([(one.x, one.y) for one in plan.layout.furniture if one.kind == "tree"])
        crowns = (trees.reshape(-1, 1, 2) + _TREE_M[0] * _ROUND).reshape(-1, 2)
        self._corners = np.concatenate([corners, crowns])
        """Corners of the outlines of all houses and trees, metres, (k, 2)."""
        first = np.searchsorted(owner, np.arange(len(houses)))
        self._first = np.append(first, len(corners) + len(_ROUND) * np.arange(len(trees)))
        """First corner of each house and tree, (n,)."""
        self._tops = np.append([one.height + one.roof_height for one in houses], [_TREE_M[1]] * len(trees))
        paints = [looks_of(one)[1] * 255 * _SHADED for one in houses]
        self._paints = np.array([*paints, *[_TREE_RGB] * len(trees)])
        self._kept = lru_cache(maxsize=KEPT)(self._draw)

    def skyline_around(self, x: float, y: float) -> Skyline:
        """Return the skyline seen from a point, metres east and north."""
        return self._kept(int(x // CELL_M), int(y // CELL_M))

    def _draw(self, across: int, up: int) -> Skyline:
        """Return the skyline of a cell of the plan, by its column and row."""
        sides = self._land.copy()
        corners = self._corners - (np.array([across, up]) + 0.5) * CELL_M
        for side, (right, ahead) in zip(sides, _SIDES, strict=True):
            if len(self._first):
                self._draw_things(side, corners @ np.array([right, ahead]).T)
        return Skyline(
            sides, self._clouds, int(np.flatnonzero(sides[..., 3].any(axis=(0, 2))).max(initial=0)) + 1
        )

    def _draw_things(self, side: NDArray[np.uint8], corners: Floats) -> None:
        """Draw far houses and trees, the farthest first; `corners`: metres right and ahead, (k, 2)."""
        ahead = np.minimum.reduceat(corners[:, 1], self._first)
        away = np.hypot(*corners[self._first].T)
        columns = (corners[:, 0] / np.maximum(corners[:, 1], 1.0) + 1) * (WIDE / 2)
        left, right = np.minimum.reduceat(columns, self._first), np.maximum.reduceat(columns, self._first)
        tall = (self._tops - CAMERA_HEIGHT_M) / np.maximum(ahead, 1.0) * (WIDE / 2)
        is_far = (ahead > 1) & (away > REACH_M) & (away < FARTHEST_M) & (left < WIDE) & (right > 0)
        seen = np.flatnonzero(is_far)
        seen = seen[np.argsort(-away[seen], kind="stable")]
        x0, x1, y, below = left[seen], right[seen], tall[seen], np.full(len(seen), -1.0)
        boxes = np.stack([x0, below, x1, below, x1, y, x0, y], axis=1).reshape(-1, 4, 2)
        whole = np.rint(boxes * 16 - 8).astype(np.int32)
        colours = _hazed(self._paints[seen], (away[seen] / (away[seen] + HAZE_M))[:, None])
        for box, colour in zip(whole, colours.tolist(), strict=True):
            cv2.fillConvexPoly(side, box, (*colour, 255.0), cv2.LINE_AA, 4)

    @cached_property
    def _land(self) -> NDArray[np.uint8]:
        """Hills and the edge of a wood on the four sides of the cube, which look the same from all cells."""
        sides = np.zeros((4, HIGH, WIDE, 4), np.uint8)
        for side, (right, ahead) in zip(sides, _SIDES, strict=True):
            self._draw_land(side, right, ahead)
        return sides

    def _draw_land(self, side: NDArray[np.uint8], right: Floats, ahead: Floats) -> None:
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
