"""What is known of a town beside its pictures: places, addresses, routes and walkable ways."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from virl.geo import LatLng
from virl.platform.graph import NavigationGraph
from virl.platform.maps import Maps
from virl.platform.places import Places
from virl.platform.providers.graph.city import NoPlaces
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.open.city_file import OpenCity
from virl.platform.providers.osm.city_file import OsmCity
from virl.platform.providers.osm.extra import needing_osm


@dataclass(frozen=True, slots=True)
class CityGround:
    """Places and maps of a city. Made by `ground_of`."""

    places: Places
    maps: Callable[[NavigationGraph], Maps]
    """Addresses and routes, and ways along panoramas."""
    ways: Sequence[Sequence[LatLng]] = ()
    """Walkable ways, split at their junctions; empty where they are not known at once."""
    attribution: str = ""
    """Whom to name."""
    time_zone: str | None = None
    """IANA name."""


def ground_of(name: str, file: OpenCity) -> CityGround:
    """The places and maps that a city's file names.

    Args:
        name: of the city.
        file: its file.

    Raises:
        BadInput: the extract is missing, cannot be read, or holds no street here.
        ModelUnavailable: a package that reads it is missing.
    """
    if file.extract is None:
        return CityGround(NoPlaces(name), GraphMaps)
    with needing_osm(f"the map of {name}"):
        from virl.platform.providers.osm.mapped import mapped_town  # noqa: PLC0415 - needs the extra

    town = mapped_town(
        OsmCity(
            title=file.title,
            about=file.about,
            provider="osm",
            extract=file.extract,
            polygon=file.polygon,
            around=None if file.polygon else file.center,
            radius=max(file.reach_m, 50.0),
        )
    )
    return CityGround(town.places, town.maps, town.ways, town.attribution, town.time_zone)
