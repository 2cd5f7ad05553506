"""All servers of open data of one town at once, each on a port of its own."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from virl.platform.city import City
from virl.serve.loopback import ServedCity, served_app
from virl.serve.maps.opening import MapServer, map_app
from virl.serve.maps.options import MapServeOptions
from virl.serve.uploads.options import UploadOptions

Pictures = Literal["panoramax", "mapillary"]
PATHS: dict[MapServer, str] = {"overpass": "/api/interpreter", "nominatim": "/search", "osrm": ""}
"""What the URL of each service ends in."""


@dataclass(frozen=True, slots=True)
class OpenTown:
    """The servers of a town. Made by `served_open`."""

    servers: Mapping[str, ServedCity]
    """By the name of the service."""

    @property
    def urls(self) -> dict[str, str]:
        """The URL of each service, by its name."""
        paths: dict[str, str] = {str(name): path for name, path in PATHS.items()}
        return {name: one.url + paths.get(name, "") for name, one in self.servers.items()}

    @property
    def fields(self) -> dict[str, str]:
        """What a city file says of them, such as `panoramax_url`."""
        return {f"{name}_url": url for name, url in self.urls.items()}

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead every city of open data to them, such as `VIRL_PANORAMAX_URL`."""
        return {f"VIRL_{name.upper()}_URL": url for name, url in self.urls.items()}


@contextmanager
def served_open(
    town: City, name: str, uploads: UploadOptions, maps: MapServeOptions, pictures: Pictures = "panoramax"
) -> Iterator[OpenTown]:
    """Serve a town as pictures, places, addresses and ways, until the block ends.

    Args:
        town: whose streets are driven.
        name: of it, as `--city` takes it.
        uploads: which pictures there are, and how their server behaves.
        maps: how the other servers behave.
        pictures: who gives them.

    Raises:
        BadInput: the town does not know all its panoramas or places at once.
        VirlError: a server does not start.
    """
    if pictures == "panoramax":
        from virl.serve.panoramax.app import make_app  # noqa: PLC0415 - only one of the two is needed
    else:
        from virl.serve.mapillary.app import make_app  # noqa: PLC0415 - as above
    with ExitStack() as stack:
        servers: dict[str, ServedCity] = {
            pictures: stack.enter_context(served_app(partial(make_app, town, uploads)))
        }
        for service in PATHS:
            make = stack.enter_context(map_app(service, name, maps))
            servers[service] = stack.enter_context(served_app(make))
        yield OpenTown(servers)
