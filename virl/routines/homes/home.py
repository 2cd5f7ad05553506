"""A home to rent, what is near it, and how well it suits."""

from collections.abc import Sequence

from virl.files.json_reading import JsonRecord
from virl.pages.numbers import count_noun
from virl.platform.city.city import Listing


def bedrooms_in_words(count: int | None) -> str:
    """Return a text such as `"2 bedrooms"`; none make a studio."""
    if count is None:
        return "bedrooms unknown"
    return count_noun(count, "bedroom") if count else "studio"


class Home(JsonRecord):
    """A listing as a journal holds it."""

    id: str
    address: str
    lat: float
    lng: float
    price: float
    """Dollars a month."""
    property_type: str
    bedrooms: int | None
    """0 is a studio; `None` where they are not listed."""
    bathrooms: float | None
    area: float | None
    """Square metres of floor."""
    year_built: int | None

    @classmethod
    def of(cls, listing: Listing) -> "Home":
        """Return the same home."""
        return cls(
            id=listing.id,
            address=listing.address,
            lat=listing.position.lat,
            lng=listing.position.lng,
            price=listing.price,
            property_type=listing.property_type,
            bedrooms=listing.bedrooms,
            bathrooms=listing.bathrooms,
            area=listing.area,
            year_built=listing.year_built,
        )

    @property
    def size(self) -> str:
        """Such as `"2 bedrooms, 64 square metres"`."""
        rooms = bedrooms_in_words(self.bedrooms)
        return rooms if self.area is None else f"{rooms}, {self.area:.0f} square metres"


class Near(JsonRecord):
    """The place of a kind that is nearest to a home."""

    place_type: str
    name: str = ""
    walk_minutes: float | None = None
    """The minutes on foot; `None` where there is none within reach."""
    count: int = 0
    """The number of them within reach."""


class Rated(JsonRecord):
    """A home that was weighed for a client."""

    home: Home
    nearby: tuple[Near, ...]
    rating: float
    """0 to 10: how well it suits."""
    reason: str


def rank_homes(homes: Sequence[Rated]) -> list[Rated]:
    """Return the homes, best first. Among equal ratings the lower rent, then the id."""
    return sorted(homes, key=lambda one: (-one.rating, one.home.price, one.home.id))
