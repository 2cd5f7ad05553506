"""What a character file says about giving directions and about following them."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from virl.agent.character import CharacterField
from virl.settings.model import Settings


class DirectionsSettings(Settings):
    """Settings of a local who gives directions."""

    to: str = Field(default="", max_length=500)
    """The visitor's destination: the name of a place, a sort of place, or a question.
    Empty takes the character's intention as the question."""
    choose: Literal["nearest", "background"] = "nearest"
    """Choice among several places: the nearest, or the one that suits the visitor's background.
    Asking for the nearest gets the nearest on foot; where travel times cost money, in a straight line."""
    within: float = Field(default=2000.0, gt=0, le=50_000)
    """Metres from the start in which a place is looked for (V-IRL's)."""
    reader: str = "rapidocr"
    """The reader of signs along the walk: a name in `platform/models/`, or the path of a model file."""
    count_crossings: bool = True
    """True to tell the number of crossings before a turn; else each turn is at "the next crossing".
    V-IRL words it so."""


def reader_check(reader: str) -> tuple[str, Callable[[], object]]:
    """Return the setting's name, `reader`, and a check that raises unless a model of signs has this name."""
    from virl.platform.perception.models import read_model  # noqa: PLC0415 - brings in the models

    return "reader", lambda: read_model("reader", reader)


DIRECTIONS: CharacterField[DirectionsSettings] = CharacterField(
    "directions",
    DirectionsSettings,
    DirectionsSettings(),
    "How directions are given.",
    lambda directions: [reader_check(directions.reader)],
)
FIELDS = (DIRECTIONS,)
