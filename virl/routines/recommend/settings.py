"""The section `recommend:` of a character file."""

from typing import Literal

from pydantic import Field

from virl.agent.character import CharacterField
from virl.routines.client import CLIENT
from virl.settings.model import Settings

MOST_CANDIDATES = 60  # as many as a search returns; chosen


class Recommending(Settings):
    """The limits of a search for a place."""

    within_minutes: float = Field(default=15.0, gt=0, le=120)
    """The longest walk there, in minutes; a wish may ask for a shorter one, never for a longer."""
    within_metres: float | None = Field(default=None, gt=0, le=10_000)
    """The longest way there in metres, if shorter (at 1.35 m/s) than `within_minutes`; `None`: no limit."""
    stay_minutes: int = Field(default=0, ge=0, le=1440)
    """Minutes that the place must be open from the arrival on."""
    candidates: int = Field(default=15, ge=1, le=MOST_CANDIDATES)
    """Most places that are weighed."""
    reviews: int = Field(default=8, ge=1, le=20)
    """Most reviews that are read of each place."""
    unknown_hours: Literal["skip", "last", "allow"] = "last"
    """The treatment of a place whose opening hours nobody knows; `last`: weigh it if no other is open."""


RECOMMEND: CharacterField[Recommending] = CharacterField(
    "recommend", Recommending, Recommending(), "How a place is looked for."
)
FIELDS = (CLIENT, RECOMMEND)
