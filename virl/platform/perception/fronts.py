"""The fronts along a street, drawn as if one stood before them, to read signs far down the street.

A front is taken as a wall along the street at one distance. At another distance its picture is larger or
smaller, and letters keep their shape.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import atan2, cos, degrees, hypot, radians, sin, tan
from typing import Literal

import numpy as np

from virl.extras import Late
from virl.geo.globe import Floats, normalize_heading
from virl.platform.city.streetview import MIN_FOV, Box, Camera, Image, View
from virl.platform.perception.ground import CAMERA_HEIGHT_M

cv2 = Late("cv2", extra="eyes")

Side = Literal["left", "right"]
"""Side of a street, looking along its heading."""

WALL_M = 7.5
"""Assumed distance in metres from the middle of a street to its fronts; chosen: that of invented towns."""
LOW_M, HIGH_M = 1.8, 6.2
"""Heights in metres between which signs hang; chosen."""
PER_M = 40
"""Number of pixels in a metre of an unrolled front; chosen: a letter of 0.3 m is 12 pixels high."""
LARGEST = 1280
"""Largest width in pixels of a view of a piece of front; chosen."""
MARGIN = 1.25
"""Ratio of a view's angle to that of its piece of front."""


@dataclass(frozen=True, slots=True)
class FrontPiece:
    """A piece of the fronts on one side of a street."""

    heading: float
    """Heading of the street, degrees clockwise from north."""
    side: Side
    """Side of the street, looking along its heading."""
    near: float
    """Distance in metres along the street from the camera to the piece's near end."""
    far: float
    """Distance in metres along the street from the camera to the piece's far end."""

    @property
    def camera(self) -> Camera:
        """Camera whose view shows the piece at `PER_M` pixels a metre, but at most `LARGEST` pixels wide."""
        middle = hypot((self.near + self.far) / 2, WALL_M)
        first, last = (degrees(atan2(WALL_M, along)) for along in (self.near, self.far))
        high = 2 * degrees(atan2((HIGH_M - LOW_M) / 2, middle))
        fov = max(MIN_FOV, MARGIN * max(first - last, high))
        # A front is smaller by the distance, and foreshortened by `WALL_M / middle` on top.
        wanted = 2 * PER_M * middle**2 / WALL_M * tan(radians(fov / 2))
        width = min(LARGEST, 64 * round(wanted / 64 + 0.5))
        height = min(width, 32 * round(width * MARGIN * high / fov / 32 + 0.5))
        turn = degrees(atan2(WALL_M, (self.near + self.far) / 2)) * self._sign
        pitch = degrees(atan2((LOW_M + HIGH_M) / 2 - CAMERA_HEIGHT_M, middle))
        return Camera(normalize_heading(self.heading + turn), pitch, fov, width, height)

    @property
    def _sign(self) -> int:
        """Sign of the side: 1 for right, -1 for left."""
        return 1 if self.side == "right" else -1

    def unroll(self, view: View) -> Image:
        """Return the piece as seen straight on, `PER_M` pixels a metre, from a view by `camera`."""
        across, down = self._seen_at(view.camera)
        picture: Image = cv2.remap(
            view.pixels, across.astype(np.float32), down.astype(np.float32), cv2.INTER_CUBIC
        )
        return picture.astype(np.uint8)

    def box(self, unrolled: Box) -> Box:
        """Return a box, in pixels of the unrolled front, as a box in pixels of a view by `camera`."""
        camera = self.camera
        across, down = self._seen_at(camera)
        rows, columns = across.shape
        left, top, right, bottom = (round(edge) for edge in unrolled)
        ys = [min(max(y, 0), rows - 1) for y in (top, bottom)]
        xs = [min(max(x, 0), columns - 1) for x in (left, right)]
        seen = [(float(across[y, x]), float(down[y, x])) for y in ys for x in xs]
        low = [max(0.0, min(point[axis] for point in seen)) for axis in (0, 1)]
        high = [
            min(size, max(point[axis] for point in seen))
            for axis, size in ((0, camera.width), (1, camera.height))
        ]
        return low[0], low[1], high[0], high[1]

    def _seen_at(self, camera: Camera) -> tuple[Floats, Floats]:
        """Return the (column, row) arrays of a view by a camera at which each unrolled pixel is seen."""
        along = np.arange(self.near, self.far, 1 / PER_M)
        if self.side == "right":  # one who faces it has the far end to the left
            along = along[::-1]
        up = (np.arange(HIGH_M, LOW_M, -1 / PER_M) - CAMERA_HEIGHT_M)[:, None]
        turn, pitch = radians(camera.heading - self.heading), radians(camera.pitch)
        aside = WALL_M * self._sign
        ahead = along * cos(turn) + aside * sin(turn)
        right = -along * sin(turn) + aside * cos(turn)
        forward = ahead * cos(pitch) + up * sin(pitch)
        above = -ahead * sin(pitch) + up * cos(pitch)
        # OpenCV counts from the middles of pixels, a camera from their edges.
        across = camera.width / 2 + camera.focal * right / forward - 0.5
        down = camera.height / 2 - camera.focal * above / forward - 0.5
        return across, down


def pieces_of(heading: float, bounds: tuple[float, ...]) -> tuple[FrontPiece, ...]:
    """Return the pieces of both sides, first the left, of a street cut at `bounds` metres from the camera."""
    sides: tuple[Side, Side] = ("left", "right")
    return tuple(FrontPiece(heading, side, near, far) for side in sides for near, far in pairwise(bounds))
