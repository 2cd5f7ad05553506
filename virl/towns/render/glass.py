"""Compiled kernels, second pass: the sky and the houses across the street that window panes mirror."""

from math import floor, sqrt
from typing import NamedTuple

import numpy as np

from virl.geo.globe import Floats
from virl.platform.city.streetview import Image
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.kernel import inline_kernel
from virl.towns.render.light import before_tones
from virl.towns.render.surfaces import WALLS
from virl.towns.render.textures import TILE_INDEX

GLAZED, GLASS = TILE_INDEX[f"base/{WALLS[0]}"], 32
"""Texture index below which tiles have windows; opacity of a texel, of 255, below which it is glass."""
HEAD_ON, FAINT, MOST = 0.04, 0.06, 0.6
"""Share of light that a pane mirrors head-on, least one that is drawn, and largest one. At 75 degrees
it is 45 %: the third power instead of Schlick's fifth allows for two sheets of glass."""
NARROW = 4
"""Pixels of a row of a wall up to which its panes mirror nothing; chosen."""
_SKY, _HIGH = before_tones((226, 231, 236)), before_tones((118, 152, 194))
_HOUSES = before_tones((96, 97, 99))


class Pane(NamedTuple):
    """The mirrored ray at column 0 and its growth per column, its part into the pane, a house's phase."""

    x: float
    y: float
    z: float
    dx: float
    dy: float
    toward: float
    dtoward: float
    phase: float


NO_PANE = Pane(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0)


@inline_kernel
def pane_of(frame: Floats, focal: float, right: float, up: float, normal: Rgb, seed: int) -> Pane:
    """Return the rays of a row of the picture as a wall mirrors them.

    Args:
        frame: directions of the camera.
        focal: pixels.
        right: of the row's begin from the picture's middle, pixels.
        up: of the row from the picture's middle, pixels.
        normal: of the wall.
        seed: of the house.
    """
    dx, dy = frame[0, 0], frame[0, 1]
    x = right * dx + up * frame[1, 0] + focal * frame[2, 0]
    y = right * dy + up * frame[1, 1] + focal * frame[2, 1]
    z = up * frame[1, 2] + focal * frame[2, 2]
    toward, dtoward = -(x * normal[0] + y * normal[1]), -(dx * normal[0] + dy * normal[1])
    return Pane(
        x + 2.0 * toward * normal[0], y + 2.0 * toward * normal[1], z,
        dx + 2.0 * dtoward * normal[0], dy + 2.0 * dtoward * normal[1],
        toward, dtoward, (np.int64(seed) * 7919 & 63) / 64.0,
    )  # fmt: skip


@inline_kernel
def mirrored(pane: Pane, column: float) -> tuple[float, Rgb]:
    """Return (share of light, [0, 1]; colour, [0, 255]) that a pane mirrors at a column."""
    x, y = pane.x + pane.dx * column, pane.y + pane.dy * column
    per = 1.0 / sqrt(x * x + y * y + pane.z * pane.z)
    miss = 1.0 - max((pane.toward + pane.dtoward * column) * per, 0.0)
    # The heading along a square instead of a circle; by it roofs and clouds go up and down.
    up, side = pane.z * per, x / (abs(x) + abs(y) + 1e-9)
    sky = min(max((up - 0.04 - 0.1 * _wave(2.0 * side + pane.phase)) * 12.0 + 0.5, 0.0), 1.0)
    high = min(max(3.0 * up, 0.0), 1.0) * _wave(1.5 * side + 2.0 * up + pane.phase)
    red, green, blue = (
        _HOUSES[0] + sky * (_SKY[0] + high * (_HIGH[0] - _SKY[0]) - _HOUSES[0]),
        _HOUSES[1] + sky * (_SKY[1] + high * (_HIGH[1] - _SKY[1]) - _HOUSES[1]),
        _HOUSES[2] + sky * (_SKY[2] + high * (_HIGH[2] - _SKY[2]) - _HOUSES[2]),
    )
    return min(HEAD_ON + miss * miss * miss, MOST), (red, green, blue)


@inline_kernel
def _wave(turns: float) -> float:
    """Return a wave of straight lines between 0 and 1."""
    return abs(2.0 * (turns - floor(turns)) - 1.0)


@inline_kernel
def glaze(picture: Image, row: int, column: int, share: float, mirror: Rgb) -> None:
    """Draw a mirrored colour over a pixel.

    Args:
        picture: is changed.
        row: of the pixel.
        column: of the pixel.
        share: of the mirrored colour, [0, 1].
        mirror: its RGB in [0, 255].
    """
    for c in range(3):
        old = float(picture[row, column, c])
        picture[row, column, c] = np.uint8(old + share * (mirror[c] - old))
