"""The section `preview:` of a character file."""

from typing import Literal, get_args

from pydantic import Field

from virl.agent.character import CharacterField
from virl.routines.directions.settings import reader_check
from virl.settings.model import Settings

Profile = Literal["low-vision", "wheelchair", "pram", "stranger"]
PROFILES: tuple[Profile, ...] = get_args(Profile)


class PreviewSettings(Settings):
    """The way that is told, and the person it is told for."""

    to: str = Field(default="", max_length=500)
    """The end of the way: an address, a position such as `60.17,24.94`, or a name or kind of place.
    Empty takes it from the character's intention."""
    profile: Profile = "low-vision"
    """The walker's profile: decides what is told first."""
    reader: str = "sign-reader"
    """The reader of signs along the way: a name in `platform/models/`, or the path of a model file."""
    things: tuple[str, ...] = ("bench", "bus stop", "traffic light", "bollard", "trash bin", "parked car")
    """Things looked for beside the way, in the detector's words."""
    range_deg: float = Field(default=360.0, gt=0, le=360)
    """Degrees around the way ahead in which `things` are looked for from each panorama, half to each side.
    180 halves the views where each costs money."""
    within: float = Field(default=2000.0, gt=0, le=50_000)
    """Metres from the start in which a place is looked for."""


PREVIEW: CharacterField[PreviewSettings] = CharacterField(
    "preview",
    PreviewSettings,
    PreviewSettings(),
    "Which way is described, and for whom.",
    lambda preview: [reader_check(preview.reader)],
)
FIELDS = (PREVIEW,)
