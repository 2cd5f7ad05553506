"""Compiled kernels: the sky, with a glow around the sun and a layer of clouds."""

from math import sqrt

from virl.platform.providers.offline.plan import Rgb
from virl.platform.providers.offline.render.kernel import inlined, part
from virl.platform.providers.offline.render.light import SUN
from virl.platform.providers.offline.render.sampling import (
    Growth,
    Tile,
    channel,
    fixed,
    footprint,
    gather,
    taps_of,
)  # fmt: skip
from virl.platform.providers.offline.render.textures import TILE_INDEX, Words

CLOUDS = TILE_INDEX["clouds"]
CLOUD_SCALE = 0.34  # repeats of the texture for a cloud height to the side
CLOUD_BEND = 0.07  # keeps the layer from running to infinity at the horizon
ZENITH_RGB, HORIZON_RGB = (88.0, 142.0, 206.0), (210.0, 224.0, 236.0)
SUN_DISC = 0.9994  # cosine of its radius, thrice the true one so that it fills a few pixels

_SUN = (float(SUN[0]), float(SUN[1]), float(SUN[2]))


@part
def sky_colour(x: float, y: float, z: float, focal: float, clouds: Tile, texels: Words) -> Rgb:
    """Red, green and blue of the sky along a ray (x, y, z) of any length.

    Args:
        x: east.
        y: north.
        z: up.
        focal: of the picture, pixels.
        clouds: the texture of clouds.
        texels: all tiles.
    """
    length = 1.0 / sqrt(x * x + y * y + z * z)
    up = max(z * length, 0.0)
    low = (1.0 - up) * (1.0 - up)
    low = low * low * (1.0 - up)
    red = ZENITH_RGB[0] + low * (HORIZON_RGB[0] - ZENITH_RGB[0])
    green = ZENITH_RGB[1] + low * (HORIZON_RGB[1] - ZENITH_RGB[1])
    blue = ZENITH_RGB[2] + low * (HORIZON_RGB[2] - ZENITH_RGB[2])
    if up > 0.01:
        cover = _cloud(x * length, y * length, up, focal, clouds, texels)
        tone = 253.0 - 26.0 * cover * cover
        red, green, blue = (
            red + cover * (tone - red),
            green + cover * (tone - green),
            blue + cover * (tone - blue),
        )
    toward = max(x * _SUN[0] + y * _SUN[1] + z * _SUN[2], 0.0) * length
    toward8 = toward * toward
    toward8 *= toward8
    toward8 *= toward8
    toward64 = toward8 * toward8
    toward64 *= toward64
    toward64 *= toward64
    glow = min(1.0, toward8 * 0.25 + toward64 * toward64 * 0.5 + (1.0 if toward > SUN_DISC else 0.0))
    return red + glow * (255.0 - red), green + glow * (250.0 - green), blue + glow * (228.0 - blue)


@inlined
def _cloud(x: float, y: float, up: float, focal: float, clouds: Tile, texels: Words) -> float:
    """How much cloud stands in a unit direction, [0, 1]."""
    depth = CLOUD_SCALE / (up + CLOUD_BEND)
    grow = depth / focal
    cover = footprint(clouds, Growth(grow, 0.0, 0.0, grow / (up + CLOUD_BEND)), 1)
    taps = taps_of(cover)
    total = gather(texels, taps, 0, fixed(x * depth, taps.bits), fixed(y * depth, taps.bits))
    return channel(total, 0) * (1.0 / 255.0) * min(1.0, up * 7.0)
