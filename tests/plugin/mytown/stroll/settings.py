"""The section `stroll:` of a character file."""

from pydantic import Field

from virl.agent.character import CharacterField
from virl.settings.model import Settings


class Stroll(Settings):
    """What the stroller likes."""

    likes: tuple[str, ...] = Field(min_length=1)
    """Types of places, such as `cafe`."""
    min_rating: float = Field(default=3.5, ge=1, le=5)
    """Least mean rating of a place, 1 to 5 stars."""
    radius_m: float = Field(default=8.0, gt=0, le=100)
    """How far a place may be from the panorama that it is seen from, in metres."""


STROLL: CharacterField[Stroll | None] = CharacterField(
    "stroll", Stroll | None, None, "What the stroller likes, and how well rated it has to be."
)
FIELDS = (STROLL,)
