"""Pictures placed on the ways of a map, and linked along them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np
import shapely

from virl.geo import Floats, Ints
from virl.platform.providers.pictures.linking import ALONG_M, Pairs

SNAP_M = 10.0
"""Farthest that a picture lies from the way it is placed on."""
SAME_M = 0.05
"""Ends of ways nearer than this are one junction."""


@dataclass(frozen=True, slots=True, eq=False)
class WalkableWays:
    """The walkable ways of a map, split at their junctions."""

    lines: tuple[shapely.LineString, ...]
    tree: shapely.STRtree
    junctions: Ints
    """The numbers of the junctions at both ends of each way, (n, 2)."""
    lengths: Floats
    """Metres, (n,)."""


def ways_of(lines: Sequence[shapely.LineString]) -> WalkableWays:
    """Ways from lines in metres that share their ends."""
    known: dict[tuple[int, int], int] = {}
    ends = np.zeros((len(lines), 2), np.int64)
    for number, line in enumerate(lines):
        for end, point in enumerate((line.coords[0], line.coords[-1])):
            key = round(point[0] / SAME_M), round(point[1] / SAME_M)
            ends[number, end] = known.setdefault(key, len(known))
    return WalkableWays(
        tuple(lines), shapely.STRtree(list(lines)), ends, shapely.length(np.array(lines, object))
    )


def snapped(xy: Floats, ways: WalkableWays) -> tuple[Floats, Ints, Floats]:
    """Points on the nearest way within `SNAP_M`; the others stay where they are.

    Returns:
        The points in metres, (n, 2); the way of each, -1 for none, (n,); metres along it, (n,).
    """
    points = np.asarray(shapely.points(xy), object)
    placed, way, along = xy.copy(), np.full(len(xy), -1, np.int64), np.zeros(len(xy))
    if ways.lines and len(xy):
        index, nearest = ways.tree.query_nearest(points, max_distance=SNAP_M, all_matches=False)
        lines = np.array(ways.lines, object)[nearest]
        way[index] = nearest
        along[index] = shapely.line_locate_point(lines, points[index])
        placed[index] = shapely.get_coordinates(shapely.line_interpolate_point(lines, along[index]))
    return placed, way, along


def along_ways(kept: Ints, way: Ints, along: Floats, ways: WalkableWays) -> Pairs:
    """Links between points of which no third lies on the way from one to the other, at most `ALONG_M` long.

    Args:
        kept: numbers of the points to link.
        way: of each point, as `snapped` gives it.
        along: metres along it, as `snapped` gives them.
        ways: of the map.
    """
    pieces = _pieces(kept, way, along, ways)
    links: Pairs = set()
    for number in kept.tolist():
        if way[number] >= 0:
            reached = nx.single_source_dijkstra_path_length(pieces, ("from", number), cutoff=ALONG_M)
            links |= {
                (min(number, other), max(number, other))
                for kind, other in reached
                if kind == "to" and other != number
            }
    return links


def _pieces(kept: Ints, way: Ints, along: Floats, ways: WalkableWays) -> "nx.DiGraph[tuple[str, int]]":
    """The ways, cut at the points; a way leads from a point or to it, but not through it."""
    on: dict[int, list[int]] = defaultdict(list)
    for number in kept[np.argsort(along[kept], kind="stable")].tolist():
        on[int(way[number])].append(number)
    pieces: nx.DiGraph[tuple[str, int]] = nx.DiGraph()
    for line, length in enumerate(ways.lengths.tolist()):
        stops = [("point", number, float(along[number])) for number in on.get(line, [])]
        first, last = ways.junctions[line].tolist()
        for (kind, a, start), (other, b, end) in pairwise(
            [("junction", first, 0.0), *stops, ("junction", last, length)]
        ):
            for source, target in (((kind, a), (other, b)), ((other, b), (kind, a))):
                leaves = "from" if source[0] == "point" else "junction"
                reaches = "to" if target[0] == "point" else "junction"
                ends = (leaves, source[1]), (reaches, target[1])
                known = pieces.get_edge_data(*ends, default={"weight": np.inf})["weight"]
                pieces.add_edge(*ends, weight=min(known, end - start))
    return pieces
