"""Panoramas that were not held level: drawn as the camera that took them saw them."""

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.platform.attitude import Attitude
from virl.platform.streetview import Image, Panorama
from virl.serve.google.options import Oddities

MOST_PITCH, MOST_ROLL = 12.0, 6.0  # degrees; chosen: a steep street, and a person's hand
RIM = 2  # pixels drawn around what is sampled, to mix neighbours

Floats = NDArray[np.float32]
PartOf = Callable[[int, int, tuple[int, int]], Image]
"""Part of a level panorama whose centre column looks north: its left column, top row, and size."""


def attitude_of(panorama: Panorama, odd: Oddities) -> Attitude:
    """How a panorama is held: level, but for those that are `tilted`."""
    if not odd.has("tilted", panorama.id):
        return Attitude(panorama.heading)
    pitch, roll = (2 * odd.drawn(f"{axis} of tilted", panorama.id) - 1 for axis in ("pitch", "roll"))
    return Attitude(panorama.heading, round(pitch * MOST_PITCH, 2), round(roll * MOST_ROLL, 2))


def tilted_part(
    part_of: PartOf, held: Attitude, width: int, left: int, top: int, size: tuple[int, int]
) -> Image:
    """Part of a panorama that was held so; its centre column is the middle of what the camera faced.

    Args:
        part_of: draws the level panorama.
        held: how the camera was held.
        width: pixels of the whole panorama.
        left: its column at which the part begins.
        top: its row at which the part begins.
        size: columns and rows of the part.
    """
    columns, rows = _level_points(held, width, left, top, size)
    middle = columns[size[1] // 2, size[0] // 2]
    aside = (columns - middle + width / 2) % width - width / 2
    west, east = int(np.floor(aside.min())) - RIM, int(np.ceil(aside.max())) + RIM
    first, last = max(int(np.floor(rows.min())) - RIM, 0), min(int(np.ceil(rows.max())) + RIM, width // 2 - 1)
    start = int(np.floor(middle))
    if east - west >= width:
        start, west, east = 0, 0, width - 1
        aside, middle = columns, np.float32(0)
    level = part_of((start + west) % width, first, (east - west + 1, last - first + 1))
    across = aside + np.float32(middle - start - west)
    seen = cv2.remap(
        level, across, rows - np.float32(first), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(seen, np.uint8)


def _level_points(
    held: Attitude, width: int, left: int, top: int, size: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Columns and rows in the level panorama, whose centre column looks north, of a part's pixels."""
    turn = (((np.arange(left, left + size[0]) + 0.5) / width - 0.5) * 2 * np.pi).astype(np.float32)
    lift = ((0.5 - (np.arange(top, top + size[1]) + 0.5) / (width // 2)) * np.pi).astype(np.float32)[:, None]
    up = np.broadcast_to(np.sin(lift), (size[1], size[0]))
    east, rise, north = held.in_world(np.cos(lift) * np.sin(turn), up, np.cos(lift) * np.cos(turn))
    columns = (np.arctan2(east, north) / (2 * np.pi) + 0.5) * width - 0.5
    rows = (0.5 - np.arctan2(rise, np.hypot(east, north)) / np.pi) * (width // 2) - 0.5
    return columns.astype(np.float32), rows.astype(np.float32)
