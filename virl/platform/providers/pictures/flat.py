"""Views out of a flat photograph: what a pinhole camera shows of what another pinhole camera saw."""

from math import radians, tan

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.errors import NoImagery
from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Attitude, Camera, Image
from virl.platform.providers.pictures.projection import rays_of

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
    view = cv2.remap(pixels, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
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
