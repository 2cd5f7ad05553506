"""Listings: homes to rent."""

from dataclasses import dataclass
from typing import Protocol

from shapely import Polygon

from virl.geo.globe import LatLng


@dataclass(frozen=True, slots=True)
class Listing:
    """A home to rent, as it is listed."""

    id: str
    address: str
    position: LatLng
    price: float
    """Rent in dollars a month."""
    property_type: str
    """Kind of home, such as `"Apartment"` or `"Townhouse"`."""
    bedrooms: int | None
    """Number of bedrooms, 0 for a studio; `None` where it is not known."""
    bathrooms: float | None = None
    """Number of bathrooms; `None` where it is not known."""
    area: float | None = None
    """Square metres of floor; `None` where they are not known."""
    year_built: int | None = None
    """Year in which it was built; `None` where it is not known."""


class Listings(Protocol):
    """A provider of homes to rent."""

    def rentals(
        self, area: Polygon, price: tuple[float, float], bedrooms: int | None = None
    ) -> list[Listing]:
        """Return the homes to rent within an area (degrees) and a range of monthly rents, cheapest first.

        Args:
            area: polygon whose points are (longitude, latitude), as in GeoJSON.
            price: lowest and highest rent in dollars a month, both included.
            bedrooms: how many exactly; `None` takes any, unknown ones too.
        """
        ...
