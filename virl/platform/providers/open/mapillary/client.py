"""Client of Mapillary: lists and pictures, and the attitude of its cameras."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import asin, atan, atan2, degrees
from typing import Annotated, Self

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator
from scipy.spatial.transform import Rotation

from virl.errors import ProviderError
from virl.geo.globe import LatLng, distance
from virl.platform.city.streetview import Attitude
from virl.platform.providers.http.replies import (
    ExpectedBody,
    HttpFault,
    HttpReply,
    OrUnknown,
    PointBody,
    ReplyBody,
    usual_judge,
)
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.picture_services import (
    THIN,
    PictureServer,
    PictureService,
    PictureSettings,
    Shot,
    Token,
)
from virl.platform.providers.pictures.picture import FULL_TURN, USUAL_FOV

FIELDS = (
    "id,geometry,computed_geometry,compass_angle,computed_compass_angle,computed_rotation,camera_type,"
    "camera_parameters,is_pano,captured_at,sequence,creator,width,height"
)
"""Names of the fields that are asked of each image."""
LICENCE = "CC-BY-SA-4.0"
"""SPDX identifier of the licence of all images."""
PAGE = "https://www.mapillary.com/app/?pKey="
"""Start of the URL of an image's page."""
WHOLE = frozenset({"spherical", "equirectangular"})
"""Names of the camera types of panoramas."""
FLAT = frozenset({"perspective", "brown"})
"""Names of the camera types of flat pictures."""
MOST_ROLL = 45.0
"""Roll in degrees, either way, above which a flat picture counts as upright already, of roll 0 (chosen)."""

MOST_APART_M = 30.0
"""Distance in metres from the measured position above which a computed position is left out."""

UNKNOWN = -1.0
"""Compass angle in degrees that stands for an image without a compass."""


MOST_PIXELS = 1_000_000
"""Largest side of a picture in pixels (chosen)."""

ID = Field(pattern=r"^[0-9]{1,30}$")
"""Pydantic field of an image's id: a string of 1 to 30 digits."""
_Radians = Annotated[float, Field(ge=-10, le=10)]
"""Component of a rotation vector in radians; more than a whole turn is never sent (chosen)."""


class _Creator(ReplyBody):
    """The author of an image."""

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
        """Return the computed position; raise `ValueError` if it is far from the measured one."""
        measured = info.data.get("geometry")
        if computed and measured:
            (lng, lat), (own_lng, own_lat) = computed.coordinates, measured.coordinates
            if distance(LatLng(lat, lng), LatLng(own_lat, own_lng)) > MOST_APART_M:
                raise ValueError(f"farther than {MOST_APART_M:.0f} m from the measured position")
        return computed

    @model_validator(mode="after")
    def _can_be_shown(self) -> Self:
        """Return the image; raise `ValueError` if its type of camera cannot be shown."""
        if not (self.is_pano or self.camera_type in WHOLE | FLAT):
            raise ValueError(f"pictures of the camera type {self.camera_type!r} cannot be shown")
        return self


class _Id(ReplyBody):
    """The id of an image."""

    id: str = ID


class Ids(ReplyBody):
    """The reply that lists the ids of a sequence's images."""

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
    compass = next((angle for angle in compasses if angle not in {None, UNKNOWN}), None)
    roll = held.roll if held and (whole or abs(held.roll) <= MOST_ROLL) else 0.0
    focal, longer = next(iter(image.camera_parameters), 0.0), max(image.width, image.height)
    fov = FULL_TURN if whole else USUAL_FOV
    if not whole and 0.1 < focal <= 100 and image.width and image.height:
        # The focal length is a share of the longer side (OpenSfM).
        fov = min(2 * degrees(atan(image.width / (2 * focal * longer))), 170.0)
    return Shot(
        id=image.id,
        lat=lat,
        lng=lng,
        heading=held.heading if held else None if compass is None else compass % FULL_TURN,
        pitch=held.pitch if held else 0.0,
        roll=roll,
        fov=fov,
        sequence=image.sequence,
        rank=image.captured_at,
        taken=datetime.fromtimestamp(image.captured_at / 1000, UTC),
        author=image.creator.username,
        licence=LICENCE,
        page=PAGE + image.id,
    )


def attitude_of(rotation: tuple[float, float, float]) -> Attitude:
    """Return a camera's attitude from its rotation, world to camera, axis times angle in radians.

    The axes of the world are east, north and up; those of the camera are right, down and forward (OpenSfM).
    """
    right, down, forward = Rotation.from_rotvec(np.array(rotation)).as_matrix()
    return Attitude(
        heading=degrees(atan2(forward[0], forward[1])) % FULL_TURN,
        pitch=degrees(asin(min(max(forward[2], -1.0), 1.0))),
        roll=degrees(atan2(-right[2], -down[2])),
    )


THUMBS = {"sd": "thumb_2048_url", "hd": "thumb_original_url"}
"""Name of the field with the URL of each size of a picture."""

_TOO_MUCH = "reduce the amount of data"
"""Words in a refusal that say that a square holds too much."""
_BUSY = frozenset({"2", "4"})
"""Codes of refusals that pass: the service fails for a while, or the token has asked too much."""
_STATUSES = {"100": 404, "190": 401}
"""HTTP status for each code of a refusal: no such object, or no valid token."""
_EXPIRED = frozenset({403, 410})
"""HTTP statuses of a picture's URL that has expired."""
_BATCH = 100
"""Largest number of images in one request by ids (chosen: their fields are about 60 kB)."""


class _Address(ReplyBody):
    """The URLs of an image in two sizes."""

    thumb_2048_url: str = ""
    thumb_original_url: str = ""


def judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    """Return a good reply, or its fault; a picture's expired URL may be asked for again."""
    judged = usual_judge(expected, reply)
    if isinstance(judged, HttpReply) or reply.status == 200:
        return judged
    status = _STATUSES.get(judged.code, reply.status)
    if _TOO_MUCH in judged.reason:
        return replace(judged, verdict="smaller", status=status)
    if judged.code in _BUSY or (expected.kind == "image" and reply.status in _EXPIRED):
        return replace(judged, verdict="wait", status=status)
    return replace(judged, status=status)


@dataclass(frozen=True, slots=True)
class Mapillary:
    """A client of Mapillary's Graph API."""

    server: PictureServer
    """Server of the API."""
    _by_ids: dict[str, Shot] = field(default_factory=dict)
    """Pictures that were asked for by their ids, by id."""

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where there are too many for one reply.

        The search by box is known to leave out some or all. Where it gives few, it is asked once more, and
        the sequences that it names are completed by their own lists.

        Raises:
            ProviderError: the service fails, or refuses the token.
        """
        page = self.server.settings.page
        box = ",".join(f"{degrees:.7f}" for degrees in cell.degrees)
        try:
            count, found = self._images({"bbox": box, "limit": str(page)})
        except ProviderError as fault:
            if fault.verdict == "smaller":
                return None
            raise
        if count >= page:
            return None
        if count < min(THIN, page):
            try:
                # another limit, so that a recording holds both replies
                found |= self._images({"bbox": box, "limit": str(max(page - 1, 1))})[1]
                for sequence in sorted({shot.sequence for shot in found.values()}):
                    found = self._complete_sequence(sequence, found) | found
            except ProviderError as fault:
                self.server.service.notes("Mapillary: mapillary_images")(
                    f"the square {cell.name} may lack pictures: {fault.reason}", cell.name
                )
        return [shot for shot in found.values() if cell.contains(shot.position)]

    def _images(self, query: dict[str, str]) -> tuple[int, dict[str, Shot]]:
        """Return (number of images in the reply to a query, pictures of the readable ones by id)."""
        request = self.server.request("mapillary_images", "/images", query | {"fields": FIELDS})
        images = self.server.service.read(request, Images).data
        return len(images), {image.id: shot_of(image) for image in images if image}

    def _complete_sequence(self, sequence: str, known: dict[str, Shot]) -> dict[str, Shot]:
        """Return the pictures of a sequence that are not `known`, by id."""
        request = self.server.request("mapillary_image_ids", "/image_ids", {"sequence_id": sequence})
        listed = [one.id for one in self.server.service.read(request, Ids).data]
        missing = [one for one in listed if one not in known and one not in self._by_ids]
        for first in range(0, len(missing), _BATCH):
            _, images = self._images({"image_ids": ",".join(missing[first : first + _BATCH])})
            self._by_ids.update(images)
        return {one: self._by_ids[one] for one in listed if one in self._by_ids}

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return a picture, `sd` or `hd`, as a JPEG file.

        Raises:
            ProviderError: the service fails, or has the picture no more (status 404).
        """

        def address() -> str:
            """Return the URL of the picture, which expires, so that each try asks for a new one."""
            query = {"fields": THUMBS[part]}
            request = self.server.request("mapillary_address", f"/{shot.id}", query, is_recorded=False)
            return str(getattr(self.server.service.read(request, _Address), THUMBS[part]))

        request = self.server.request(f"mapillary_{part}", f"/{shot.id}/{part}", url=address)
        return self.server.service.bytes(request)


PICTURES = PictureService(
    PictureSettings(
        title="Mapillary",
        base_url="https://graph.mapillary.com",
        per_minute=600,  # chosen: 50,000 and more were published in 2023
        page=2000,  # the most that a box gives (API documentation)
    ),
    Mapillary,
    judge,
    Token("MAPILLARY_ACCESS_TOKEN", "OAuth ", "mapillary.com/dashboard/developers"),
)
