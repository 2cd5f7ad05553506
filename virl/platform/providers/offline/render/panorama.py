"""Whole panoramas: six faces of a cube resampled to an equirectangular picture."""

from collections.abc import Sequence
from math import radians, tan

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.platform.streetview import Image

FACES: tuple[tuple[float, float], ...] = (
    (0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (270.0, 0.0), (0.0, 90.0), (0.0, -90.0),
)  # fmt: skip
"""Turn and pitch of each face."""

FACE_FOV = 94.0  # a rim of two degrees, so that no sample falls off a face


def unroll(faces: Sequence[Image], width: int) -> Image:
    """The equirectangular picture of six square faces in the order of `FACES`."""
    side = faces[0].shape[0]
    columns, rows = _maps(width, side)
    strip = np.concatenate(faces)
    rolled = cv2.remap(strip, columns, rows, cv2.INTER_LINEAR)
    return np.asarray(rolled, np.uint8)


def _maps(width: int, side: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    height = width // 2
    turn = ((np.arange(width) + 0.5) / width - 0.5) * 2 * np.pi
    pitch = (0.5 - (np.arange(height) + 0.5) / height) * np.pi
    east = np.cos(pitch)[:, None] * np.sin(turn)
    north = np.cos(pitch)[:, None] * np.cos(turn)
    up = np.broadcast_to(np.sin(pitch)[:, None], east.shape)
    focal = side / 2 / tan(radians(FACE_FOV / 2))
    columns, rows = np.empty(east.shape, np.float32), np.empty(east.shape, np.float32)
    largest = np.maximum(np.maximum(np.abs(east), np.abs(north)), np.abs(up))
    # Each face's depth, right and up among the axes; the last two look up and down.
    axes = (
        (north, east, up), (east, -north, up), (-north, -east, up), (-east, north, up), (up, east, -north),
        (-up, east, north),
    )  # fmt: skip
    for face, (ahead, right, rise) in enumerate(axes):
        mine = ahead == largest
        columns[mine] = side / 2 + focal * right[mine] / ahead[mine] - 0.5
        rows[mine] = face * side + side / 2 - focal * rise[mine] / ahead[mine] - 0.5
    return columns, rows
