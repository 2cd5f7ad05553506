"""Images of Mapillary as shots, and how their cameras were held."""

from datetime import UTC, datetime
from math import asin, atan, atan2, degrees
from typing import Annotated, Self

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator
from scipy.spatial.transform import Rotation

from virl.geo.globe import LatLng, distance
from virl.platform.city.streetview import Attitude
from virl.platform.providers.http.bodies import OrUnknown, ReplyBody
from virl.platform.providers.open.geojson import PointBody
from virl.platform.providers.open.shots import Shot
from virl.platform.providers.pictures.picture import FULL_TURN

FIELDS = (
    "id,geometry,computed_geometry,compass_angle,computed_compass_angle,computed_rotation,camera_type,"
    "camera_parameters,is_pano,captured_at,sequence,creator,width,height"
)
"""Fields that are asked of each image."""
LICENCE = "CC-BY-SA-4.0"
PAGE = "https://www.mapillary.com/app/?pKey="
"""Start of the URL of an image's page."""
WHOLE = frozenset({"spherical", "equirectangular"})
"""Camera types of panoramas."""
FLAT = frozenset({"perspective", "brown"})
"""Camera types of flat pictures."""
USUAL_FOV = 70.0
"""Degrees assumed for a flat picture of unknown focal length: a phone's main camera has 65 to 78."""
MOST_ROLL = 45.0
"""Most degrees of roll of a flat picture; more is a phone held upright, already turned (chosen)."""

MOST_APART_M = 30.0
"""Metres from the measured position beyond which a computed one is not used."""

UNKNOWN = -1.0
"""Compass angle, degrees, of an image without a compass."""


MOST_PIXELS = 1_000_000
"""Largest side of a picture in pixels (chosen)."""

ID = Field(pattern=r"^[0-9]{1,30}$")
_Radians = Annotated[float, Field(ge=-10, le=10)]
"""An element of an axis times an angle; more than a whole turn is none that is sent (chosen)."""


class _Creator(ReplyBody):
    username: str = ""


class ImageBody(ReplyBody):
    """One image, with the fields of `FIELDS`."""

    id: str = ID
    geometry: PointBody
    computed_geometry: PointBody | None = None
    compass_angle: float | None = None
    computed_compass_angle: float | None = None
    computed_rotation: tuple[_Radians, _Radians, _Radians] | None = None
    camera_type: str = "perspective"
    camera_parameters: tuple[float, ...] = ()
    is_pano: bool = False
    captured_at: int = Field(ge=0, le=10**14)
    sequence: str
    creator: _Creator = _Creator()
    width: int = Field(default=0, ge=0, le=MOST_PIXELS)
    height: int = Field(default=0, ge=0, le=MOST_PIXELS)

    @field_validator("computed_geometry")
    @classmethod
    def _is_near(cls, computed: PointBody | None, info: ValidationInfo) -> PointBody | None:
        """Check that the computed position is near the measured one."""
        measured = info.data.get("geometry")
        if computed and measured:
            (lng, lat), (own_lng, own_lat) = computed.coordinates, measured.coordinates
            if distance(LatLng(lat, lng), LatLng(own_lat, own_lng)) > MOST_APART_M:
                raise ValueError(f"farther than {MOST_APART_M:.0f} m from the measured position")
        return computed

    @model_validator(mode="after")
    def _can_be_shown(self) -> Self:
        """Check that the camera is of a type that can be shown."""
        if not (self.is_pano or self.camera_type in WHOLE | FLAT):
            raise ValueError(f"pictures of the camera type {self.camera_type!r} cannot be shown")
        return self


class _Id(ReplyBody):
    id: str = ID


class Ids(ReplyBody):
    """The reply that lists the image ids of a sequence."""

    data: tuple[_Id, ...]


class Images(ReplyBody):
    """The reply to a search for images."""

    data: tuple[Annotated[ImageBody | None, OrUnknown], ...]
    """Images found; `None` for one that cannot be read."""


def shot_of(image: ImageBody) -> Shot:
    """Return an image as a shot, its position and rotation by structure from motion where it has them."""
    whole = image.is_pano or image.camera_type in WHOLE
    lng, lat = (image.computed_geometry or image.geometry).coordinates
    held = attitude_of(image.computed_rotation) if image.computed_rotation else None
    compasses = (image.computed_compass_angle, image.compass_angle)
    told = next((angle for angle in compasses if angle not in {None, UNKNOWN}), None)
    roll = held.roll if held and (whole or abs(held.roll) <= MOST_ROLL) else 0.0
    return Shot(
        id=image.id,
        lat=lat,
        lng=lng,
        heading=held.heading if held else None if told is None else told % FULL_TURN,
        pitch=held.pitch if held else 0.0,
        roll=roll,
        fov=FULL_TURN if whole else _fov(image),
        sequence=image.sequence,
        rank=image.captured_at,
        taken=datetime.fromtimestamp(image.captured_at / 1000, UTC),
        author=image.creator.username,
        licence=LICENCE,
        page=PAGE + image.id,
    )


def attitude_of(rotation: tuple[float, float, float]) -> Attitude:
    """Return a camera's attitude from its rotation, world to camera, axis times angle in radians.

    Args:
        rotation: axis times angle in radians; world: east, north, up; camera: right, down, forward (OpenSfM).
    """
    right, down, forward = Rotation.from_rotvec(np.array(rotation)).as_matrix()
    return Attitude(
        heading=degrees(atan2(forward[0], forward[1])) % FULL_TURN,
        pitch=degrees(asin(min(max(forward[2], -1.0), 1.0))),
        roll=degrees(atan2(-right[2], -down[2])),
    )


def _fov(image: ImageBody) -> float:
    """Return the horizontal field of view of a flat picture, degrees; `USUAL_FOV` where it is unknown."""
    focal = next(iter(image.camera_parameters), 0.0)
    if not 0.1 < focal <= 100 or not image.width or not image.height:
        return USUAL_FOV
    longer = max(image.width, image.height)
    return min(2 * degrees(atan(image.width / (2 * focal * longer))), 170.0)
