"""The applications of the servers of open maps, for a city by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from virl.platform.providers.cities import Access, city_settings, opened_city
from virl.serve.loopback import MakeApp
from virl.serve.maps.options import MapServeOptions

MapServer = Literal["overpass", "nominatim", "osrm"]


@contextmanager
def map_app(server: MapServer, city: str, options: MapServeOptions) -> Iterator[MakeApp]:
    """What makes the application of a server, as long as the city is open.

    Args:
        server: which one.
        city: a made city, or the path of an OpenStreetMap extract.
        options: how it behaves.

    Raises:
        BadInput: the city does not know all its places at once.
        VirlError: the city cannot be opened.
    """
    settings = city_settings(city)
    with opened_city(city, Access()) as opened:
        if server == "overpass":
            from virl.serve.overpass.app import elements_of  # noqa: PLC0415 - reads an extract
            from virl.serve.overpass.app import make_app as overpass_app  # noqa: PLC0415 - as above

            elements = elements_of(opened, settings.map_file)
            yield lambda stats, pools: overpass_app(elements, options, stats, pools)
        elif server == "nominatim":
            from virl.serve.nominatim.app import make_app as nominatim_app  # noqa: PLC0415 - as above

            yield lambda stats, pools: nominatim_app(opened, options, stats, pools)
        else:
            from virl.serve.osrm.app import make_app as osrm_app  # noqa: PLC0415 - as above

            yield lambda stats, pools: osrm_app(opened, options, stats, pools)
