"""What things cost, as far as a provider's price levels tell.

Google's price levels (0 free, 1 inexpensive, 2 moderate, 3 expensive, 4 very expensive) name no amounts.
Those here are chosen: what one person pays in a large town of the United States, tip included.
"""

from collections.abc import Mapping
from types import MappingProxyType

from virl.platform.city.places import Place
from virl.routines.day.settings import Mode

MEAL_USD: Mapping[int, float] = MappingProxyType({0: 0.0, 1: 12.0, 2: 25.0, 3: 50.0, 4: 90.0})
"""A meal for one, by price level."""
VISIT_USD: Mapping[int, float] = MappingProxyType({0: 0.0, 1: 7.0, 2: 15.0, 3: 35.0, 4: 70.0})
"""A visit of one person to anything else, by price level: a ticket, a drink, something small to take home."""
FREE_SORTS = frozenset(
    {"park", "library", "church", "mosque", "synagogue", "hindu_temple", "place_of_worship"}
)
"""Place types that cost nothing where no price level is given."""
TAXI_USD, TAXI_MINUTE_USD = 4.0, 1.5
"""Base fare, and what each minute costs: chosen, near American tariffs at 7 m/s."""
BICYCLE_USD = 2.0
"""A ride on a hired bicycle; chosen."""
TRANSIT_USD = 3.0
"""A journey by public transport, changes included; chosen, near American fares."""


def known_usd(place: Place, *, meal: bool) -> float | None:
    """Return the known cost of a visit for one person, in dollars; `None` where nothing tells."""
    if place.price_level is not None:
        return (MEAL_USD if meal else VISIT_USD).get(place.price_level)
    return 0.0 if FREE_SORTS.intersection(place.types) and not meal else None


def way_usd(mode: Mode | None, minutes: float) -> float:
    """Return the cost of a way for one person, in dollars."""
    if mode == "driving":
        return TAXI_USD + TAXI_MINUTE_USD * minutes
    return {"cycling": BICYCLE_USD, "transit": TRANSIT_USD}.get(mode or "", 0.0)
