"""The section `rent:` of a character file."""

from typing import Literal, Self

from pydantic import Field, model_validator

from virl.agent.character import CharacterField, Point
from virl.routines.client import CLIENT
from virl.settings.model import Settings


class Circle(Point):
    """A round district."""

    radius: float = Field(gt=0, le=10_000)
    """Radius of the district, metres."""


Area = str | Circle | tuple[tuple[float, float], ...]
"""A district: the name or file of a polygon, a circle, or `[lat, lng]` corners."""


class Renting(Settings):
    """The criteria for the homes that are looked at."""

    price: tuple[float, float]
    """Lowest and highest rent in dollars a month."""
    bounds: Literal["inclusive", "strict"] = "inclusive"
    """Treatment of homes at exactly the lowest or highest price: in (`inclusive`) or out (`strict`)."""
    bedrooms: tuple[int, int] | None = None
    """Fewest and most bedrooms, where 0 is a studio; `None` for any number."""
    areas: tuple[Area, ...] = ()
    """Districts to search: polygons by name or file, circles, or `[lat, lng]` corners.
    Names and files are those in `platform/cities/` that have a polygon, or files of corners seen from the
    character's file. By default the character's `region`, or else the city's own."""
    listings: str = "city"
    """Source of listings: `city` (its provider), `rentcast` (the RentCast API), or a JSON file's path.
    The file has RentCast records, and is seen from the character's file."""
    walk_metres: float = Field(default=800.0, gt=0, le=5000)
    """Metres from a home, as the crow flies, within which a place counts as near it."""
    shown: int = Field(default=15, ge=1, le=100)
    """Most homes in the table and on the map."""

    @model_validator(mode="after")
    def _lowest_first(self) -> Self:
        """Return the settings; raise `ValueError` if a range does not begin with its lowest number."""
        low, high = self.price
        if not 0 <= low <= high:
            raise ValueError(f"price {low:g} to {high:g}: give the lowest rent first, then the highest")
        if self.bedrooms and not 0 <= self.bedrooms[0] <= self.bedrooms[1]:
            raise ValueError("bedrooms: give the fewest first, then the most")
        return self


RENT: CharacterField[Renting | None] = CharacterField(
    "rent", Renting | None, None, "Which homes are looked at."
)
FIELDS = (CLIENT, RENT)
