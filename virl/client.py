"""For whom an agent works: the sections `client:`, `recommend:` and `rent:` of a character file."""

from typing import Literal, Self

from pydantic import Field, model_validator

from virl.settings import Settings

MOST_CANDIDATES = 60  # as many as a search returns; chosen


class Spot(Settings):
    """A position: WGS84 degrees."""

    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)


class Circle(Spot):
    """A round district."""

    radius: float = Field(gt=0, le=10_000)
    """Metres."""


class Client(Settings):
    """Whom an agent works for: their wishes count, not the agent's own."""

    name: str = Field(min_length=1)
    age: int | None = Field(default=None, ge=0, le=150)
    background: str
    intention: str = Field(min_length=1)
    """What they wish for, in their own words."""
    where: str | Spot | None = None
    """Where they are: an address or a position; by default the agent's start."""


class Recommending(Settings):
    """How a place is looked for."""

    within_minutes: float = Field(default=15.0, gt=0, le=120)
    """The longest walk there. A wish may ask for a shorter one, never for a longer."""
    within_metres: float | None = Field(default=None, gt=0, le=10_000)
    """The longest way there, walked at 1.35 m/s, where that is less."""
    stay_minutes: int = Field(default=0, ge=0, le=1440)
    """How long the place must be open from the arrival on."""
    candidates: int = Field(default=15, ge=1, le=MOST_CANDIDATES)
    """Most places that are weighed."""
    reviews: int = Field(default=8, ge=1, le=20)
    """Most reviews that are read of each."""
    unknown_hours: Literal["skip", "allow"] = "skip"
    """What to do with a place whose opening hours nobody knows."""


class Renting(Settings):
    """Which homes are looked at."""

    price: tuple[float, float]
    """Lowest and highest rent in dollars a month."""
    bounds: Literal["inclusive", "strict"] = "inclusive"
    """Whether the two prices themselves are within the window."""
    bedrooms: tuple[int, int] | None = None
    """Fewest and most bedrooms; 0 is a studio."""
    areas: tuple[str | Circle | tuple[tuple[float, float], ...], ...] = ()
    """Districts: names or files from `platform/cities/` that have a polygon, files of corners seen from the
    character's file, circles, or `[lat, lng]` corners; by default the character's `region`, or else the
    city's own."""
    listings: str = "city"
    """`city`: what the city's provider lists; `rentcast`: the RentCast API; else a JSON file of RentCast
    records, seen from the character's file."""
    walk_metres: float = Field(default=800.0, gt=0, le=5000)
    """How far from a home the places count that the client cares about; as the crow flies."""
    shown: int = Field(default=15, ge=1, le=100)
    """Homes in the table and on the map."""

    @model_validator(mode="after")
    def _lowest_first(self) -> Self:
        low, high = self.price
        if not 0 <= low <= high:
            raise ValueError(f"price {low:g} to {high:g}: give the lowest rent first, then the highest")
        if self.bedrooms and not 0 <= self.bedrooms[0] <= self.bedrooms[1]:
            raise ValueError("bedrooms: give the fewest first, then the most")
        return self
