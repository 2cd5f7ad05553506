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
from virl.towns.render.skyline import WIDE, Skyline, Weather, look_up
from virl.towns.render.textures import TILE_INDEX, Words

SKY_STEP = 4
"""Number of pixels of a row from one ray to the sky to the next; chosen."""
CLOUDS = TILE_INDEX["clouds"]
_NO_CLOUD = 0.04
"""Upward part of a unit ray below which no cloud is drawn; chosen."""
_CLOUD_BEND = 0.16
"""Number added to the upward part of a unit ray to clouds, so that they do not run to infinity."""
_ZENITH_RGB, _HORIZON_RGB = before_tones((92, 132, 182)), HAZE_RGB
_CLOUD_RGB, _CLOUD_BASE_RGB = before_tones((244, 244, 243)), before_tones((158, 166, 180))
"""Colours of a cloud in the sun and of its base."""
_THICK, _BULGE = 2.6, 0.006
"""Shade of a cloud by its thickness, and by how much it slopes away from the light; chosen."""
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
    cx, sides, weather = lens.cx, skyline.sides, skyline.weather
    taps = _cloud_taps(run, row, clouds, weather.scale, lens)
    aside = max(cx, lens.width - cx)  # a part of a panorama may lie on one side of its middle
    is_low = row.z < skyline.top * _A_ROW * (abs(row.x) + abs(row.y) + aside)
    right = run.first + 0.5 - cx
    x, y = row.x + right * row.dx, row.y + right * row.dy
    red, green, blue = _sky_colour(x, y, row.z, taps, weather, texels)
    for block in range(run.first, run.end, SKY_STEP):
        x, y = x + SKY_STEP * row.dx, y + SKY_STEP * row.dy
        to = _sky_colour(x, y, row.z, taps, weather, texels)
        for column in range(block, min(block + SKY_STEP, run.end)):
            s = (column - block) * (1.0 / SKY_STEP)
            r, g, b = red + s * (to[0] - red), green + s * (to[1] - green), blue + s * (to[2] - blue)
            if is_low:
                right = column + 0.5 - cx
                side, up, at = look_up(row.x + right * row.dx, row.y + right * row.dy, max(row.z, 0.0))
                open_share = 1.0 - sides[side, up, at, 3] * (1.0 / 255.0) if up >= 0 else 1.0
                if open_share < 1.0:
                    r = r * open_share + sides[side, up, at, 0]
                    g = g * open_share + sides[side, up, at, 1]
                    b = b * open_share + sides[side, up, at, 2]
            put(picture, run.row, column, r, g, b, 0.0)
        red, green, blue = to


@inline_kernel
def _cloud_taps(run: PixelRun, row: RowRay, clouds: Tile, scale: float, lens: Lens) -> Taps:
    """Return the samples of the clouds' texture under the middle pixel of a run of sky."""
    right = 0.5 * (run.first + run.end) - lens.cx
    x, y = row.x + right * row.dx, row.y + right * row.dy
    up = max(row.z, 0.0) / sqrt(x * x + y * y + row.z * row.z) + _CLOUD_BEND
    grow = scale / (up * lens.focal)
    return taps_of(footprint(clouds, Growth(grow, 0.0, 0.0, grow / up), 1))


@inline_kernel
def _sky_colour(x: float, y: float, z: float, taps: Taps, weather: Weather, texels: Words) -> Rgb:
    """Return (red, green, blue), [0, 255], of the sky along a ray (x, y, z).

    Args:
        x: east.
        y: north.
        z: up.
        taps: samples of the texture of clouds.
        weather: of the town.
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
        cover, base = _cloud(x * length, y * length, up, taps, weather, texels)
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
def _cloud(x: float, y: float, up: float, taps: Taps, weather: Weather, texels: Words) -> tuple[float, float]:
    """Return (share of cloud, share of shade on it), [0, 1], towards a unit vector (x, y, up)."""
    depth = weather.scale / (up + _CLOUD_BEND)
    u, v = fixed_point(x * depth + weather.east, taps.bits), fixed_point(y * depth + weather.north, taps.bits)
    texel = gather(texels, taps, 0, u, v)
    thick = max(channel(texel, 0) * (1.0 / 255.0) - weather.least, 0.0)
    # A cloud bulges: light comes to the side near the camera, which is its top, and to that near the sun.
    rise = (channel(texel, 1) - 127.5) * (x - _SUN[0]) + (channel(texel, 2) - 127.5) * (y - _SUN[1])
    base = min(max(_THICK * thick - _BULGE * rise, 0.0), 1.0)
    # Low clouds would be drawn out to streaks: they fade.
    return min(thick * weather.edge, 1.0) * min(1.0, (up - _NO_CLOUD) * 4.0), base
