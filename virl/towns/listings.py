"""Homes to rent, and the provider that lists them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from random import Random

import numpy as np
import shapely
from shapely import Polygon

from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.platform.city.city import Listing
from virl.towns.life.shops import TOWN, point_behind
from virl.towns.plan.town_plan import StreetPlan

HOMES = 84
"""Number of homes to rent in a town; chosen."""
RESIDENTIAL = 0.6
"""Share of the fronts, the least busy ones, among which homes to rent are drawn; chosen."""
BASE_RENT, RENT_PER_M2 = 420.0, 15.5  # dollars a month; chosen, a mid-sized coastal town
CENTRE_PREMIUM = 0.35
"""Share by which rents in the middle of town are above those at its edge; chosen."""
NEW_PREMIUM, OLD_DISCOUNT = 0.12, 0.08
NEW_YEAR, OLD_YEAR = 2005, 1940


@dataclass(frozen=True, slots=True)
class _Home:
    """The usual size, age and rent of one type of home."""

    share: float
    """Share of all homes that are of this type, [0, 1]."""
    bedrooms: tuple[int, ...]
    """Numbers of bedrooms to draw from; 0 is a studio."""
    years: tuple[int, int]
    """First and last year in which such a home was built."""
    surcharge: float
    """Factor on the rent of this type of home."""


_HOMES = {
    "Apartment": _Home(0.62, (0, 0, 1, 1, 1, 2, 2, 3), (1905, 2024), 1.0),
    "Condo": _Home(0.16, (1, 2, 2, 3), (1975, 2024), 1.1),
    "Townhouse": _Home(0.14, (2, 3, 3, 4), (1885, 2019), 1.08),
    "Single Family": _Home(0.08, (2, 3, 4, 4), (1890, 2016), 1.12),
}
"""Usual size, age and rent by type of home; chosen."""
_AREA_M2 = {0: (24, 38), 1: (36, 58), 2: (55, 86), 3: (78, 118), 4: (105, 160)}
"""Least and largest floor area in square metres by number of bedrooms; chosen."""


def let_homes(layout: StreetPlan, seed: int, town: str = TOWN) -> tuple[Listing, ...]:
    """Return the homes to rent on a town's least busy streets.

    Args:
        layout: streets and frontages of the town.
        seed: the same layout and seed give the same homes.
        town: name at the end of addresses.
    """
    rng = Random(f"{seed} homes")
    built = [front for front in layout.frontages if front.building is not None]
    calm = sorted(built, key=lambda front: (front.commercial, front.id))[: int(len(built) * RESIDENTIAL)]
    fronts = rng.sample(calm, min(HOMES, len(calm)))
    middles = np.array([front.left for front in built]).reshape(-1, 2)
    centre = middles.mean(axis=0) if built else np.zeros(2)
    radius = float(np.hypot(*(middles - centre).T).max()) if built else 1.0
    streets = {street.id: street.name for street in layout.streets}
    homes = []
    for number, front in enumerate(fronts, start=1):
        x, y = point_behind(front.left, front.right)
        closeness = 1.0 - hypot(x - centre[0], y - centre[1]) / max(radius, 1.0)
        position = layout.frame.position(x, y)
        door = f"{front.number} {streets[front.street]}"
        homes.append(let_home(rng, f"home-{number:03d}", door, town, position, closeness))
    return tuple(homes)


def let_home(rng: Random, home_id: str, door: str, town: str, position: LatLng, closeness: float) -> Listing:
    """Return a random home at `door` (number and street); `closeness` to the middle, [0, 1], raises rent.

    Args:
        rng: source of chance.
        home_id: id of the listing.
        door: house number and street, as in the address.
        town: name at the end of the address.
        position: position of the house.
        closeness: closeness to the middle of town, [0, 1]: there homes cost more.
    """
    kind = rng.choices(list(_HOMES), [home.share for home in _HOMES.values()])[0]
    home = _HOMES[kind]
    bedrooms = rng.choice(home.bedrooms)
    area = rng.randint(*_AREA_M2[bedrooms])
    year = rng.randint(*home.years)
    age = 1 + NEW_PREMIUM * (year >= NEW_YEAR) - OLD_DISCOUNT * (year < OLD_YEAR)
    rent = (BASE_RENT + RENT_PER_M2 * area) * home.surcharge * age * (1 + CENTRE_PREMIUM * closeness)
    shared = kind in {"Apartment", "Condo"}
    unit = f", Apt {rng.randint(1, 5)}{rng.choice('ABCD')}" if shared else ""
    return Listing(
        id=home_id,
        address=f"{door}{unit}, {town}",
        position=position,
        price=float(round(rent * rng.uniform(0.9, 1.12) / 25) * 25),
        property_type=kind,
        bedrooms=bedrooms,
        bathrooms=max(1.0, bedrooms / 2 + rng.choice((0.0, 0.0, 0.5))),
        area=float(area),
        year_built=year,
    )


class OfflineListings:
    """The homes to rent in a made city."""

    def __init__(self, listings: Sequence[Listing]) -> None:
        """Sort the homes by price."""
        self._listings = sorted(listings, key=lambda listing: (listing.price, listing.id))
        self._lng = np.array([listing.position.lng for listing in self._listings])
        self._lat = np.array([listing.position.lat for listing in self._listings])

    def rentals(
        self, area: Polygon, price: tuple[float, float], bedrooms: int | None = None
    ) -> list[Listing]:
        """Return homes in an area by (lowest, highest) rent and, if given, bedrooms, cheapest first.

        Raises:
            BadInput: the lowest price is above the highest, or the area is not a valid polygon.
        """
        lowest, highest = price
        if not lowest <= highest:  # also true for nan
            raise BadInput(f"price {lowest}-{highest}: give the lowest rent first, then the highest")
        if area.is_empty or not area.is_valid:
            raise BadInput("area: not a polygon; give its corners as (longitude, latitude), in order")
        inside = shapely.intersects_xy(area, self._lng, self._lat)
        return [
            listing
            for listing, within in zip(self._listings, inside, strict=True)
            if within and lowest <= listing.price <= highest and bedrooms in {None, listing.bedrooms}
        ]
