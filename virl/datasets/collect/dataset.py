"""A collected data set: a folder of JSON lines, images and a card.

Described in `docs/how-to/collect-data.md`. Its files grow by one line a row, so that what was killed goes on
without asking twice.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from virl.errors import BadInput
from virl.files.json_reading import JsonRecord, misfits
from virl.files.writing import JsonLines, is_inside, is_there, read_bounded, write_whole
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Pose


class Row(JsonRecord):
    """Base of all rows: immutable JSON with an `id` that is unique in its file."""

    id: str


RowT = TypeVar("RowT", bound=Row)


class Rows(Generic[RowT]):
    """The rows of one file, in the order in which they were added.

    A last line that was cut off, as a kill leaves it, is dropped when the next row is added.

    Args:
        path: the file; it appears with its first row.
        model: what a row is.

    Raises:
        BadInput: a line holds no such row, or two have one id; names file, line and field.
    """

    def __init__(self, path: Path, model: type[RowT]) -> None:
        self.path = path
        self._model = model
        self._rows: dict[str, RowT] = {}
        self._lines = JsonLines(path, "collect again")
        for row in self._lines.read(self._new_row):
            self._rows[row.id] = row

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row_id: object) -> bool:
        return row_id in self._rows

    @property
    def all(self) -> tuple[RowT, ...]:
        """The rows, the first added first."""
        return tuple(self._rows.values())

    def get(self, row_id: str) -> RowT | None:
        """Return the row with an id; `None` without one."""
        return self._rows.get(row_id)

    def add(self, row: RowT) -> None:
        """Write a row, on disk before this returns.

        Raises:
            ValueError: there is a row of its id.
            CannotWrite: the disk refuses.
        """
        if row.id in self._rows:
            raise ValueError(f"{self.path}: has a row {row.id!r} already")
        self._lines.append(row.model_dump_json())
        self._rows[row.id] = row

    def _new_row(self, line: bytes) -> RowT:
        """Return the row of a line, once its id is new."""
        row = self._model.model_validate_json(line)
        if row.id in self._rows:
            raise ValueError(f"id: {row.id!r} is repeated")
        return row


FORMAT = 1
"""Version of the folder's format; one of another version is refused."""
CARD, PLACES, PANORAMAS, ROUTES, QUESTIONS = (
    "card.json",
    "places.jsonl",
    "panoramas.jsonl",
    "routes.jsonl",
    "questions.jsonl",
)
IMAGES = "images"

Lat = Annotated[float, Field(ge=-90, le=90)]
Lng = Annotated[float, Field(ge=-180, le=180)]
Heading = Annotated[float, Field(ge=0, lt=360)]


class PanoramaRow(Row):
    """A panorama of the region; its id is the provider's."""

    lat: Lat
    lng: Lng

    @property
    def position(self) -> LatLng:
        """The position at which it was taken."""
        return LatLng(self.lat, self.lng)


class PlaceRow(Row):
    """A place that was kept; its id is the provider's."""

    name: str
    types: tuple[str, ...] = Field(min_length=1)
    lat: Lat
    lng: Lng
    address: str = ""
    rating: float | None = None
    review_count: int = 0
    pano_id: str
    """Id of the panorama nearest to it."""
    distance_m: float
    """Metres to that panorama."""
    image: str | None = None
    """Its photo, as a path within the folder."""
    storefront: float | None = None
    """Likeness of the photo to a storefront, [0, 1]; `None` if it was not judged."""

    @property
    def position(self) -> LatLng:
        """The position of the place."""
        return LatLng(self.lat, self.lng)


class KeyPoint(BaseModel):
    """A key position of a route: its start, where it turns, and its end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["start", "turn", "end"]
    pano_id: str
    lat: Lat
    lng: Lng
    heading: Heading
    """Heading of the arrival, degrees clockwise from north; at the start, the heading faced."""
    turn: str = ""
    """Direction of the way on, such as `"left"`; empty at the end."""
    landmark: str = ""
    """Name of a landmark seen from here; empty without one."""
    landmark_id: str = ""
    """Id of the landmark's place; empty without one."""
    landmark_position: tuple[Lat, Lng] | None = None

    @property
    def position(self) -> LatLng:
        """The position of the key point."""
        return LatLng(self.lat, self.lng)


class RouteRow(Row):
    """A walk to a place, with its instruction in two wordings."""

    place_id: str
    """Id of the destination, a row of the places."""
    place_name: str
    place_lat: Lat
    place_lng: Lng
    start_id: str = ""
    """Id of the place where the walk begins; empty for none."""
    heading: Heading
    """Heading faced at the start, degrees clockwise from north."""
    pano_ids: tuple[str, ...] = Field(min_length=2)
    """Ids of the gold path's panoramas, the start first."""
    metres: float
    instruction: str = Field(min_length=1)
    """Instruction that counts crossings, as for one who sees them all."""
    instruction_paper: str = Field(min_length=1)
    """Instruction without counts, for V-IRL's hints: each turn is at the next key position."""
    key_points: tuple[KeyPoint, ...]

    @model_validator(mode="after")
    def _turns_on_its_way(self) -> "RouteRow":
        """Refuse turns beside the gold path, and a path that comes twice to a panorama."""
        onward = set(self.pano_ids[:-1])
        beside = [key.pano_id for key in self.key_points if key.kind == "turn" and key.pano_id not in onward]
        if beside:
            raise ValueError(f"key point {beside[0]!r} is a turn that is not on the gold path")
        if len(set(self.pano_ids)) < len(self.pano_ids):
            raise ValueError("the gold path comes twice to the same panorama")
        return self

    @property
    def start(self) -> Pose:
        """The pose in which the walk begins."""
        return Pose(self.pano_ids[0], self.heading)

    @property
    def destination(self) -> LatLng:
        """The position of the place."""
        return LatLng(self.place_lat, self.place_lng)


class QuestionRow(Row):
    """A question with four answers, one of them right; its id is that of its place."""

    question: str
    types: tuple[str, ...] = Field(min_length=1)
    """Types of the place."""
    options: tuple[str, str, str, str]
    answer: Literal[0, 1, 2, 3]
    image: str
    """Image that the question is about, as a path within the folder."""


class Card(BaseModel):
    """A data set's description: its source, region, terms, settings and counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    city: str
    title: str
    provider: str
    virl: str
    """Version of virl that collected it."""
    collected: str
    """UTC date, ISO 8601, of the last addition."""
    region: tuple[tuple[float, float], ...]
    """Corners, (lat, lng)."""
    terms: str
    """Terms under which the provider gives what is in it."""
    attribution: str = ""
    """Names that everything made from it has to credit; empty for none."""
    settings: dict[str, object]
    """Settings of each part, with which it was collected."""
    counts: dict[str, int]
    """Number of rows of each file, and of candidates that each rule removed."""
    requests: dict[str, int]
    """Requests sent, by endpoint."""
    usd: float
    """Dollars by list price, models included."""

    @model_validator(mode="after")
    def _is_known(self) -> "Card":
        """Refuse the card of another format."""
        if self.format != FORMAT:
            raise ValueError(
                f"format {self.format} is not {FORMAT}: use the virl that wrote it ({self.virl})"
            )
        return self


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set as read from its folder."""

    folder: Path
    card: Card
    panoramas: tuple[PanoramaRow, ...]
    places: tuple[PlaceRow, ...]
    routes: tuple[RouteRow, ...]
    questions: tuple[QuestionRow, ...]

    def image(self, name: str) -> Path:
        """Return the path of an image named in a row."""
        return self.folder / name


def open_dataset(folder: Path) -> DataSet:
    """Read and check a data set.

    Raises:
        BadInput: it is none, or a part is missing or broken; names file, line and field.
    """
    if not (folder / CARD).is_file():
        raise BadInput(f"{folder}: not a data set, {CARD} is missing: make one with `virl collect places`")
    data = DataSet(
        folder,
        read_card(folder),
        Rows(folder / PANORAMAS, PanoramaRow).all,
        Rows(folder / PLACES, PlaceRow).all,
        Rows(folder / ROUTES, RouteRow).all,
        Rows(folder / QUESTIONS, QuestionRow).all,
    )
    _check_images(data)
    return data


def read_card(folder: Path) -> Card:
    """Read the card of a data set.

    Raises:
        BadInput: it is broken.
    """
    path = folder / CARD
    try:
        return Card.model_validate_json(read_bounded(path) or b"")
    except ValidationError as fault:
        raise BadInput(f"{path}: {misfits(fault, 'card')[0]}") from None


def write_card(folder: Path, card: Card) -> None:
    """Write the card.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_whole(folder / CARD, card.model_dump_json(indent=2).encode() + b"\n", "collect again")


def _check_images(data: DataSet) -> None:
    """Refuse images that are missing or outside the data set's folder."""
    named = [
        (PLACES, number, row.image)
        for number, row in enumerate(data.places, start=1)
        if row.image is not None
    ]
    named += [(QUESTIONS, number, row.image) for number, row in enumerate(data.questions, start=1)]
    for file, number, image in named:
        path = Path(image)
        if path.is_absolute() or ".." in path.parts or not is_inside(data.folder, image):
            raise BadInput(f"{data.folder / file}, line {number}: image: {image!r} is not within the folder")
        if not is_there(data.image(image)):
            raise BadInput(f"{data.folder / file}, line {number}: image: {image!r} is missing")
