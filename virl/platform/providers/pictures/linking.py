"""Which pictures one can walk between, by their places alone: along sequences, and across to neighbours."""

from itertools import pairwise

import numpy as np
import shapely
from scipy.spatial import cKDTree

from virl.geo import Floats, Ints

ALONG_M = 30.0
"""Greatest length of a link along a sequence."""
ACROSS_M = 20.0
"""Greatest length of a link between sequences, as of the spherical edges of mapillary-js."""
NEAREST_M = 0.1
SECTOR = 45.0
"""Half width in degrees of the sectors in which one link across is sought; as mapillary-js."""
BEST_M = 5.0
"""The length of link that is preferred; as mapillary-js."""
DETOUR = 1.1
"""A link is left out where two others lead there and are together at most so much longer; chosen."""

Pairs = set[tuple[int, int]]
"""Links both ways: numbers of two points, the lower first."""


def linked(xy: Floats, sequence: Ints, stands: Ints) -> Pairs:
    """The links between kept points.

    Args:
        xy: metres, (n, 2), by sequence and in its order.
        sequence: of each point, (n,).
        stands: which kept point stands for each, as `thinned` gives it.
    """
    links = along_sequences(xy, sequence, stands)
    links |= at_crossings(xy, links)
    return without_shortcuts(xy, links | across(xy, sequence, np.unique(stands), links))


def along_sequences(xy: Floats, sequence: Ints, stands: Ints) -> Pairs:
    """Links from each picture to the next of its sequence, by the points that stand for them."""
    links: Pairs = set()
    for (before, of), (after, to) in pairwise(zip(stands.tolist(), sequence.tolist(), strict=True)):
        if of == to and before != after and np.hypot(*(xy[before] - xy[after])) <= ALONG_M:
            links.add((min(before, after), max(before, after)))
    return links


def at_crossings(xy: Floats, links: Pairs) -> Pairs:
    """Links between the nearest ends of links that cross."""
    pairs = np.array(sorted(links), np.int64).reshape(-1, 2)
    lines = np.asarray(shapely.linestrings(xy[pairs]), object)
    one, other = shapely.STRtree(lines).query(lines, predicate="crosses")
    found: Pairs = set()
    for first, second in zip(one.tolist(), other.tolist(), strict=True):
        ends = [(a, b) for a in pairs[first].tolist() for b in pairs[second].tolist() if a != b]
        a, b = min(ends, key=lambda ends: (float(np.hypot(*(xy[ends[0]] - xy[ends[1]]))), ends))
        if np.hypot(*(xy[a] - xy[b])) <= ACROSS_M:
            found.add((min(a, b), max(a, b)))
    return found


def across(xy: Floats, sequence: Ints, kept: Ints, links: Pairs) -> Pairs:
    """Links from where no way leads on: to the best neighbour in each of four sectors without a link.

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
    for number in (one for one in kept.tolist() if len(ways[one]) <= 1):
        near = [int(kept[i]) for i in tree.query_ball_point(xy[number], ACROSS_M)]
        others = [n for n in near if np.hypot(*(xy[n] - xy[number])) >= NEAREST_M]
        taken = list(ways[number])
        facing = taken[0] if taken else 0.0
        for quarter in range(4):
            middle = facing + 90.0 * quarter
            if best := _best(xy, sequence, number, others, middle, taken):
                taken.append(_azimuth(xy[best] - xy[number]))
                found.add((min(number, best), max(number, best)))
    return found


def without_shortcuts(xy: Floats, links: Pairs) -> Pairs:
    """Links that two shorter ones replace with hardly a detour are left out."""
    beside: dict[int, set[int]] = {}
    for a, b in links:
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
    kept = set(links)
    for a, b in sorted(links, key=lambda link: -float(np.hypot(*(xy[link[0]] - xy[link[1]])))):
        length = np.hypot(*(xy[a] - xy[b]))
        for middle in beside[a] & beside[b]:
            legs = np.hypot(*(xy[a] - xy[middle])), np.hypot(*(xy[middle] - xy[b]))
            if max(legs) < length and sum(legs) <= DETOUR * length:
                kept.discard((a, b))
                beside[a].discard(b)
                beside[b].discard(a)
                break
    return kept


def _best(
    xy: Floats, sequence: Ints, number: int, others: list[int], middle: float, taken: list[float]
) -> int | None:
    """The neighbour of the lowest score in a sector, clear of the ways that are taken."""
    best, lowest = None, np.inf
    for other in others:
        step = xy[other] - xy[number]
        way, length = _azimuth(step), float(np.hypot(*step))
        off = abs(_signed(way - middle))
        if off > SECTOR or any(abs(_signed(way - one)) < SECTOR for one in taken):
            continue
        score = 2 * abs(length - BEST_M) / ACROSS_M + 2 * off / SECTOR
        score += float(sequence[other] != sequence[number])
        if score < lowest:
            best, lowest = other, score
    return best


def _azimuth(step: Floats) -> float:
    return float(np.degrees(np.arctan2(step[0], step[1])) % 360)


def _signed(angle: float) -> float:
    return (angle + 180) % 360 - 180
