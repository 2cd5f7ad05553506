"""Observations from the graph alone, and from pictures put into words by a describer."""

from dataclasses import dataclass, field, replace

from virl.platform.city.graph import NavigationGraph
from virl.platform.city.streetview import Camera, Link, StreetView
from virl.platform.navigators.follower.streets import MapInWords
from virl.platform.navigators.navgpt.observation import (
    DIRECTIONS,
    SECTOR_DEG,
    Observations,
    ViewpointObservation,
)
from virl.platform.perception.base import Describer

VIEW_FOV = 45.0  # NavGPT section 3.2: as wide as a sector, so that eight views meet and do not overlap
"""Degrees across a view."""


@dataclass(frozen=True, slots=True)
class GraphObservations:
    """Observations of the ways alone, by heading and distance; no views are taken."""

    graph: NavigationGraph

    @property
    def name(self) -> str:
        """The name in results: `"graph"`."""
        return "graph"

    def at(self, viewpoint: str) -> ViewpointObservation:
        """Return the ways that lead on from a viewpoint; no pictures are needed."""
        return ViewpointObservation(viewpoint, ways_from(self.graph, viewpoint))


@dataclass(frozen=True, slots=True)
class MappedObservations:
    """Observations of another source, with the next crossing on each way by a map."""

    seen: Observations
    map: MapInWords

    @property
    def name(self) -> str:
        """The name in results, such as `"graph, map in words"`."""
        return f"{self.seen.name}, map in words"

    def at(self, viewpoint: str) -> ViewpointObservation:
        """Return the observation at a viewpoint, with the ends of its streets by the map."""
        beyond = self.map.street_ends(self.map.graph.number(viewpoint))
        return replace(self.seen.at(viewpoint), beyond=beyond)


@dataclass(frozen=True, slots=True)
class DescribedObservations:
    """Level views to the eight directions, each put into words once by a describer."""

    graph: NavigationGraph
    streetview: StreetView
    describer: Describer
    width: int = 640
    height: int = 640
    """Pixels of a view."""
    _seen: dict[str, ViewpointObservation] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The name in results: `"described"`."""
        return "described"

    def at(self, viewpoint: str) -> ViewpointObservation:
        """Return the observation at a viewpoint, its views described once and remembered.

        Raises:
            ModelUnavailable: the describer's model is missing.
        """
        if viewpoint not in self._seen:
            ways = ways_from(self.graph, viewpoint)
            cameras = [
                Camera(index * SECTOR_DEG, fov=VIEW_FOV, width=self.width, height=self.height)
                for index in range(len(DIRECTIONS))
            ]
            views = [self.streetview.view(viewpoint, camera) for camera in cameras]
            self._seen[viewpoint] = ViewpointObservation(
                viewpoint, ways, tuple(self.describer.describe(views))
            )
        return self._seen[viewpoint]


def ways_from(graph: NavigationGraph, viewpoint: str) -> tuple[Link, ...]:
    """Return the links of a node, each neighbour once and the node itself never.

    Raises:
        NoStreetView: there is no such node.
    """
    node = graph.number(viewpoint)
    ways: dict[int, Link] = {}
    for index in range(graph.links(node).start, graph.links(node).stop):
        target = int(graph.target[index])
        if target != node:
            way = Link(graph.ids[target], float(graph.heading[index]), float(graph.length[index]))
            ways.setdefault(target, way)
    return tuple(ways.values())
