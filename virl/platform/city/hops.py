"""How many links lie between nodes, by a breadth-first search that stops when it has found what it seeks."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from virl.geo.globe import Floats, Ints
from virl.platform.city.graph import NavigationGraph

GRAPHS = 16
"""Number of graphs whose neighbours are kept at a time; chosen."""


class Neighbours(NamedTuple):
    """The neighbours of all nodes as arrays: those of `i` are `node[first[i]:first[i + 1]]`."""

    first: Ints
    """Index in `node` of the first neighbour of each node, and the number of all, shape (nodes + 1,)."""
    node: Ints
    """Numbers of the neighbours, of one node after another."""


@lru_cache(GRAPHS)
def sources_of_links(graph: NavigationGraph) -> Neighbours:
    """Return for each node those whose links lead to it, for a search against the links."""
    return _gather(len(graph), graph.target, _starts(graph))


@lru_cache(GRAPHS)
def linked_nodes(graph: NavigationGraph) -> Neighbours:
    """Return for each node those with a link to it or from it."""
    starts = _starts(graph)
    ends = np.concatenate([starts, graph.target]), np.concatenate([graph.target, starts])
    return _gather(len(graph), *ends)


def count_hops(
    neighbours: Neighbours, sources: Sequence[int], sought: Sequence[Sequence[int]]
) -> list[Floats]:
    """Return the number of links from each source to the nodes sought from it; `inf` where no way leads.

    Args:
        neighbours: which way the search runs.
        sources: node numbers.
        sought: the nodes sought from each source.

    Returns:
        For each source an array as long as what was sought from it.
    """
    bounds = np.cumsum([0, *map(len, sought)])
    wanted = np.array([node for nodes in sought for node in nodes], np.int64)
    hops = _search(neighbours.first, neighbours.node, np.asarray(sources, np.int64), bounds, wanted)
    return np.split(hops, bounds[1:-1]) if len(sources) else []


def _starts(graph: NavigationGraph) -> Ints:
    """Return the node that each link leaves, shape (links,)."""
    return np.repeat(np.arange(len(graph)), graph.degree)


def _gather(nodes: int, source: Ints, target: Ints) -> Neighbours:
    """Return the targets grouped by their source as the neighbours of each node."""
    order = np.argsort(source, kind="stable")
    return Neighbours(np.searchsorted(source[order], np.arange(nodes + 1)), target[order])


def _search_from_each(first: Ints, node: Ints, sources: Ints, bounds: Ints, wanted: Ints) -> Floats:
    """Return the links from each source to the nodes sought from it, one after another; `inf` if none."""
    hops = np.full(len(wanted), np.inf)
    depth = np.zeros(len(first) - 1, np.int64)
    seen = np.full(len(first) - 1, -1)  # the last search that came to each node
    is_wanted = np.full(len(first) - 1, -1)
    queue = np.empty(len(first) - 1, np.int64)
    for search in range(len(sources)):
        nodes = wanted[bounds[search] : bounds[search + 1]]
        missing = 0
        for sought in nodes:
            missing += is_wanted[sought] != search
            is_wanted[sought] = search
        head, tail = 0, 1
        queue[0] = sources[search]
        seen[queue[0]] = search
        depth[queue[0]] = 0
        while head < tail and missing > 0:
            here = queue[head]
            head += 1
            missing -= is_wanted[here] == search
            for entry in range(first[here], first[here + 1]):
                there = node[entry]
                if seen[there] != search:
                    seen[there] = search
                    depth[there] = depth[here] + 1
                    queue[tail] = there
                    tail += 1
        for index in range(len(nodes)):
            if seen[nodes[index]] == search:
                hops[bounds[search] + index] = depth[nodes[index]]
    return hops


_search = cast("Callable[..., Any]", njit(cache=True, nogil=True)(_search_from_each))


NO_WAY = -1
"""Distance in links that stands for a target which no way leads to."""


class Hops:
    """Numbers of links from nodes to some targets; those to a target are computed when first asked for.

    Takes 4 bytes for each panorama and target that was asked for.

    Args:
        graph: where the ways go.
        targets: numbers of nodes.
    """

    def __init__(self, graph: NavigationGraph, targets: Sequence[int]) -> None:
        self._backward = sources_of_links(graph)
        self._targets = targets
        self._hops = np.empty((len(targets), len(graph)), np.int32)
        self._known = np.zeros(len(targets), bool)

    def __call__(self, nth: ArrayLike, node: ArrayLike) -> NDArray[np.int32]:
        """Return the number of links from nodes to the nth targets, `NO_WAY` without a way; broadcasts."""
        nth = np.asarray(nth, np.intp)
        for missing in np.unique(nth[~self._known[nth]]):
            found = count_hops(self._backward, [int(self._targets[missing])], [range(self._hops.shape[1])])[0]
            self._hops[missing] = np.where(np.isfinite(found), found, NO_WAY)
            self._known[missing] = True
        hops: NDArray[np.int32] = self._hops[nth, np.asarray(node, np.intp)]
        return hops
