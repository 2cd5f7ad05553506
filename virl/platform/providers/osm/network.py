"""The street network of an extract: its ways cut where they meet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from virl.platform.providers.osm.extract import OsmExtract, OsmObjects
from virl.platform.providers.osm.ways import WayFilter

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class WayNetwork:
    """n stretches of way between k junctions and dead ends."""

    junctions: Floats
    """Metres, shape (k, 2)."""
    lines: tuple[Floats, ...]
    """Each shape (m, 2), from its `start` to its `end`."""
    start: Ints
    end: Ints
    """Junctions at the ends of each stretch, shape (n,)."""
    way: Ints
    """The line of the extract that each stretch is a part of, shape (n,)."""

    @cached_property
    def length(self) -> Floats:
        """Metres of each stretch, shape (n,)."""
        return np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in self.lines])


def way_network(extract: OsmExtract, kept: WayFilter) -> WayNetwork:
    """The network of the ways that a filter keeps, inside the outline of the extract."""
    ways = [number for number, tags in enumerate(extract.lines.tags) if kept(tags)]
    points, nodes, runs = _runs(extract, ways)
    uses = np.bincount(nodes, minlength=len(points))
    for run in runs:  # an end is a junction, and so is a node that a way passes twice
        uses[[run.nodes[0], run.nodes[-1]]] += 1
    lines, start, end, way = [], [], [], []
    for run in runs:
        cuts = np.flatnonzero(uses[run.nodes] > 1)
        for first, last in pairwise(cuts):
            piece = run.nodes[first : last + 1]
            lines.append(points[piece])
            start.append(piece[0])
            end.append(piece[-1])
            way.append(run.way)
    ends, index = np.unique(np.array([start, end], np.int64), return_inverse=True)
    index = index.reshape(2, -1)
    return WayNetwork(points[ends], tuple(lines), index[0], index[1], np.array(way, np.int64))


def only_ways(extract: OsmExtract) -> OsmExtract:
    """An extract without all that is no way: the little that a network is built from."""
    ways = [number for number, tags in enumerate(extract.lines.tags) if "highway" in tags]
    lines = extract.lines
    nothing = OsmObjects((), (), np.empty(0, object))
    return replace(
        extract,
        points=nothing,
        lines=OsmObjects(
            tuple(lines.ids[way] for way in ways), tuple(lines.tags[way] for way in ways), lines.shapes[ways]
        ),
        line_nodes=tuple(extract.line_nodes[way] for way in ways),
        areas=nothing,
    )


def largest_part(network: WayNetwork) -> WayNetwork:
    """The connected part of a network with the most metres."""
    count = len(network.junctions)
    links = coo_array((np.ones(len(network.lines)), (network.start, network.end)), shape=(count, count))
    _, part = connected_components(links, directed=False)
    if not len(network.lines):
        return network
    metres = np.bincount(part[network.start], weights=network.length)
    return chosen(network, np.flatnonzero(part[network.start] == metres.argmax()))


def chosen(network: WayNetwork, stretches: Sequence[int] | Ints) -> WayNetwork:
    """A network of some stretches of another, with the junctions they need."""
    stretches = np.asarray(stretches, np.int64)
    ends = np.stack([network.start[stretches], network.end[stretches]])
    used, index = np.unique(ends, return_inverse=True)
    index = index.reshape(2, -1)
    lines = tuple(network.lines[number] for number in stretches)
    return WayNetwork(network.junctions[used], lines, index[0], index[1], network.way[stretches])


@dataclass(frozen=True, slots=True)
class _Run:
    """Successive nodes of a way that lie in the outline."""

    way: int
    nodes: Ints


def _runs(extract: OsmExtract, ways: Sequence[int]) -> tuple[Floats, Ints, list[_Run]]:
    """The nodes of some ways in metres, the node at each corner, and the runs of them in the outline."""
    if not ways:
        return np.empty((0, 2)), np.empty(0, np.int64), []
    corners, owner = shapely.get_coordinates(extract.lines.shapes[ways], return_index=True)
    refs = np.concatenate([np.array(extract.line_nodes[way], np.int64) for way in ways])
    _, first, nodes = np.unique(refs, return_index=True, return_inverse=True)
    points = corners[first]
    outline = extract.outline
    shapely.prepare(outline)
    inside = shapely.intersects_xy(outline, corners[:, 0], corners[:, 1])
    breaks = (owner[1:] != owner[:-1]) | (inside[1:] != inside[:-1])
    bounds = np.concatenate([[0], np.flatnonzero(breaks) + 1, [len(owner)]])
    runs = []
    for low, high in pairwise(bounds):
        if inside[low] and high - low > 1:
            runs.append(_Run(ways[owner[low]], nodes[low:high]))
    used = np.concatenate([run.nodes for run in runs]) if runs else np.empty(0, np.int64)
    return points, used, runs


def with_connections(network: WayNetwork, core: NDArray[np.bool_], longest: float) -> WayNetwork:
    """The core of a network, and what joins its parts to the largest one.

    Args:
        network: all that may be used.
        core: which stretches are in it anyway, shape (n,).
        longest: metres of a connection, at most; a part farther off stays apart.
    """
    count = len(network.junctions)
    weight = np.where(core, 1e-6, network.length + 1e-3)
    # of several stretches between two junctions only the shortest counts
    order = np.lexsort(
        (weight, np.maximum(network.start, network.end), np.minimum(network.start, network.end))
    )
    low, high = np.minimum(network.start, network.end)[order], np.maximum(network.start, network.end)[order]
    first = np.flatnonzero((np.diff(low, prepend=-1) != 0) | (np.diff(high, prepend=-1) != 0))
    best = order[first]
    pair = {(int(a), int(b)): int(edge) for a, b, edge in zip(low[first], high[first], best, strict=True)}
    links = coo_array((weight[best], (low[first], high[first])), shape=(count, count)).tocsr()

    core_ends = np.concatenate([network.start[core], network.end[core]])
    inner = coo_array((np.ones(core.sum()), (network.start[core], network.end[core])), shape=(count, count))
    _, part = connected_components(inner, directed=False)
    metres = np.bincount(part[network.start[core]], weights=network.length[core], minlength=part.max() + 1)
    origin = int(core_ends[part[core_ends] == metres.argmax()][0])
    _, before = dijkstra(links, directed=False, indices=origin, return_predecessors=True)

    taken = core.copy()
    done = {int(metres.argmax())}
    for node in core_ends[np.unique(part[core_ends], return_index=True)[1]]:
        if int(part[node]) in done:
            continue
        path, at = [], int(node)
        while before[at] >= 0:
            path.append(pair[min(at, int(before[at])), max(at, int(before[at]))])
            at = int(before[at])
        bridge = [edge for edge in path if not taken[edge]]
        if at == origin and network.length[bridge].sum() <= longest:
            taken[bridge] = True
    return chosen(network, np.flatnonzero(taken))
