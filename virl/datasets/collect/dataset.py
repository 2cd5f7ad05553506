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
    """One row of a data set's file: an immutable JSON object with an `id` that is unique in the file."""

    id: str


RowT = TypeVar("RowT", bound=Row)


class Rows(Generic[RowT]):
    """The rows of one file of JSON lines in a data set, in the order in which they were added.

    A last line that was cut off, as a kill leaves it, is dropped when the next row is added.

    Raises:
        BadInput: a line holds no such row, or two have one id; names file, line and field.
    """

    def __init__(self, path: Path, model: type[RowT]) -> None:
        """Read the rows of `path`, each a `model`; a file that does not exist appears with its first row."""
        self.path = path
        self._model = model
        self._rows: dict[str, RowT] = {}
        self._lines = JsonLines(path, "collect again")
        for row in self._lines.read(self._new_row):
            self._rows[row.id] = row

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __contains__(self, row_id: object) -> bool:
        """Return whether a row has this id."""
        return row_id in self._rows

    @property
    def all(self) -> tuple[RowT, ...]:
        """All rows, in the order in which they were added."""
        return tuple(self._rows.values())

    def add(self, row: RowT) -> None:
        """Write a row to the file's end, on disk before this returns; raise ValueError if its id is taken.

        Raises:
            ValueError: there is a row of its id.
            CannotWrite: the disk refuses.
        """
        if row.id in self._rows:
            raise ValueError(f"{self.path}: has a row {row.id!r} already")
        self._lines.append(row.model_dump_json())
        self._rows[row.id] = row

    def _new_row(self, line: bytes) -> RowT:
        """Return the row in a line of JSON; raise ValueError if it is broken or its id is taken."""
        row = self._model.model_validate_json(line)
        if row.id in self._rows:
            raise ValueError(f"id: {row.id!r} is repeated")
        return row


FORMAT = 1
"""Version of the format of a data set's folder; folders of other versions are refused."""
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
    """A panorama of the data set's region; `id` is the provider's."""

    lat: Lat
    lng: Lng

    @property
    def position(self) -> LatLng:
        """Position at which the panorama was taken."""
        return LatLng(self.lat, self.lng)


class PlaceRow(Row):
    """A place of the data set; `id` is the provider's."""

    name: str
    types: tuple[str, ...] = Field(min_length=1)
    lat: Lat
    lng: Lng
    address: str = ""
    rating: float | None = None
    review_count: int = 0
    pano_id: str
    """Id of the panorama nearest to the place."""
    distance_m: float
    """Metres from the place to its nearest panorama."""
    image: str | None = None
    """Path of the place's photo within the folder; `None` if it has none."""
    storefront: float | None = None
    """Likeness of the photo to a storefront, [0, 1]; `None` if it was not judged."""

    @property
    def position(self) -> LatLng:
        """The position of the place."""
        return LatLng(self.lat, self.lng)


class KeyPoint(BaseModel):
    """A key position of a route: its start, a turn, or its end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["start", "turn", "end"]
    pano_id: str
    lat: Lat
    lng: Lng
    heading: Heading
    """Heading on arriving there, degrees clockwise from north; at the start, the initial heading."""
    turn: str = ""
    """Direction in which the route goes on, such as `"left"`; empty at the end."""
    landmark: str = ""
    """Name of a landmark seen from the position; empty if there is none."""
    landmark_id: str = ""
    """Id of the landmark's place; empty if there is none."""
    landmark_position: tuple[Lat, Lng] | None = None

    @property
    def position(self) -> LatLng:
        """The position of the key point."""
        return LatLng(self.lat, self.lng)


class RouteRow(Row):
    """A route along panoramas to a place, with its instruction in two wordings."""

    place_id: str
    """Id of the place at the end of the route."""
    place_name: str
    place_lat: Lat
    place_lng: Lng
    start_id: str = ""
    """Id of the place at which the route begins; empty if it begins at none."""
    heading: Heading
    """Initial heading, degrees clockwise from north."""
    pano_ids: tuple[str, ...] = Field(min_length=2)
    """Ids of the panoramas along the route, the start first."""
    metres: float
    instruction: str = Field(min_length=1)
    """Instruction that counts crossings, for an agent that sees every crossing on its way."""
    instruction_paper: str = Field(min_length=1)
    """Instruction without counts of crossings, for agents that V-IRL's hints tell of each next turn."""
    key_points: tuple[KeyPoint, ...]

    @model_validator(mode="after")
    def _turns_on_its_way(self) -> "RouteRow":
        """Return the row; raise ValueError for a turn off the path, or a panorama that comes twice."""
        onward = set(self.pano_ids[:-1])
        beside = [key.pano_id for key in self.key_points if key.kind == "turn" and key.pano_id not in onward]
        if beside:
            raise ValueError(f"key point {beside[0]!r} is a turn that is not on the gold path")
        if len(set(self.pano_ids)) < len(self.pano_ids):
            raise ValueError("the gold path comes twice to the same panorama")
        return self

    @property
    def start(self) -> Pose:
        """Pose at the start of the route."""
        return Pose(self.pano_ids[0], self.heading)

    @property
    def destination(self) -> LatLng:
        """Position of the place at the end of the route."""
        return LatLng(self.place_lat, self.place_lng)


class QuestionRow(Row):
    """A question about a place with four options, one of them right; `id` is the place's."""

    question: str
    types: tuple[str, ...] = Field(min_length=1)
    """Types of the place."""
    options: tuple[str, str, str, str]
    answer: Literal[0, 1, 2, 3]
    image: str
    """Path of the picture that the question is about, within the folder."""


class TriedRow(Row):
    """The result of trying to make a route or a question of a place; `id` is the place's."""

    reason: str
    """`"kept"`, or the reason why nothing was made."""


class Card(BaseModel):
    """The description of a data set: city, provider, region, terms, settings, counts and cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    city: str
    title: str
    provider: str
    virl: str
    """Version of virl that collected the data set."""
    collected: str
    """UTC date, ISO 8601, on which rows were last added."""
    region: tuple[tuple[float, float], ...]
    """Corners of the region, each (lat, lng) in degrees."""
    terms: str
    """Terms under which the provider gives the data."""
    attribution: str = ""
    """Names to credit in everything made from the data; empty if there are none."""
    settings: dict[str, object]
    """Settings by kind of data, such as `places`, with which it was collected."""
    counts: dict[str, int]
    """Numbers of rows of each file, and of candidates that each rule removed, by name."""
    requests: dict[str, int]
    """Numbers of requests sent, by endpoint, and to the model as `model`."""
    usd: float
    """Dollars that collecting cost by list prices, models included."""

    @model_validator(mode="after")
    def _is_known(self) -> "Card":
        """Return the card; raise ValueError if its format is not `FORMAT`."""
        if self.format != FORMAT:
            raise ValueError(
                f"format {self.format} is not {FORMAT}: use the virl that wrote it ({self.virl})"
            )
        return self


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set as read from its folder: card, panoramas, places, questions and routes."""

    folder: Path
    card: Card
    panoramas: tuple[PanoramaRow, ...]
    places: tuple[PlaceRow, ...]
    routes: tuple[RouteRow, ...]
    questions: tuple[QuestionRow, ...]

    def image(self, name: str) -> Path:
        """Return the path of the picture that a row names, such as `"images/a.jpg"`."""
        return self.folder / name


def open_dataset(folder: Path) -> DataSet:
    """Return the data set in a folder, checked; raise BadInput if it is missing or broken.

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
    """Return the card of the data set in a folder; raise BadInput if it is missing or broken.

    Raises:
        BadInput: it is broken.
    """
    path = folder / CARD
    try:
        return Card.model_validate_json(read_bounded(path) or b"")
    except ValidationError as fault:
        raise BadInput(f"{path}: {misfits(fault, 'card')[0]}") from None


def write_card(folder: Path, card: Card) -> None:
    """Write a data set's card into its folder.

    Raises:
        CannotWrite: the disk refuses.
    """
    write_whole(folder / CARD, card.model_dump_json(indent=2).encode() + b"\n", "collect again")


def _check_images(data: DataSet) -> None:
    """Raise BadInput if a row names an image that is missing or outside the data set's folder."""
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
