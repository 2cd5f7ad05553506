"""A small street view made by hand: panoramas on a metric grid, blank pictures."""

from collections.abc import Iterable, Mapping

import numpy as np

from virl.errors import NoStreetView
from virl.geo.globe import LatLng, LocalFrame, bearing, distance
from virl.platform.city.streetview import Camera, Link, Panorama, View

FRAME = LocalFrame(LatLng(41.25, -38.75))


class MadeStreetView:
    """Panoramas at given points (metres east, north), linked both ways; views are of one colour each."""

    def __init__(self, points: Mapping[str, tuple[float, float]], edges: Iterable[str]) -> None:
        self._positions = {name: FRAME.position(x, y) for name, (x, y) in points.items()}
        neighbours: dict[str, list[str]] = {name: [] for name in points}
        for edge in edges:
            a, b = edge.split("-")
            neighbours[a].append(b)
            neighbours[b].append(a)
        self._panoramas = {
            name: Panorama(name, here, 0.0, tuple(self._link(here, other) for other in neighbours[name]))
            for name, here in self._positions.items()
        }

    def _link(self, here: LatLng, other: str) -> Link:
        there = self._positions[other]
        return Link(other, bearing(here, there), distance(here, there))

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        best = min(self._panoramas.values(), key=lambda panorama: distance(panorama.position, position))
        return best if distance(best.position, position) <= radius else None

    def panorama(self, pano_id: str) -> Panorama:
        if pano_id not in self._panoramas:
            raise NoStreetView(f"no panorama {pano_id!r}")
        return self._panoramas[pano_id]

    def view(self, pano_id: str, camera: Camera) -> View:
        self.panorama(pano_id)
        return View(pano_id, camera, np.full((camera.height, camera.width, 3), 127, np.uint8))


def plus_sign(arm: int = 3) -> MadeStreetView:
    """A four-way crossing `c` with arms n1.., e1.., s1.., w1.. of panoramas 10 m apart, dead ends all."""
    ways = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}
    points = {"c": (0.0, 0.0)}
    edges = []
    for way, (dx, dy) in ways.items():
        for k in range(1, arm + 1):
            points[f"{way}{k}"] = (10.0 * dx * k, 10.0 * dy * k)
            edges.append(f"{way}{k}-{'c' if k == 1 else f'{way}{k - 1}'}")
    return MadeStreetView(points, edges)


def ring(size: int = 4) -> MadeStreetView:
    """A square ring road of `4 * size` panoramas r0.., with one spur s1, s2 at corner r0."""
    side = 10.0 * size
    corners = [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)]
    points = {}
    for corner in range(4):
        (x0, y0), (x1, y1) = corners[corner], corners[(corner + 1) % 4]
        for k in range(size):
            points[f"r{corner * size + k}"] = (x0 + (x1 - x0) * k / size, y0 + (y1 - y0) * k / size)
    edges = [f"r{k}-r{(k + 1) % (4 * size)}" for k in range(4 * size)]
    points |= {"s1": (-10.0, -5.0), "s2": (-20.0, -10.0)}
    return MadeStreetView(points, [*edges, "r0-s1", "s1-s2"])
