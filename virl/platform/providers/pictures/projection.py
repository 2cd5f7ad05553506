"""Views out of equirectangular panoramas, of parts of them and of flat photographs.

Column `u` of a panorama of width `W` looks to heading `yaw + (u + 0.5) / W * 360 - 180`, row `v` of its
height `H` to pitch `90 - (v + 0.5) / H * 180`: the centre column faces `yaw`, the top row looks up. A
panorama that was not held level has these angles by its own axes, see `Attitude`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, cos, radians, sin, tan
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput, NoImagery
from virl.extras import missing_packages
from virl.geo.globe import Floats, signed_turn
from virl.platform.city.streetview import Attitude, Camera, Image
from virl.platform.providers.http.pace import ask_all
from virl.platform.providers.pictures import plain_sampling
from virl.platform.providers.pictures.picture import FULL_TURN, Picture
from virl.platform.providers.pictures.plain_sampling import Floats32, rays_by

IS_COMPILED = not missing_packages(("cv2", "numba"))
"""True where compiled code takes the samples; without `virl[eyes]` the same views take ten times as long."""
PAD = 2
"""Number of padding rows at each pole; chosen: one is as far as a bilinear sample reaches."""
KEPT_MAPS = 16
"""Number of maps of sample points kept in memory; chosen: one of 800 by 460 pixels takes 3 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Equirectangular:
    """A panorama padded for `perspective`, made by `equirectangular`."""

    padded: Image
    """RGB panorama with `PAD` rows beyond each pole, as on the far side of the pole."""
    attitude: Attitude
    """Heading, pitch and roll of the camera that took the panorama."""


def equirectangular(pixels: Image, yaw: float = 0.0, attitude: Attitude | None = None) -> Equirectangular:
    """Return a padded panorama, taken at `attitude`, or else level with its middle column at heading `yaw`.

    Args:
        pixels: RGB pixels, shape (width / 2, width, 3), at least 8 wide.
        yaw: heading of the centre column of a level panorama, degrees clockwise from north.
        attitude: attitude of a panorama that was not held level, in place of `yaw`.

    Raises:
        BadInput: the picture is not twice as wide as high.
    """
    height, width = pixels.shape[:2]
    if width < 8 or width != 2 * height:
        raise BadInput(f"a panorama of {width}x{height} pixels is not twice as wide as high")
    far = np.roll(pixels[[*range(PAD), *range(height - PAD, height)]], width // 2, axis=1)
    return Equirectangular(
        np.concatenate([far[:PAD][::-1], pixels, far[PAD:][::-1]]), attitude or Attitude(yaw)
    )


def perspective(panorama: Equirectangular, camera: Camera) -> Image:
    """Return the picture through a camera in a panorama, shape (camera.height, camera.width, 3).

    The ray of each pixel's centre is `camera.direction`. Only rays that differ in more than their heading are
    computed anew. Nothing is averaged: a wide view of few pixels out of a large panorama shows aliases.
    """
    width, height = panorama.padded.shape[1], panorama.padded.shape[0] - 2 * PAD
    columns, rows = sample_points(panorama.attitude, camera, width, height)
    # The left and the right edge of a panorama meet, so columns wrap; over the poles the padding serves.
    return colours_at(panorama.padded, columns, rows, wraps=True)


def colours_at(pixels: Image, columns: Floats32, rows: Floats32, *, wraps: bool) -> Image:
    """Return the bilinear colours of a picture at (columns, rows); if it `wraps`, its side edges meet.

    Args:
        pixels: RGB pixels of the picture.
        columns: columns of the points, shape (height, width).
        rows: rows of the points, same shape.
        wraps: True where the first column follows the last; if not, the edge goes on beyond the picture.
    """
    if not IS_COMPILED:
        return plain_sampling.colours_at(pixels, columns, rows, wraps=wraps)
    import cv2  # noqa: PLC0415 - of an extra

    border = cv2.BORDER_WRAP if wraps else cv2.BORDER_REPLICATE
    return np.asarray(cv2.remap(pixels, columns, rows, cv2.INTER_LINEAR, borderMode=border), np.uint8)


def sample_points(
    attitude: Attitude, camera: Camera, pano_width: int, pano_height: int
) -> tuple[Floats32, Floats32]:
    """Return (columns, rows) in a padded panorama that a camera's pixels see, shape (height, width) each.

    Args:
        attitude: attitude of the camera that took the panorama.
        camera: camera of the view.
        pano_width: width of the panorama in pixels.
        pano_height: height of the panorama in pixels, without the padding.
    """
    shape = camera.pitch, camera.fov, camera.width, camera.height
    if attitude.is_level:
        columns, rows = _level_points(*shape, pano_width, pano_height)
        # In a level panorama a turn of the camera moves all columns alike: the kept rays serve any heading.
        turn = (camera.heading - attitude.heading) / 360 % 1 * pano_width
        columns = columns + np.float32(turn)
        np.subtract(columns, pano_width, out=columns, where=columns >= pano_width)
        return columns, rows
    return _points(camera, attitude, pano_width, pano_height)


def rays_of(camera: Camera, attitude: Attitude) -> tuple[Floats32, Floats32, Floats32]:
    """Return a camera's rays as (right, up, forward) in a capture's axes, shape (height, width) each."""
    return rays_by(_axes(camera, attitude), camera.width, camera.height)


@lru_cache(maxsize=KEPT_MAPS)
def _level_points(
    pitch: float, fov: float, width: int, height: int, pano_width: int, pano_height: int
) -> tuple[Floats32, Floats32]:
    """Return (columns, rows) in a level, padded panorama seen by a camera that faces its middle column."""
    camera = Camera(0.0, pitch, fov, width, height)
    columns, rows = _points(camera, Attitude(), pano_width, pano_height)
    # The cache hands out the same arrays every time.
    columns.flags.writeable = rows.flags.writeable = False
    return columns, rows


def _points(
    camera: Camera, attitude: Attitude, pano_width: int, pano_height: int
) -> tuple[Floats32, Floats32]:
    """Return (columns, rows) in a padded panorama that a camera's pixels see, shape (height, width) each."""
    if IS_COMPILED:
        from virl.platform.providers.pictures.sampling import sample  # noqa: PLC0415 - compiled when first used
    else:
        sample = plain_sampling.sample
    columns, rows = np.empty((2, camera.height, camera.width), np.float32)
    sample(columns, rows, _axes(camera, attitude), pano_width, pano_height, PAD)
    return columns, rows


def _axes(camera: Camera, attitude: Attitude) -> Floats32:
    """Return a camera's step right, step up and focal length, as columns, in a capture's axes, shape (3, 3).

    The rows are right, up and forward of the capture.
    """
    tilt = radians(camera.pitch)
    right = np.array([1.0, 0.0, 0.0], np.float32)
    rise = np.array([0.0, cos(tilt), camera.focal * sin(tilt)], np.float32)
    forward = np.array([0.0, -sin(tilt), camera.focal * cos(tilt)], np.float32)
    turned = Attitude(attitude.heading - camera.heading, attitude.pitch, attitude.roll)
    return np.stack(turned.seen_from_capture(right, rise, forward))


Tile = tuple[int, int]
"""(column, row) of a tile, from 0 at the top left."""


def sampled_tiles(
    columns: Floats | Floats32, rows: Floats | Floats32, width: int, height: int, tile: int
) -> set[Tile]:
    """Return (column, row) of all tiles, `tile` pixels wide, that sampling at points of a panorama needs.

    Args:
        columns: columns of the points.
        rows: rows of the points, with the padding.
        width: width of the panorama in pixels.
        height: height of the panorama in pixels, without the padding.
        tile: side of a square tile in pixels.
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
    """Write a tile over its pixels `place` in a panorama, scaled to `side` pixels if it has another size.

    Of a tile that is larger than its place the right and lower parts are left out; the rest of a place that
    is larger than its tile is filled with the tile's edge.

    Args:
        place: pixels of the panorama that the tile covers; they are overwritten.
        pixels: RGB pixels of the tile.
        side: side of a square tile in pixels, as the service announces it.
    """
    height, width = place.shape[:2]
    if pixels.shape[:2] not in {(height, width), (side, side)}:
        middles = (np.arange(side, dtype=np.float32) + np.float32(0.5)) / np.float32(side)
        columns, rows = np.meshgrid(middles * pixels.shape[1] - 0.5, middles * pixels.shape[0] - 0.5)
        pixels = colours_at(pixels, columns, rows, wraps=False)
    pixels = pixels[:height, :width]
    below, beside = height - pixels.shape[0], width - pixels.shape[1]
    place[:] = np.pad(pixels, ((0, below), (0, beside), (0, 0)), mode="edge")


class TiledPanorama:
    """A whole panorama of tiles, which are fetched as views need them. Safe for several threads.

    Args:
        size: (width, height) of the panorama in pixels.
        side: side of a square tile in pixels.
        grid: numbers of (columns, rows) of tiles.
        attitude: attitude of the camera that took the panorama.
        fetch: function from a tile to its RGB pixels; asked for several tiles at once by threads.

    Raises:
        BadInput: the panorama is not twice as wide as high.
    """

    def __init__(
        self,
        size: tuple[int, int],
        side: int,
        grid: tuple[int, int],
        attitude: Attitude,
        fetch: Callable[[Tile], Image],
    ) -> None:
        """Make the panorama of a size (width, height) and grid (columns, rows) of tiles, none fetched yet."""
        self._side, self._grid, self._attitude, self._fetch = side, grid, attitude, fetch
        self._canvas = np.zeros((size[1], size[0], 3), np.uint8)
        self._panorama = equirectangular(self._canvas, attitude=attitude)
        self._there: set[Tile] = set()
        self._lock = Lock()

    def view(self, camera: Camera) -> Image:
        """Return the picture through a camera; missing tiles that it touches are fetched first."""
        height, width = self._canvas.shape[:2]
        side, (columns, rows) = self._side, self._grid
        with self._lock:
            points = sample_points(self._attitude, camera, width, height)
            seen = sampled_tiles(*points, width, height, side)
            # The last tiles reach to the edge, also where a side is not a whole number of pixels.
            missing = sorted({(min(x, columns - 1), min(y, rows - 1)) for x, y in seen} - self._there)
            if missing:
                for (column, row), pixels in zip(missing, ask_all(self._fetch, missing), strict=True):
                    right = width if column == columns - 1 else (column + 1) * side
                    bottom = height if row == rows - 1 else (row + 1) * side
                    paste_tile(self._canvas[row * side : bottom, column * side : right], pixels, side)
                self._there.update(missing)
                self._panorama = equirectangular(self._canvas, attitude=self._attitude)
            panorama = self._panorama
        return perspective(panorama, camera)


LEAST_SHOWN = 0.5
"""Least share of a view, [0, 1], that a photograph has to cover; chosen. The rest is black."""


def flat_view(pixels: Image, fov: float, attitude: Attitude, camera: Camera) -> Image:
    """Return the picture through a camera in a flat photograph, shape (camera.height, camera.width, 3).

    Args:
        pixels: RGB pixels of the photograph.
        fov: horizontal field of view of the photograph in degrees, below 180.
        attitude: attitude of the camera that took it.
        camera: camera of the view, at the same spot.

    Raises:
        NoImagery: the photograph shows less than half of the view.
    """
    height, width = pixels.shape[:2]
    focal = width / 2 / tan(radians(fov / 2))
    right, up, forward = rays_of(camera, attitude)
    ahead = forward > 1e-6
    depth = np.where(ahead, forward, 1.0)
    columns = np.where(ahead, right / depth * focal + width / 2 - 0.5, -2.0).astype(np.float32)
    rows = np.where(ahead, height / 2 - 0.5 - up / depth * focal, -2.0).astype(np.float32)
    shown = (columns >= -0.5) & (columns <= width - 0.5) & (rows >= -0.5) & (rows <= height - 0.5)
    _check_shown(shown, fov, attitude.heading, camera)
    view = colours_at(pixels, columns, rows, wraps=False)
    return np.where(shown[..., None], view, np.uint8(0)).astype(np.uint8)


def _check_shown(shown: NDArray[np.bool_], fov: float, heading: float, camera: Camera) -> None:
    """Raise `NoImagery` unless half of a view is `shown` by a photograph of a fov and heading, degrees."""
    if shown.mean() < LEAST_SHOWN:
        off = abs(signed_turn(heading, camera.heading))
        raise NoImagery(
            f"the photograph faces {heading:.0f} degrees with a field of view of {fov:.0f}, and the "
            f"view is {off:.0f} degrees to its side: look to {heading:.0f}, or use 360-degree pictures"
        )


_GRID = 3600, 1800
"""Size (width, height), pixels, of a stand-in panorama that measures the share of a view that is shown."""


def view_of(
    picture: Picture, camera: Camera, pixels: Callable[[], Image], whole: Callable[[], Equirectangular]
) -> Image:
    """Return a camera's view of a picture, of which functions give the `pixels`, if flat, or the `whole`.

    Args:
        picture: kind, field of view and attitude of the picture.
        camera: camera of the view, at the same spot.
        pixels: function to the RGB pixels of a flat photograph, called for no other picture.
        whole: function to the whole panorama of another picture, as `whole_of` makes it.

    Raises:
        NoImagery: a photograph or part of a panorama shows less than half of the view.
    """
    if picture.is_flat:
        return flat_view(pixels(), picture.fov, picture.attitude, camera)
    if picture.left is not None:
        across, _ = sample_points(_whole_attitude(picture), camera, *_GRID)
        shown = (across / _GRID[0] - picture.left) % 1 <= picture.fov / FULL_TURN
        _check_shown(shown, picture.fov, picture.attitude.heading, camera)
    return perspective(whole(), camera)


def whole_of(picture: Picture, pixels: Image) -> Equirectangular:
    """Return the whole panorama of a picture with these RGB pixels, black where the picture shows nothing."""
    height = pixels.shape[0]
    width = round(pixels.shape[1] * FULL_TURN / picture.fov) // 2 * 2
    start = round((picture.left or 0.0) * width)
    pixels = pixels[:, : width - start]
    if pixels.shape[:2] != (width // 2, width):
        part, pixels = pixels, np.zeros((width // 2, width, 3), np.uint8)
        top = (width // 2 - height) // 2 if picture.sky is None else round(picture.sky * width / 2)
        first, last = max(top, 0), min(top + height, width // 2)
        pixels[first:last, start : start + part.shape[1]] = part[first - top : last - top]
    return equirectangular(pixels, attitude=_whole_attitude(picture))


def _whole_attitude(picture: Picture) -> Attitude:
    """Return the attitude of the whole panorama that a picture is, or is a part of."""
    # The heading of a picture is that of its own middle column, which in a part is not the panorama's.
    turn = 0.0 if picture.left is None else (picture.left - 0.5) * FULL_TURN + picture.fov / 2
    heading = (picture.attitude.heading - turn) % FULL_TURN
    return Attitude(heading, picture.attitude.pitch, picture.attitude.roll)
