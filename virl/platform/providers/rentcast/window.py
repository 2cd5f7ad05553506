"""Which listings are within an area and a price window."""

from collections.abc import Iterable

from shapely import Polygon, intersects_xy

from virl.errors import BadInput
from virl.platform.city.city import Listing


def select_homes(
    listings: Iterable[Listing], area: Polygon, price: tuple[float, float], bedrooms: int | None
) -> list[Listing]:
    """Return the listings within an area (degrees) and a range of monthly rents, cheapest first.

    Args:
        listings: any number.
        area: in degrees: x is the longitude.
        price: lowest and highest, dollars a month.
        bedrooms: number; `None` for any.

    Raises:
        BadInput: the lowest price is above the highest, or the area is not a valid polygon.
    """
    check(area, price)
    lowest, highest = price
    found = [
        one
        for one in listings
        if lowest <= one.price <= highest
        and bedrooms in {None, one.bedrooms}
        and intersects_xy(area, one.position.lng, one.position.lat)
    ]
    return sorted(found, key=lambda one: (one.price, one.id))


def check(area: Polygon, price: tuple[float, float]) -> None:
    """Check that an area is valid and that a price range is in order.

    Raises:
        BadInput: they cannot.
    """
    lowest, highest = price
    if not lowest <= highest:
        raise BadInput(f"price {lowest}-{highest}: give the lowest rent first, then the highest")
    if area.is_empty or not area.is_valid:
        raise BadInput("area: not a polygon; give its corners as (longitude, latitude), in order")
