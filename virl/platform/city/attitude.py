"""How a panorama was held when it was taken: its heading, tilt and roll."""

from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rays = tuple[Floats, Floats, Floats]
"""Components of directions to the right, up and forward, of any length."""


@dataclass(frozen=True, slots=True)
class Attitude:
    """The heading, pitch and roll of a camera as it took a panorama, degrees.

    Args:
        heading: the way its centre column faces, degrees clockwise from north.
        pitch: how far its centre looks above the horizon, degrees.
        roll: how far it leans to the right, degrees, clockwise as seen along its heading.
    """

    heading: float = 0.0
    """Heading of the middle column of the picture, degrees clockwise from north."""
    pitch: float = 0.0
    """Degrees that the middle of the picture looks above the horizon."""
    roll: float = 0.0
    """Degrees that the camera leans to the right, clockwise as seen along its heading."""

    @property
    def is_level(self) -> bool:
        """Return whether pitch and roll are 0, so that the middle row of the picture is the horizon."""
        return self.pitch == 0 and self.roll == 0

    def seen_from_capture(self, east: Floats, up: Floats, north: Floats) -> Rays:
        """Return (right, up, forward) by the camera's axes of directions given as east, up and north.

        Args:
            east: components of directions in the world, any shape.
            up: components.
            north: components.
        """
        right, ahead = _rotate(east, north, self.heading)
        rise, forward = _rotate(up, ahead, self.pitch)
        return (*_rotate(right, rise, self.roll), forward)

    def in_world(self, right: Floats, up: Floats, forward: Floats) -> Rays:
        """Return (east, up, north) of directions given by the camera's axes: undoes `seen_from_capture`.

        Args:
            right: components by the capture's axes, any shape.
            up: components.
            forward: components.
        """
        level, rise = _rotate(right, up, -self.roll)
        risen, ahead = _rotate(rise, forward, -self.pitch)
        east, north = _rotate(level, ahead, -self.heading)
        return east, risen, north


def _rotate(one: Floats, other: Floats, angle: float) -> tuple[Floats, Floats]:
    """Return two components after a rotation by so many degrees from the first axis to the second."""
    across, along = np.float32(cos(radians(angle))), np.float32(sin(radians(angle)))
    return (
        np.asarray(one * across - other * along, np.float32),
        np.asarray(other * across + one * along, np.float32),
    )
