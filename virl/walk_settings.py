"""What a character file says about giving directions and about following them."""

from typing import Literal

from pydantic import Field

from virl.settings import Settings


class DirectionsSettings(Settings):
    """How a local gives directions."""

    to: str = Field(default="", max_length=500)
    """Where the visitor wants to go: the name of a place, a sort of place, or a question; empty takes the
    character's intention as the question."""
    choose: Literal["nearest", "background"] = "nearest"
    """Which of several places: the nearest, or the one that the local would send them to."""
    within: float = Field(default=2000.0, gt=0, le=50_000)
    """Metres from the start in which a place is looked for (V-IRL's)."""
    reader: str = "rapidocr"
    """Reads the signs along the walk: a name in `platform/models/`, or the path of a model file."""
    count_crossings: bool = True
    """Whether crossings are counted. Without it each turn is at "the next crossing" that is told of, as V-IRL
    words it."""


class FollowSettings(Settings):
    """How a tourist finds her way."""

    to: str = Field(default="", max_length=500)
    """Where she wants to go, as `directions: to`."""
    mode: Literal["honest", "paper"] = "honest"
    """Whether every crossing is noticed from its links, or V-IRL's hints give away where the route turns."""
    asks: int = Field(default=3, ge=1, le=20)
    """How many locals she asks at most, the first included."""
    local: str = "local"
    """Whom she asks: an agent's name, or the path of a character file."""
    spotter: str = "ocr"
    """What she looks for landmarks with: `ocr`, or the name of a recognizer or a describer in
    `platform/models/`."""
    reader: str = "rapidocr"
    """Reads signs, for `ocr`."""
    patience: int = Field(default=90, ge=1, le=10_000)
    """Steps that she follows one local's directions for, at most."""
