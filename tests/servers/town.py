"""Stand-ins of one town: one of them by its name, or all at once, each on a port of its own."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from servers.mapillary.app import make_app as mapillary_app
from servers.nominatim.app import make_app as nominatim_app
from servers.options import MapServeOptions, UploadOptions
from servers.osrm.app import make_app as osrm_app
from servers.overpass.app import elements_of
from servers.overpass.app import make_app as overpass_app
from servers.panoramax.app import make_app as panoramax_app
from virl.platform.city.city import City
from virl.platform.providers.cities import Access, city_settings, opened_city
from virl.serve.city_server import MakeApp, ServedCity, served_app

MapServer = Literal["overpass", "nominatim", "osrm"]
Pictures = Literal["panoramax", "mapillary"]
PATHS: dict[MapServer, str] = {"overpass": "/api/interpreter", "nominatim": "/search", "osrm": ""}
"""End of each service's URL, as the variables of the environment take it."""


@dataclass(frozen=True, slots=True)
class OpenTown:
    """The servers of a town. Made by `served_open`."""

    servers: Mapping[str, ServedCity]
    """Servers, by the name of the service."""

    @property
    def urls(self) -> dict[str, str]:
        """The URL of each service, by its name."""
        paths: dict[str, str] = {str(name): path for name, path in PATHS.items()}
        return {name: one.url + paths.get(name, "") for name, one in self.servers.items()}

    @property
    def fields(self) -> dict[str, str]:
        """Fields of a city file that name them, such as `panoramax_url`."""
        return {f"{name}_url": url for name, url in self.urls.items()}

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead every city of open data to them, such as `VIRL_PANORAMAX_URL`."""
        return {f"VIRL_{name.upper()}_URL": url for name, url in self.urls.items()}


@contextmanager
def map_app(server: MapServer, city: str, options: MapServeOptions) -> Iterator[MakeApp]:
    """Open a city, and yield the factory of a server's application.

    Args:
        server: name of the service.
        city: a made city, or the path of an OpenStreetMap extract.
        options: behaviour of the server.

    Raises:
        BadInput: the city does not know all its places at once.
        VirlError: the city cannot be opened.
    """
    with opened_city(city, Access()) as opened:
        if server == "overpass":
            yield partial(overpass_app, elements_of(opened, city_settings(city).map_file), options)
        else:
            yield partial(nominatim_app if server == "nominatim" else osrm_app, opened, options)


@contextmanager
def served_open(
    town: City, name: str, uploads: UploadOptions, maps: MapServeOptions, pictures: Pictures = "panoramax"
) -> Iterator[OpenTown]:
    """Serve a town as pictures, places, addresses and ways, until the block ends.

    Args:
        town: the town whose streets are driven.
        name: its name, as `--city` takes it.
        uploads: the pictures, and the behaviour of their server.
        maps: behaviour of the other servers.
        pictures: service that gives the pictures.

    Raises:
        BadInput: the town does not know all its panoramas or places at once.
        VirlError: a server does not start.
    """
    make_app = panoramax_app if pictures == "panoramax" else mapillary_app
    with ExitStack() as stack:
        servers: dict[str, ServedCity] = {
            pictures: stack.enter_context(served_app(partial(make_app, town, uploads)))
        }
        for service in PATHS:
            make = stack.enter_context(map_app(service, name, maps))
            servers[service] = stack.enter_context(served_app(make))
        yield OpenTown(servers)
