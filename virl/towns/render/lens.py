"""A camera at a place, as the kernels take it."""

from math import cos, radians, sin, tan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.platform.city.streetview import Camera
from virl.towns.plan.town_plan import CAMERA_HEIGHT_M

NEAR_M = 0.08
"""Distance in metres to the near plane of a camera; chosen: nothing stands nearer to a panorama."""


class Lens(NamedTuple):
    """A pinhole camera without roll: its position, directions, focal length and picture size.

    Args:
        eye: metres, (3,).
        frame: unit vectors to the right, up and forward, (3, 3).
        focal: pixels.
        cx, cy: the middle of the picture, pixels.
        width, height: pixels.
    """

    eye: Floats
    frame: Floats
    focal: float
    cx: float
    cy: float
    width: int
    height: int


def lens_at(x: float, y: float, camera: Camera) -> Lens:
    """Return the lens of a camera `CAMERA_HEIGHT_M` metres above a point of the ground.

    Args:
        x: metres east.
        y: metres north.
        camera: its direction, opening and size.
    """
    return aim_lens(x, y, camera.heading, camera.pitch, camera.fov, (camera.width, camera.height))


def aim_lens(x: float, y: float, heading: float, pitch: float, fov: float, size: tuple[int, int]) -> Lens:
    """Return the lens at (x, y) metres by heading, pitch, fov in degrees and (width, height) in pixels.

    Args:
        x: metres east.
        y: metres north.
        heading: degrees.
        pitch: degrees.
        fov: degrees, across the width.
        size: width and height, pixels.
    """
    h, p = radians(heading), radians(pitch)
    right = (cos(h), -sin(h), 0.0)
    up = (-sin(p) * sin(h), -sin(p) * cos(h), cos(p))
    forward = (cos(p) * sin(h), cos(p) * cos(h), sin(p))
    width, height = size
    focal = width / 2 / tan(radians(fov / 2))
    eye = np.array([float(x), float(y), CAMERA_HEIGHT_M])
    return Lens(eye, np.array([right, up, forward]), focal, width / 2, height / 2, width, height)


def fit_lens(lens: Lens, points: NDArray[np.float32]) -> Lens:
    """Return a lens whose picture just holds some points, shape (n, 3) in metres.

    It reaches no farther than one picture's size beyond the old one on each side, and reaches that far where
    a point is behind the camera.
    """
    size = np.array([lens.width, lens.height])
    return _window(lens, points, -size, 2 * size)[0]


def part_around(lens: Lens, points: NDArray[np.float32]) -> tuple[Lens, tuple[int, int]]:
    """Return (lens, first (column, row)) of the picture's part that holds points, shape (n, 3) in metres.

    Returns:
        The camera, and the column and row of the old picture at which the part begins.
    """
    return _window(lens, points, np.array([0, 0]), np.array([lens.width, lens.height]))


def part_of(lens: Lens, left: int, top: int, width: int, height: int) -> Lens:
    """Return the lens of a part of the picture: `width` by `height` pixels from column `left`, row `top`.

    Args:
        lens: of the whole picture.
        left: first column.
        top: first row.
        width: pixels.
        height: pixels.
    """
    return lens._replace(cx=lens.cx - left, cy=lens.cy - top, width=width, height=height)


def _window(lens: Lens, points: NDArray[np.float32], low: Ints, high: Ints) -> tuple[Lens, tuple[int, int]]:
    """Return (lens, first (column, row)) of the part of pixels `low` to `high` that holds points."""
    seen = (points - lens.eye) @ lens.frame.T
    # A point behind the camera has no place in the picture: then nothing can be cut off.
    if (seen[:, 2] > NEAR_M).all():
        scale = lens.focal / seen[:, 2:]
        # Rows run downwards, the camera's second axis upwards.
        pixels = np.array([lens.cx, lens.cy]) + seen[:, :2] * scale * np.array([1, -1])
        low = np.clip(np.floor(pixels.min(axis=0)), low, high - 1).astype(int)
        high = np.clip(np.ceil(pixels.max(axis=0)), low + 1, high).astype(int)
    left, top = (int(v) for v in low)
    width, height = (int(v) for v in high - low)
    return part_of(lens, left, top, width, height), (left, top)
