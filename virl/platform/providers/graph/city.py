"""A city out of a data set: its streets, and the panoramas that a user has of them."""

from pathlib import Path

from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.graph import GraphMaps
from virl.platform.city.places import NoPlaces
from virl.platform.providers.graph.home import attribution_of
from virl.platform.providers.graph.touchdown import load_touchdown
from virl.platform.providers.pictures.graph_streetview import GraphStreetMap, GraphStreetView, PanoramaFolder


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
