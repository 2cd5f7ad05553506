"""The ground before a camera, drawn as if seen from above (inverse perspective mapping)."""

from dataclasses import dataclass
from math import cos, radians, sin

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.platform.city.streetview import Image, View

CAMERA_HEIGHT_M = 2.5  # of street-view cars, about; chosen
"""Metres of the camera above the ground."""


@dataclass(frozen=True, slots=True)
class GroundPatch:
    """A picture of the ground from above: row 0 farthest, columns from left to right."""

    pixels: Image
    """Colours, shape (rows, columns, 3); black where the view does not reach."""
    seen: NDArray[np.bool_]
    """Mask of the cells that the view reaches, shape (rows, columns)."""
    per_m: int
    """Cells a metre."""
    left_m: float
    """Metres from the camera to the left edge of the first column; negative to its left."""
    far_m: float
    """Metres from the camera to the far edge of the first row."""

    def metres_right(self, column: float) -> float:
        """Return metres to the right of the camera of a column."""
        return self.left_m + column / self.per_m

    def metres_ahead(self, row: float) -> float:
        """Return metres ahead of the camera of a row."""
        return self.far_m - row / self.per_m


def ground_patch(
    view: View,
    *,
    aside: tuple[float, float] = (-9.0, 9.0),
    ahead: tuple[float, float] = (3.0, 18.0),
    per_m: int = 10,
    height: float = CAMERA_HEIGHT_M,
) -> GroundPatch:
    """Return the ground in a view as seen from above, taken as flat.

    What stands on the ground is smeared away from the camera.

    Args:
        view: of any camera; one that looks down by 20 degrees shows what lies near.
        aside: metres to the right of the camera, from and to.
        ahead: metres before it, from and to.
        per_m: cells in a metre.
        height: of the camera over the ground, metres.
    """
    camera = view.camera
    columns, rows = round((aside[1] - aside[0]) * per_m), round((ahead[1] - ahead[0]) * per_m)
    x = aside[0] + (np.arange(columns) + 0.5) / per_m
    y = ahead[1] - (np.arange(rows) + 0.5) / per_m
    pitch = radians(camera.pitch)
    forward = (y * cos(pitch) - height * sin(pitch))[:, None]
    up = (-y * sin(pitch) - height * cos(pitch))[:, None]
    across = np.broadcast_to(camera.width / 2 + camera.focal * x[None] / forward, (rows, columns))
    down = np.broadcast_to(camera.height / 2 - camera.focal * up / forward, (rows, columns))
    seen = (forward > 0) & (across >= 0) & (across < camera.width) & (down >= 0) & (down < camera.height)
    pixels = cv2.remap(
        view.pixels,
        (across - 0.5).astype(np.float32),
        (down - 0.5).astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    pixels[~seen] = 0
    return GroundPatch(pixels.astype(np.uint8), seen, per_m, aside[0], ahead[1])
