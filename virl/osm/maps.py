"""Maps of a twin: addresses as mapped, and routes along the mapped ways."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np
import shapely
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from shapely import ops

from virl.errors import BadInput, NoRoute
from virl.geo.globe import Flags, Floats, Ints, LatLng
from virl.osm.addresses import TwinAddresses
from virl.osm.extract import OsmExtract, Shapes, Tags
from virl.osm.ways import DIRECTIONS, ROADS, WayNetwork, select_stretches, way_network
from virl.platform.city.graph import GraphMaps
from virl.platform.city.maps import OFF_MAP_M, Address, Route, TravelMode, speed_of

_SHORTEST_M = 0.001
"""Least length of a stretch in metres, above 0 because two nodes may be mapped on one spot."""

_BESIDE_M = 15.0
"""Distance in metres from a named road within which a nameless pavement belongs to it; chosen."""
_NAMES = ("name", "is_sidepath:of:name", "street:name", "ref")
"""Keys of tags that may name a way, the surest first."""
_BESIDE = frozenset({"sidewalk", "sidepath"})
"""Values of the tags `footway`, `path` and `cycleway` for a way beside a road."""


@dataclass(frozen=True, slots=True)
class SnappedStop:
    """A stop of a route, and the point of the way network nearest to it."""

    stop: tuple[float, float]
    """Position of the stop, (east, north) in metres."""
    stretch: int
    """Index of the stretch of way that the point is on."""
    along: float
    """Metres from the start of the stretch to the point."""
    away: float
    """Metres in a straight line from the stop to the point."""


@dataclass(frozen=True, slots=True)
class FoundWay:
    """The shortest way found between two stops."""

    xy: Floats
    """Corners in metres, both stops included, shape (m, 2)."""
    streets: tuple[str, ...]
    """Street name of each of the m - 1 pieces; empty where it has none."""
    metres: float
    """Length of the way in metres."""


class WayGraph:
    """The network of way stretches that one mode of travel may use, all reachable from each other."""

    def __init__(self, extract: OsmExtract, mode: TravelMode) -> None:
        """Build the network of an extract's ways for a mode; ways end where the outline does."""
        directions = DIRECTIONS[mode]
        network = way_network(extract, lambda tags: any(directions(tags)))
        allowed = np.array([directions(extract.lines.tags[way]) for way in network.way], bool).reshape(-1, 2)
        network, kept = _largest_connected(network, *allowed.T)
        self._forward, self._backward = allowed[kept].T
        self._start, self._end = network.start, network.end
        self._lines = network.shapes
        self._length = np.maximum(network.length, _SHORTEST_M)
        self._names, self._name = _street_names(extract, network.way, self._lines)
        self._matrix, self._stretch = _arcs(
            self._start, self._end, self._length, self._forward, self._backward, len(network.junctions)
        )
        self._tree = shapely.STRtree(self._lines)

    def __len__(self) -> int:
        """Return the number of stretches of way in the network."""
        return len(self._lines)

    def snap(self, stop: tuple[float, float]) -> SnappedStop | None:
        """Return the point of the network nearest to a stop (east, north) in metres; `None` without ways."""
        if not len(self._lines):
            return None
        point = shapely.Point(stop)
        stretch = int(self._tree.nearest(point))
        line = self._lines[stretch]
        return SnappedStop(stop, stretch, float(line.project(point)), float(line.distance(point)))

    def metres(self, origins: Sequence[SnappedStop], destinations: Sequence[SnappedStop]) -> Floats:
        """Return the metres of the shortest ways, shape (origins, destinations); `inf` if there is none."""
        if not origins or not destinations:
            return np.empty((len(origins), len(destinations)))
        (leave, cost), (enter, rest) = (
            self._ends(origins, leaving=True),
            self._ends(destinations, leaving=False),
        )
        # Many stops are on the same stretches: the ways from each junction are searched once.
        sources, row = np.unique(leave, return_inverse=True)
        known = dijkstra(self._matrix, indices=sources)[:, enter.ravel()].reshape(len(sources), *enter.shape)
        row = row.reshape(leave.shape)
        around: Floats = (known[row] + cost[:, :, None, None] + rest).min(axis=(1, 3))
        away = np.array([spot.away for spot in destinations])
        around += np.array([spot.away for spot in origins])[:, None] + away
        # Two stops on one stretch need not pass either of its ends.
        for i, here in enumerate(origins):
            for j in np.flatnonzero([there.stretch == here.stretch for there in destinations]).tolist():
                around[i, j] = min(around[i, j], self._direct(here, destinations[j])[0])
        return around

    def way(self, here: SnappedStop, there: SnappedStop) -> FoundWay | None:
        """Return the shortest way between two stops; `None` if there is none."""
        (leave, cost), (enter, rest) = self._ends([here], leaving=True), self._ends([there], leaving=False)
        lengths, before = dijkstra(self._matrix, indices=leave[0], return_predecessors=True)
        total = lengths[:, enter[0]] + cost[0][:, None] + rest[0]
        first, last = np.unravel_index(np.argmin(total), total.shape)
        around = float(total[first, last]) + here.away + there.away
        direct, is_straight = self._direct(here, there)
        if direct <= around and np.isfinite(direct):
            if is_straight:
                return FoundWay(np.array([here.stop, there.stop]), ("",), direct)
            part = self._cut_stretch(here.stretch, here.along, there.along)
            return self._join_way(here, there, [(part, here.stretch)], direct)
        if not np.isfinite(around):
            return None
        nodes = [int(enter[0, last])]
        while nodes[-1] != leave[0, first]:
            nodes.append(int(before[first, nodes[-1]]))
        nodes.reverse()
        # `_ends` has the end of a stretch first for leaving, else its start.
        to_end = self._length[here.stretch] if first == 0 else 0.0
        from_start = 0.0 if last == 0 else self._length[there.stretch]
        parts = [
            (self._cut_stretch(here.stretch, here.along, to_end), here.stretch),
            *(self._stretch_between(source, target) for source, target in pairwise(nodes)),
            (self._cut_stretch(there.stretch, from_start, there.along), there.stretch),
        ]
        return self._join_way(here, there, parts, around)

    def _direct(self, here: SnappedStop, there: SnappedStop) -> tuple[float, bool]:
        """Return (metres between stops of one stretch, else `inf`; True if straight from stop to stop)."""
        if here.stretch != there.stretch:
            return np.inf, False
        away = here.away + there.away
        straight = float(np.hypot(here.stop[0] - there.stop[0], here.stop[1] - there.stop[1]))
        # Nobody walks to the street and back to reach what is nearer than the street.
        if straight <= away:
            return straight, True
        onward = there.along - here.along
        allowed = self._forward[here.stretch] if onward >= 0 else self._backward[here.stretch]
        return (abs(onward) + away if allowed else np.inf), False

    def _ends(self, spots: Sequence[SnappedStop], *, leaving: bool) -> tuple[Ints, Floats]:
        """Return (both end junctions of stops' stretches, metres to or, unless `leaving`, from them), (n, 2).

        The end ahead comes first if `leaving`, else the end behind; the metres are `inf` against a one-way.
        """
        stretch, along = np.array([(spot.stretch, spot.along) for spot in spots]).T
        stretch = stretch.astype(np.int64)
        ways = [
            (self._end[stretch], self._length[stretch] - along, self._forward[stretch]),
            (self._start[stretch], along, self._backward[stretch]),
        ]
        if not leaving:
            (end, rest, forward), (start, gone, backward) = ways
            ways = [(start, gone, forward), (end, rest, backward)]
        junction, metres, is_open = (np.stack(column, axis=1) for column in zip(*ways, strict=True))
        return junction, np.maximum(np.where(is_open, metres, np.inf), 0.0)

    def _cut_stretch(self, stretch: int, first: float, last: float) -> Floats:
        """Return a stretch's corners, (n, 2), between two metres along it, reversed if `first` > `last`."""
        return shapely.get_coordinates(ops.substring(self._lines[stretch], first, last))

    def _stretch_between(self, source: int, target: int) -> tuple[Floats, int]:
        """Return (corners from junction `source` to its neighbour `target`, (n, 2); index of the stretch)."""
        low, high = self._matrix.indptr[source : source + 2]
        # `_arcs` sorts each row's targets.
        entry = low + np.searchsorted(self._matrix.indices[low:high], target)
        code = int(self._stretch[entry])
        corners = shapely.get_coordinates(self._lines[code >> 1])
        return (corners[::-1] if code & 1 else corners), code >> 1

    def _join_way(
        self, here: SnappedStop, there: SnappedStop, parts: list[tuple[Floats, int]], metres: float
    ) -> FoundWay:
        """Return the way from stop to stop over parts (corners, index of stretch), `metres` long in all."""
        xy = np.concatenate([[here.stop], *(part for part, _ in parts), [there.stop]])
        owners = np.concatenate([np.full(len(part), self._name[stretch]) for part, stretch in parts])
        # The piece that ends at a corner is of the corner's street; the last one leads off it.
        names = [*(self._names[owner] for owner in owners.tolist()), ""]
        names[0] = ""
        moved = np.any(np.abs(np.diff(xy, axis=0)) > _SHORTEST_M, axis=1)
        kept = np.concatenate([[True], moved])
        streets = tuple(name for name, is_kept in zip(names, moved.tolist(), strict=True) if is_kept)
        xy = xy[kept]
        return FoundWay(xy, streets, metres) if len(xy) > 1 else FoundWay(xy[[0, 0]], ("",), metres)


class TwinMaps:
    """Geocoding and routes over the ways of an extract.

    A route leads straight from a stop to the nearest point of a way that its mode may use, and along such
    ways from there. Of ways that are not connected, only the largest part counts. Routes are the shortest by
    length, and end where the extract does. They take the mean speed of their mode on all ways, and do not
    know turn restrictions.
    """

    def __init__(self, extract: OsmExtract, addresses: TwinAddresses, panoramas: GraphMaps) -> None:
        """Use an extract's ways, an index of addresses, and routes from panorama to panorama."""
        self._extract = extract
        self._addresses = addresses
        self._panoramas = panoramas
        self._graphs: dict[TravelMode, WayGraph] = {}
        self._building = Lock()

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address, a street, a crossing, or a place by its name.

        Raises:
            NotFound: nothing matches.
        """
        return self._addresses.find(address)

    def address_at(self, position: LatLng, radius: float) -> Address | None:
        """Return the mapped address nearest within `radius` metres; `None` if there is none."""
        return self._addresses.nearest(position, radius)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest way through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops, a stop that is not finite, or an unknown mode.
            NoRoute: a stop is too far from the ways of this mode; see `OFF_MAP_M`.
        """
        if len(stops) < 2:
            raise BadInput(f"a route needs two or more stops, not {len(stops)}")
        speed, graph = speed_of(mode), self._graph(mode)
        spots = self._snap(stops, mode)
        path, streets, metres = [stops[0]], list[str](), 0.0
        for leg, stop in enumerate(stops[1:]):
            found = graph.way(spots[leg], spots[leg + 1])
            if found is None:
                raise NoRoute(f"no way leads {mode} from {stops[leg]} to {stop}")
            lat, lng = self._extract.frame.to_degrees(*found.xy[1:-1].T)
            path += [LatLng(*each) for each in zip(lat.tolist(), lng.tolist(), strict=True)]
            path.append(stop)
            streets += found.streets
            metres += found.metres
        return Route(tuple(path), metres, metres / speed, tuple(streets))

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return the seconds from each origin to each destination, `inf` for no way, shape (from, to).

        No way leads from or to a stop too far from the ways of this mode: `OFF_MAP_M`.

        Raises:
            BadInput: a stop that is not finite, or an unknown mode.
        """
        speed, graph = speed_of(mode), self._graph(mode)
        seconds = np.full((len(origins), len(destinations)), np.inf)
        (rows, starts), (columns, ends) = self._on_map(origins, mode), self._on_map(destinations, mode)
        seconds[np.ix_(rows, columns)] = graph.metres(starts, ends) / speed
        return seconds

    def panorama_route(self, stops: Sequence[LatLng]) -> Route:
        """Return the shortest way on foot from panorama to panorama; see `PanoramaMaps`.

        Raises:
            BadInput: fewer than two stops.
            NoRoute: two stops are not connected, or one is over 100 m from the nearest panorama.
        """
        return self._panoramas.route(stops)

    def _on_map(self, stops: Sequence[LatLng], mode: TravelMode) -> tuple[list[int], list[SnappedStop]]:
        """Return (indices of the stops within `OFF_MAP_M` of a mode's ways, nearest point of each)."""
        near = {
            number: spot
            for number, spot in enumerate(self._nearest(stops, mode))
            if spot and spot.away <= OFF_MAP_M[mode]
        }
        return list(near), list(near.values())

    def _nearest(self, stops: Sequence[LatLng], mode: TravelMode) -> Iterator[SnappedStop | None]:
        """Yield the point of a mode's way network nearest to each stop; `None` if the network is empty."""
        graph = self._graph(mode)
        for stop in stops:
            point = self._extract.frame.point(stop)
            if not np.isfinite(point).all():
                raise BadInput(f"{stop} is not a position: latitude and longitude must be finite")
            yield graph.snap(point)

    def _snap(self, stops: Sequence[LatLng], mode: TravelMode) -> list[SnappedStop]:
        """Return each stop's nearest point on a mode's ways; raise `NoRoute` for a stop too far from them."""
        spots = []
        for stop, spot in zip(stops, self._nearest(stops, mode), strict=True):
            if spot is None:
                raise NoRoute(f"no way for {mode} is mapped here")
            if spot.away > OFF_MAP_M[mode]:
                raise NoRoute(f"{stop} is off the map: the nearest way for {mode} is {spot.away:.0f} m away")
            spots.append(spot)
        return spots

    def _graph(self, mode: TravelMode) -> WayGraph:
        """Return the way network of a mode of travel, built on first use."""
        # Threads of one process share the maps: without a lock each would build the graph.
        with self._building:
            if mode not in self._graphs:
                self._graphs[mode] = WayGraph(self._extract, mode)
            return self._graphs[mode]


def _largest_connected(network: WayNetwork, forward: Flags, backward: Flags) -> tuple[WayNetwork, Ints]:
    """Return (longest part whose junctions all reach each other by open directions, old stretch indices).

    `forward` and `backward` are True for each stretch that may be used from start to end, and back.
    """
    if not len(network.lines):
        return network, np.empty(0, np.int64)
    matrix, _ = _arcs(network.start, network.end, network.length, forward, backward, len(network.junctions))
    # Strongly: from a one-way street that leads out of the part nobody would come back.
    _, part = connected_components(matrix, connection="strong")
    within = part[network.start] == part[network.end]
    metres = np.bincount(part[network.start[within]], weights=network.length[within])
    kept = np.flatnonzero(within & (part[network.start] == metres.argmax()))
    return select_stretches(network, kept), kept


def _arcs(
    start: Ints, end: Ints, length: Floats, forward: Flags, backward: Flags, count: int
) -> tuple[csr_array, Ints]:
    """Return (sparse metres between junctions; code per entry: twice the stretch's index, + 1 if backward).

    An entry's code is one more where its stretch is used against its direction.
    """
    stretches = np.arange(len(start))
    source = np.concatenate([start[forward], end[backward]])
    target = np.concatenate([end[forward], start[backward]])
    code = np.concatenate([2 * stretches[forward], 2 * stretches[backward] + 1])
    metres = np.maximum(length, _SHORTEST_M)[code >> 1]
    order = np.lexsort((metres, target, source))
    source, target, code, metres = source[order], target[order], code[order], metres[order]
    new = (np.diff(source, prepend=-1) != 0) | (np.diff(target, prepend=-1) != 0)
    # Of several stretches between two junctions only the shortest counts; a loop is on no shortest way.
    kept = new & (source != target)
    first = np.searchsorted(source[kept], np.arange(count + 1))
    matrix = csr_array((metres[kept], target[kept].astype(np.int32), first), shape=(count, count))
    return matrix, code[kept]


def _street_names(extract: OsmExtract, way: Ints, lines: Shapes) -> tuple[tuple[str, ...], Ints]:
    """Return (all street names, the empty one first; index among them of each stretch's name, shape (n,)).

    A pavement mapped without a name has that of the nearest road within 15 m; `lines` are the stretches.
    """
    names = {"": 0}
    of_way = np.array([names.setdefault(_name(tags), len(names)) for tags in extract.lines.tags], np.int64)
    own = of_way[way] if len(way) else np.empty(0, np.int64)
    roads = np.flatnonzero([tags.get("highway") in ROADS for tags in extract.lines.tags])
    roads = roads[of_way[roads] > 0]
    beside = [
        tags.get("is_sidepath") == "yes"
        or not _BESIDE.isdisjoint(map(tags.get, ("footway", "path", "cycleway")))
        for tags in (extract.lines.tags[line] for line in way)
    ]
    nameless = np.flatnonzero((own == 0) & np.array(beside, bool))
    if len(roads) and len(nameless):
        middles = shapely.line_interpolate_point(lines[nameless], 0.5, normalized=True)
        tree = shapely.STRtree(extract.lines.shapes[roads])
        pavement, road = tree.query_nearest(middles, max_distance=_BESIDE_M, all_matches=False)
        own[nameless[pavement]] = of_way[roads[road]]
    return tuple(names), own


def _name(tags: Tags) -> str:
    """Return the street name or number in a way's tags; empty for a nameless way or a line that is no way."""
    if "highway" not in tags:
        return ""
    return next((name for key in _NAMES if (name := tags.get(key, "").strip())), "")
