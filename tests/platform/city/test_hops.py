import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.city.hops import count_hops, linked_nodes, sources_of_links

NODES = 12
links = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=30, unique=True)
node = st.integers(0, NODES - 1)
searches = st.lists(st.tuples(node, st.lists(node, max_size=5)), max_size=5)


def graph_of(pairs: list[tuple[int, int]]) -> NavigationGraph:
    ids = [str(number) for number in range(NODES)]
    return build_graph(
        ids, np.linspace(40, 40.01, NODES), np.zeros(NODES), *np.array(pairs, int).reshape(-1, 2).T
    )


def scipy_hops(pairs: list[tuple[int, int]], *, directed: bool) -> np.ndarray:
    matrix = csr_array((np.ones(len(pairs)), np.array(pairs, int).reshape(-1, 2).T), shape=(NODES, NODES))
    return shortest_path(matrix, directed=directed, unweighted=True)


@pytest.mark.slow
@given(links, searches)
def test_hops_along_links_taken_two_way_are_those_of_scipy(pairs: list, asked: list) -> None:
    expected = scipy_hops(pairs, directed=False)
    hops = count_hops(linked_nodes(graph_of(pairs)), [source for source, _ in asked], [to for _, to in asked])
    assert len(hops) == len(asked)
    for (source, sought), numbers in zip(asked, hops, strict=True):
        assert numbers.tolist() == expected[source, sought].tolist()


@pytest.mark.slow
@given(links, searches)
def test_a_search_along_sources_runs_backward(pairs: list, asked: list) -> None:
    expected = scipy_hops(pairs, directed=True)
    hops = count_hops(
        sources_of_links(graph_of(pairs)), [source for source, _ in asked], [to for _, to in asked]
    )
    for (target, starts), numbers in zip(asked, hops, strict=True):
        assert numbers.tolist() == expected[starts, target].tolist()
