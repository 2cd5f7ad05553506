"""What boxes have in common, also when they lie in different views from one panorama.

Such views differ by a turn and a zoom only, so that a box of one is found in the other exactly.
"""

from math import cos, radians, sin

import numpy as np

from virl.geo.globe import Floats
from virl.platform.city.streetview import Box, Camera


def carry_box(box: Box, source: Camera, target: Camera) -> Box | None:
    """Return the box around what a box shows in another view from there; `None` if partly behind it.

    Args:
        box: pixels of the view through `source`; may reach beyond its edges.
        source: where the box lies.
        target: where it is wanted.

    Returns:
        Pixels of the view through `target`, beyond its edges too; `None` if part of it is behind that camera.
    """
    corners = [(x, y) for x in box[::2] for y in box[1::2]]
    right, up, forward = frame_of(target) @ np.array([ray(source, *corner) for corner in corners]).T
    # What is behind the camera would be projected to the opposite side of the picture.
    if forward.min() <= 1e-6:
        return None
    x = target.width / 2 + target.focal * right / forward
    y = target.height / 2 - target.focal * up / forward
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())


def intersection_over_union(a: Box, b: Box) -> float:
    """Return the area that two boxes of one picture share, over all that they cover, [0, 1]."""
    shared = _shared_area(a, b)
    return shared / (_area(a) + _area(b) - shared)


def share_in_common(a: Box, b: Box) -> float:
    """Return the area that two boxes of one picture share, over that of the smaller one, [0, 1]."""
    return _shared_area(a, b) / min(_area(a), _area(b))


def enclosing_box(a: Box, b: Box) -> Box:
    """Return the box that holds two boxes."""
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def ray(camera: Camera, x: float, y: float) -> Floats:
    """Return the direction through a pixel as a unit vector: east, north, up.

    Args:
        camera: of the view.
        x: column, pixels.
        y: row, pixels.
    """
    heading, pitch = (radians(angle) for angle in camera.direction(x, y))
    return np.array([sin(heading) * cos(pitch), cos(heading) * cos(pitch), sin(pitch)])


def frame_of(camera: Camera) -> Floats:
    """Return a camera's unit vectors right, up and forward, each (east, north, up), shape (3, 3)."""
    h, p = radians(camera.heading), radians(camera.pitch)
    return np.array(
        [
            (cos(h), -sin(h), 0.0),
            (-sin(p) * sin(h), -sin(p) * cos(h), cos(p)),
            (cos(p) * sin(h), cos(p) * cos(h), sin(p)),
        ]
    )


def _shared_area(a: Box, b: Box) -> float:
    """Return the area that two boxes have in common, square pixels."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return max(width, 0.0) * max(height, 0.0)


def _area(box: Box) -> float:
    """Return the area of a box, square pixels."""
    return (box[2] - box[0]) * (box[3] - box[1])
