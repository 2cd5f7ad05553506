"""Whole panoramas, or parts of them: six faces of a cube resampled to an equirectangular picture."""

from collections.abc import Callable
from dataclasses import dataclass
from math import radians, tan

import cv2
import numpy as np

from virl.geo import Floats
from virl.platform.streetview import Image

FACES: tuple[tuple[float, float], ...] = (
    (0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (270.0, 0.0), (0.0, 90.0), (0.0, -90.0),
)  # fmt: skip
"""Turn and pitch of each face."""

FACE_FOV = 94.0  # a rim of two degrees, so that no sample falls off a face
RIM = 2  # pixels around the samples of a face that are drawn too: to smooth edges and to mix neighbours


@dataclass(frozen=True, slots=True)
class FacePart:
    """Part of a face, in pixels of the whole face."""

    left: int
    top: int
    width: int
    height: int


def unroll(
    draw: Callable[[int, FacePart], Image], side: int, width: int, left: int, top: int, size: tuple[int, int]
) -> Image:
    """Part of an equirectangular picture; no more of the faces is drawn than it needs.

    Args:
        draw: draws part of a face, by its place in `FACES`.
        side: pixels of a face.
        width: pixels of the whole picture.
        left: its column at which the part begins; beyond the last one follows the first.
        top: its row at which the part begins.
        size: columns and rows of the part.
    """
    turn = (((np.arange(left, left + size[0]) % width) + 0.5) / width - 0.5) * 2 * np.pi
    pitch = (0.5 - (np.arange(top, top + size[1]) + 0.5) / (width // 2)) * np.pi
    east = np.cos(pitch)[:, None] * np.sin(turn)
    north = np.cos(pitch)[:, None] * np.cos(turn)
    up = np.broadcast_to(np.sin(pitch)[:, None], east.shape)
    largest = np.maximum(np.maximum(np.abs(east), np.abs(north)), np.abs(up))
    # Each face's depth, right and up among the axes; the last two look up and down.
    axes = (
        (north, east, up), (east, -north, up), (-north, -east, up), (-east, north, up), (up, east, -north),
        (-up, east, north),
    )  # fmt: skip
    picture = np.empty((size[1], size[0], 3), np.uint8)
    for face, (ahead, right, rise) in enumerate(axes):
        mine = ahead == largest
        if mine.any():
            columns, rows = _samples(ahead[mine], right[mine], rise[mine], side)
            window = _around(columns, rows, side)
            drawn = draw(face, window)
            picture[mine] = _mixed(drawn, columns - window.left, rows - window.top)
    return picture


def _samples(ahead: Floats, right: Floats, rise: Floats, side: int) -> tuple[Floats, Floats]:
    """The column and the row of a face in which directions are seen."""
    focal = side / 2 / tan(radians(FACE_FOV / 2))
    return side / 2 + focal * right / ahead - 0.5, side / 2 - focal * rise / ahead - 0.5


def _around(columns: Floats, rows: Floats, side: int) -> FacePart:
    low_x, low_y = (max(int(np.floor(part.min())) - RIM, 0) for part in (columns, rows))
    high_x, high_y = (min(int(np.floor(part.max())) + 2 + RIM, side) for part in (columns, rows))
    return FacePart(low_x, low_y, high_x - low_x, high_y - low_y)


def _mixed(drawn: Image, columns: Floats, rows: Floats) -> Image:
    """Pixels between those of a picture, (n, 3)."""
    # OpenCV takes maps of at most 32,767 rows
    pad = -len(columns) % _ROW
    maps = [np.pad(part, (0, pad)).astype(np.float32).reshape(-1, _ROW) for part in (columns, rows)]
    mixed = cv2.remap(drawn, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(mixed, np.uint8).reshape(-1, 3)[: len(columns)]


_ROW = 1024
