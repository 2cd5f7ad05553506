"""Cameras of sweeps, of reading and of closer looks, and boxes carried from one into another.

Views from one panorama differ by a turn and a zoom only, so that a box of one is found in the other exactly.
"""

from math import acos, atan, ceil, cos, degrees, radians, sin, tan

import numpy as np

from virl.geo.globe import Floats
from virl.platform.city.streetview import MAX_FOV, MIN_FOV, Box, Camera


def carry_box(box: Box, source: Camera, target: Camera) -> Box | None:
    """Return a box of `source`'s view in pixels of `target`'s view; `None` if partly behind that camera.

    Args:
        box: pixels of the view through `source`; like the box returned, it may reach beyond the view's edges.
        source: camera of the view with the box.
        target: camera of the other view.
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
    """Return the area that two boxes of one picture share, divided by all that they cover, [0, 1]."""
    shared = shared_area(a, b)
    return shared / (_area(a) + _area(b) - shared)


def share_in_common(a: Box, b: Box) -> float:
    """Return the area that two boxes of one picture share, divided by that of the smaller one, [0, 1]."""
    return shared_area(a, b) / min(_area(a), _area(b))


def enclosing_box(a: Box, b: Box) -> Box:
    """Return the smallest box that holds two boxes of one picture, pixels."""
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def ray(camera: Camera, x: float, y: float) -> Floats:
    """Return the direction through a pixel of a camera's view as a unit vector (east, north, up).

    Args:
        camera: the camera of the view.
        x: column in pixels from the left edge.
        y: row in pixels from the top edge.
    """
    heading, pitch = (radians(angle) for angle in camera.direction(x, y))
    return np.array([sin(heading) * cos(pitch), cos(heading) * cos(pitch), sin(pitch)])


def frame_of(camera: Camera) -> Floats:
    """Return a camera's unit vectors right, up and forward as rows of (east, north, up), shape (3, 3)."""
    h, p = radians(camera.heading), radians(camera.pitch)
    return np.array(
        [
            (cos(h), -sin(h), 0.0),
            (-sin(p) * sin(h), -sin(p) * cos(h), cos(p)),
            (cos(p) * sin(h), cos(p) * cos(h), sin(p)),
        ]
    )


def shared_area(a: Box, b: Box) -> float:
    """Return the area that two boxes have in common, square pixels."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return max(width, 0.0) * max(height, 0.0)


def _area(box: Box) -> float:
    """Return the area of a box, square pixels."""
    return (box[2] - box[0]) * (box[3] - box[1])


ENLARGE = 4.0
"""Ratio of a closer picture's width to that of the object in it (V-IRL's active detection)."""
CLOSEST_FOV = 30.0
"""Least horizontal field of view of a closer picture, degrees (V-IRL's active detection)."""
ROAD_FOV = 60.0
"""Horizontal field of view of a view down a road, degrees (as in V-IRL)."""
LETTER_PX = 10.0  # chosen: `rapidocr` leaves out lines under 8 pixels, and boards stand askew
"""Least height in pixels of a letter that can be read."""


def sweep_cameras(
    heading: float | None,
    range_deg: float = 180.0,
    fov: float = 60.0,
    *,
    pitch: float = 0.0,
    width: int = 640,
    height: int = 640,
) -> list[Camera]:
    """Return cameras, left to right, over `range_deg` degrees around a heading; for `None`, all 360 degrees.

    Args:
        heading: middle of the range, degrees clockwise from north; `None` looks all around from north on.
        range_deg: degrees covered, (0, 360]; 180 at a fov of 60 gives headings -60, 0 and +60 from `heading`.
        fov: horizontal field of view of each camera, degrees.
        pitch: degrees above the horizon.
        width: pixels.
        height: pixels.

    Raises:
        BadInput: a value is out of a camera's range.
    """
    # The small number keeps a range of whole views from getting one more by rounding.
    count = max(ceil((360.0 if heading is None else min(range_deg, 360.0)) / fov - 1e-9), 1)
    first = 0.0 if heading is None else heading - (count - 1) / 2 * fov
    return [Camera(first + i * fov, pitch, fov, width, height) for i in range(count)]


def reading_fov(letter_m: float, distance_m: float, width: int = 640) -> float:
    """Return the widest field of view, [10, 120] degrees, at which letters so high and far off are legible.

    Args:
        letter_m: height of the letters, metres.
        distance_m: distance from the camera to the letters, metres.
        width: of the picture, pixels.
    """
    # In the middle of the picture, letters are `LETTER_PX` high; towards its edges they are higher.
    return min(max(2 * degrees(atan(width * letter_m / (2 * LETTER_PX * distance_m))), MIN_FOV), MAX_FOV)


def reading_cameras(
    heading: float,
    range_deg: float,
    pitches: tuple[float, float],
    letter_m: float,
    distance_m: float,
    width: int = 640,
) -> list[Camera]:
    """Return the fewest cameras, left to right, that show letters legibly over the headings and `pitches`.

    They overlap evenly, so that what an edge cuts may be whole in the next picture.

    Args:
        heading: middle of the range, degrees clockwise from north.
        range_deg: degrees covered, (0, 360).
        pitches: lowest and highest pitch covered, degrees above the horizon.
        letter_m: height of the letters, metres.
        distance_m: distance from the camera to the letters, metres.
        width: of each picture, pixels.
    """
    fov = min(reading_fov(letter_m, distance_m, width), range_deg)
    count = ceil(range_deg / fov - 1e-9)
    first, apart = (fov - range_deg) / 2, (range_deg - fov) / max(count - 1, 1)
    low, high = pitches
    # A pinhole has the same pixels a tangent upwards as sideways.
    tall = width * tan(radians((high - low) / 2)) / tan(radians(fov / 2))
    pitch, height = (low + high) / 2, min(round(tall), width)
    return [Camera(heading + first + i * apart, pitch, fov, width, height) for i in range(count)]


def closer_camera(camera: Camera, box: Box) -> Camera:
    """Return a camera aimed at the middle of a box, pixels of the view of `camera`, and narrowed to it.

    It stands at the same place; its picture has the same size, its field of view is in [30, 120] degrees.
    """
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    wide = _angle(camera, (box[0], y), (box[2], y))
    high = _angle(camera, (x, box[1]), (x, box[3]))
    # The field of view is that of the width: a box that is higher than wide asks for more of it.
    half_width = ENLARGE * max(tan(wide / 2), tan(high / 2) * camera.width / camera.height)
    fov = min(max(2 * degrees(atan(half_width)), CLOSEST_FOV), MAX_FOV)
    heading, pitch = camera.direction(x, y)
    return Camera(heading, min(max(pitch, -90.0), 90.0), fov, camera.width, camera.height)


def _angle(camera: Camera, a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the angle between the rays through two pixels (x, y) of a view, radians."""
    # Rounding may take the product of two unit vectors a little beyond 1.
    return acos(min(max(float(ray(camera, *a) @ ray(camera, *b)), -1.0), 1.0))
