"""Street view: panoramas, how they were held, the links between them, and views through a camera."""

import io
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, atan2, cos, degrees, hypot, radians, sin, tan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput, NoStreetView
from virl.geo.globe import LatLng, distance, normalize_heading

Image = NDArray[np.uint8]
"""Pixels of an RGB picture, `uint8`, shape (height, width, 3)."""

Box = tuple[float, float, float, float]
"""Pixels (x0, y0, x1, y1): left, top, right, bottom; x right and y down from the top left corner."""

MIN_FOV, MAX_FOV = 10.0, 120.0
"""Limits of a camera's horizontal field of view in degrees: those of Google's Street View Static."""
MAX_RADIUS_M = 1000.0
"""Largest radius of `StreetView.nearest` in metres; chosen."""


@dataclass(frozen=True, slots=True)
class Link:
    """A one-way link from one panorama to a neighbouring one."""

    pano_id: str
    """Id of the neighbouring panorama."""
    heading: float
    """Direction in which the link leaves, degrees clockwise from north, [0, 360)."""
    distance: float
    """Distance to the neighbour in metres."""


@dataclass(frozen=True, slots=True)
class Panorama:
    """One panorama of street view: position, heading, date, and the links that leave it."""

    id: str
    """Id that the provider gives the panorama."""
    position: LatLng
    heading: float
    """Heading of the capturing car, degrees clockwise from north, [0, 360)."""
    links: tuple[Link, ...]
    date: str | None = None
    """Month in which it was taken, ISO 8601 as `2026-05`; `None` where it is not known."""
    indoors: bool = False
    """True where the provider knows that the panorama was taken indoors."""

    @property
    def is_crossing(self) -> bool:
        """Return whether three or more ways meet at the panorama."""
        return len(self.links) >= 3


@dataclass(frozen=True, slots=True)
class Pose:
    """The panorama and the heading of an agent.

    Examples:
        >>> virl.Pose("vt-0", 90.0).heading
        90.0
    """

    pano_id: str
    """Id of the panorama where the agent stands."""
    heading: float
    """Direction that the agent faces, degrees clockwise from north, [0, 360)."""


@dataclass(frozen=True, slots=True)
class Camera:
    """The direction and horizontal field of view in degrees, and the picture size in pixels, of a view.

    Raises:
        BadInput: a value is out of its range.

    Examples:
        >>> virl.Camera(heading=90).fov
        90.0
    """

    heading: float
    """Direction of the middle column, degrees clockwise from north; stored in [0, 360)."""
    pitch: float = 0.0
    """Direction of the middle row, degrees above the horizon, [-90, 90]."""
    fov: float = 90.0
    """Horizontal field of view in degrees, [10, 120]."""
    width: int = 640
    """Width of the picture in pixels, [16, 2048]."""
    height: int = 640
    """Height of the picture in pixels, [16, 2048]."""

    def __post_init__(self) -> None:
        """Check field of view, pitch and size, and set the heading within [0, 360)."""
        object.__setattr__(self, "heading", normalize_heading(self.heading))
        if not MIN_FOV <= self.fov <= MAX_FOV:
            raise BadInput(f"camera fov {self.fov:g} is outside [{MIN_FOV:g}, {MAX_FOV:g}] degrees")
        if not -90 <= self.pitch <= 90:
            raise BadInput(f"camera pitch {self.pitch:g} is outside [-90, 90] degrees")
        if not (16 <= self.width <= 2048 and 16 <= self.height <= 2048):
            raise BadInput(f"camera size {self.width}x{self.height} is outside [16, 2048] pixels")

    @property
    def focal(self) -> float:
        """Focal length of the equivalent pinhole camera, pixels."""
        return self.width / 2 / tan(radians(self.fov / 2))

    def direction(self, x: float, y: float) -> tuple[float, float]:
        """Return (heading, pitch) in degrees of the ray through a point, pixels from the top left corner."""
        right, up = x - self.width / 2, self.height / 2 - y
        tilt = radians(self.pitch)
        forward = self.focal * np.cos(tilt) - up * np.sin(tilt)
        rise = self.focal * np.sin(tilt) + up * np.cos(tilt)
        heading = normalize_heading(self.heading + degrees(atan2(right, forward)))
        return heading, degrees(atan2(rise, hypot(right, forward)))

    def sector(self, box: Box) -> tuple[float, float]:
        """Return the headings, degrees clockwise from north, of a box's left and right edge at mid-height."""
        middle = (box[1] + box[3]) / 2
        return self.direction(box[0], middle)[0], self.direction(box[2], middle)[0]

    @property
    def vertical_fov(self) -> float:
        """Vertical field of view, degrees from the bottom to the top of the picture."""
        return 2 * degrees(atan(self.height / 2 / self.focal))


@dataclass(frozen=True, slots=True)
class View:
    """The image seen through a camera at a panorama."""

    pano_id: str
    """Id of the panorama at which the camera stands."""
    camera: Camera
    """Direction, field of view and size of the camera."""
    pixels: Image
    """RGB `uint8` of shape (height, width, 3)."""
    key: str = ""
    """Key of the picture in caches, the same in every process; empty where pictures are not kept."""

    def _repr_png_(self) -> bytes:
        """Return the picture as a PNG file, for notebooks."""
        import PIL.Image  # noqa: PLC0415 - loads when asked for

        png = io.BytesIO()
        PIL.Image.fromarray(self.pixels).save(png, "PNG")
        return png.getvalue()


class PictureCamera(Camera):
    """A camera for a picture from elsewhere, of any size: its values are not checked."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Check nothing, as a picture may have any size."""


def view_of_picture(pixels: Image) -> View:
    """Return a picture of unknown origin as a view, for functions that only look at a view's pixels."""
    height, width = pixels.shape[:2]
    return View("", PictureCamera(0.0, width=width, height=height), pixels)


class StreetView(Protocol):
    """A provider of panoramas, their links and views. Every provider passes `tests/contracts.py`."""

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position within `radius` metres, (0, 1000]; `None` without one.

        Raises:
            BadInput: the radius is out of its range.
        """
        ...

    def panorama(self, pano_id: str) -> Panorama:
        """Return the panorama with this id, its links included.

        Raises:
            NoStreetView: there is none.
        """
        ...

    def view(self, pano_id: str, camera: Camera) -> View:
        """Return the picture through `camera` at a panorama.

        Raises:
            NoStreetView: there is no such panorama.
            NoImagery: the provider has no picture of it.
        """
        ...


Floats = NDArray[np.float32]
"""Array of single-precision numbers."""
Rays = tuple[Floats, Floats, Floats]
"""Directions as (right, up, forward) or (east, up, north): arrays of equal shape, any vector length."""


@dataclass(frozen=True, slots=True)
class Attitude:
    """The heading, pitch and roll in degrees of the camera that took a panorama."""

    heading: float = 0.0
    """Heading of the middle column of the picture, degrees clockwise from north."""
    pitch: float = 0.0
    """Elevation of the middle of the picture above the horizon, degrees."""
    roll: float = 0.0
    """Lean of the camera to the right, degrees clockwise as seen along its heading."""

    @property
    def is_level(self) -> bool:
        """Return whether pitch and roll are 0, so that the middle row of the picture is the horizon."""
        return self.pitch == 0 and self.roll == 0

    def seen_from_capture(self, east: Floats, up: Floats, north: Floats) -> Rays:
        """Return (right, up, forward) in the camera's axes of directions given as east, up and north.

        Args:
            east: components to the east of directions in the world, any shape.
            up: upward components, same shape.
            north: components to the north, same shape.
        """
        right, ahead = _rotate(east, north, self.heading)
        rise, forward = _rotate(up, ahead, self.pitch)
        return (*_rotate(right, rise, self.roll), forward)

    def in_world(self, right: Floats, up: Floats, forward: Floats) -> Rays:
        """Return (east, up, north) of directions given in the camera's axes: undoes `seen_from_capture`.

        Args:
            right: components to the camera's right, any shape.
            up: components to the camera's top, same shape.
            forward: components along the camera's line of sight, same shape.
        """
        level, rise = _rotate(right, up, -self.roll)
        risen, ahead = _rotate(rise, forward, -self.pitch)
        east, north = _rotate(level, ahead, -self.heading)
        return east, risen, north


def _rotate(one: Floats, other: Floats, angle: float) -> tuple[Floats, Floats]:
    """Return both components of vectors after a turn by `angle` degrees from the first axis to the second."""
    across, along = np.float32(cos(radians(angle))), np.float32(sin(radians(angle)))
    return (
        np.asarray(one * across - other * along, np.float32),
        np.asarray(other * across + one * along, np.float32),
    )


RADII_M = (50.0, 100.0, 200.0, 400.0, 800.0)
"""Search radii in metres (chosen): from Google's default to the other end of a large park, each doubled."""

_log = logging.getLogger(__name__)


def relocate(
    streetview: StreetView, position: LatLng, place: str, radii: Sequence[float] = RADII_M
) -> Panorama:
    """Return the panorama nearest to a position, searched for in ever wider `radii`; errors call it `place`.

    Args:
        streetview: provider that is asked, at most once for each radius.
        position: any position on Earth.
        place: words for the position in the error, such as `"the start"`.
        radii: radii of the circles in metres, each in (0, 1000], rising.

    Raises:
        NoStreetView: there is no panorama within the widest circle.
    """
    for radius in radii:
        panorama = streetview.nearest(position, radius)
        if panorama is not None:
            if radius > radii[0]:
                metres = distance(position, panorama.position)
                _log.info("%s: the nearest street view is %.0f m from %s", place, metres, position)
            return panorama
    raise NoStreetView(
        f"no street view within {max(radii):g} m of {place} at {position}: choose one closer to a street"
    )
