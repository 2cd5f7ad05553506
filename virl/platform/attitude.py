"""How a panorama was held when it was taken: its heading, tilt and roll."""

from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rays = tuple[Floats, Floats, Floats]
"""Directions as right, up and forward, of any length."""


@dataclass(frozen=True, slots=True)
class Attitude:
    """The axes of a capture in the world.

    Args:
        heading: the way its centre column faces, degrees clockwise from north.
        pitch: how far its centre looks above the horizon, degrees.
        roll: how far it leans to the right, degrees, clockwise as seen along its heading.
    """

    heading: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0

    @property
    def is_level(self) -> bool:
        """Return whether its middle row is the horizon."""
        return self.pitch == 0 and self.roll == 0

    def seen_from_capture(self, east: Floats, up: Floats, north: Floats) -> Rays:
        """Return the directions of the world by the capture's own axes.

        Args:
            east: components of directions in the world, any shape.
            up: components.
            north: components.
        """
        right, ahead = _rotate(east, north, self.heading)
        rise, forward = _rotate(up, ahead, self.pitch)
        return (*_rotate(right, rise, self.roll), forward)

    def in_world(self, right: Floats, up: Floats, forward: Floats) -> Rays:
        """Return directions by the capture's own axes as east, up and north: the way back.

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
    """Return two components turned from the first to the second by an angle in degrees."""
    across, along = np.float32(cos(radians(angle))), np.float32(sin(radians(angle)))
    return (
        np.asarray(one * across - other * along, np.float32),
        np.asarray(other * across + one * along, np.float32),
    )
