"""Cities by name: `platform/cities/NAME.yaml` says which provider makes one, and how."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virl import resources
from virl.budget import Budget
from virl.errors import BadInput, UnknownName
from virl.geo import distance
from virl.platform.city import City
from virl.platform.providers.city_file import CitySettings, GoogleCity, GraphCity, OfflineCity, read_city
from virl.region_file import read_region

__all__ = [
    "CITIES",
    "Access",
    "CitySettings",
    "GoogleCity",
    "GraphCity",
    "OfflineCity",
    "all_cities",
    "city_names",
    "city_settings",
    "name_of_city",
    "open_city",
    "opened_city",
    "read_city",
    "region_line",
]

CITIES = "platform/cities"


@dataclass(frozen=True, slots=True)
class Access:
    """How a city on the network is asked."""

    budget: Budget | None = None
    cache: Literal["off", "session", "ttl"] | None = None
    """What is kept on disk; by default as the provider's settings say."""
    session: str = ""
    """A run that is resumed gives the same name again, to find the replies that only it may see."""
    record: Path | None = None
    """Folder to write replies to."""
    replay: Path | None = None
    """Folder to answer from, with no network."""


def city_names() -> list[str]:
    """The names that `open_city` takes."""
    return resources.names_in(CITIES, ".yaml")


def name_of_city(city: str) -> str:
    """The name of a city given by name, or by the path of its file."""
    return Path(city).stem if _is_file(city) else city


def city_settings(name: str) -> CitySettings:
    """What the file of a city says; opens nothing.

    Args:
        name: of a file in `platform/cities/`, or the path of one that ends in `.yaml`.

    Raises:
        UnknownName: `platform/cities/` holds no such city.
        BadInput: its file is broken.
    """
    if _is_file(name):
        return read_city(Path(name))
    if name not in city_names():
        raise UnknownName("city", name, city_names())
    return read_city(resources.data_folder(CITIES) / f"{name}.yaml")


def all_cities() -> dict[str, CitySettings]:
    """What the files of all cities say, by name in alphabetical order.

    Raises:
        BadInput: one is broken.
    """
    return {name: city_settings(name) for name in city_names()}


def region_line(file: Path) -> str:
    """What a region's file holds, and the city with a district that lies nearest, in one line.

    Raises:
        BadInput: the file holds no region.
    """
    region = read_region(file)
    middle = region.center
    districts = {
        name: settings for name, settings in all_cities().items() if isinstance(settings, GoogleCity)
    }
    name, nearest = min(districts.items(), key=lambda item: distance(middle, item[1].center))
    away = distance(middle, nearest.center)
    return (
        f"{file}: {len(region.corners)} corners, {region.area_m2 / 1e6:.3f} km2, middle {middle}, "
        f"{away / 1000:.1f} km from the middle of {name} ({nearest.place})"
    )


def open_city(name: str) -> City:
    """Open a city by name, or by the path of its file.

    Raises:
        UnknownName: `platform/cities/` holds no such city.
        VirlError: its file is broken, or what its provider needs, such as a data set or a key, is missing.
    """
    settings = city_settings(name)
    if isinstance(settings, GoogleCity):
        from virl.platform.providers.google.city import google_city  # noqa: PLC0415 - loads when asked for

        return google_city(name_of_city(name), settings)
    return _city_without_network(name, settings)


@contextmanager
def opened_city(name: str, access: Access) -> Iterator[City]:
    """A city, as long as the context is open; then its connections are closed.

    Raises:
        BadInput: a city that is asked over no network is to be recorded or replayed.
        VirlError: as `open_city`.
    """
    settings = city_settings(name)
    if not isinstance(settings, GoogleCity):
        if access.record or access.replay:
            raise BadInput(f"{name} is asked over no network: leave out --record and --replay")
        yield _city_without_network(name, settings)
        return
    from virl.platform.providers.google.city import google_city, way_to  # noqa: PLC0415 - loads when asked for

    with way_to(
        settings,
        budget=access.budget,
        cache=access.cache,
        session=access.session,
        record=access.record,
        replay=access.replay,
    ) as http:
        yield google_city(name_of_city(name), settings, http)


def _city_without_network(name: str, settings: OfflineCity | GraphCity) -> City:
    # A provider loads when it is asked for.
    if isinstance(settings, OfflineCity):
        from virl.platform.providers.offline.city import open_offline  # noqa: PLC0415

        return open_offline(name_of_city(name), settings.title, settings.seed)
    from virl.platform.providers.graph.city import open_graph_city  # noqa: PLC0415
    from virl.platform.providers.graph.home import find_data  # noqa: PLC0415

    return open_graph_city(name_of_city(name), settings.title, find_data(settings.data))


def _is_file(city: str) -> bool:
    return Path(city).suffix in {".yaml", ".yml"}
