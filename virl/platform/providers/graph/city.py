"""Cities out of data sets: the folders of the sets, their streets, and a user's panoramas of them."""

from pathlib import Path

from virl.errors import BadInput, UnknownName
from virl.files.json_reading import JsonFault, read_json
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.graph import GraphMaps
from virl.platform.city.places import NoPlaces
from virl.platform.providers.graph.touchdown import load_touchdown
from virl.platform.providers.pictures.streetview import GraphStreetMap, GraphStreetView, PanoramaFolder
from virl.resources import data_home

MARKS = {"touchdown": Path("graph", "nodes.txt"), "r2r": Path("connectivity")}
"""Path of a file or folder by which the folder of a data set is recognized, by name of the data set."""


def find_data(name: str, override: Path | None = None) -> Path:
    """Return the folder of the data set `"touchdown"` or `"r2r"`, in `override` or the user's data folder.

    It is `override` or the folder in it with the data set's name; `data_home()` replaces `None`.

    Raises:
        UnknownName: there is no such data set.
        BadInput: the data is not there; the message names the command that gets it.
    """
    if name not in MARKS:
        raise UnknownName("data set", name, list(MARKS))
    home = override or data_home()
    for folder in (home / name, home):
        if (folder / MARKS[name]).exists():
            return folder
    raise BadInput(
        f"no {name} data in {home}: install it with `virl data {name} --from DIR`, or set VIRL_DATA"
        if override is None
        else f"no {name} data in {home}: {MARKS[name]} is missing (layout: docs/reference/graph-data.md)"
    )


MANIFEST = "export.json"
"""Name of the manifest file in the folder of an exported city."""


def attribution_of(folder: Path) -> str:
    """Return whom pages about an exported city have to credit, by its folder's manifest; empty for nobody.

    Raises:
        BadInput: the manifest is damaged.
    """
    manifest = folder / MANIFEST
    try:
        told = read_json(manifest.read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, JsonFault):
        told = None
    if not isinstance(told, dict):
        raise BadInput(f"{manifest}: is damaged: export the city again with `virl data export`")
    return " ".join(str(told.get("attribution", "")).split())


def open_graph_city(name: str, title: str, folder: Path) -> City:
    """Return the city of a data set's folder with `graph/` and, if the user has pictures, `panoramas/`.

    Its centre is the panorama nearest to the mean of all.

    Args:
        name: name by which `open_city` opens the city.
        title: name of the city as people write it.
        folder: folder of the data set.

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
