"""Sidewalks and crossings that are walked because they join streets, or make ways much shorter."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from virl.geo import Flags, Ints
from virl.platform.providers.osm.network import WayNetwork

SHORTER_BY_M = 60.0  # that a shortcut saves at least, and half of the way around; chosen


def with_connections(network: WayNetwork, core: Flags, longest: float) -> Flags:
    """The stretches of a network's core, and those that join its parts to the largest one, shape (n,).

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
    return taken


@dataclass(frozen=True, slots=True)
class _Shortcut:
    """Stretches that lead from one junction of what is walked to another."""

    length: float
    start: int
    end: int
    stretches: tuple[int, ...]


def with_shortcuts(network: WayNetwork, taken: Flags, longest: float) -> Flags:
    """The stretches that are walked, and others that make a way less than half as long, shape (n,).

    Args:
        network: all that may be used.
        taken: which stretches are walked anyway, shape (n,).
        longest: metres of a shortcut, at most.
    """
    walked = taken.copy()
    graph = _graph(network, walked)
    for shortcut in sorted(
        _shortcuts(network, taken, longest), key=lambda one: (one.length, one.start, one.end)
    ):
        around = 2 * shortcut.length + SHORTER_BY_M
        metres = dijkstra(graph, directed=False, indices=shortcut.start, limit=around)
        if not np.isfinite(metres[shortcut.end]):
            walked[list(shortcut.stretches)] = True
            graph = _graph(network, walked)
    return walked


def _shortcuts(network: WayNetwork, taken: Flags, longest: float) -> list[_Shortcut]:
    """The ways over other stretches between two junctions of what is walked, without those worth nothing."""
    count = len(network.junctions)
    others = np.flatnonzero(~taken)
    inner, outer = np.zeros(count, bool), np.zeros(count, bool)
    inner[network.start[taken]] = inner[network.end[taken]] = True
    outer[network.start[others]] = outer[network.end[others]] = True
    contacts = np.flatnonzero(inner & outer)
    graph, beside = _graph(network, taken), _graph(network, ~taken)
    edge = _shortest_edges(network, others)
    found = []
    for start in contacts.tolist():
        metres, before = dijkstra(
            beside, directed=False, indices=start, limit=longest, return_predecessors=True
        )
        ends = contacts[(contacts > start) & np.isfinite(metres[contacts])]
        if not len(ends):
            continue
        around = dijkstra(graph, directed=False, indices=start, limit=2 * longest + SHORTER_BY_M)
        found += [
            _Shortcut(float(metres[end]), start, end, _stretches(edge, before, end))
            for end in ends[around[ends] > 2 * metres[ends] + SHORTER_BY_M].tolist()
        ]
    return found


def _stretches(edge: dict[tuple[int, int], int], before: Ints, end: int) -> tuple[int, ...]:
    stretches, at = [], end
    while before[at] >= 0:
        last = int(before[at])
        stretches.append(edge[min(at, last), max(at, last)])
        at = last
    return tuple(stretches)


def _graph(network: WayNetwork, kept: Flags) -> csr_array:
    """The metres between neighbouring junctions over some stretches, of several the shortest."""
    edge = _shortest_edges(network, np.flatnonzero(kept))
    pairs = np.array(list(edge), np.int64).reshape(-1, 2)
    metres = np.maximum(network.length[list(edge.values())], 1e-3)
    count = len(network.junctions)
    return coo_array((metres, (pairs[:, 0], pairs[:, 1])), shape=(count, count)).tocsr()


def _shortest_edges(network: WayNetwork, stretches: Ints) -> dict[tuple[int, int], int]:
    """The shortest stretch between each two junctions, the lower first."""
    edges: dict[tuple[int, int], int] = {}
    for stretch in stretches[np.argsort(-network.length[stretches], kind="stable")].tolist():
        one, other = int(network.start[stretch]), int(network.end[stretch])
        if one != other:
            edges[min(one, other), max(one, other)] = stretch
    return edges
