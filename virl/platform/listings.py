"""Listings: homes to rent."""

from dataclasses import dataclass
from typing import Protocol

from shapely import Polygon

from virl.geo import LatLng


@dataclass(frozen=True, slots=True)
class Listing:
    """A home to rent."""

    id: str
    address: str
    position: LatLng
    price: float
    """Dollars a month."""
    property_type: str
    """Such as `"Apartment"` or `"Townhouse"`."""
    bedrooms: int | None
    """0 is a studio; `None` where nobody has listed them."""
    bathrooms: float | None = None
    area: float | None = None
    """Square metres of floor."""
    year_built: int | None = None


class Listings(Protocol):
    """A provider of listings."""

    def rentals(
        self, area: Polygon, price: tuple[float, float], bedrooms: int | None = None
    ) -> list[Listing]:
        """Return the homes to rent within an area, cheapest first.

        Args:
            area: polygon whose points are (longitude, latitude), as in GeoJSON.
            price: lowest and highest rent in dollars a month, both included.
            bedrooms: how many exactly; `None` takes any, unknown ones too.
        """
        ...
