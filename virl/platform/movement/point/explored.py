"""What a walk has seen of the streets: the panoramas it stood at, and where their links end."""

from collections.abc import Collection, Iterable, Mapping

import networkx as nx

from virl.geo import LatLng, destination, distance
from virl.platform.streetview import Link, Panorama

_GOAL = ""
"""The node that every panorama is joined to in a straight line; no panorama has this id."""


class Explored:
    """Panoramas stood at, with the links that leave them."""

    def __init__(self) -> None:
        self._graph: nx.DiGraph[str] = nx.DiGraph()
        self._positions: dict[str, LatLng] = {}

    def see(self, panorama: Panorama, links: Iterable[Link]) -> None:
        """Remember a panorama and the links that leave it."""
        self._positions[panorama.id] = panorama.position
        self._graph.add_edge(panorama.id, _GOAL)
        for link in sorted(links, key=lambda one: -one.distance):  # of two to one panorama, the shorter stays
            end = destination(panorama.position, link.heading, link.distance)
            self._positions.setdefault(link.pano_id, end)
            self._graph.add_edge(panorama.id, link.pano_id, link=link)
            self._graph.add_edge(link.pano_id, _GOAL)

    def way_on(self, here: str, goal: LatLng, visited: Collection[str]) -> Link | None:
        """The link to take for the end of a link that promises the shortest way to a position.

        That is the one with the fewest metres along links seen to it and on in a straight line.

        Args:
            here: where to leave from; a panorama stood at.
            goal: the position to come to.
            visited: panoramas that do not promise anything any more.

        Returns:
            `None` where all ends of links that lead from here are visited.
        """

        def metres(start: str, end: str, edge: Mapping[str, Link]) -> float | None:
            if end != _GOAL:
                return edge["link"].distance
            return None if start in visited else distance(self._positions[start], goal)

        try:
            way = nx.dijkstra_path(self._graph, here, _GOAL, weight=metres)
        except nx.NetworkXNoPath:
            return None
        link: Link | None = None if way[1] == _GOAL else self._graph.edges[here, way[1]]["link"]
        return link
