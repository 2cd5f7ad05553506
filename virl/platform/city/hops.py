"""Numbers of links between nodes, by a breadth-first search that stops when all nodes sought are found."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from virl.geo.globe import Floats, Ints
from virl.platform.city.graph import NavigationGraph

KEPT_GRAPHS = 16
"""Number of graphs for which lists of neighbours are kept in memory; chosen."""

Neighbours = Sequence[Sequence[int]]
"""Numbers of the neighbours of each node, by the node's number."""


@lru_cache(KEPT_GRAPHS)
def sources_of_links(graph: NavigationGraph) -> Neighbours:
    """Return for each node the nodes with a link to it, for a search against the links' direction."""
    return _gather(len(graph), graph.target, _starts(graph))


@lru_cache(KEPT_GRAPHS)
def linked_nodes(graph: NavigationGraph) -> Neighbours:
    """Return for each node the nodes with a link to it or from it."""
    starts = _starts(graph)
    ends = np.concatenate([starts, graph.target]), np.concatenate([graph.target, starts])
    return _gather(len(graph), *ends)


def count_hops(
    neighbours: Neighbours, sources: Sequence[int], sought: Sequence[Sequence[int]]
) -> list[Floats]:
    """Return for each source the numbers of links to the nodes sought from it; `inf` where no way leads.

    Args:
        neighbours: nodes to which the search goes on from each node.
        sources: numbers of the nodes where searches start.
        sought: numbers of the nodes sought from each source.
    """
    return [_search(neighbours, source, nodes) for source, nodes in zip(sources, sought, strict=True)]


def _search(neighbours: Neighbours, source: int, sought: Sequence[int]) -> Floats:
    """Return the number of links from a node to each node sought; `inf` where no way leads."""
    depth = {source: 0}
    missing = set(sought) - {source}
    queue = [source]  # grows while it is read
    for here in queue if missing else ():
        for there in neighbours[here]:
            if there not in depth:
                depth[there] = depth[here] + 1
                queue.append(there)
                missing.discard(there)
        if not missing:
            break
    return np.array([depth.get(node, np.inf) for node in sought], float)


def _starts(graph: NavigationGraph) -> Ints:
    """Return the node that each link leaves, shape (links,)."""
    return np.repeat(np.arange(len(graph)), graph.degree)


def _gather(nodes: int, source: Ints, target: Ints) -> Neighbours:
    """Return for each node, 0 to `nodes` - 1, the `target` of every link whose `source` it is."""
    order = np.argsort(source, kind="stable")
    first = np.searchsorted(source[order], np.arange(1, nodes))
    return [group.tolist() for group in np.split(target[order], first)]


NO_WAY = -1
"""Value in place of a number of links, for a target to which no way leads."""


class Hops:
    """A table of the number of links from nodes to some targets, computed for a target on first use."""

    def __init__(self, graph: NavigationGraph, targets: Sequence[int]) -> None:
        """Prepare a table for a graph's nodes and `targets`, which are node numbers; compute nothing yet."""
        links = np.ones(len(graph.target)), (graph.target, _starts(graph))
        self._backward = csr_array(links, shape=(len(graph), len(graph)))
        self._targets = targets
        # Half the bytes of usual integers, as there is one for each pair of a target and a node.
        self._hops = np.empty((len(targets), len(graph)), np.int32)
        self._known = np.zeros(len(targets), bool)

    def __call__(self, nth: ArrayLike, node: ArrayLike) -> NDArray[np.int32]:
        """Return the number of links from each `node` to target `nth` (broadcast arrays), or `NO_WAY`."""
        nth = np.asarray(nth, np.intp)
        for missing in np.unique(nth[~self._known[nth]]):
            found = dijkstra(self._backward, indices=int(self._targets[missing]), unweighted=True)
            self._hops[missing] = np.where(np.isfinite(found), found, NO_WAY)
            self._known[missing] = True
        hops: NDArray[np.int32] = self._hops[nth, np.asarray(node, np.intp)]
        return hops
