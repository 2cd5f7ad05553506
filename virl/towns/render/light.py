"""The light of a town: sun, sky, haze, and the curve that makes tones of them."""

from math import cos, radians, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from virl.geo.globe import Floats

SUN_HEADING, SUN_ELEVATION = 218.0, 34.0  # chosen: an afternoon; streets lie at odd angles to it

SUN: Floats = np.array(
    [
        sin(radians(SUN_HEADING)) * cos(radians(SUN_ELEVATION)),
        cos(radians(SUN_HEADING)) * cos(radians(SUN_ELEVATION)),
        sin(radians(SUN_ELEVATION)),
    ]
)
"""Unit vector towards the sun."""

SUN_RGB: Floats = np.array([0.84, 0.74, 0.58])
"""Light of the sun on a face that looks at the sun, as factors on RGB. Chosen by eye."""
SKY_RGB: Floats = np.array([0.42, 0.46, 0.53])
"""Light of the sky on a face that looks up, as factors on RGB. Chosen by eye."""
BOUNCE_RGB: Floats = np.array([0.24, 0.23, 0.20])
"""Light of the ground on a face that looks down, as factors on RGB. Chosen by eye."""


def brightness(normal: NDArray[np.float32], shaded: ArrayLike = 0.0) -> NDArray[np.float32]:
    """Return the light on faces as factors on RGB, (n, 3), by unit normals and shares of shade, (n,)."""
    toward = np.zeros(len(normal), np.float32)
    # Not as a product of matrices: its last digit depends on how many faces there are.
    for axis in (1, 0, 2):
        toward = (normal[:, axis].astype(float) * SUN.astype(np.float32)[axis] + toward).astype(np.float32)
    sun = (np.maximum(toward, 0.0) * (1 - np.asarray(shaded)))[:, None]
    up = (normal[:, 2:] + 1) / 2
    # A little from the east, so that two shaded sides of a corner differ too.
    side = 0.03 * normal[:, :1]
    total = SUN_RGB * sun + SKY_RGB * (0.35 + 0.65 * up) + BOUNCE_RGB * (1 - up) + side
    return np.asarray(total, np.float32)


def _tone_curve() -> NDArray[np.uint8]:
    """Return the tone, [0, 255], of each brightness, [0, 255]: shadows lifted to 12, white at 245."""
    x = np.arange(256) / 255
    # A gamma for the exposure, and a little S around the middle for contrast.
    bright = x**0.70
    curved = bright + 0.05 * np.sin(2 * np.pi * (bright - 0.5))
    return np.rint(12 + 233 * np.clip(curved, 0, 1)).astype(np.uint8)


TONES = _tone_curve()


def before_tones(rgb: tuple[int, int, int]) -> tuple[float, float, float]:
    """Return the colour, [0, 255], that the tone curve turns into a colour of the picture, [12, 245]."""
    red, green, blue = (float(np.interp(one, TONES, np.arange(256))) for one in rgb)
    return red, green, blue


HAZE_RGB = before_tones((214, 222, 228))
"""Colour of haze and of the sky at the horizon, [0, 255]."""
HAZE_M = 450.0
"""Distance in metres at which haze takes half of the contrast; chosen: a summer day in town."""
