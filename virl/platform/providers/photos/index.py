"""The index of a folder of photographs: a file `NAME.photos.json`, which stands for their city."""

from datetime import UTC, datetime
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
from virl.files import read_bounded, write_whole
from virl.geo import LatLng
from virl.json_reading import MAX_FILE_MB, JsonRecord, misfits
from virl.platform.attitude import Attitude
from virl.platform.providers.city_file import Position
from virl.platform.providers.pictures.picture import FULL_TURN, Picture

SUFFIX = ".photos.json"
UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def _check_inside(name: str) -> str:
    if not name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError("must be a path within the folder of photographs")
    return name


class Photo(JsonRecord):
    """One photograph."""

    file: Annotated[str, AfterValidator(_check_inside)]
    """Path within the folder."""
    position: Position
    heading: float
    pitch: float = 0.0
    roll: float = 0.0
    fov: float = Field(gt=0, le=FULL_TURN)
    sky: float | None = Field(default=None, ge=0, le=1)
    """Share of a whole panorama's height that is cut off above the photograph; by default half of all."""
    left: float | None = Field(default=None, ge=0, le=1)
    """Share of a whole panorama's width that is cut off to the left of a part of one; `None` for others."""
    sequence: str
    rank: int
    taken: AwareDatetime = UNKNOWN_TIME
    author: str = ""
    licence: str = ""

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
        )


class PhotoIndex(BaseModel):
    """All photographs of a folder that can be placed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[2] = 2
    """Rises when `virl import photos` reads headings or positions of the same photographs in another way."""
    title: str
    folder: str
    """The folder of the photographs, as seen from the index."""
    photos: tuple[Photo, ...] = Field(min_length=1)

    @field_validator("format", mode="before")
    @classmethod
    def _is_current(cls, given: object) -> object:
        if given == 1:
            raise ValueError("an earlier version of virl wrote it, with some wrong headings")
        return given


def read_index(file: Path) -> PhotoIndex:
    """Read an index.

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
    """Write an index, over what stood there.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_whole(file, index.model_dump_json(indent=1).encode() + b"\n", "import again")
