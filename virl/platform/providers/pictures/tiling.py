"""Tiles of panoramas: those that a view is made of, and the places they go to."""

from math import ceil

import cv2
import numpy as np

from virl.platform.city.streetview import Attitude, Camera, Image
from virl.platform.providers.pictures.projection import PAD, Floats32, sample_points

Tile = tuple[int, int]
"""Column and row of a tile, from 0 at the top left."""


def tiles_seen(camera: Camera, attitude: Attitude, width: int, height: int, tile: int) -> set[Tile]:
    """Return the (column, row) of all tiles that a camera's pixels are sampled from.

    Args:
        camera: the camera.
        attitude: how the panorama was held.
        width: pixels of the panorama.
        height: pixels of the panorama.
        tile: pixels of a side of a tile.
    """
    return tiles_at(*sample_points(attitude, camera, width, height), width, height, tile)


def tiles_at(columns: Floats32, rows: Floats32, width: int, height: int, tile: int) -> set[Tile]:
    """Return the (column, row) of all tiles that points of a padded panorama are sampled from.

    Args:
        columns: of the points.
        rows: of the points.
        width: pixels of the panorama.
        height: pixels of the panorama.
        tile: pixels of a side of a tile.
    """
    u = np.floor(columns).astype(np.int64)
    v = np.floor(rows - PAD).astype(np.int64)
    seen = np.zeros((ceil(height / tile), ceil(width / tile)), bool)
    for right_one in (0, 1):
        for lower in (0, 1):
            row, over = v + lower, (v + lower < 0) | (v + lower >= height)
            column = np.where(over, u + right_one + width // 2, u + right_one) % width
            seen[np.clip(row, 0, height - 1) // tile, column // tile] = True
    return {(int(x), int(y)) for y, x in np.argwhere(seen)}


def paste_tile(place: Image, pixels: Image, side: int) -> None:
    """Write a tile to its place in a panorama, scaled if its size is not as announced.

    One of another size than the service announced is scaled. Of one that is larger than its place the right
    and lower parts are left out; what a smaller one lacks is filled with its edge.

    Args:
        place: the part of the panorama.
        pixels: of the tile.
        side: pixels of a side of a tile, as announced.
    """
    height, width = place.shape[:2]
    if pixels.shape[:2] not in {(height, width), (side, side)}:
        pixels = np.asarray(cv2.resize(pixels, (side, side), interpolation=cv2.INTER_LINEAR), np.uint8)
    pixels = pixels[:height, :width]
    below, beside = height - pixels.shape[0], width - pixels.shape[1]
    place[:] = np.pad(pixels, ((0, below), (0, beside), (0, 0)), mode="edge")
