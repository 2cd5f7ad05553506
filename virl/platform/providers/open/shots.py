"""Shared pictures as their services describe them, and the lists of each square's, kept on disk."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from virl.errors import BadInput
from virl.files.writing import write_whole
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Attitude
from virl.platform.providers.open.cells import SMALLEST_ZOOM, Cell
from virl.platform.providers.pictures.picture import FULL_TURN, Picture, course_at

THIN = 30
"""Number of pictures below which a square's list is kept for hours only (chosen: searches miss some)."""
_DAY_S = 86_400.0
"""Number of seconds in a day."""
_THIN_S = 6 * 3600.0
"""Seconds for which a list of few pictures is kept."""


class TileMatrix(BaseModel):
    """The tiles of a panorama: URL pattern, number and size."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    href: str
    """URL pattern of a tile, with `{TileCol}` and `{TileRow}`."""
    columns: int = Field(ge=1, le=256)
    """Number of columns of tiles."""
    rows: int = Field(ge=1, le=128)
    """Number of rows of tiles."""
    side: float = Field(ge=16, le=8192)
    """Width of a column in pixels of the picture; tiles have this rounded down."""


class Shot(BaseModel):
    """One shared picture as its service describes it, without pixels and URLs that expire."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    id: str
    """Id that the service gives the picture."""
    lat: float = Field(ge=-90, le=90)
    """Latitude in degrees."""
    lng: float = Field(ge=-180, le=180)
    """Longitude in degrees."""
    heading: float | None = None
    """Heading of the middle column, degrees clockwise from north; `None` where not told."""
    pitch: float = 0.0
    """Elevation of the picture's middle above the horizon, degrees."""
    roll: float = 0.0
    """Lean of the camera to the right, degrees."""
    fov: float = Field(gt=0, le=FULL_TURN)
    """Horizontal field of view in degrees; 360 for a panorama."""
    sky: float | None = Field(default=None, ge=0, le=1)
    """Share of a panorama's height missing above the picture, [0, 1]; `None`: half of all that is missing."""
    left: float | None = Field(default=None, ge=0, lt=1)
    """Share of a full turn cut off to the left of a part of a panorama; `None` for other pictures."""
    sequence: str
    """Id of the drive or walk on which the picture was taken."""
    rank: int
    """Number that orders the pictures of a sequence."""
    taken: AwareDatetime
    """Time at which the picture was taken."""
    author: str = ""
    """Name of the author; empty where not told."""
    licence: str = ""
    """SPDX identifier of the licence; empty where not told."""
    page: str = ""
    """URL of the page that shows the picture, for its credit."""
    sd: str = ""
    """URL of the picture, 2048 pixels wide; empty where it has to be asked for."""
    hd: str = ""
    """URL of the picture in full size; empty where it has to be asked for."""
    tiles: TileMatrix | None = None
    """Tiles of a whole panorama; `None` where it has none."""

    @property
    def position(self) -> LatLng:
        """Position at which the picture was taken."""
        return LatLng(self.lat, self.lng)


class _Listed(BaseModel):
    """The kept list of the pictures in a square, or a note that it was split into four."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[2] = 2
    """Version of the file's format."""
    asked: float
    """Time at which the list was asked for, seconds since 1970."""
    shots: tuple[Shot, ...] | None
    """Pictures in the square; `None` where it was split."""


AskCell = Callable[[Cell], Sequence[Shot] | None]
"""A function that asks a service for the pictures in a square; `None` if they are too many."""


@dataclass(frozen=True)
class ShotLists:
    """The lists of the pictures in squares of the map, each kept for some days."""

    ask: AskCell
    """Function that asks a service for the pictures in a square."""
    folder: Path | None
    """Folder in which lists are kept; `None` keeps none."""
    keep_days: float
    """Number of days after which a list is asked for again; one of few pictures after six hours."""
    clock: Callable[[], float] = time.time
    """Function that returns the seconds since 1970."""

    def of(self, cell: Cell) -> list[Shot]:
        """Return all pictures in a square, from a kept list or asked for, in four parts where they are many.

        Raises:
            ProviderError: the service fails.
            BadInput: the smallest square holds too many.
            CannotWrite: the disk refuses.
        """
        file = self.folder / f"{cell.name}.json" if self.folder else None
        listed = self._load_kept(file) if file else None
        if listed is None:
            found = self.ask(cell)
            listed = _Listed(asked=self.clock(), shots=None if found is None else tuple(found))
            if file:
                write_whole(file, listed.model_dump_json().encode(), "run it again")
        if listed.shots is not None:
            return list(listed.shots)
        if cell.zoom >= SMALLEST_ZOOM:
            raise BadInput(f"the square {cell.name} has too many pictures for one request: use another area")
        return [shot for part in cell.parts() for shot in self.of(part)]

    def _load_kept(self, file: Path) -> _Listed | None:
        """Return the list in a file; `None` if there is none that can be read, or it is too old."""
        try:
            listed = _Listed.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            return None
        keep_s = self.keep_days * _DAY_S
        if listed.shots is not None and len(listed.shots) < THIN:
            keep_s = min(keep_s, _THIN_S)
        return listed if listed.asked > self.clock() - keep_s else None


def pictures_of(shots: Iterable[Shot]) -> list[Picture]:
    """Return shared pictures as pictures of sequences; one without a heading faces along its sequence."""
    by_sequence: dict[str, list[Shot]] = {}
    for shot in shots:
        by_sequence.setdefault(shot.sequence, []).append(shot)
    pictures = []
    for sequence in by_sequence.values():
        sequence.sort(key=lambda shot: (shot.rank, shot.taken, shot.id))
        positions = [shot.position for shot in sequence]
        for number, shot in enumerate(sequence):
            heading = course_at(positions, number) if shot.heading is None else shot.heading
            pictures.append(
                Picture(
                    id=shot.id,
                    position=shot.position,
                    attitude=Attitude(heading % FULL_TURN, shot.pitch, shot.roll),
                    fov=shot.fov,
                    sequence=shot.sequence,
                    rank=shot.rank,
                    taken=shot.taken,
                    author=shot.author,
                    licence=shot.licence,
                )
            )
    return pictures
