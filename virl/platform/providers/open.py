"""Cities by name: `platform/cities/NAME.yaml` says which provider makes one, and how."""

from typing import Literal

from pydantic import Field

from virl import resources
from virl.errors import UnknownName
from virl.platform.city import City
from virl.settings import Settings, load_settings

CITIES = "platform/cities"


class CitySettings(Settings):
    """A file of `platform/cities/`."""

    title: str
    """The name as people write it."""
    about: str
    provider: Literal["offline"]
    seed: int = Field(ge=0)
    """What an `offline` city grows from."""


def city_names() -> list[str]:
    """The names that `open_city` takes."""
    return resources.names_in(CITIES, ".yaml")


def open_city(name: str) -> City:
    """Open a city by name.

    Raises:
        UnknownName: `platform/cities/` holds no such city.
        BadInput: its file is broken.
    """
    if name not in city_names():
        raise UnknownName("city", name, city_names())
    settings = load_settings(resources.data_folder(CITIES) / f"{name}.yaml", CitySettings)
    from virl.platform.providers.offline.city import open_offline  # noqa: PLC0415 - a provider loads when asked for

    return open_offline(name, settings.title, settings.seed)
