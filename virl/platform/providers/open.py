"""Cities by name: `platform/cities/NAME.yaml` says which provider makes one, and how."""

from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from virl import resources
from virl.errors import UnknownName
from virl.platform.city import City
from virl.settings import Settings, load_settings

CITIES = "platform/cities"


class OfflineCity(Settings):
    """A file of `platform/cities/` for a city that is made."""

    title: str
    """The name as people write it."""
    about: str
    provider: Literal["offline"]
    seed: int = Field(ge=0)
    """What the city grows from."""


class GraphCity(Settings):
    """A file of `platform/cities/` for the streets of a data set."""

    title: str
    """The name as people write it."""
    about: str
    provider: Literal["graph"]
    data: Literal["touchdown"]
    """The data set, as `find_data` knows it."""


CitySettings = OfflineCity | GraphCity
"""A file of `platform/cities/`; `provider` tells which."""

_KINDS: dict[str, type[OfflineCity] | type[GraphCity]] = {"offline": OfflineCity, "graph": GraphCity}


class _Kind(Settings):
    """What tells the kinds apart; it is read first, so that a fault in the rest is named for its own kind."""

    model_config = ConfigDict(extra="ignore")

    provider: Literal["offline", "graph"]


def city_names() -> list[str]:
    """The names that `open_city` takes."""
    return resources.names_in(CITIES, ".yaml")


def read_city(file: Path) -> CitySettings:
    """Read a file of `platform/cities/`.

    Raises:
        BadInput: the file is broken.
    """
    return load_settings(file, _KINDS[load_settings(file, _Kind).provider])


def open_city(name: str) -> City:
    """Open a city by name.

    Raises:
        UnknownName: `platform/cities/` holds no such city.
        BadInput: its file is broken, or the data set that it needs is missing or broken.
    """
    if name not in city_names():
        raise UnknownName("city", name, city_names())
    settings = read_city(resources.data_folder(CITIES) / f"{name}.yaml")
    # A provider loads when it is asked for.
    if isinstance(settings, OfflineCity):
        from virl.platform.providers.offline.city import open_offline  # noqa: PLC0415

        return open_offline(name, settings.title, settings.seed)
    from virl.platform.providers.graph.city import open_graph_city  # noqa: PLC0415
    from virl.platform.providers.graph.home import find_data  # noqa: PLC0415

    return open_graph_city(name, settings.title, find_data(settings.data))
