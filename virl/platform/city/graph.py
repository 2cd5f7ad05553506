"""A navigation graph: panoramas and links as arrays, shortest paths, episodes on it, and maps over it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from virl.errors import BadInput, NoRoute, NoStreetView, NotFound
from virl.geo.globe import Floats, Ints, LatLng, LocalFrame, bearings, distance, distances
from virl.platform.city.city import City
from virl.platform.city.maps import Route, TravelMode, speed_of
from virl.platform.city.streetview import MAX_RADIUS_M, Link, Panorama


@dataclass(frozen=True, eq=False)
class NavigationGraph:
    """A graph of panoramas with positions and one-way links, as arrays; `build_graph` makes it.

    The links of node `i` are the entries `first[i]` to `first[i + 1]` of `target`, `heading` and `length`.
    """

    ids: tuple[str, ...]
    """Panorama id of each node."""
    lat: Floats
    """Latitude of each node, degrees, shape (nodes,)."""
    lng: Floats
    """Longitude of each node, degrees, shape (nodes,)."""
    first: Ints
    """Index of each node's first link in the link arrays, then the number of links, shape (nodes + 1,)."""
    target: Ints
    """Number of the node that each link leads to, shape (links,)."""
    heading: Floats
    """Direction in which each link leaves, degrees clockwise from north, [0, 360), shape (links,)."""
    length: Floats
    """Length of each link in metres, shape (links,)."""
    yaw: Floats
    """Heading of the capturing car at each node, degrees, [0, 360); `nan` where it is not known."""
    height: Floats
    """Height of each node in metres above a common level, shape (nodes,); 0 where all lie flat."""
    _number: dict[str, int] = field(repr=False)
    """Number of each node, by the id of its panorama."""

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.ids)

    def __contains__(self, node_id: str) -> bool:
        """Return whether a node has this panorama id."""
        return node_id in self._number

    def number(self, node_id: str) -> int:
        """Return the number, from 0, of the node with this panorama id; raise `NoStreetView` without one.

        Raises:
            NoStreetView: there is none.
        """
        try:
            return self._number[node_id]
        except KeyError:
            raise NoStreetView(f"no panorama has the id {node_id!r}") from None

    def position(self, node: int) -> LatLng:
        """Return the position of a node."""
        return LatLng(float(self.lat[node]), float(self.lng[node]))

    def links(self, node: int) -> slice:
        """Return the slice of `target`, `heading` and `length` that holds the links that leave a node."""
        return slice(int(self.first[node]), int(self.first[node + 1]))

    @property
    def degree(self) -> Ints:
        """Number of links that leave each node, shape (nodes,)."""
        return np.diff(self.first)

    def nearest(self, position: LatLng) -> tuple[int, float]:
        """Return (number of the node nearest to a position, metres to it).

        Raises:
            BadInput: the position is not finite.
        """
        frame, tree = self._frame_and_tree
        point = frame.point(position)
        if not np.isfinite(point).all():
            raise BadInput(f"{position} is not a position: latitude and longitude must be finite")
        node = int(tree.query(point)[1])
        return node, distance(position, self.position(node))

    def distances_from(self, sources: Sequence[int]) -> Floats:
        """Return metres along links from source nodes to all, shape (sources, nodes); `inf` for no way."""
        if len(sources) == 0:
            return np.empty((0, len(self)))
        from scipy.sparse.csgraph import dijkstra  # noqa: PLC0415 - takes 0.1 s, which no start needs

        lengths: Floats = dijkstra(self._matrix, indices=np.asarray(sources))
        return lengths

    def shortest_path(self, source: int, target: int) -> tuple[list[int], float]:
        """Return (node numbers of a shortest way from `source` to `target`, its metres); or raise `NoRoute`.

        Raises:
            NoRoute: no way leads there.
        """
        from scipy.sparse.csgraph import dijkstra  # noqa: PLC0415 - takes 0.1 s, which no start needs

        lengths, before = dijkstra(self._matrix, indices=source, return_predecessors=True)
        if not np.isfinite(lengths[target]):
            raise NoRoute(f"no path leads from {self.ids[source]} to {self.ids[target]}")
        path = [target]
        while path[-1] != source:
            path.append(int(before[path[-1]]))
        return path[::-1], float(lengths[target])

    @cached_property
    def _matrix(self) -> csr_array:
        """Return the metres of the links as a sparse matrix, from row to column."""
        return csr_array((self.length, self.target, self.first), shape=(len(self), len(self)))

    @cached_property
    def _frame_and_tree(self) -> tuple[LocalFrame, cKDTree]:
        """Return (frame of metres around the mean position, search tree of the nodes' metres in it)."""
        frame = LocalFrame(LatLng(float(self.lat.mean()), float(self.lng.mean())))
        return frame, cKDTree(np.stack(frame.to_metres(self.lat, self.lng), axis=1))


def build_graph(
    ids: Sequence[str],
    lat: ArrayLike,
    lng: ArrayLike,
    source: ArrayLike,
    target: ArrayLike,
    heading: ArrayLike | None = None,
    length: ArrayLike | None = None,
    *,
    yaw: ArrayLike | None = None,
    height: ArrayLike | None = None,
) -> NavigationGraph:
    """Return a graph of panoramas at `lat` and `lng`, degrees, with links from nodes `source` to `target`.

    Args:
        ids: panorama id of each node, no two alike.
        lat: latitude of each node in degrees, shape (nodes,).
        lng: longitude of each node in degrees, shape (nodes,).
        source: node number at which each link starts, shape (links,), in any order.
        target: node number at which each link ends, shape (links,).
        heading: degrees in which each link leaves; that of the straight line by default.
        length: metres of each link; that of the straight line by default.
        yaw: degrees that the capturing car faced at each node; not known by default.
        height: metres of each node above a common level; 0 by default.

    Raises:
        BadInput: no nodes, an id twice, a link to a node that is not there, or a negative length.
    """
    nodes = tuple(ids)
    number = {node: index for index, node in enumerate(nodes)}
    lats, lngs = np.asarray(lat, float), np.asarray(lng, float)
    sources, targets = np.asarray(source, np.int64), np.asarray(target, np.int64)
    if not nodes:
        raise BadInput("a navigation graph needs at least one node")
    if len(number) < len(nodes):
        twice = next(node for index, node in enumerate(nodes) if number[node] != index)
        raise BadInput(f"the node id {twice!r} is repeated in the navigation graph")
    ends = np.concatenate([sources, targets])
    if len(ends) and not 0 <= ends.min() <= ends.max() < len(nodes):
        raise BadInput(f"a link of the navigation graph leads to no node: there are {len(nodes)}")
    straight = (lats[sources], lngs[sources], lats[targets], lngs[targets])
    headings = bearings(*straight) if heading is None else np.asarray(heading, float) % 360.0
    # A full turn added makes headings equal that are one direction: angles less than 1e-13 degrees apart.
    headings = (headings + 360.0) % 360.0
    lengths = distances(*straight) if length is None else np.asarray(length, float)
    if len(lengths) and not lengths.min() >= 0:
        raise BadInput("a link of the navigation graph has a negative length")

    yaws = np.full(len(nodes), np.nan) if yaw is None else np.asarray(yaw, float) % 360.0
    heights = np.zeros(len(nodes)) if height is None else np.asarray(height, float)
    # Stable, so that the links of each node stay in the order in which they were given.
    order = np.argsort(sources, kind="stable")
    first = np.searchsorted(sources[order], np.arange(len(nodes) + 1))
    return NavigationGraph(
        ids=nodes,
        lat=lats,
        lng=lngs,
        first=first,
        target=targets[order],
        heading=headings[order],
        length=lengths[order],
        yaw=yaws,
        height=heights,
        _number=number,
    )


def panorama_at(graph: NavigationGraph, node: int, date: str | None = None) -> Panorama:
    """Return the panorama of a node, labelled with a month `date`, its links in the order of the graph.

    Args:
        graph: graph with the node.
        node: number of the node.
        date: month in which the panorama was taken, ISO 8601; `None` where it is not known.
    """
    links = graph.links(node)
    columns = (graph.target[links], graph.heading[links], graph.length[links])
    return Panorama(
        id=graph.ids[node],
        position=graph.position(node),
        heading=float(np.nan_to_num(graph.yaw[node])),  # 0 where no yaw is known
        links=tuple(
            Link(graph.ids[target], heading, length)
            for target, heading, length in zip(*(column.tolist() for column in columns), strict=True)
        ),
        date=date,
    )


def panorama_near(
    graph: NavigationGraph, position: LatLng, radius: float, date: str | None = None
) -> Panorama | None:
    """Return the panorama nearest to a position within `radius` metres, dated `date`; `None` without one.

    Args:
        graph: graph of the panoramas.
        position: any position on Earth.
        radius: largest distance in metres, in (0, 1000].
        date: month in which all panoramas were taken, ISO 8601; `None` where it is not known.

    Raises:
        BadInput: the radius is outside (0, 1000] metres, or the position is not finite.
    """
    if not 0 < radius <= MAX_RADIUS_M:
        raise BadInput(f"radius {radius:g} is outside (0, {MAX_RADIUS_M:g}] metres")
    node, metres = graph.nearest(position)
    return panorama_at(graph, node, date) if metres <= radius else None


@dataclass(frozen=True, slots=True)
class InstructionEpisode:
    """An item of an instruction-following benchmark: instruction, start and gold path."""

    id: str
    """Id of the episode, unique in its file."""
    instruction: str
    """Text that tells the way from the start to the target."""
    path: tuple[str, ...]
    """Gold path: ids of the panoramas, start and target included. Its links need not exist."""
    heading: float
    """Heading of the agent at the start: degrees clockwise from north, [0, 360)."""
    scan: str = ""
    """Id of the building of an indoor episode; empty in a city."""

    @property
    def start(self) -> str:
        """Id of the panorama where the episode starts."""
        return self.path[0]

    @property
    def target(self) -> str:
        """Id of the panorama where the episode should end."""
        return self.path[-1]


def whole_graph(city: City) -> NavigationGraph:
    """Return the graph of all panoramas of a city whose panoramas are all known at once.

    Raises:
        BadInput: the city is asked over a network, panorama by panorama.
    """
    if city.street_map is None:
        raise BadInput(f"not all panoramas of {city.name} are known: choose a made town or a map extract")
    panoramas = [city.streetview.panorama(name) for name in city.panorama_ids]
    number = {panorama.id: index for index, panorama in enumerate(panoramas)}
    links = [(number[one.id], number[link.pano_id]) for one in panoramas for link in one.links]
    ends = np.array(links, np.int64).reshape(-1, 2)
    lat, lng = np.array([one.position for one in panoramas], float).T
    return build_graph([one.id for one in panoramas], lat, lng, ends[:, 0], ends[:, 1])


OFF_MAP_M = 100.0
"""Distance in metres from the nearest panorama beyond which a stop is off the map; chosen."""


@dataclass(eq=False)
class GraphMaps:
    """Routes and travel times along the links between panoramas.

    Ways lead straight from a stop to the panorama nearest to it, and along the links from there. Between two
    stops with the same nearest panorama they lead straight.
    """

    graph: NavigationGraph
    """Graph of the panoramas."""
    find: Callable[[str], LatLng] | None = None
    """Function from an address to its position, or `NotFound`; `None` for data sets without addresses."""

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address."""
        if self.find is None:
            raise NotFound(
                f"no position of {address!r}: a street graph has no addresses: give latitude and longitude"
            )
        return self.find(address)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest way through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops, or an unknown mode.
            NoRoute: two stops are not connected, or one is over 100 m from the nearest panorama.
        """
        if len(stops) < 2:
            raise BadInput(f"a route needs two or more stops, not {len(stops)}")
        speed = speed_of(mode)
        nodes, access = self._nearest(stops)
        for stop, away in zip(stops, access.tolist(), strict=True):
            if away > OFF_MAP_M:
                raise NoRoute(f"{stop} is off the map: the nearest street is {away:.0f} m away")
        path, metres = [stops[0]], 0.0
        for leg, (here, there) in enumerate(pairwise(nodes.tolist())):
            if here == there:
                metres += distance(stops[leg], stops[leg + 1])
            else:
                way, length = self.graph.shortest_path(here, there)
                path += [self.graph.position(node) for node in way]
                metres += float(access[leg]) + length + float(access[leg + 1])
            path.append(stops[leg + 1])
        return Route(tuple(path), metres, metres / speed)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return seconds from origins to destinations, shape (origins, destinations); `inf` for no way.

        No way leads from or to a stop that is over 100 m from the nearest panorama.
        """
        speed = speed_of(mode)
        (start, leave), (end, arrive) = self._nearest(origins), self._nearest(destinations)
        leave, arrive = (np.where(metres > OFF_MAP_M, np.inf, metres) for metres in (leave, arrive))
        # One search for each node, however many origins are nearest to it.
        sources, row = np.unique(start, return_inverse=True)
        metres = self.graph.distances_from(sources.tolist())[row][:, end] + leave[:, None] + arrive
        a = np.array(origins, float).reshape(-1, 1, 2)
        b = np.array(destinations, float).reshape(1, -1, 2)
        straight = distances(a[..., 0], a[..., 1], b[..., 0], b[..., 1])
        is_beside = (start[:, None] == end) & np.isfinite(leave[:, None] + arrive)
        seconds: Floats = np.where(is_beside, straight, metres) / speed
        return seconds

    def _nearest(self, stops: Sequence[LatLng]) -> tuple[Ints, Floats]:
        """Return (numbers of the nodes nearest to stops, metres to them), both of shape (stops,)."""
        found = [self.graph.nearest(stop) for stop in stops]
        nodes = np.array([node for node, _ in found], np.int64)
        return nodes, np.array([metres for _, metres in found], float)
