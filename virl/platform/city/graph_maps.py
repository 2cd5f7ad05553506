"""Maps over a navigation graph: shortest ways along its links."""

from collections.abc import Callable, Sequence

import numpy as np

from virl.errors import BadInput, NoRoute, NotFound
from virl.geo.globe import Floats, Ints, LatLng, distance, distances
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.maps import Route, TravelMode, speed_of

OFF_MAP_M = 100.0
"""Metres from every panorama beyond which a stop is off the map; chosen."""


def no_addresses(address: str) -> LatLng:
    """Raise `NotFound`, whatever the address.

    Raises:
        NotFound: always.
    """
    raise NotFound(
        f"no position of {address!r}: a street graph has no addresses: give latitude and longitude"
    )


class GraphMaps:
    """Maps whose ways lead along the links between panoramas.

    Ways lead straight from a stop to the panorama nearest to it, and along the links from there. Between two
    stops with the same nearest panorama they lead straight.

    Args:
        graph: the panoramas.
        find: the position of an address; data sets have none.
    """

    def __init__(self, graph: NavigationGraph, find: Callable[[str], LatLng] = no_addresses) -> None:
        self._graph = graph
        self._find = find

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address.

        Raises:
            NotFound: nothing matches.
        """
        return self._find(address)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest way through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops, or an unknown mode.
            NoRoute: two stops are not connected, or one is over 100 m from the nearest panorama.
        """
        if len(stops) < 2:
            raise BadInput(f"a route needs two or more stops, not {len(stops)}")
        speed = speed_of(mode)
        nodes, access = self._snap(stops)
        path, metres = [stops[0]], 0.0
        for leg, (here, there) in enumerate(zip(nodes[:-1].tolist(), nodes[1:].tolist(), strict=True)):
            if here == there:
                metres += distance(stops[leg], stops[leg + 1])
            else:
                way, length = self._graph.shortest_path(here, there)
                path += [self._graph.position(node) for node in way]
                metres += float(access[leg]) + length + float(access[leg + 1])
            path.append(stops[leg + 1])
        return Route(tuple(path), metres, metres / speed)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return the seconds from every origin to every destination, shape (origins, destinations).

        Returns:
            `inf` where no way leads, also where a stop is over 100 m from the nearest panorama.

        Raises:
            BadInput: an unknown mode.
        """
        speed = speed_of(mode)
        (start, leave), (end, arrive) = self._nearest(origins), self._nearest(destinations)
        leave, arrive = (np.where(metres > OFF_MAP_M, np.inf, metres) for metres in (leave, arrive))
        sources, row = np.unique(start, return_inverse=True)
        metres = self._graph.distances_from(sources.tolist())[row][:, end] + leave[:, None] + arrive
        a = np.array(origins, float).reshape(-1, 1, 2)
        b = np.array(destinations, float).reshape(1, -1, 2)
        straight = distances(a[..., 0], a[..., 1], b[..., 0], b[..., 1])
        is_beside = (start[:, None] == end) & np.isfinite(leave[:, None] + arrive)
        seconds: Floats = np.where(is_beside, straight, metres) / speed
        return seconds

    def _snap(self, stops: Sequence[LatLng]) -> tuple[Ints, Floats]:
        """Return (nearest node, metres to it) of the stops, shape (stops,) each; refuse any off the map."""
        nodes, away = self._nearest(stops)
        for stop, metres in zip(stops, away.tolist(), strict=True):
            if metres > OFF_MAP_M:
                raise NoRoute(f"{stop} is off the map: the nearest street is {metres:.0f} m away")
        return nodes, away

    def _nearest(self, stops: Sequence[LatLng]) -> tuple[Ints, Floats]:
        """Return (number of the node nearest to each stop, metres to it), shape (stops,) each."""
        found = [self._graph.nearest(stop) for stop in stops]
        nodes = np.array([node for node, _ in found], np.int64)
        return nodes, np.array([metres for _, metres in found], float)
