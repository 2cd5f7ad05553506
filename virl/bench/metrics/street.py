"""The metrics of street episodes: TC, SPD, KPA, nDTW, SDTW and CLS; distances are numbers of links."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from virl.bench.metrics.paths import cls, ndtw, sdtw
from virl.geo.globe import Floats
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.hops import count_hops, linked_nodes, sources_of_links

Bools = NDArray[np.bool_]
Nodes = Sequence[int]
Walk = tuple[Nodes, Nodes]
"""The nodes walked, the start first, and those of the gold path; neither is empty."""

THRESHOLD_LINKS = 2.0
"""Threshold of nDTW and CLS. A walk succeeds closer than two links to its target, in R2R closer than 3 m;
the code of Zhu et al. 2021 takes the same number for nDTW on Touchdown."""


@dataclass(frozen=True, slots=True)
class StreetScore:
    """The metrics of one episode."""

    tc: float
    """Task completion: 1 or 0."""
    spd: float
    """Shortest path distance: links from the end of the walk to the target; `inf` if no way leads there."""
    kpa: float
    """Key point accuracy as the paper defines it, [0, 1]."""
    kpa_published: float
    """Key point accuracy as the published code computes it, [0, 1]."""


@dataclass(frozen=True, slots=True)
class PathScore:
    """The likeness of one episode's walk to the gold path, each score in [0, 1]."""

    nDTW: float  # noqa: N815 - the published name
    SDTW: float
    CLS: float


def path_of(nodes: Nodes) -> list[int]:
    """Return the nodes of a walk without the repetitions that turning on the spot leaves."""
    return [node for node, _ in groupby(nodes)]


def task_completion(graph: NavigationGraph, end: int, target: int) -> bool:
    """Return whether a walk ends at or beside its target, whichever way linked: TC (Chen et al. 2019).

    Args:
        graph: links between the panoramas.
        end: last node of the walk.
        target: node of the target.
    """
    return end == target or _links_to(graph, end, target) or _links_to(graph, target, end)


def shortest_path_distances(graph: NavigationGraph, ends: Nodes, targets: Nodes) -> Floats:
    """Return the SPD (Chen et al. 2019): links of a shortest way from each end to its target.

    One search is made backward from each target, whatever the number of its ends.

    Args:
        graph: its links are followed in their direction.
        ends: where each walk ended, shape (walks,).
        targets: where each should have ended.

    Returns:
        Shape (walks,); `inf` where no way leads.
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
    """Return the key point accuracy of VELMA's section 6.2: the share of correct decisions at key points.

    Key points are the initial step, each passing of an intersection (more than two links leave it) after it
    along the gold path, and the target. The initial step is correct if the walk's first step is that of the
    gold path; an intersection, if the walk leaves it somewhere by the link that the gold path takes (as often
    as the gold path does); the target, if the task is completed.

    Args:
        graph: links between the panoramas.
        walked: nodes of the walk.
        gold: nodes of the gold path.
    """
    return _keypoint_accuracy(
        graph.degree > 2, path_of(walked), path_of(gold), task_completion(graph, walked[-1], gold[-1])
    )


def kpa_published(graph: NavigationGraph, walked: Nodes, gold: Nodes) -> float:
    """Return the key point accuracy as VELMA's published code computes it, its free point included.

    The first and the second node of a path count as two separate items, so that any walk that moves has one
    right. Paths of a single node have no items, and each item counts once however often it is passed.

    Args:
        graph: links between the panoramas.
        walked: nodes of the walk.
        gold: nodes of the gold path.
    """
    completed = task_completion(graph, walked[-1], gold[-1])
    return _kpa_published(graph.degree > 2, path_of(walked), path_of(gold), completed)


def score_walks(graph: NavigationGraph, walks: Sequence[Walk]) -> list[StreetScore]:
    """Return the TC, SPD and both KPA of many walks at once."""
    crossings = graph.degree > 2
    ends, targets = [walked[-1] for walked, _ in walks], [gold[-1] for _, gold in walks]
    scores = []
    distances = shortest_path_distances(graph, ends, targets).tolist()
    for (walked, gold), spd in zip(walks, distances, strict=True):
        walk, route = path_of(walked), path_of(gold)
        completed = task_completion(graph, walk[-1], route[-1])
        scores.append(
            StreetScore(
                tc=float(completed),
                spd=spd,
                kpa=_keypoint_accuracy(crossings, walk, route, completed),
                kpa_published=_kpa_published(crossings, walk, route, completed),
            )
        )
    return scores


def score_paths(
    graph: NavigationGraph, walks: Sequence[Walk], *, threshold: float = THRESHOLD_LINKS
) -> list[PathScore]:
    """Return the nDTW, SDTW and CLS of many walks, with links taken as two-way.

    Args:
        graph: where the walks went.
        walks: what to score; turns on the spot make no difference.
        threshold: in links.
    """
    return [_score_path(graph, path_of(walked), path_of(gold), threshold) for walked, gold in walks]


def _score_path(graph: NavigationGraph, walk: Nodes, route: Nodes, threshold: float) -> PathScore:
    """Return nDTW, SDTW and CLS of a walk against its route; `threshold` in hops."""
    between = np.stack(count_hops(linked_nodes(graph), route, [walk] * len(route)), axis=1)
    return PathScore(
        nDTW=ndtw(between, threshold),
        SDTW=sdtw(between, threshold, task_completion(graph, walk[-1], route[-1])),
        CLS=cls(between, threshold, len(walk) - 1, len(route) - 1),
    )


def _links_to(graph: NavigationGraph, node: int, other: int) -> bool:
    """Return whether a node has a link to another."""
    return other in graph.target[graph.links(node)].tolist()


def _keypoint_accuracy(crossings: Bools, walk: list[int], route: list[int], completed: bool) -> float:
    """Return the share of decisions at the start, at crossings and at the end that were right, 0 to 1."""
    steps = list(pairwise(route))
    onward = zip(steps[1:], crossings[route[1:]].tolist(), strict=False)
    passed = Counter(step for step, crossing in onward if crossing)
    correct = (passed & Counter(pairwise(walk))).total() + completed
    correct += bool(steps) and walk[:2] == route[:2]
    return correct / (passed.total() + bool(steps) + 1)


def _kpa_published(crossings: Bools, walk: list[int], route: list[int], completed: bool) -> float:
    """Return the keypoint accuracy as the published code has it, 0 to 1."""
    wanted, taken = _published_items(crossings, route), _published_items(crossings, walk)
    return (len(wanted & taken) + completed) / (len(wanted) + 1)


def _published_items(crossings: Bools, path: list[int]) -> set[tuple[int, ...]]:
    """Return what the published code compares: first two nodes, and steps out of crossings."""
    if len(path) < 2:
        return set()
    steps = zip(pairwise(path), crossings[path].tolist(), strict=False)
    return {(path[0],), (path[1],)} | {step for step, crossing in steps if crossing}
