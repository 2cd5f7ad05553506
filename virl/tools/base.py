"""Parts of all tools: results, directions, rounded measures, and text from the world between marks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from math import isfinite
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from virl.agent.tool import ToolData
from virl.geo.globe import LatLng, bearing, compass_word, distance, egocentric_word, normalize_heading
from virl.journal.records import PlaceRecord, ViewRecord
from virl.mind.prompt import NOT_ORDERS, fence
from virl.plain_text import shorten

LONGEST = 3000
"""Most characters of the lines in a tool's result; chosen: some 800 tokens."""
"""Sentence put before text from the city, so that a model does not take that text for orders."""

Egocentric = Literal["front", "front right", "right", "rear right", "rear", "rear left", "left", "front left"]
Compass = Literal["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"]
Heading = Annotated[float, Field(ge=0, lt=360)]


def _validate_direction(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """Return the validated direction; raise one error in words in place of pydantic's several."""
    try:
        return handler(value)
    except ValidationError:
        raise PydanticCustomError(
            "direction", "neither a word for a direction, as the schema lists them, nor degrees in [0, 360)"
        ) from None


Direction = Annotated[Literal[Egocentric, Compass] | Heading, WrapValidator(_validate_direction)]
"""A direction to look or go: relative to the agent's heading, by the compass, or degrees in [0, 360)."""
Sweep = Annotated[Literal["around", Egocentric, Compass] | Heading, WrapValidator(_validate_direction)]
"""A direction, or `around` for all directions."""

DIRECTION = (
    "seen from the way you face ('front', 'left', 'rear right' ...), by the compass ('north', "
    "'southeast' ...), or a heading in degrees clockwise from north, 0 up to 360"
)

_EGOCENTRIC: tuple[str, ...] = Egocentric.__args__  # type: ignore[attr-defined]
COMPASS: tuple[str, ...] = Compass.__args__  # type: ignore[attr-defined]


def _round_metres(metres: float) -> float:
    """Return metres rounded to whole ones below 1 km and to hundreds above; infinity unchanged."""
    if not isfinite(metres):
        return metres
    # `metres` writes 999.5 as "1000 m", and 1000.0 as "1.0 km": the bound keeps what is below 1 km in metres.
    return float(min(round(metres), 999.5)) if metres < 1000 else round(metres / 1000, 1) * 1000.0


Metres = Annotated[float, AfterValidator(_round_metres)]
"""A distance in metres, rounded: to 1 m below 1 km, to 100 m above."""
Degrees = Annotated[float, AfterValidator(lambda heading: float(round(heading) % 360))]
"""A heading in whole degrees clockwise from north, [0, 360)."""
Score = Annotated[float, AfterValidator(lambda score: round(score, 2))]
"""A detector's confidence, [0, 1], rounded to two digits."""
Share = Annotated[float, AfterValidator(lambda share: round(100 * share, 1) / 100)]
"""A share, [0, 1], rounded to a tenth of a percent."""
Position = Annotated[LatLng, AfterValidator(lambda at: LatLng(round(at.lat, 6), round(at.lng, 6)))]
"""A position (latitude, longitude), WGS84 degrees, rounded to six digits."""


DataT = TypeVar("DataT", bound=ToolData)
DataT_co = TypeVar("DataT_co", bound=ToolData, covariant=True)


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[DataT_co]):
    """The result of a call of a tool: text for the model, and data for programs."""

    text: str
    """Result as text for the model."""
    data: DataT_co | None = None
    """Result as data for programs; `None` if the call failed."""
    views: tuple[ViewRecord, ...] = ()
    """Journal records of the views that the tool took."""
    shown: bool = False
    """True if the model gets the pictures of the views; false if it gets only the text."""
    place: PlaceRecord | None = None
    """Place that the result is about; `None` for none."""
    failed: bool = False
    """True if the call failed; the text says why."""

    @property
    def data_as_json(self) -> dict[str, Any] | None:
        """The result as plain JSON data for journals; `None` if the call failed."""
        return None if self.data is None else self.data.model_dump(mode="json")


def tell_data(
    data: DataT, views: tuple[ViewRecord, ...] = (), *, shown: bool = False, place: PlaceRecord | None = None
) -> ToolResult[DataT]:
    """Return the result of a tool's data: its text is `str(data)`.

    Args:
        data: the data that the tool returns.
        views: the records of views that were kept.
        shown: True if the model gets the pictures of the views.
        place: the place that the result is about; `None` for none.
    """
    return ToolResult(str(data), data, views, shown, place)


class Bearing(ToolData):
    """A direction: relative to the way you face, by the compass, and in degrees clockwise from north."""

    relative: str
    """Direction relative to the present heading, such as `front right`."""
    compass: str
    """Direction by the compass, such as `northeast`."""
    degrees: Degrees

    def __str__(self) -> str:
        """Return the direction as text, such as "front right (northeast, 45 degrees)"."""
        return f"{self.relative} ({self.compass}, {self.degrees:.0f} degrees)"


class Away(ToolData):
    """A distance from where you stand, as the crow flies, and its compass direction."""

    distance_m: Metres
    """Distance in metres; 0 at the agent's own position."""
    direction: str
    """Compass direction, such as `northeast`; empty at the agent's own position."""

    def __str__(self) -> str:
        """Return the distance and direction as text, such as "80 m northeast", or "here"."""
        return f"{metres(self.distance_m)} {self.direction}" if self.direction else "here"


ItemT = TypeVar("ItemT", bound=ToolData)


class Listing(ToolData, Generic[ItemT]):
    """A list of items from the world, cut to what one text holds, with the number of items left out."""

    items: tuple[ItemT, ...] = ()
    left_out: int = 0
    """Number of further items that did not fit."""
    nothing: str = ""
    """Text of the result if there are no items."""

    @classmethod
    def fit(cls, items: Sequence[ItemT], **more: object) -> Self:
        """Return a listing of as many of the first items as a text holds; `more` has the other fields."""
        kept = lines_held(map(str, items))
        return cls.model_validate({"items": items[:kept], "left_out": len(items) - kept, **more})

    def __str__(self) -> str:
        """Return the items as lines between marks, or the text for an empty list."""
        return from_world(list(map(str, self.items)), self.left_out) if self.items else self.nothing


def heading_of(direction: Direction, facing: float) -> float:
    """Return the heading, degrees in [0, 360), of a direction; words like `left` are relative to `facing`."""
    if isinstance(direction, str):
        if direction in COMPASS:
            return 45.0 * COMPASS.index(direction)
        return normalize_heading(facing + 45.0 * _EGOCENTRIC.index(direction))
    return direction


def bearing_of(heading: float, facing: float) -> Bearing:
    """Return a heading in degrees as a direction: relative to the heading `facing`, and by the compass."""
    return Bearing(relative=egocentric_word(facing, heading), compass=compass_word(heading), degrees=heading)


def away_to(here: LatLng, there: LatLng) -> Away:
    """Return the distance and compass direction from `here` to `there`; below 1 m, 0 without direction."""
    far = distance(here, there)
    if far < 1:
        return Away(distance_m=0.0, direction="")
    return Away(distance_m=far, direction=compass_word(bearing(here, there)))


def metres(distance_m: float) -> str:
    """Return a distance in metres as text, such as "80 m" or "1.2 km"; "no way" if it is infinite."""
    if not isfinite(distance_m):
        return "no way"
    return f"{distance_m:.0f} m" if distance_m < 1000 else f"{distance_m / 1000:.1f} km"


def from_world(lines: Sequence[str], left_out: int = 0) -> str:
    """Return lines of text from the world between marks, so that a model takes them as data.

    As many of the first lines as a result may hold are kept; the number of the others, and of the `left_out`
    ones before them, is told.
    """
    kept = list(lines[: lines_held(lines)])
    if left := left_out + len(lines) - len(kept):
        kept.append(f"... and {left} lines more, left out")
    return f"{NOT_ORDERS}\n{fence(chr(10).join(kept))}"


def latest(lines: Sequence[str]) -> str:
    """Return as many of the last lines as a result may hold, after a line on how many are left out."""
    left = len(lines) - lines_held(reversed(lines))
    return "\n".join([f"({left} earlier lines, left out)"] * bool(left) + list(lines[left:]))


def lines_held(lines: Iterable[str]) -> int:
    """Return the number of lines, from the first on, that fit into the `LONGEST` characters of a result."""
    lengths = accumulate(len(line) + 1 for line in lines)
    return sum(1 for _ in takewhile(lambda length: length <= LONGEST, lengths))


def short(text: str, most: int) -> str:
    """Return a text on one line, cut to at most `most` characters with an ellipsis."""
    return shorten(" ".join(text.split()), most)
