"""What Peng's character file says of his errands; described in `docs/reference/characters.md`."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from virl.agent.character import MOST_WORDING, CharacterField
from virl.platform.city.maps import TravelMode
from virl.settings.model import Settings

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class StandIn(Settings):
    """The place of an errand where the city lacks the one that is named."""

    title: str
    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)
    does_as_well: bool = True


class Errands(Settings):
    """The stops of a trip, the means of travel, and where it ends."""

    stops: tuple[Line, ...] = ()
    """Addresses or names of places, in the order they came to mind."""
    text: str = Field(default="", max_length=MOST_WORDING)
    """The errands in free words, instead of `stops`."""
    travel: TravelMode = "walking"
    """The means of travel: decides which ways are short, and how long they take."""
    end: Line | Literal["home", "open"] | None = None
    """`home`: back at the start. `open`: at whichever stop is best last. Else an address. By default as the
    text says, and `open` if it says nothing."""
    walk: bool = True
    """A switch to walk the trip, instead of only planning it."""
    stand_ins: dict[str, StandIn] = Field(default_factory=dict)
    """Replacements for an address, name or kind of the text or of `stops` that the city lacks. virl writes
    them where an agent is in another city than its file was written for."""
    search_seconds: float = Field(default=20.0, gt=0, le=600)
    """Most seconds spent on the order of many stops; chosen."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        """Return the errands unchanged; raise `ValueError` unless either `stops` or `text` is given."""
        if bool(self.stops) == bool(self.text.strip()):
            raise ValueError("give either `stops` or `text`")
        return self


ERRANDS: CharacterField[Errands | None] = CharacterField(
    "errands", Errands | None, None, "What to do, and where."
)
FIELDS = (ERRANDS,)
