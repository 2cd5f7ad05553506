"""The street network of an extract: its ways cut where they meet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from virl.geo.globe import Floats, Ints
from virl.osm.extract import OsmExtract, OsmObjects
from virl.osm.ways import WayFilter


@dataclass(frozen=True)
class WayNetwork:
    """Stretches of way between junctions and dead ends: n stretches, k junctions."""

    junctions: Floats
    """Metres east and north of each junction, shape (k, 2)."""
    lines: tuple[Floats, ...]
    """Points in metres of each stretch from `start` to `end`, shape (m, 2) each."""
    start: Ints
    """Index of the junction where each stretch starts, shape (n,)."""
    end: Ints
    """Index of the junction where each stretch ends, shape (n,)."""
    way: Ints
    """Index of the extract's line that each stretch belongs to, shape (n,)."""

    @cached_property
    def length(self) -> Floats:
        """Metres of each stretch, shape (n,)."""
        return np.array([np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in self.lines])


def way_network(extract: OsmExtract, kept: WayFilter) -> WayNetwork:
    """Return the network of the ways that a filter keeps, inside the outline of the extract."""
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
    """Return an extract of its ways alone, all that a network needs."""
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
    """Return the connected part of a network with the most metres."""
    count = len(network.junctions)
    links = coo_array((np.ones(len(network.lines)), (network.start, network.end)), shape=(count, count))
    _, part = connected_components(links, directed=False)
    if not len(network.lines):
        return network
    metres = np.bincount(part[network.start], weights=network.length)
    return select_stretches(network, np.flatnonzero(part[network.start] == metres.argmax()))


def select_stretches(network: WayNetwork, stretches: Sequence[int] | Ints) -> WayNetwork:
    """Return the network of some stretches of another one, with their junctions."""
    stretches = np.asarray(stretches, np.int64)
    ends = np.stack([network.start[stretches], network.end[stretches]])
    used, index = np.unique(ends, return_inverse=True)
    index = index.reshape(2, -1)
    lines = tuple(network.lines[number] for number in stretches)
    return WayNetwork(network.junctions[used], lines, index[0], index[1], network.way[stretches])


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive nodes of a way within the outline."""

    way: int
    nodes: Ints


def _runs(extract: OsmExtract, ways: Sequence[int]) -> tuple[Floats, Ints, list[_Run]]:
    """Return (points in metres, node of each, runs of ways within the outline)."""
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
