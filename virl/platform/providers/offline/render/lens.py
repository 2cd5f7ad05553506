"""A camera at a place, as the kernels take it."""

from math import cos, radians, sin, tan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.platform.providers.offline.plan import CAMERA_HEIGHT_M
from virl.platform.streetview import Camera


class Lens(NamedTuple):
    """A pinhole camera without roll.

    Args:
        eye: metres, (3,).
        frame: unit vectors to the right, up and forward, (3, 3).
        focal: pixels.
        cx, cy: the middle of the picture, pixels.
        width, height: pixels.
    """

    eye: NDArray[np.float64]
    frame: NDArray[np.float64]
    focal: float
    cx: float
    cy: float
    width: int
    height: int


def lens_at(x: float, y: float, camera: Camera) -> Lens:
    """The camera `CAMERA_HEIGHT_M` above a point of the ground, in metres."""
    return aimed(x, y, camera.heading, camera.pitch, camera.fov, (camera.width, camera.height))


def aimed(x: float, y: float, heading: float, pitch: float, fov: float, size: tuple[int, int]) -> Lens:
    """As `lens_at`, with the fields of a camera; `size` is width and height. The ranges are not checked."""
    h, p = radians(heading), radians(pitch)
    right = (cos(h), -sin(h), 0.0)
    up = (-sin(p) * sin(h), -sin(p) * cos(h), cos(p))
    forward = (cos(p) * sin(h), cos(p) * cos(h), sin(p))
    width, height = size
    focal = width / 2 / tan(radians(fov / 2))
    eye = np.array([float(x), float(y), CAMERA_HEIGHT_M])
    return Lens(eye, np.array([right, up, forward]), focal, width / 2, height / 2, width, height)


def widened(lens: Lens) -> Lens:
    """The same camera with a picture three times as wide and high around the old one."""
    return lens._replace(
        cx=lens.cx + lens.width, cy=lens.cy + lens.height, width=3 * lens.width, height=3 * lens.height
    )
