"""Pastimes, for the rules: the file `platform/rules/day.yaml`, and those of the table of place types."""

from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from virl import resources
from virl.clock import parse_clock, show_clock
from virl.platform.city.place_types import Words, by_type_as, types_marked
from virl.settings.model import Settings, load_settings

Feeling = Literal["stress", "joy", "sadness", "hunger", "energy", "pain"]
Points = dict[Feeling, float]
"""Signed points by feeling, on a scale from 0 to 100."""
Minute = Annotated[str, AfterValidator(lambda text: show_clock(parse_clock(text)))]


class Pastime(Settings):
    """One thing to do, at one sort of place."""

    what: str = Field(min_length=1)
    minutes: int = Field(gt=0)
    usual: tuple[Minute, Minute]
    """The hours in which towns usually offer it."""
    usd: float = Field(ge=0)
    """The usual cost in dollars."""
    feelings: Points
    """An hour of it."""
    words: Words
    """Phrases of people who like it, beside the lexicon's for the place type."""
    active: bool = False
    """True if the pastime asks for strength."""

    @property
    def span(self) -> tuple[int, int]:
        """The hours in which towns usually offer it, as minutes after midnight."""
        return parse_clock(self.usual[0]), parse_clock(self.usual[1])


class FeelingWords(Settings):
    """Phrases that tell a feeling."""

    feeling: Feeling
    by: float
    """The change of the feeling by these words; denied, the opposite."""
    words: tuple[str, ...]


class DayBook(Settings):
    """All that the rules know of days."""

    hourly: Points
    """The effect of every waking hour."""
    rest: Points
    """An hour of doing nothing."""
    travel: dict[Literal["walking", "cycling", "driving"], Points]
    """An hour on the way."""
    meal: Points
    """A whole meal."""
    meal_usd: float
    snack: Points
    """Something small on the side."""
    snacks: frozenset[str] = Field(default_factory=lambda: types_marked("snack"))
    """Place types where one has something small."""
    somewhere: Points
    """An hour at a place of an unknown sort."""
    pastimes: dict[str, Pastime] = Field(default_factory=lambda: by_type_as("pastime", Pastime))
    """The pastimes by place type."""
    feelings: tuple[FeelingWords, ...]
    denials: tuple[str, ...]
    thrift: tuple[str, ...]
    """Phrases of somebody who wants to spend little."""


@cache
def day_book() -> DayBook:
    """Return the file that comes with virl.

    Raises:
        BadInput: it is broken; names line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "day.yaml", DayBook)
