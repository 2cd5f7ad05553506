"""Views out of pictures of less than a full turn: flat photographs, and parts of panoramas."""

from math import radians, tan

import numpy as np
from numpy.typing import NDArray

from virl.errors import NoImagery
from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Attitude, Camera, Image
from virl.platform.providers.pictures.picture import FULL_TURN, Picture
from virl.platform.providers.pictures.projection import colours_at, rays_of, sample_points

LEAST_SHOWN = 0.5
"""Least share of a view that a photograph has to show; chosen. The rest is black."""


def flat_view(pixels: Image, fov: float, attitude: Attitude, camera: Camera) -> Image:
    """Return the picture through a camera in a photograph, shape (camera.height, camera.width, 3).

    Args:
        pixels: of the photograph, RGB.
        fov: horizontal degrees that it shows, below 180.
        attitude: how it was held.
        camera: at the same spot.

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
    check_shown(shown, fov, attitude.heading, camera)
    view = colours_at(pixels, columns, rows, wraps=False)
    return np.where(shown[..., None], view, np.uint8(0)).astype(np.uint8)


def check_shown(shown: NDArray[np.bool_], fov: float, heading: float, camera: Camera) -> None:
    """Check that a photograph shows enough of a view.

    Args:
        shown: true at pixels of the view that it shows.
        fov: horizontal degrees of the photograph.
        heading: of its middle, degrees.
        camera: of the view.

    Raises:
        NoImagery: it shows less than half.
    """
    if shown.mean() < LEAST_SHOWN:
        off = abs(signed_turn(heading, camera.heading))
        raise NoImagery(
            f"the photograph faces {heading:.0f} degrees with a field of view of {fov:.0f}, and the "
            f"view is {off:.0f} degrees to its side: look to {heading:.0f}, or use 360-degree pictures"
        )


_GRID = 3600, 1800
"""Columns and rows of points at which a panorama is looked up to be shown or not (chosen)."""


def whole_attitude(held: Picture, left: float | None) -> Attitude:
    """Return the attitude of the whole panorama that a picture is, or is cut from.

    Args:
        held: the picture.
        left: share of the whole width that is cut off to the left of it; `None` for a whole panorama.
    """
    turn = 0.0 if left is None else (left - 0.5) * FULL_TURN + held.fov / 2
    return Attitude((held.attitude.heading - turn) % FULL_TURN, held.attitude.pitch, held.attitude.roll)


def check_part(held: Picture, left: float, camera: Camera) -> None:
    """Check that a part of a panorama shows enough of a view.

    Args:
        held: the picture, with its attitude.
        left: share of the panorama where the part begins, [0, 1).
        camera: of the view.

    Raises:
        NoImagery: it shows less than half of it.
    """
    across, _ = sample_points(whole_attitude(held, left), camera, *_GRID)
    shown = (across / _GRID[0] - left) % 1 <= held.fov / FULL_TURN
    check_shown(shown, held.fov, held.attitude.heading, camera)
