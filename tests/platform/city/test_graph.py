import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.errors import BadInput, NoRoute, NoStreetView
from virl.geo.globe import LatLng, bearing, destination, distance
from virl.platform.city.graph import NavigationGraph, build_graph, panorama_at

HOME = LatLng(41.25, -38.75)


def graph_of(count: int, links: list[tuple[int, int, float]]) -> NavigationGraph:
    """Nodes on a line eastward, 10 m apart, with links of the lengths given."""
    positions = [destination(HOME, 90.0, 10.0 * node) for node in range(count)]
    source, target, length = zip(*links, strict=True) if links else ((), (), ())
    lat, lng = zip(*positions, strict=True)
    return build_graph([f"n{node}" for node in range(count)], lat, lng, source, target, length=length)


def brute_force(count: int, links: list[tuple[int, int, float]]) -> np.ndarray:
    """All distances by trying every node as a stopover (Floyd and Warshall)."""
    table = np.full((count, count), np.inf)
    np.fill_diagonal(table, 0.0)
    for source, target, length in links:
        table[source, target] = min(table[source, target], length)
    for over, source, target in itertools.product(range(count), repeat=3):
        table[source, target] = min(table[source, target], table[source, over] + table[over, target])
    return table


@st.composite
def small_graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, float]]]:
    count = draw(st.integers(1, 7))
    node = st.integers(0, count - 1)
    length = st.integers(0, 50).map(float)
    return count, draw(st.lists(st.tuples(node, node, length), max_size=25))


@pytest.mark.slow
@given(small_graphs())
def test_distances_agree_with_brute_force(drawn: tuple[int, list[tuple[int, int, float]]]) -> None:
    count, links = drawn
    found = graph_of(count, links).distances_from(range(count))
    np.testing.assert_array_equal(found, brute_force(count, links))


@pytest.mark.slow
@given(small_graphs(), st.data())
def test_a_path_follows_links_and_has_the_length_it_says(
    drawn: tuple[int, list[tuple[int, int, float]]], data: st.DataObject
) -> None:
    count, links = drawn
    source, target = (data.draw(st.integers(0, count - 1)) for _ in range(2))
    graph, expected = graph_of(count, links), brute_force(count, links)[source, target]
    if not np.isfinite(expected):
        with pytest.raises(NoRoute, match=f"n{source} to n{target}"):
            graph.shortest_path(source, target)
        return
    path, length = graph.shortest_path(source, target)
    assert (path[0], path[-1], length) == (source, target, expected)
    lightest = {(a, b): min(c for x, y, c in links if (x, y) == (a, b)) for a, b, _ in links}
    assert sum(lightest[step] for step in itertools.pairwise(path)) == expected


def test_no_sources_give_no_rows() -> None:
    assert graph_of(3, [(0, 1, 1.0)]).distances_from([]).shape == (0, 3)


def test_links_default_to_straight_lines_and_keep_their_source() -> None:
    corner = [HOME, destination(HOME, 10.0, 30.0), destination(HOME, 100.0, 40.0)]
    lat, lng = zip(*corner, strict=True)
    graph = build_graph(["home", "north", "east"], lat, lng, source=[2, 0, 1, 0], target=[1, 1, 0, 2])
    home = graph.links(graph.number("home"))
    assert graph.target[home].tolist() == [1, 2]
    assert graph.heading[home] == pytest.approx([10.0, 100.0], abs=0.01)
    assert graph.length[home] == pytest.approx([30.0, 40.0], rel=1e-3)
    last = graph.links(2)
    # Arrays and single numbers go through different instructions on some processors: the last bit may differ.
    assert graph.heading[last] == pytest.approx([bearing(corner[2], corner[1])], rel=1e-12)
    assert graph.length[last] == pytest.approx([distance(corner[2], corner[1])], rel=1e-12)
    assert graph.degree.tolist() == [2, 1, 1]


def test_searches_leave_the_arrays_as_they_are() -> None:
    links = [(0, 2, 5.0), (0, 1, 5.0), (0, 2, 3.0), (2, 0, 0.0), (1, 2, 4.0)]
    graph = graph_of(3, links)
    before = [array.copy() for array in (graph.first, graph.target, graph.length)]
    for _ in range(2):
        graph.distances_from([0, 1])
        graph.shortest_path(0, 2)
    for kept, array in zip(before, (graph.first, graph.target, graph.length), strict=True):
        np.testing.assert_array_equal(kept, array)
    assert graph.target[graph.links(0)].tolist() == [2, 1, 2]


def test_a_node_as_a_panorama() -> None:
    graph = replace(graph_of(3, [(0, 2, 25.0), (0, 1, 10.0)]), yaw=np.array([45.0, np.nan, 0.0]))
    panorama = panorama_at(graph, 0, "2026-05")
    assert (panorama.id, panorama.position, panorama.heading) == ("n0", graph.position(0), 45.0)
    assert [(link.pano_id, link.distance) for link in panorama.links] == [("n2", 25.0), ("n1", 10.0)]
    assert [link.heading for link in panorama.links] == pytest.approx([90.0, 90.0], abs=1e-3)
    assert panorama.date == "2026-05"
    assert (panorama_at(graph, 1).links, panorama_at(graph, 1).heading) == ((), 0.0)


def test_given_headings_are_kept_and_brought_into_range() -> None:
    graph = build_graph(["a", "b"], [0.0, 0.0], [0.0, 1e-4], [0, 1], [1, 0], heading=[-90.0, 360.0])
    assert graph.heading.tolist() == [270.0, 0.0]


@given(st.floats(-180, 180), st.floats(0, 400))
def test_nearest_is_the_node_with_the_least_distance(heading: float, metres: float) -> None:
    graph = graph_of(6, [])
    position = destination(HOME, heading, metres)
    node, gap = graph.nearest(position)
    gaps = [distance(position, graph.position(other)) for other in range(6)]
    assert gap == gaps[node]
    assert gap == pytest.approx(min(gaps), rel=2e-3)


def test_unknown_ids_and_broken_graphs_are_refused() -> None:
    with pytest.raises(NoStreetView, match="'nowhere'"):
        graph_of(2, []).number("nowhere")
    with pytest.raises(BadInput, match="finite"):
        graph_of(2, []).nearest(LatLng(float("nan"), 0.0))
    with pytest.raises(BadInput, match="at least one node"):
        build_graph([], [], [], [], [])
    with pytest.raises(BadInput, match="'a' is repeated"):
        build_graph(["a", "a"], [0, 0], [0, 1], [], [])
    with pytest.raises(BadInput, match="leads to no node: there are 2"):
        build_graph(["a", "b"], [0, 0], [0, 1], [0], [2])
    with pytest.raises(BadInput, match="negative length"):
        build_graph(["a", "b"], [0, 0], [0, 1], [0], [1], length=[-1.0])
