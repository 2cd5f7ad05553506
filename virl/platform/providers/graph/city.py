"""A city out of a data set: its streets, and the panoramas that a user has of them."""

from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

from virl.errors import NotFound
from virl.geo import LatLng
from virl.platform.city import City
from virl.platform.places import Place
from virl.platform.providers.graph.cache import load_touchdown
from virl.platform.providers.graph.credit import attribution_of
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.graph.panoramas import PanoramaFolder
from virl.platform.providers.graph.streetview import GraphStreetMap, GraphStreetView
from virl.platform.streetview import Image


class NoPlaces:
    """Places of a city that has none; every question raises `NotFound`.

    Args:
        city: its name.
    """

    def __init__(self, city: str) -> None:
        self._city = city

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Raise `NotFound`."""
        del position, radius, types, whole
        self._refuse()

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Raise `NotFound`."""
        del query, near
        self._refuse()

    def details(self, place_id: str) -> Place:
        """Raise `NotFound`."""
        del place_id
        self._refuse()

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Raise `NotFound`."""
        del place_id, limit
        self._refuse()

    def _refuse(self) -> NoReturn:
        """Raise the error that the city has no places."""
        raise NotFound(f"the city {self._city!r} has no places, only streets: choose another city")


def open_graph_city(name: str, title: str, folder: Path) -> City:
    """Return the city of a folder with `graph/` and, where the user has them, `panoramas/`.

    Its centre is the panorama nearest to the mean of all.

    Args:
        name: what `open_city` calls it.
        title: the name as people write it.
        folder: the data set.

    Raises:
        GraphFault: the graph's files have faults.
        BadInput: the folder is an export whose manifest is damaged.
    """
    graph = load_touchdown(folder / "graph")
    middle, _ = graph.nearest(LatLng(float(graph.lat.mean()), float(graph.lng.mean())))
    return City(
        name=name,
        title=title,
        center=graph.position(middle),
        attribution=attribution_of(folder),
        streetview=GraphStreetView(graph, PanoramaFolder(folder / "panoramas")),
        places=NoPlaces(name),
        maps=GraphMaps(graph),
        street_map=GraphStreetMap(graph),
    )
