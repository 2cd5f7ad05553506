from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virl.errors import BadInput
from virl.geo.globe import Floats, LatLng, LocalFrame
from virl.platform.navigators import region
from virl.platform.navigators.region import nearest_neighbour, path_length, shortest_tour

FRAME = LocalFrame(LatLng(40.78, -73.96))
NEAR_OPTIMAL = 1e-4  # of the largest distance, for each hop: what rounding to 1/65535 may cost


def positions(points: Floats) -> list[LatLng]:
    lat, lng = FRAME.to_degrees(points[:, 0], points[:, 1])
    return list(map(LatLng, lat.tolist(), lng.tolist()))


def length(points: Floats, order: list[int]) -> float:
    return sum(float(np.hypot(*(points[a] - points[b]))) for a, b in pairwise(order))


def shortest_length(points: Floats) -> float:
    """Of all paths from point 0, by trying them all."""
    rest = range(1, len(points))
    return min(length(points, [0, *order]) for order in permutations(rest))


def random_points(count: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).random((count, 2)) * 25 * float(np.sqrt(count))


metres = st.integers(-3000, 3000)


@settings(max_examples=40)
@given(st.lists(st.tuples(metres, metres), min_size=1, max_size=7))
def test_few_positions_get_the_shortest_path(points: list[tuple[int, int]]) -> None:
    xy = np.array(points, float)
    order = shortest_tour(positions(xy))
    assert order[0] == 0
    assert sorted(order) == list(range(len(points)))
    slack = NEAR_OPTIMAL * len(points) * float(np.hypot(*np.ptp(xy, axis=0)))
    assert length(xy, order) <= shortest_length(xy) + slack


def held_karp(points: Floats) -> float:
    """The length of the shortest path from point 0, by dynamic programming over subsets."""
    away = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    count = len(points)
    best = {(1, 0): 0.0}
    for _ in range(count - 1):
        longer: dict[tuple[int, int], float] = {}
        for (visited, last), metres in best.items():
            for point in range(count):
                if not visited >> point & 1:
                    key = visited | 1 << point, point
                    longer[key] = min(longer.get(key, np.inf), metres + away[last, point])
        best = longer
    return min(best.values())


@pytest.mark.parametrize("seed", range(3))
def test_twelve_positions_too(seed: int) -> None:
    xy = random_points(12, seed)
    assert length(xy, shortest_tour(positions(xy))) == pytest.approx(held_karp(xy), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("count", [25, 60])
def test_a_search_beats_nearest_neighbour_and_visits_each_once(count: int) -> None:
    xy = random_points(count)
    order = shortest_tour(positions(xy), seconds=0.3)
    assert order[0] == 0
    assert sorted(order) == list(range(count))
    assert length(xy, order) < path_length(xy, nearest_neighbour(xy))


@settings(max_examples=15)
@given(st.lists(st.tuples(metres, metres), min_size=21, max_size=40), st.sampled_from([0.001, 0.02]))
def test_never_worse_than_nearest_neighbour(points: list[tuple[int, int]], seconds: float) -> None:
    xy = np.array(points, float)
    order = shortest_tour(positions(xy), seconds)
    assert order[0] == 0
    assert sorted(order) == list(range(len(points)))
    assert length(xy, order) <= path_length(xy, nearest_neighbour(xy)) * (1 + 1e-6)


def test_no_position_one_and_two() -> None:
    xy = random_points(2)
    assert [shortest_tour(positions(xy[:count])) for count in (0, 1, 2)] == [[], [0], [0, 1]]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_search_takes_time(seconds: float) -> None:
    with pytest.raises(BadInput, match="seconds"):
        shortest_tour(positions(random_points(5)), seconds)


@pytest.mark.parametrize("count", [5, 30])
def test_positions_that_are_all_the_same(count: int) -> None:
    order = shortest_tour([LatLng(1.0, 2.0)] * count, seconds=0.1)
    assert order[0] == 0
    assert sorted(order) == list(range(count))


@pytest.mark.slow
def test_duplicates_cost_nothing() -> None:
    xy = random_points(10)
    once, twice = (shortest_tour(positions(points)) for points in (xy, np.repeat(xy, 2, axis=0)))
    doubled = length(np.repeat(xy, 2, axis=0), twice)
    assert doubled == pytest.approx(length(xy, once), rel=1e-3)


@pytest.mark.slow
def test_on_a_line_it_goes_to_the_nearer_end_first() -> None:
    x = np.array([0.0, *range(-300, 0, 30), *range(30, 900, 30)])
    xy = np.stack([x, 0 * x], axis=1)
    order = shortest_tour(positions(xy), seconds=0.3)
    assert length(xy, order) == pytest.approx(300 + 300 + 870, rel=1e-3)


@pytest.mark.slow
def test_the_path_is_open_and_not_a_round_trip() -> None:
    x = np.arange(0, 1000, 25.0)
    xy = np.stack([x, 0 * x], axis=1)
    assert shortest_tour(positions(xy), seconds=0.3) == list(range(len(xy)))


def test_the_antimeridian_is_no_wall() -> None:
    along = [LatLng(-17.0, lng) for lng in (179.9990, 179.9995, -179.9995, -179.9990)]
    assert shortest_tour([along[0], along[2], along[1], along[3]]) == [0, 2, 1, 3]


@pytest.mark.slow
def test_too_many_for_one_matrix_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    xy = random_points(900)
    whole = length(xy, shortest_tour(positions(xy), seconds=1.5))
    monkeypatch.setattr(region, "MAX_TOGETHER", 120)
    order = shortest_tour(positions(xy), seconds=1.5)
    assert order[0] == 0
    assert sorted(order) == list(range(900))
    assert length(xy, order) < 1.12 * whole


def test_nearest_neighbour_takes_the_first_of_equals() -> None:
    xy = np.array([(0, 0), (0, 10), (10, 0), (0, -1), (0, 10)], float)
    assert nearest_neighbour(xy).tolist() == [0, 3, 2, 1, 4]
