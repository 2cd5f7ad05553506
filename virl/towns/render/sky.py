"""Compiled kernels, second pass: the sky, its clouds, and what stands before it far away."""

from math import sqrt
from typing import NamedTuple

from virl.platform.city.streetview import Image
from virl.towns.plan.town_plan import Rgb
from virl.towns.render.kernel import inline_kernel, part
from virl.towns.render.lens import Lens
from virl.towns.render.light import HAZE_RGB, SUN, before_tones
from virl.towns.render.sampling import Growth, Taps, Tile, channel, fixed_point, footprint, gather, taps_of
from virl.towns.render.shade import PixelRun, put
from virl.towns.render.skyline import WIDE, Skyline, look_up
from virl.towns.render.textures import TILE_INDEX, Words

SKY_STEP = 4
"""Number of pixels of a row from one ray to the sky to the next; chosen."""
CLOUDS = TILE_INDEX["clouds"]
_CLOUD_SCALE = 0.34
"""Repeats of the clouds' texture over a level distance equal to the height of the clouds."""
_NO_CLOUD = 0.04
"""Upward part of a unit ray below which no cloud is drawn; chosen."""
_CLOUD_BEND = 0.16
"""Number added to the upward part of a unit ray to clouds, so that they do not run to infinity."""
_ZENITH_RGB, _HORIZON_RGB = before_tones((92, 132, 182)), HAZE_RGB
_CLOUD_RGB, _CLOUD_BASE_RGB = before_tones((243, 243, 243)), before_tones((206, 210, 216))
"""Colours of thin and of thick cloud."""
_A_ROW = 1.42 / (WIDE / 2)
"""Rise of a ray per metre ahead that is a row of the skyline, or more."""

_SUN = (float(SUN[0]), float(SUN[1]), float(SUN[2]))


class RowRay(NamedTuple):
    """A row of the picture: the ray at the middle column, its growth per column, and the ground it meets.

    `k` is where they meet the ground, and `haze` lies before it.
    """

    x: float
    """Component east of the ray at the picture's middle column, cx."""
    y: float
    """Component north of the ray at the picture's middle column, cx."""
    z: float
    """Component up of the ray at the picture's middle column, cx."""
    dx: float
    """Change of the ray's component east from one column to the next."""
    dy: float
    """Change of the ray's component north from one column to the next."""
    k: float
    """Factor by which a ray's vector must be stretched to reach the ground, metres."""
    haze: float
    """Share of haze before the ground in this row, [0, 1]."""


@part
def shade_sky(
    run: PixelRun, row: RowRay, clouds: Tile, skyline: Skyline, texels: Words, lens: Lens, picture: Image
) -> None:
    """Colour a run of sky, by a ray at every `SKY_STEP`th pixel, and what stands before it far away.

    Args:
        run: pixels of one row.
        row: its rays.
        clouds: the texture of clouds.
        skyline: around the camera.
        texels: all tiles.
        lens: the camera.
        picture: is changed.
    """
    cx, sides, taps = lens.cx, skyline.sides, _cloud_taps(run, row, clouds, lens)
    shift_x, shift_y = skyline.clouds[0], skyline.clouds[1]
    aside = max(cx, lens.width - cx)  # a part of a panorama may lie on one side of its middle
    is_low = row.z < skyline.top * _A_ROW * (abs(row.x) + abs(row.y) + aside)
    right = run.first + 0.5 - cx
    x, y = row.x + right * row.dx, row.y + right * row.dy
    red, green, blue = _sky_colour(x, y, row.z, taps, shift_x, shift_y, texels)
    for block in range(run.first, run.end, SKY_STEP):
        x, y = x + SKY_STEP * row.dx, y + SKY_STEP * row.dy
        to = _sky_colour(x, y, row.z, taps, shift_x, shift_y, texels)
        for column in range(block, min(block + SKY_STEP, run.end)):
            s = (column - block) * (1.0 / SKY_STEP)
            r, g, b = red + s * (to[0] - red), green + s * (to[1] - green), blue + s * (to[2] - blue)
            if is_low:
                right = column + 0.5 - cx
                side, up, at = look_up(row.x + right * row.dx, row.y + right * row.dy, max(row.z, 0.0))
                share = sides[side, up, at, 3] * (1.0 / 255.0) if up >= 0 else 0.0
                if share > 0.0:
                    r += share * (sides[side, up, at, 0] - r)
                    g += share * (sides[side, up, at, 1] - g)
                    b += share * (sides[side, up, at, 2] - b)
            put(picture, run.row, column, r, g, b, 0.0)
        red, green, blue = to


@inline_kernel
def _cloud_taps(run: PixelRun, row: RowRay, clouds: Tile, lens: Lens) -> Taps:
    """Return the samples of the clouds' texture under the middle pixel of a run of sky."""
    right = 0.5 * (run.first + run.end) - lens.cx
    x, y = row.x + right * row.dx, row.y + right * row.dy
    up = max(row.z, 0.0) / sqrt(x * x + y * y + row.z * row.z) + _CLOUD_BEND
    grow = _CLOUD_SCALE / (up * lens.focal)
    return taps_of(footprint(clouds, Growth(grow, 0.0, 0.0, grow / up), 1))


@inline_kernel
def _sky_colour(
    x: float, y: float, z: float, taps: Taps, shift_x: float, shift_y: float, texels: Words
) -> Rgb:
    """Return (red, green, blue), [0, 255], of the sky along a ray (x, y, z).

    Args:
        x: east.
        y: north.
        z: up.
        taps: samples of the texture of clouds.
        shift_x: repeats of it by which they are moved east.
        shift_y: repeats of it by which they are moved north.
        texels: all tiles.
    """
    length = 1.0 / sqrt(x * x + y * y + z * z)
    up = max(z * length, 0.0)
    # The fifth power of what is missing to straight up: the pale band lies close to the horizon.
    low = (1.0 - up) * (1.0 - up)
    low = low * low * (1.0 - up)
    red = _ZENITH_RGB[0] + low * (_HORIZON_RGB[0] - _ZENITH_RGB[0])
    green = _ZENITH_RGB[1] + low * (_HORIZON_RGB[1] - _ZENITH_RGB[1])
    blue = _ZENITH_RGB[2] + low * (_HORIZON_RGB[2] - _ZENITH_RGB[2])
    if up > _NO_CLOUD:
        cover = _cloud(x * length, y * length, up, taps, shift_x, shift_y, texels)
        # What is thick is seen from below, in its own shade.
        base = cover * cover
        red += cover * (_CLOUD_RGB[0] + base * (_CLOUD_BASE_RGB[0] - _CLOUD_RGB[0]) - red)
        green += cover * (_CLOUD_RGB[1] + base * (_CLOUD_BASE_RGB[1] - _CLOUD_RGB[1]) - green)
        blue += cover * (_CLOUD_RGB[2] + base * (_CLOUD_BASE_RGB[2] - _CLOUD_RGB[2]) - blue)
    toward = max(x * _SUN[0] + y * _SUN[1] + z * _SUN[2], 0.0) * length
    # Squared over and over: the eighth power is a wide glow, a high one the glare about the disc.
    toward8 = toward * toward
    toward8 *= toward8
    toward8 *= toward8
    toward64 = toward8 * toward8
    toward64 *= toward64
    toward64 *= toward64
    toward64 *= toward64
    # The highest power is the disc, with a soft edge.
    glow = min(1.0, toward8 * 0.22 + toward64 * 0.4 + toward64**12 * 2.0)
    return red + glow * (255.0 - red), green + glow * (250.0 - green), blue + glow * (228.0 - blue)


@inline_kernel
def _cloud(x: float, y: float, up: float, taps: Taps, shift_x: float, shift_y: float, texels: Words) -> float:
    """Return the share of cloud, [0, 1], towards a unit vector (x, y, up)."""
    depth = _CLOUD_SCALE / (up + _CLOUD_BEND)
    u, v = fixed_point(x * depth + shift_x, taps.bits), fixed_point(y * depth + shift_y, taps.bits)
    cover = max(channel(gather(texels, taps, 0, u, v), 0) * (1.4 / 255.0) - 0.4, 0.0)
    # Low clouds would be drawn out to streaks: they fade.
    return cover * min(1.0, (up - _NO_CLOUD) * 4.0)
