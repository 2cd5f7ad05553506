"""The section `follow:` of a character file."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from virl.agent.character import CharacterField
from virl.errors import UnknownName
from virl.routines.directions.settings import reader_check
from virl.settings.model import Settings

if TYPE_CHECKING:
    from virl.platform.perception.base import Role

CHOICE = "choice:"
"""Prefix in a spotter's name: the describer named after it tells a view's landmark (V-IRL's LLaVA)."""
READ_AND_ASKED = "ocr+mind"
"""Name of the spotter that reads words and asks the mind for landmarks (V-IRL's PP-OCR with GPT-3.5)."""


class FollowSettings(Settings):
    """The way in which a tourist gets about by directions."""

    to: str = Field(default="", max_length=500)
    """The tourist's destination: a place's name, a sort of place, or a question, as in `directions: to`."""
    mode: Literal["honest", "paper"] = "honest"
    """Source of crossings: `honest`, the links where the tourist stands, or `paper`, V-IRL's hints.
    Those give away where the route turns."""
    asks: int = Field(default=3, ge=1, le=20)
    """The most locals that the tourist asks, the first included."""
    local: str = "local"
    """The local who is asked: an agent's name, or the path of a character file."""
    spotter: str = "ocr"
    """Finder of landmarks: `ocr`, `ocr+mind`, a recognizer or describer, or `choice:` and a describer.
    Recognizers and describers are names in `platform/models/`."""
    reader: str = "rapidocr"
    """Name of the reader of signs, for `ocr`."""
    patience: int = Field(default=120, ge=1, le=10_000)
    """Most steps for which the tourist follows one local's directions."""


def find_spotter(name: str) -> "Role":
    """Return the role of the perception model that a spotter uses; raise `UnknownName` for unknown spotters.

    Raises:
        UnknownName: there is no such spotter.
    """
    from virl.platform.perception.models import model_names  # noqa: PLC0415 - brings in the models

    if name in {"ocr", READ_AND_ASKED}:
        return "reader"
    recognizers, describers = model_names("recognizer"), model_names("describer")
    if name in recognizers:
        return "recognizer"
    if name.removeprefix(CHOICE) in describers:
        return "describer"
    raise UnknownName("spotter", name, ["ocr", READ_AND_ASKED, *recognizers, *describers])


def _named_models(follow: FollowSettings) -> Iterable[tuple[str, Callable[[], object]]]:
    """Yield (setting, check) of settings that name a model or character; the check raises if unknown."""
    from virl.agent.character_file import find_character  # noqa: PLC0415 - reads this module's fields

    return [
        ("local", lambda: find_character(follow.local)),
        ("spotter", lambda: find_spotter(follow.spotter)),
        reader_check(follow.reader),
    ]


FOLLOW: CharacterField[FollowSettings] = CharacterField(
    "follow", FollowSettings, FollowSettings(), "How directions are followed.", _named_models
)
FIELDS = (FOLLOW,)
