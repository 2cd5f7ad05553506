"""The ground under the maps of runs whose city is no longer open."""

from functools import cache

from virl.errors import VirlError
from virl.journal.ground import ground_of
from virl.pages.ground import MapGround
from virl.platform.providers.cities import all_cities, open_city
from virl.platform.providers.provider import provider_of


@cache
def town_ground(name: str) -> MapGround:
    """Return the ground of a city that opens anywhere; nothing of others, which need a network or a data set.

    Args:
        name: of the city, as journals have it.
    """
    settings = all_cities().get(name)
    if settings is None or provider_of(settings).needs:
        return MapGround()
    try:
        return ground_of(open_city(name))
    except VirlError:
        return MapGround()
