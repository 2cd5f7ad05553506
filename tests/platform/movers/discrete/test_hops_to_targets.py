from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_crossings import any_streets, streets

from virl.platform.city.graph import NavigationGraph
from virl.platform.city.hops import NO_WAY, Hops


def by_breadth(graph: NavigationGraph, source: int, target: int) -> int:
    """Links from one node to another by a plain search forward."""
    queue, seen = deque([(source, 0)]), {source}
    while queue:
        node, far = queue.popleft()
        if node == target:
            return far
        for onward in graph.target[graph.links(node)].tolist():
            if onward not in seen:
                seen.add(onward)
                queue.append((onward, far + 1))
    return NO_WAY


@pytest.mark.slow
@given(any_streets(), st.data())
def test_links_are_counted_along_the_fewest(graph: NavigationGraph, data: st.DataObject) -> None:
    targets = data.draw(st.lists(st.integers(0, len(graph) - 1), min_size=1, max_size=4))
    hops = Hops(graph, targets)
    for nth, target in enumerate(targets):
        expected = [by_breadth(graph, node, target) for node in range(len(graph))]
        assert hops(nth, np.arange(len(graph))).tolist() == expected


def test_pairs_of_target_and_node_broadcast() -> None:
    graph = streets({"a": {"b": 90.0}, "b": {"c": 90.0}, "c": {}})
    hops = Hops(graph, [2, 0])
    assert hops([[0], [1]], [0, 1, 2]).tolist() == [[2, 1, 0], [0, NO_WAY, NO_WAY]]
    assert hops([], []).shape == (0,)
