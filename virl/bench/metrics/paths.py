"""Metrics of paths: nDTW, SDTW, CLS and SPL, those of R2R, and TC, SPD and KPA of street episodes.

Distances are in any unit, as long as lengths and the threshold are in the same one; R2R's are metres along
links.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from math import exp, inf, isfinite

import numpy as np

from virl.geo.globe import Flags, Floats
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.hops import count_hops, linked_nodes, sources_of_links


def dtw(distances: Floats) -> float:
    """Return the dynamic time warping cost of `distances`, shape (nodes walked, gold nodes), in its unit."""
    before = [0.0] + [inf] * distances.shape[1]
    for row in distances.tolist():
        after = [inf]
        for column, distance in enumerate(row):
            after.append(distance + min(before[column], before[column + 1], after[column]))
        before = after
    return before[-1]


def ndtw(distances: Floats, threshold: float) -> float:
    """Return the normalised DTW, [0, 1], 1 best: e ** (-DTW / (gold nodes x `threshold`)); in one unit."""
    return exp(-dtw(distances) / (distances.shape[1] * threshold))


def sdtw(distances: Floats, threshold: float, success: bool) -> float:
    """Return the SDTW, [0, 1]: the walk's `ndtw` if it succeeded, else 0 (Magalhaes et al. 2019).

    Args:
        distances: metres from each step of the walk to each step of the gold path.
        threshold: metres within which the target counts as reached.
        success: whether the walk succeeded.
    """
    return ndtw(distances, threshold) if success else 0.0


def cls(distances: Floats, threshold: float, walked_length: float, gold_length: float) -> float:
    """Return CLS (Jain et al. 2019), [0, 1], 1 best; `threshold`: distance at which coverage falls to 1/e.

    Args:
        distances: as for `dtw`.
        threshold: the distance at which the coverage of a node has fallen to 1/e.
        walked_length: of the walk.
        gold_length: of the gold path.
    """
    coverage = float(np.exp(-distances.min(axis=0) / threshold).mean())
    expected = coverage * gold_length
    longest = expected + abs(expected - walked_length)
    return coverage * (expected / longest if longest else 1.0)


def success_weighted_path_length(success: bool, walked: float, shortest: float) -> float:
    """Return the SPL (Anderson et al. 2018): 0 without success, else `shortest` / max(walked, shortest).

    Args:
        success: whether the walk succeeded.
        walked: length of the walk.
        shortest: length of the shortest way; 0 where the start is the target.
    """
    if not success:
        return 0.0
    longest = max(walked, shortest)
    return shortest / longest if longest else 1.0


SUCCESS_M = 3.0  # Anderson et al. 2018 (R2R): closer than 3 m to the goal
_SHORTEST_M = 0.01  # the published code divides by no less than this


@dataclass(frozen=True, slots=True)
class IndoorScore:
    """The metrics of one indoor episode (R2R), under the names that published results use."""

    trajectory_lengths: float
    """TL: metres walked."""
    nav_error: float
    """NE: metres from the end of the walk to the goal."""
    oracle_error: float
    """Oracle error: metres from the goal to the node of the walk that is nearest to it."""
    success: float
    """SR: 1 if NE is less than `SUCCESS_M`, else 0."""
    oracle_success: float
    """OSR: 1 if the oracle error is less than `SUCCESS_M`, else 0."""
    spl: float
    """SPL, [0, 1]: success weighted by the length of the gold path, which need not be the shortest."""
    nDTW: float  # noqa: N815 - the published name
    SDTW: float
    CLS: float

    def finite(self) -> dict[str, float | None]:
        """Return {metric's name: value}, with `None` for an infinite distance, since JSON has no infinity."""
        return {name: value if isfinite(value) else None for name, value in asdict(self).items()}


def score_indoor(distances: Floats, walked: Sequence[int], gold: Sequence[int]) -> IndoorScore:
    """Return R2R's metrics of one walk, from its nodes, the gold path's, and metres between all nodes.

    Args:
        distances: metres along links between all nodes of the scan, shape (nodes, nodes).
        walked: node numbers, the start first, not empty. Where nodes that follow each other are not linked,
            the shortest way between them counts.
        gold: node numbers of the gold path, not empty.
    """
    to_goal = distances[list(walked), gold[-1]]
    error, oracle_error = float(to_goal[-1]), float(to_goal.min())
    walked_m, gold_m = _path_length(distances, walked), _path_length(distances, gold)
    success = error < SUCCESS_M
    between = distances[list(walked)][:, list(gold)]
    return IndoorScore(
        trajectory_lengths=walked_m,
        nav_error=error,
        oracle_error=oracle_error,
        success=float(success),
        oracle_success=float(oracle_error < SUCCESS_M),
        spl=success_weighted_path_length(success, max(walked_m, _SHORTEST_M), gold_m),
        nDTW=ndtw(between, SUCCESS_M),
        SDTW=sdtw(between, SUCCESS_M, success),
        CLS=cls(between, SUCCESS_M, walked_m, gold_m),
    )


def _path_length(distances: Floats, path: Sequence[int]) -> float:
    """Return the length of a path of node numbers, in the unit of `distances` (all pairs of nodes)."""
    return float(sum(distances[a, b] for a, b in pairwise(path)))


Nodes = Sequence[int]
Walk = tuple[Nodes, Nodes]
"""(nodes walked, nodes of the gold path), each as node numbers with its start first and not empty."""

THRESHOLD_LINKS = 2.0
"""Default `threshold` of nDTW and CLS on street graphs, in links; a walk succeeds closer than this.

A walk succeeds closer than two links to its target, in R2R closer than 3 m; the code of Zhu et al. 2021 takes
the same number for nDTW on Touchdown."""


@dataclass(frozen=True, slots=True)
class StreetScore:
    """The metrics of one outdoor episode, as Touchdown and VELMA define them."""

    tc: float
    """Task completion: 1 if the walk ends at or beside its target, else 0."""
    spd: float
    """Shortest path distance: links from the end of the walk to the target; `inf` if no way leads there."""
    kpa: float
    """Key point accuracy as `kpa` defines it, [0, 1]: the share of key points that the walk gets right."""
    kpa_published: float
    """Key point accuracy as VELMA's published code computes it, [0, 1] (see `kpa_published`)."""


@dataclass(frozen=True, slots=True)
class PathScore:
    """The likeness of one walk to its gold path: nDTW, SDTW and CLS, each in [0, 1] with 1 best."""

    nDTW: float  # noqa: N815 - the published name
    SDTW: float
    CLS: float


def path_of(nodes: Nodes) -> list[int]:
    """Return a walk's nodes, with only one of equal nodes in a row: turns on the spot repeat a node."""
    return [node for node, _ in groupby(nodes)]


def task_completion(graph: NavigationGraph, end: int, target: int) -> bool:
    """Return whether a walk ends at its target or at a node linked to it: TC (Chen et al. 2019).

    Args:
        graph: links between the panoramas.
        end: last node of the walk.
        target: node of the target.
    """
    pairs = ((end, target), (target, end))
    return end == target or any(to in graph.target[graph.links(node)].tolist() for node, to in pairs)


def shortest_path_distances(graph: NavigationGraph, ends: Nodes, targets: Nodes) -> Floats:
    """Return the SPD (Chen et al. 2019), links from each end to its target; `inf` where no way leads.

    One search is made backward from each target, whatever the number of its ends.

    Args:
        graph: its links are followed in their direction.
        ends: where each walk ended, shape (walks,).
        targets: where each should have ended.
    """
    walks_to: dict[int, list[int]] = {}
    for walk, target in enumerate(targets):
        walks_to.setdefault(target, []).append(walk)
    sought = [[ends[walk] for walk in walks] for walks in walks_to.values()]
    found = np.full(len(ends), np.inf)
    hops = count_hops(sources_of_links(graph), list(walks_to), sought)
    for walks, numbers in zip(walks_to.values(), hops, strict=True):
        found[walks] = numbers
    return found


def kpa(graph: NavigationGraph, walked: Nodes, gold: Nodes) -> float:
    """Return the key point accuracy, [0, 1]: share of the gold path's key points that a walk gets right.

    Key points are the initial step, each passing of an intersection (more than two links leave it) after it
    along the gold path, and the target. The initial step is correct if the walk's first step is that of the
    gold path; an intersection, if the walk leaves it somewhere by the link that the gold path takes (as often
    as the gold path does); the target, if the task is completed.

    Args:
        graph: links between the panoramas.
        walked: nodes of the walk.
        gold: nodes of the gold path.
    """
    walk, route, crossings = path_of(walked), path_of(gold), graph.degree > 2
    steps = list(pairwise(route))
    onward = zip(steps[1:], crossings[route[1:]].tolist(), strict=False)
    passed = Counter(step for step, crossing in onward if crossing)
    correct = (passed & Counter(pairwise(walk))).total() + task_completion(graph, walk[-1], route[-1])
    correct += bool(steps) and walk[:2] == route[:2]
    return correct / (passed.total() + bool(steps) + 1)


def kpa_published(graph: NavigationGraph, walked: Nodes, gold: Nodes) -> float:
    """Return the key point accuracy as VELMA's published code computes it, [0, 1]: a kinder one than `kpa`.

    The first and the second node of a path count as two separate items, so that any walk that moves has one
    right. Paths of a single node have no items, and each item counts once however often it is passed.

    Args:
        graph: links between the panoramas.
        walked: nodes of the walk.
        gold: nodes of the gold path.
    """
    wanted, taken = (_published_items(graph.degree > 2, path_of(path)) for path in (gold, walked))
    return (len(wanted & taken) + task_completion(graph, walked[-1], gold[-1])) / (len(wanted) + 1)


def score_walks(graph: NavigationGraph, walks: Sequence[Walk]) -> list[StreetScore]:
    """Return the TC, SPD and both KPA of each walk, in order."""
    ends, targets = [walked[-1] for walked, _ in walks], [gold[-1] for _, gold in walks]
    distances = shortest_path_distances(graph, ends, targets).tolist()
    return [
        StreetScore(
            tc=float(task_completion(graph, walked[-1], gold[-1])),
            spd=spd,
            kpa=kpa(graph, walked, gold),
            kpa_published=kpa_published(graph, walked, gold),
        )
        for (walked, gold), spd in zip(walks, distances, strict=True)
    ]


def score_paths(
    graph: NavigationGraph, walks: Sequence[Walk], *, threshold: float = THRESHOLD_LINKS
) -> list[PathScore]:
    """Return the nDTW, SDTW and CLS of each walk, with links taken as two-way; `threshold` in links.

    Args:
        graph: where the walks went.
        walks: what to score; turns on the spot make no difference.
        threshold: in links.
    """
    scores = []
    for walked, gold in walks:
        walk, route = path_of(walked), path_of(gold)
        between = np.stack(count_hops(linked_nodes(graph), route, [walk] * len(route)), axis=1)
        completed = task_completion(graph, walk[-1], route[-1])
        scores.append(
            PathScore(
                nDTW=ndtw(between, threshold),
                SDTW=sdtw(between, threshold, completed),
                CLS=cls(between, threshold, len(walk) - 1, len(route) - 1),
            )
        )
    return scores


def _published_items(crossings: Flags, path: list[int]) -> set[tuple[int, ...]]:
    """Return the items that VELMA's code compares: a path's first two nodes, and steps out of crossings."""
    if len(path) < 2:
        return set()
    steps = zip(pairwise(path), crossings[path].tolist(), strict=False)
    return {(path[0],), (path[1],)} | {step for step, crossing in steps if crossing}
