"""What Peng's character file says of his errands; described in `docs/reference/characters.md`."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from virl.agent.character import MOST_WORDING, CharacterField
from virl.platform.city.maps import TravelMode
from virl.settings.model import Settings

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class StandIn(Settings):
    """A substitute place for an errand whose own place the city lacks."""

    title: str
    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)
    does_as_well: bool = True


class Errands(Settings):
    """The stops of a trip, the means of travel, and where it ends."""

    stops: tuple[Line, ...] = ()
    """Addresses or names of places, in any order."""
    text: str = Field(default="", max_length=MOST_WORDING)
    """The errands in free words, instead of `stops`."""
    travel: TravelMode = "walking"
    """The means of travel, by which the ways between stops and their durations are looked up."""
    end: Line | Literal["home", "open"] | None = None
    """End of the trip: `home`, `open` (the stop best last), an address; `None`: as the text says, or `open`.
    By default as the text says, and `open` if it says nothing."""
    walk: bool = True
    """True to walk the trip, not only plan it."""
    stand_ins: dict[str, StandIn] = Field(default_factory=dict)
    """Substitutes for addresses, names or kinds of places that the city lacks, by the words used for these.
    virl writes them where an agent is in another city than its file was written for."""
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
