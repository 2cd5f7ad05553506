"""Photos of KartaView, whose API writes numbers as text."""

from datetime import UTC, datetime
from typing import Any

from pydantic import Field, ValidationError

from virl.platform.providers.http.replies import Latitude, Longitude, ReplyBody
from virl.platform.providers.open.picture_services import Shot
from virl.platform.providers.pictures.picture import FULL_TURN

LICENCE = "CC-BY-SA-4.0"
PAGE = "https://kartaview.org/details/"
USUAL_FOV = 70.0
"""Degrees of the field of view of a photo that does not say."""


class Status(ReplyBody):
    """The outcome of a request, told in the body of a reply whose HTTP status is 200."""

    code: int = Field(alias="apiCode")
    """600 for success, 601 where nothing was found."""
    message: str = Field(default="", alias="apiMessage")


class Photo(ReplyBody):
    """One photo."""

    id: int
    lat: Latitude
    lng: Longitude
    heading: float | None = None
    projection: str = "PLANE"
    field_of_view: float | None = Field(default=None, alias="fieldOfView", ge=0, le=FULL_TURN)
    sequence: int = Field(alias="sequenceId")
    rank: int = Field(alias="sequenceIndex")
    taken: datetime = Field(alias="shotDate")
    """Written without a time zone; taken for UTC."""
    sd: str = Field(alias="fileurlLTh")
    hd: str = Field(alias="fileurlProc")
    author: str = Field(default="", alias="username")

    @property
    def shot(self) -> Shot:
        """The photo as a picture of a city."""
        whole = self.projection == "SPHERE"
        return Shot(
            id=str(self.id),
            lat=self.lat,
            lng=self.lng,
            heading=self.heading,
            fov=FULL_TURN if whole else min(self.field_of_view or USUAL_FOV, 170.0),
            sequence=str(self.sequence),
            rank=self.rank,
            taken=self.taken.replace(tzinfo=UTC),
            author=self.author or "contributors of KartaView",
            licence=LICENCE,
            page=f"{PAGE}{self.sequence}/{self.rank}",
            sd=self.sd,
            hd=self.hd,
        )


class Result(ReplyBody):
    """A page of photos."""

    data: tuple[dict[str, Any], ...] = ()
    more: bool = Field(default=False, alias="hasMoreData")


class Answer(ReplyBody):
    """The reply to a search."""

    status: Status
    result: Result = Result()


def shots_of(result: Result) -> list[Shot]:
    """Return the photos of a page; one that lacks what every photo has is left out."""
    shots = []
    for photo in result.data:
        try:
            shots.append(Photo.model_validate(photo).shot)
        except ValidationError:
            continue
    return shots
