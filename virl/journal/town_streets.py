"""The streets under the maps of runs whose city is no longer open."""

from collections.abc import Sequence
from functools import cache

from virl.errors import VirlError
from virl.geo import LatLng
from virl.platform.providers.cities import all_cities, open_city
from virl.platform.providers.registry import provider_of


@cache
def town_streets(name: str) -> Sequence[Sequence[LatLng]]:
    """The centre lines of a city that opens anywhere; none of others, which need a network or a data set.

    Args:
        name: of the city, as journals have it.
    """
    settings = all_cities().get(name)
    if settings is None or provider_of(settings).needs:
        return ()
    try:
        city = open_city(name)
    except VirlError:
        return ()
    return city.street_map.lines() if city.street_map else ()
