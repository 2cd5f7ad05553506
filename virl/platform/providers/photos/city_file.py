"""The file of a city of photographs, and the index `NAME.photos.json` that stands for it."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from virl.errors import BadInput
from virl.files.json_reading import MAX_FILE_MB, JsonRecord, misfits
from virl.files.writing import read_bounded, write_whole
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Attitude
from virl.platform.providers.pictures.picture import FULL_TURN, Picture
from virl.platform.providers.provider import CityFile, Position

SUFFIX = ".photos.json"
"""Ending of the names of index files of photographs."""
UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Time that stands for one that is not known."""


def _check_inside(name: str) -> str:
    """Return a relative path; raise `ValueError` if it leaves the folder."""
    if not name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError("must be a path within the folder of photographs")
    return name


class Photo(JsonRecord):
    """One photograph of an index: file, position, direction and time."""

    file: Annotated[str, AfterValidator(_check_inside)]
    """Path within the folder of photographs."""
    position: Position
    heading: float
    """Heading of the middle column, degrees clockwise from north."""
    pitch: float = 0.0
    """Elevation of the picture's middle above the horizon, degrees."""
    roll: float = 0.0
    """Lean of the camera to the right, degrees."""
    fov: float = Field(gt=0, le=FULL_TURN)
    """Horizontal field of view in degrees; 360 for a panorama."""
    sky: float | None = Field(default=None, ge=0, le=1)
    """Share of the panorama's height cut off above the photo, [0, 1]; `None`: as much as below it."""
    left: float | None = Field(default=None, ge=0, le=1)
    """Share of the panorama's width cut off left of the photo, [0, 1]; `None` for a whole panorama."""
    sequence: str
    """Name of the sequence of photographs that it belongs to."""
    rank: int
    """Number in the sequence, from 0."""
    taken: AwareDatetime = UNKNOWN_TIME
    """Time at which it was taken; `UNKNOWN_TIME` where it is not known."""
    author: str = ""
    """Name of the author; empty where it is not known."""
    licence: str = ""
    """SPDX identifier of the licence; empty where it is not known."""

    def picture(self) -> Picture:
        """Return the photograph as a picture of a sequence; its id is its path."""
        return Picture(
            id=self.file,
            position=LatLng(*self.position),
            attitude=Attitude(self.heading, self.pitch, self.roll),
            fov=self.fov,
            sequence=self.sequence,
            rank=self.rank,
            taken=self.taken,
            author=self.author,
            licence=self.licence,
            sky=self.sky,
            left=self.left,
        )


class PhotoIndex(BaseModel):
    """An index of all photographs of a folder that have a position."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[2] = 2
    """Version of the index; rises when the same photographs are read in another way."""
    title: str
    """Name of the collection as people write it."""
    folder: str
    """Path of the folder of photographs, relative to the index."""
    photos: tuple[Photo, ...] = Field(min_length=1)
    """All photographs that have a position."""

    @field_validator("format", mode="before")
    @classmethod
    def _is_current(cls, given: object) -> object:
        """Return the version of an index; raise `ValueError` for an earlier one."""
        if given == 1:
            raise ValueError("an earlier version of virl wrote it, with some wrong headings")
        return given


def read_index(file: Path) -> PhotoIndex:
    """Return the index in a file, checked.

    Raises:
        BadInput: it is missing or damaged; names what is wrong.
    """
    try:
        return PhotoIndex.model_validate_json(read_bounded(file, MAX_FILE_MB * 10**6) or b"")
    except OSError as fault:
        raise BadInput(
            f"{file}: cannot be read ({fault.strerror}): make it with virl import photos"
        ) from fault
    except ValidationError as fault:
        raise BadInput(f"{file}: {misfits(fault, 'the file')[0]}: run virl import photos again") from fault


def write_index(file: Path, index: PhotoIndex) -> None:
    """Write an index to a file, replacing what is there.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_whole(file, index.model_dump_json(indent=1).encode() + b"\n", "import again")


class PhotosCity(CityFile):
    """The contents of a file of `platform/cities/` for a user's own photographs."""

    photos: Path
    """Path of the index that `virl import photos` wrote."""
    extract: Path | None = None
    """Path of an OpenStreetMap extract with places, addresses and ways; `None` for streets alone."""
    as_of: date | None = None
    """Last day on which photographs may have been taken; later ones are left out; `None` for no limit."""


def city_of_path(city: str) -> PhotosCity:
    """Return the city file that stands for the path of an index."""
    name = name_of_path(city)
    return PhotosCity(
        title=name.replace("-", " ").replace("_", " ").title(),
        about=f"Photographs of {Path(city).name}",
        provider="photos",
        photos=Path(city),
    )


def name_of_path(city: str) -> str:
    """Return the name of the city of an index: `drives/riverside.photos.json` gives `riverside`."""
    return Path(city).name.removesuffix(SUFFIX)
