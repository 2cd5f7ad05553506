"""One sun for the whole city: how bright a face is for the way it looks."""

from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats

SUN_HEADING, SUN_ELEVATION = 218.0, 43.0  # chosen: an early afternoon; streets lie at odd angles to it

SUN: Floats = np.array(
    [
        sin(radians(SUN_HEADING)) * cos(radians(SUN_ELEVATION)),
        cos(radians(SUN_HEADING)) * cos(radians(SUN_ELEVATION)),
        sin(radians(SUN_ELEVATION)),
    ]
)
"""Unit vector towards the sun."""

SUN_RGB: Floats = np.array([0.60, 0.55, 0.46])
"""Light of the sun on a face that looks at it. Chosen by eye."""
SKY_RGB: Floats = np.array([0.74, 0.78, 0.85])
"""Light of the sky on a face that looks up. Chosen by eye."""
BOUNCE_RGB: Floats = np.array([0.30, 0.29, 0.26])
"""Light of the ground on a face that looks down. Chosen by eye."""


def brightness(normal: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the light on faces, RGB, shape (n, 3), by their unit normals, shape (n, 3)."""
    toward = np.zeros(len(normal), np.float32)
    # Not as a product of matrices: its last digit depends on how many faces there are.
    for axis in (1, 0, 2):
        toward = (normal[:, axis].astype(float) * SUN.astype(np.float32)[axis] + toward).astype(np.float32)
    sun = np.maximum(toward, 0.0)[:, None]
    up = (normal[:, 2:] + 1) / 2
    # A little from the east, so that two shaded sides of a corner differ too.
    side = 0.06 * normal[:, :1]
    total = SUN_RGB * sun + SKY_RGB * (0.35 + 0.65 * up) + BOUNCE_RGB * (1 - up) + side
    return np.asarray(total, np.float32)
