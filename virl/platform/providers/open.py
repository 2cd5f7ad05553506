"""Cities by name: `platform/cities/NAME.yaml` says which provider makes one, and how."""

from virl import resources
from virl.errors import UnknownName
from virl.platform.city import City
from virl.platform.providers.city_file import CitySettings, GoogleCity, GraphCity, OfflineCity, read_city

__all__ = [
    "CITIES",
    "CitySettings",
    "GoogleCity",
    "GraphCity",
    "OfflineCity",
    "all_cities",
    "city_names",
    "city_settings",
    "open_city",
    "read_city",
]

CITIES = "platform/cities"


def city_names() -> list[str]:
    """The names that `open_city` takes."""
    return resources.names_in(CITIES, ".yaml")


def city_settings(name: str) -> CitySettings:
    """What the file of a city says; opens nothing.

    Raises:
        UnknownName: `platform/cities/` holds no such city.
        BadInput: its file is broken.
    """
    if name not in city_names():
        raise UnknownName("city", name, city_names())
    return read_city(resources.data_folder(CITIES) / f"{name}.yaml")


def all_cities() -> dict[str, CitySettings]:
    """What the files of all cities say, by name in alphabetical order.

    Raises:
        BadInput: one is broken.
    """
    return {name: city_settings(name) for name in city_names()}


def open_city(name: str) -> City:
    """Open a city by name.

    Raises:
        UnknownName: `platform/cities/` holds no such city.
        VirlError: its file is broken, or what its provider needs, such as a data set or a key, is missing.
    """
    settings = city_settings(name)
    # A provider loads when it is asked for.
    if isinstance(settings, OfflineCity):
        from virl.platform.providers.offline.city import open_offline  # noqa: PLC0415

        return open_offline(name, settings.title, settings.seed)
    if isinstance(settings, GoogleCity):
        from virl.platform.providers.google.city import open_google  # noqa: PLC0415

        return open_google(
            name=name,
            title=settings.title,
            center=settings.center,
            options=settings.google,
            settings=settings,
        )
    from virl.platform.providers.graph.city import open_graph_city  # noqa: PLC0415
    from virl.platform.providers.graph.home import find_data  # noqa: PLC0415

    return open_graph_city(name, settings.title, find_data(settings.data))
