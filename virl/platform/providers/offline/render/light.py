"""One sun for the whole city: how bright a face is for the way it looks."""

from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SUN_HEADING, SUN_ELEVATION = 218.0, 43.0  # chosen: an early afternoon; streets lie at odd angles to it

SUN: Floats = np.array(
    [
        sin(radians(SUN_HEADING)) * cos(radians(SUN_ELEVATION)),
        cos(radians(SUN_HEADING)) * cos(radians(SUN_ELEVATION)),
        sin(radians(SUN_ELEVATION)),
    ]
)
"""Unit vector towards the sun."""

SUN_RGB: Floats = np.array([0.62, 0.57, 0.48])
SKY_RGB: Floats = np.array([0.50, 0.54, 0.61])
BOUNCE_RGB: Floats = np.array([0.20, 0.19, 0.17])
"""Light of the sun on a face that looks at it, of the sky on one that looks up, of the ground on one that
looks down. Chosen by eye."""


def brightness(normal: Floats) -> Floats:
    """Light on faces, RGB shape (n, 3), for their unit normals (n, 3)."""
    sun = np.clip(normal @ SUN, 0.0, None)[:, None]
    up = (normal[:, 2:] + 1) / 2
    # A little from the east, so that two shaded sides of a corner differ too.
    side = 0.06 * normal[:, :1]
    total: Floats = SUN_RGB * sun + SKY_RGB * (0.35 + 0.65 * up) + BOUNCE_RGB * (1 - up) + side
    return total
