"""The section `follow:` of a character file."""

from typing import Literal

from pydantic import Field

from virl.agent.character import CharacterField
from virl.settings import Settings


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


FOLLOW: CharacterField[FollowSettings] = CharacterField(
    "follow", FollowSettings, FollowSettings(), "How directions are followed."
)
FIELDS = (FOLLOW,)
