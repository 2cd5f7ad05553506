"""What is known of shared pictures, and the lists of those of each square, kept on disk."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from virl.errors import BadInput
from virl.files import write_whole
from virl.geo import LatLng, bearing, distance
from virl.platform.attitude import Attitude
from virl.platform.providers.open.cells import SMALLEST_ZOOM, Cell
from virl.platform.providers.pictures.picture import FULL_TURN, Picture

THIN = 30
"""Pictures of a square; fewer are kept for hours, as some searches give too few (chosen)."""
_DAY_S = 86_400.0
_THIN_S = 6 * 3600.0
_STILL_M = 0.5


class TileMatrix(BaseModel):
    """The tiles that a whole picture is cut into."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    href: str
    """Address pattern of a tile, with `{TileCol}` and `{TileRow}`."""
    columns: int = Field(ge=1, le=256)
    rows: int = Field(ge=1, le=128)
    side: float = Field(ge=16, le=8192)
    """Pixels of the width of the picture for each column; tiles are cut with this rounded down."""


class Shot(BaseModel):
    """One shared picture, as its service describes it. Holds no address that does not last."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    id: str
    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)
    heading: float | None = None
    """Heading of the middle column, degrees clockwise from north; `None` where nobody says."""
    pitch: float = 0.0
    roll: float = 0.0
    fov: float = Field(gt=0, le=FULL_TURN)
    sky: float | None = Field(default=None, ge=0, le=1)
    """Share of a whole panorama's height that is cut off above the picture; by default half of what lacks."""
    left: float | None = Field(default=None, ge=0, lt=1)
    """Share of a full turn that is cut off to the left of a part of a panorama; `None` for other pictures."""
    sequence: str
    rank: int
    taken: AwareDatetime
    author: str = ""
    licence: str = ""
    """SPDX identifier."""
    page: str = ""
    """Address of the page that shows the picture, for its credit."""
    sd: str = ""
    """Address of the picture, 2048 pixels wide; empty where it has to be asked for."""
    hd: str = ""
    """Address of the whole picture; empty where it has to be asked for."""
    tiles: TileMatrix | None = None

    @property
    def position(self) -> LatLng:
        """The position at which the picture was taken."""
        return LatLng(self.lat, self.lng)


class _Listed(BaseModel):
    """The file of a square: its pictures, or that they are in the files of its four parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[2] = 2
    asked: float
    """Seconds since 1970."""
    shots: tuple[Shot, ...] | None
    """`None` where the square was split."""


Page = Callable[[Cell], Sequence[Shot] | None]
"""A function that asks for the pictures of a square; `None` where there are too many."""


@dataclass(frozen=True)
class ShotLists:
    """The pictures of squares: asked for once, and kept.

    Args:
        ask: asks for one square.
        folder: where lists are kept; `None` keeps none.
        keep_days: then they are asked for again; after six hours where there are few.
        clock: seconds since 1970.
    """

    ask: Page
    folder: Path | None
    keep_days: float
    clock: Callable[[], float] = time.time

    def of(self, cell: Cell) -> list[Shot]:
        """Return the pictures in a square; each reply is on disk before the next is asked for.

        Raises:
            ProviderError: the service fails.
            BadInput: the smallest square holds too many.
            CannotWrite: the disk refuses.
        """
        listed = self._load_kept(cell)
        if listed is None:
            found = self.ask(cell)
            listed = _Listed(asked=self.clock(), shots=None if found is None else tuple(found))
            if self.folder:
                write_whole(self._file(self.folder, cell), listed.model_dump_json().encode(), "run it again")
        if listed.shots is not None:
            return list(listed.shots)
        if cell.zoom >= SMALLEST_ZOOM:
            raise BadInput(f"the square {cell.name} has too many pictures for one request: use another area")
        return [shot for part in cell.parts() for shot in self.of(part)]

    def _load_kept(self, cell: Cell) -> _Listed | None:
        if self.folder is None:
            return None
        try:
            listed = _Listed.model_validate_json(self._file(self.folder, cell).read_bytes())
        except (OSError, ValidationError):
            return None
        keep_s = self.keep_days * _DAY_S
        if listed.shots is not None and len(listed.shots) < THIN:
            keep_s = min(keep_s, _THIN_S)
        return listed if listed.asked > self.clock() - keep_s else None

    @staticmethod
    def _file(folder: Path, cell: Cell) -> Path:
        return folder / f"{cell.name}.json"


def pictures_of(shots: Iterable[Shot]) -> list[Picture]:
    """Return shots as pictures of sequences; those without a heading look the way that they go."""
    by_sequence: dict[str, list[Shot]] = {}
    for shot in shots:
        by_sequence.setdefault(shot.sequence, []).append(shot)
    return [
        _picture(shot, _course(ordered, number) if shot.heading is None else shot.heading)
        for ordered in (
            sorted(one, key=lambda shot: (shot.rank, shot.taken, shot.id)) for one in by_sequence.values()
        )
        for number, shot in enumerate(ordered)
    ]


def _picture(shot: Shot, heading: float) -> Picture:
    return Picture(
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


def _course(ordered: Sequence[Shot], number: int) -> float:
    before, after = ordered[max(number - 1, 0)], ordered[min(number + 1, len(ordered) - 1)]
    moved = distance(before.position, after.position) > _STILL_M
    return bearing(before.position, after.position) if moved else 0.0
