"""The panorama graph of street-level pictures: those that are kept, and the links between them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import networkx as nx
import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from virl.errors import NoStreetView
from virl.geo.globe import Floats, Ints, LatLng
from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.providers.pictures.picture import Captures, Picture, captures

STEP_M = 8.0
"""Least distance in metres between two panoramas of the graph; chosen: Google's lie 5 to 12 m apart."""

_SNAP_M = 10.0
"""Largest distance in metres from a picture to the way that it is placed on."""
_SAME_M = 0.05
"""Width in metres of the grid cells in which ends of ways count as one junction."""

_ALONG_M = 30.0
"""Largest length in metres of a link along a way or a sequence."""
_ACROSS_M = 20.0
"""Largest length in metres of a link that follows no way or sequence, as in mapillary-js for panoramas."""
_NEAREST_M = 0.1
"""Distance in metres below which two points have no direction from one to the other."""
_SECTOR = 45.0
"""Half the width in degrees of each of the four sectors of a point's neighbours, as in mapillary-js."""
_BEST_M = 5.0
"""Preferred length in metres of a link that follows no way or sequence, as in mapillary-js."""
_DETOUR = 1.1
"""Ratio of two links' total length to a direct link's up to which they replace it; chosen."""

Pairs = set[tuple[int, int]]
"""Two-way links as (number of a point, number of the other), the lower one first."""


def _thin_points(xy: Floats) -> Ints:
    """Return, by point, the number of the nearest point kept; kept points are at least `STEP_M` apart.

    Points (metres, shape (n, 2)) are kept in their order: one that lies nearer to a kept one is dropped, and
    the nearest kept one replaces it.
    """
    near = cKDTree(xy).query_ball_point(xy, STEP_M, return_sorted=True) if len(xy) else []
    kept = np.zeros(len(xy), bool)
    for number, others in enumerate(near):
        # Only points that come before this one can have been kept already.
        before = np.asarray(others[: np.searchsorted(others, number)], np.int64)
        apart = np.hypot(*(xy[before] - xy[number]).T)
        kept[number] = not (kept[before] & (apart < STEP_M)).any()
    numbers = np.flatnonzero(kept)
    if not len(numbers):
        return numbers
    stands: Ints = numbers[cKDTree(xy[numbers]).query(xy)[1]]
    return stands


@dataclass(frozen=True, slots=True, eq=False)
class PictureGraph:
    """A graph of linked panoramas, and the picture of each."""

    graph: NavigationGraph
    """Graph of the panoramas."""
    pictures: dict[str, Picture]
    """Picture of each node, by the node's id."""
    left_out: int
    """Number of pictures that no link connects with the others."""


def picture_graph(
    pictures: Sequence[Picture],
    *,
    start: LatLng | None = None,
    ways: Sequence[Sequence[LatLng]] = (),
    as_of: datetime | None = None,
    known: Collection[str] = (),
) -> PictureGraph:
    """Return a graph of pictures `STEP_M` or more apart: the linked part at `start`, or else the largest.

    Panoramas are taken before flat pictures, newer ones before older ones, none nearer to another than a
    step. Where there are ways, a picture within 10 m of one is placed on it and linked along it, at most
    30 m; others are linked along their sequence and to good neighbours within 20 m.

    Args:
        pictures: pictures of the area, in any order.
        start: position to whose nearest panorama the graph is connected; by default it is the largest part.
        ways: walkable ways as positions, split at their junctions.
        as_of: time after which no picture was taken; `None` for no limit.
        known: ids of pictures that are in the graph already; they come before all others, and stay.

    Raises:
        NoStreetView: no picture is left.
    """
    taken = captures(pictures, as_of)
    if not taken.pictures:
        raise NoStreetView(
            "there are no street-level pictures here" + (f" until {as_of:%Y-%m-%d}" if as_of else "")
        )
    frame = taken.frame
    lines = [shapely.LineString(np.stack(frame.to_metres(*np.array(way, float).T), axis=1)) for way in ways]
    xy, way, along = _snap(taken.xy, lines)
    before = frozenset(known)
    first = np.array([one.id in before for one in taken.pictures], bool)
    order = np.argsort(~first, kind="stable")
    stands = np.empty(len(xy), np.int64)
    stands[order] = order[_thin_points(xy[order])]
    # Thinning may drop a known point for another known one: what is in the graph stays in it.
    stands[first] = np.flatnonzero(first)
    kept = np.unique(stands)
    links = _link_along_ways(kept, way, along, lines)
    sequential = _link_sequences(xy, taken.sequence, stands)
    sequential |= _link_crossings(xy, sequential)
    across = _link_across(xy, taken.sequence, kept, sequential)
    free = _drop_shortcuts(xy, sequential | across)
    links |= {(a, b) for a, b in free if way[a] < 0 or way[b] < 0}
    part = _connected_part(kept, links, xy, None if start is None else frame.point(start), first[kept])
    return PictureGraph(
        graph=_build_part(part, links, taken, xy),
        pictures={taken.pictures[number].id: taken.pictures[number] for number in part.tolist()},
        left_out=len(kept) - len(part),
    )


def _connected_part(
    kept: Ints, links: Pairs, xy: Floats, start: tuple[float, float] | None, known: NDArray[np.bool_]
) -> Ints:
    """Return the kept points linked with `known` ones, or in the part nearest to `start` (`None`: largest).

    Points that are connected with a known point belong to it too.
    """
    place = {number: index for index, number in enumerate(kept.tolist())}
    ends = np.array([(place[a], place[b]) for a, b in sorted(links)], np.int64).reshape(-1, 2)
    matrix = coo_array((np.ones(len(ends)), tuple(ends.T)), shape=(len(kept), len(kept)))
    _, part = connected_components(matrix, directed=False)
    main = np.bincount(part).argmax() if start is None else part[cKDTree(xy[kept]).query(start)[1]]
    # What was walked before stays connected, wherever the new start lies.
    chosen: Ints = kept[(part == main) | np.isin(part, part[known])]
    return chosen


def _build_part(part: Ints, links: Pairs, taken: Captures, xy: Floats) -> NavigationGraph:
    """Return the navigation graph of the points with these numbers and the links between them."""
    place = {number: index for index, number in enumerate(part.tolist())}
    inside = [(place[a], place[b]) for a, b in sorted(links) if a in place and b in place]
    ends = np.array(inside, np.int64).reshape(-1, 2)
    lat, lng = taken.frame.to_degrees(xy[part, 0], xy[part, 1])
    return build_graph(
        [taken.pictures[number].id for number in part.tolist()],
        lat,
        lng,
        np.concatenate([ends[:, 0], ends[:, 1]]),
        np.concatenate([ends[:, 1], ends[:, 0]]),
        yaw=[taken.pictures[number].attitude.heading for number in part.tolist()],
    )


def _number_junctions(lines: Sequence[shapely.LineString]) -> Ints:
    """Return the junction number of each line's two ends, shape (n, 2); ends within `_SAME_M` share one."""
    known: dict[tuple[int, int], int] = {}
    ends = np.zeros((len(lines), 2), np.int64)
    for number, line in enumerate(lines):
        for end, point in enumerate((line.coords[0], line.coords[-1])):
            # Ends of ways that meet are equal but for rounding, so that a grid of this width finds them.
            key = round(point[0] / _SAME_M), round(point[1] / _SAME_M)
            ends[number, end] = known.setdefault(key, len(known))
    return ends


def _snap(xy: Floats, ways: Sequence[shapely.LineString]) -> tuple[Floats, Ints, Floats]:
    """Return (points moved to the nearest way within `_SNAP_M`, its number or -1, metres along it), by point.

    The points are in metres, shape (n, 2); the way of each, -1 for none, and the metres have shape (n,).
    """
    points = np.asarray(shapely.points(xy), object)
    placed, way, along = xy.copy(), np.full(len(xy), -1, np.int64), np.zeros(len(xy))
    if ways and len(xy):
        tree = shapely.STRtree(ways)
        index, nearest = tree.query_nearest(points, max_distance=_SNAP_M, all_matches=False)
        lines = np.array(ways, object)[nearest]
        way[index] = nearest
        along[index] = shapely.line_locate_point(lines, points[index])
        placed[index] = shapely.get_coordinates(shapely.line_interpolate_point(lines, along[index]))
    return placed, way, along


def _link_along_ways(kept: Ints, way: Ints, along: Floats, lines: Sequence[shapely.LineString]) -> Pairs:
    """Return links of at most `_ALONG_M` metres between `kept` points that are neighbours along lines.

    Each point has the number of its line in `way`, -1 for none, and its metres along the line in `along`.
    """
    pieces = _cut_ways(kept, way, along, lines)
    links: Pairs = set()
    for number in kept.tolist():
        if way[number] >= 0:
            reached = nx.single_source_dijkstra_path_length(pieces, ("from", number), cutoff=_ALONG_M)
            links |= {
                (min(number, other), max(number, other))
                for kind, other in reached
                if kind == "to" and other != number
            }
    return links


def _cut_ways(
    kept: Ints, way: Ints, along: Floats, lines: Sequence[shapely.LineString]
) -> "nx.DiGraph[tuple[str, int]]":
    """Return lines, cut at the `kept` points, as a directed graph in which no path leads through a point.

    A point is two nodes, `("from", number)` and `("to", number)`; lengths in metres are the weights.
    """
    on: dict[int, list[int]] = defaultdict(list)
    for number in kept[np.argsort(along[kept], kind="stable")].tolist():
        on[int(way[number])].append(number)
    pieces: nx.DiGraph[tuple[str, int]] = nx.DiGraph()
    for line, (first, last) in enumerate(_number_junctions(lines).tolist()):
        length = lines[line].length
        stops = [("point", number, float(along[number])) for number in on.get(line, [])]
        for (kind, a, start), (other, b, end) in pairwise(
            [("junction", first, 0.0), *stops, ("junction", last, length)]
        ):
            for source, target in (((kind, a), (other, b)), ((other, b), (kind, a))):
                leaves = "from" if source[0] == "point" else "junction"
                reaches = "to" if target[0] == "point" else "junction"
                ends = (leaves, source[1]), (reaches, target[1])
                # Two ways may join the same junctions: the shorter one counts.
                known = pieces.get_edge_data(*ends, default={"weight": np.inf})["weight"]
                pieces.add_edge(*ends, weight=min(known, end - start))
    return pieces


def _link_sequences(xy: Floats, sequence: Ints, stands: Ints) -> Pairs:
    """Return links, up to `_ALONG_M` long, of points that stand, by `stands`, for consecutive pictures."""
    links: Pairs = set()
    for (before, of), (after, to) in pairwise(zip(stands.tolist(), sequence.tolist(), strict=True)):
        if of == to and before != after and np.hypot(*(xy[before] - xy[after])) <= _ALONG_M:
            links.add((min(before, after), max(before, after)))
    return links


def _link_crossings(xy: Floats, links: Pairs) -> Pairs:
    """Return links, of at most `_ACROSS_M` metres, between the nearest ends of links that cross."""
    pairs = np.array(sorted(links), np.int64).reshape(-1, 2)
    lines = np.asarray(shapely.linestrings(xy[pairs]), object)
    one, other = shapely.STRtree(lines).query(lines, predicate="crosses")
    found: Pairs = set()
    for first, second in zip(one.tolist(), other.tolist(), strict=True):
        ends = [(a, b) for a in pairs[first].tolist() for b in pairs[second].tolist() if a != b]
        a, b = min(ends, key=lambda ends: (float(np.hypot(*(xy[ends[0]] - xy[ends[1]]))), ends))
        if np.hypot(*(xy[a] - xy[b])) <= _ACROSS_M:
            found.add((min(a, b), max(a, b)))
    return found


def _link_across(xy: Floats, sequence: Ints, kept: Ints, links: Pairs) -> Pairs:
    """Return a link to the best neighbour in each free sector, for each point that has at most one link.

    The sectors lie around the direction of a point's first link. Of two candidates the better one has the
    lower score: twice the share of length off the preferred one, twice the share of angle off the middle of
    the sector, and one for another sequence (mapillary-js, `EdgeCalculator`, as described in its sources).
    """
    ways: dict[int, list[float]] = {int(number): [] for number in kept}
    for a, b in links:
        ways[a].append(_azimuth(xy[b] - xy[a]))
        ways[b].append(_azimuth(xy[a] - xy[b]))
    tree = cKDTree(xy[kept])
    found: Pairs = set()
    # A point with two links lies on a way that leads on already.
    for number in (one for one in kept.tolist() if len(ways[one]) <= 1):
        near = [int(kept[i]) for i in tree.query_ball_point(xy[number], _ACROSS_M)]
        # Points at nearly one spot have no direction from one to the other.
        others = [n for n in near if np.hypot(*(xy[n] - xy[number])) >= _NEAREST_M]
        taken = list(ways[number])
        facing = taken[0] if taken else 0.0
        for quarter in range(4):
            middle = facing + 90.0 * quarter
            best = _best(xy, sequence, number, others, middle, taken)
            if best is not None:
                taken.append(_azimuth(xy[best] - xy[number]))
                found.add((min(number, best), max(number, best)))
    return found


def _drop_shortcuts(xy: Floats, links: Pairs) -> Pairs:
    """Return the links except those replaced by two shorter ones with hardly a detour."""
    kept: nx.Graph[int] = nx.Graph(links)
    # Longest first: the shorter links that may replace one are all there still.
    for a, b in sorted(links, key=lambda link: -float(np.hypot(*(xy[link[0]] - xy[link[1]])))):
        length = np.hypot(*(xy[a] - xy[b]))
        for middle in nx.common_neighbors(kept, a, b):
            legs = np.hypot(*(xy[a] - xy[middle])), np.hypot(*(xy[middle] - xy[b]))
            if max(legs) < length and sum(legs) <= _DETOUR * length:
                kept.remove_edge(a, b)
                break
    return {(min(ends), max(ends)) for ends in kept.edges}


def _best(
    xy: Floats, sequence: Ints, number: int, others: list[int], middle: float, taken: list[float]
) -> int | None:
    """Return the best of `others` around direction `middle`, off those `taken`, degrees; `None` if none is.

    The sector lies around the direction `middle`; `taken` are the directions of links. All are degrees.
    """
    scores: dict[int, float] = {}
    for other in others:
        step = xy[other] - xy[number]
        way, length = _azimuth(step), float(np.hypot(*step))
        off = abs(_signed_angle(way - middle))
        if off > _SECTOR or any(abs(_signed_angle(way - one)) < _SECTOR for one in taken):
            continue
        score = 2 * abs(length - _BEST_M) / _ACROSS_M + 2 * off / _SECTOR
        scores[other] = score + float(sequence[other] != sequence[number])
    return min(scores, key=scores.__getitem__, default=None)


def _azimuth(step: Floats) -> float:
    """Return the direction of a step (east, north), degrees clockwise from north, [0, 360)."""
    return float(np.degrees(np.arctan2(step[0], step[1])) % 360)


def _signed_angle(angle: float) -> float:
    """Return an angle in degrees as the equal one in [-180, 180)."""
    return (angle + 180) % 360 - 180
