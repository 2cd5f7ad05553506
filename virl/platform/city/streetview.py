"""Street view: panoramas, the links between them, and views through a camera."""

import io
from dataclasses import dataclass
from math import atan, atan2, degrees, hypot, radians, tan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.geo.globe import LatLng, normalize_heading

Image = NDArray[np.uint8]
"""RGB picture, shape (height, width, 3)."""

Box = tuple[float, float, float, float]
"""Pixels (x0, y0, x1, y1): left, top, right, bottom; x right and y down from the top left corner."""

MIN_FOV, MAX_FOV = 10.0, 120.0  # limits of Street View Static
MAX_RADIUS_M = 1000.0
"""Largest radius of `StreetView.nearest` in metres; chosen."""


@dataclass(frozen=True, slots=True)
class Link:
    """A way from one panorama to a neighbouring one."""

    pano_id: str
    """Id of the neighbouring panorama."""
    heading: float
    """Direction in which the link leaves, degrees clockwise from north, [0, 360)."""
    distance: float
    """Metres to the neighbour."""


@dataclass(frozen=True, slots=True)
class Panorama:
    """One panorama of street view: where and how it was taken, and its links."""

    id: str
    position: LatLng
    heading: float
    """Heading of the capturing car, degrees clockwise from north, [0, 360)."""
    links: tuple[Link, ...]
    date: str | None = None
    """ISO 8601 month, `2026-05`, where the provider knows it."""
    indoors: bool = False
    """True where the provider knows that it was taken indoors."""

    @property
    def is_crossing(self) -> bool:
        """Return whether three or more ways meet here."""
        return len(self.links) >= 3


@dataclass(frozen=True, slots=True)
class Pose:
    """The panorama and the heading of an agent.

    Examples:
        >>> virl.Pose("vt-0", 90.0).heading
        90.0
    """

    pano_id: str
    """Id of the panorama where it stands."""
    heading: float
    """Direction that it faces, degrees clockwise from north, [0, 360)."""


@dataclass(frozen=True, slots=True)
class Camera:
    """The direction and the horizontal field of view, degrees, and the size, pixels, of a view.

    Args:
        heading: degrees clockwise from north; stored in [0, 360).
        pitch: degrees above the horizon, [-90, 90].
        fov: horizontal field of view in degrees, [10, 120].
        width: pixels, [16, 2048].
        height: pixels, [16, 2048].

    Raises:
        BadInput: a value is out of its range.

    Examples:
        >>> virl.Camera(heading=90).fov
        90.0
    """

    heading: float
    pitch: float = 0.0
    fov: float = 90.0
    width: int = 640
    height: int = 640

    def __post_init__(self) -> None:
        object.__setattr__(self, "heading", normalize_heading(self.heading))
        if not MIN_FOV <= self.fov <= MAX_FOV:
            raise BadInput(f"camera fov {self.fov:g} is outside [{MIN_FOV:g}, {MAX_FOV:g}] degrees")
        if not -90 <= self.pitch <= 90:
            raise BadInput(f"camera pitch {self.pitch:g} is outside [-90, 90] degrees")
        if not (16 <= self.width <= 2048 and 16 <= self.height <= 2048):
            raise BadInput(f"camera size {self.width}x{self.height} is outside [16, 2048] pixels")

    @property
    def focal(self) -> float:
        """Focal length of the pinhole camera, pixels."""
        return self.width / 2 / tan(radians(self.fov / 2))

    def direction(self, x: float, y: float) -> tuple[float, float]:
        """Return the heading and pitch, degrees, of the ray through pixel (x, y). Exact for a pinhole."""
        right, up = x - self.width / 2, self.height / 2 - y
        tilt = radians(self.pitch)
        forward = self.focal * np.cos(tilt) - up * np.sin(tilt)
        rise = self.focal * np.sin(tilt) + up * np.cos(tilt)
        heading = normalize_heading(self.heading + degrees(atan2(right, forward)))
        return heading, degrees(atan2(rise, hypot(right, forward)))

    def sector(self, box: Box) -> tuple[float, float]:
        """Return the headings, degrees, of the left and the right edge of a box at its middle row."""
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
    """A camera that took a picture of any size; no provider is asked for its views."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Take a picture of every size."""


def view_of_picture(pixels: Image) -> View:
    """Return a picture of unknown origin as a view, for functions that only look at a view's pixels."""
    height, width = pixels.shape[:2]
    return View("", PictureCamera(0.0, width=width, height=height), pixels)


class StreetView(Protocol):
    """A provider of street view. Every provider passes `tests/contracts.py`."""

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        """Return the panorama nearest to a position within `radius` metres; `None` if there is none.

        Args:
            position: any position on Earth.
            radius: metres, in (0, 1000].

        Returns:
            The nearest panorama, or `None` if there is none within `radius`.

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
