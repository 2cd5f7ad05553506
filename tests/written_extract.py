"""Extracts that tests write object by object, in metres, and a dated town of two streets."""

from pathlib import Path

import numpy as np
import osmium
import shapely
from osmium.osm import mutable

from virl.geo.globe import LatLng, LocalFrame
from virl.osm.extract import read_extract
from virl.osm.plan import Twin, build_twin
from virl.platform.city.city import City
from virl.platform.providers.osm.city import open_twin
from virl.platform.providers.osm.city_file import OsmCity

FRAME = LocalFrame(LatLng(60.17, 24.94))
NAMED = "© OpenStreetMap contributors, data of 2024-05-01"


class Writer:
    """Writes objects given in metres."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = osmium.SimpleWriter(str(path))
        self._nodes: dict[tuple[float, float], int] = {}
        self._ways: list[mutable.Way] = []

    def node(self, x: float, y: float, **tags: str) -> int:
        if (x, y) in self._nodes and not tags:
            return self._nodes[x, y]
        number = len(self._nodes) + 1
        self._nodes[x, y] = number
        at = FRAME.position(x, y)
        named = {key.replace("__", ":"): value for key, value in tags.items()}
        self._writer.add_node(mutable.Node(id=number, location=(at.lng, at.lat), tags=named))
        return number

    def way(self, *points: tuple[float, float], **tags: str) -> None:
        nodes = [self.node(*point) for point in points]
        named = {key.replace("__", ":"): value for key, value in tags.items()}
        self._ways.append(mutable.Way(id=len(self._ways) + 1, nodes=nodes, tags=named))

    def close(self) -> None:
        for way in self._ways:
            self._writer.add_way(way)
        self._writer.close()


def box(west: float, south: float, east: float, north: float) -> tuple[tuple[float, float], ...]:
    return ((west, south), (east, south), (east, north), (west, north), (west, south))


def rebuilt(made: Writer) -> Twin:
    made.close()
    return build_twin(read_extract(made.path))


def opened(made: Writer) -> City:
    made.close()
    return open_twin("town", OsmCity(title="Town", about="", provider="osm", extract=made.path))


def written(twin: Twin, shape: shapely.Geometry) -> shapely.Geometry:
    """A shape of a twin in the metres of the writer."""
    frame = twin.extract.frame

    def moved(xy: np.ndarray) -> np.ndarray:
        return np.array([FRAME.point(frame.position(*point)) for point in xy.tolist()])

    return shapely.transform(shape, moved)


def dated_town(file: Path) -> Path:
    """A town of two streets with two houses, two places, a bin and a date."""
    town = Writer(file)
    header = osmium.io.Header()
    header.set("osmosis_replication_timestamp", "2024-05-01T20:21:22Z")
    town._writer.close()
    file.unlink()
    town._writer = osmium.SimpleWriter(str(file), header=header)
    town.way((-200, 0), (0, 0), (200, 0), highway="residential", name="Main Street")
    town.way((0, 0), (0, 150), highway="service")
    town.way((400, 400), (450, 400), highway="residential", name="Far Street")
    town.way(*box(-60, 8, -20, 30), building="yes", height="9 m")
    town.way(*box(20, 8, 60, 30), building="house")
    town.node(-40.0, 9.0, amenity="restaurant", name="Blue Spoon", opening_hours="Mo-Su 10:00-22:00")
    town.node(-30.0, 9.0, shop="unheard_of", name="Odds & Ends", opening_hours="whenever we like")
    town.node(-35.0, 100.0, leisure="park", name="The Green")
    town.node(70.0, 5.0, amenity="waste_basket")
    town.close()
    return file
