import json
from math import exp, inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import real_data

from virl.bench.metrics.paths import (
    kpa,
    kpa_published,
    path_of,
    score_paths,
    score_walks,
    shortest_path_distances,
    task_completion,
)
from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.providers.graph.touchdown import read_touchdown

#            7
#            |
#  0 -- 1 -- 2 -- 3 -- 4 -- 5      and one way only: 5 -> 8, 9 -> 0
#            |         |
#            6         10
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (2, 6), (2, 7), (4, 10)]
LINKS = [*PAIRS, *[(b, a) for a, b in PAIRS], (5, 8), (9, 0)]
GOLD = [0, 1, 2, 3, 4, 5]


@pytest.fixture(scope="module")
def graph() -> NavigationGraph:
    ids = [str(number) for number in range(11)]
    return build_graph(ids, np.linspace(40, 40.01, 11), np.zeros(11), *np.array(LINKS).T)


def test_task_completion_takes_neighbours_either_way(graph: NavigationGraph) -> None:
    assert task_completion(graph, 5, 5)
    assert task_completion(graph, 4, 5)
    assert task_completion(graph, 5, 8)
    assert task_completion(graph, 8, 5)
    assert not task_completion(graph, 3, 5)


@pytest.mark.slow
def test_spd_follows_the_direction_of_links(graph: NavigationGraph) -> None:
    ends, targets = [0, 9, 8, 5, 3, 0], [5, 5, 5, 8, 5, 9]
    assert shortest_path_distances(graph, ends, targets).tolist() == [5, 6, inf, 1, 2, inf]


# Key points of GOLD: the first step 0 -> 1, the intersections 2 -> 3 and 4 -> 5, and the target.
# Published items: 0, 1, 2 -> 3, 4 -> 5, and the target.
@pytest.mark.parametrize(
    ("walked", "by_paper", "published"),
    [
        (GOLD, 4 / 4, 5 / 5),
        ([0], 0 / 4, 0 / 5),
        ([0, 1], 1 / 4, 2 / 5),
        ([0, 1, 2, 7], 1 / 4, 2 / 5),
        ([0, 1, 2, 3, 4], 3 / 4, 4 / 5),  # ends beside the target
        ([0, 1, 2, 3, 4, 10], 2 / 4, 3 / 5),
        ([0, 1, 2, 7, 2, 3, 4, 5], 4 / 4, 5 / 5),  # went back and corrected
        ([0, 0, 1, 1, 2, 2, 6, 6], 1 / 4, 2 / 5),  # turns on the spot make no difference
    ],
)
def test_key_points_by_hand(
    graph: NavigationGraph, walked: list[int], by_paper: float, published: float
) -> None:
    assert kpa(graph, walked, GOLD) == by_paper
    assert kpa_published(graph, walked, GOLD) == published


def test_the_free_point_of_the_published_code(graph: NavigationGraph) -> None:
    """From 3 to 0, a first step to the wrong side still has the start right."""
    gold, wrong = [3, 2, 1, 0], [3, 4, 10]
    assert kpa_published(graph, wrong, gold) == 1 / 4  # of 3, 2, 2 -> 1 and the target
    assert kpa(graph, wrong, gold) == 0


def test_a_target_where_one_stands(graph: NavigationGraph) -> None:
    assert kpa(graph, [3], [3]) == kpa_published(graph, [3], [3]) == 1
    assert kpa(graph, [3, 2, 1], [3]) == kpa_published(graph, [3, 2, 1], [3]) == 0


def test_an_intersection_that_is_passed_twice_counts_twice(graph: NavigationGraph) -> None:
    gold = [1, 2, 6, 2, 7]
    assert kpa(graph, [1, 2, 7], gold) == 3 / 4  # 1 -> 2, 2 -> 7 and the target, but not 2 -> 6
    assert kpa(graph, [1, 2, 6], gold) == 2 / 4


def test_path_likeness_by_hand(graph: NavigationGraph) -> None:
    # Walked 0, 1, 2, 7; gold 0, 1, 2, 3: the ends are two links apart, all else is the same.
    [score] = score_paths(graph, [([0, 1, 1, 2, 7], [0, 1, 2, 3])])
    assert score.nDTW == pytest.approx(exp(-2 / (4 * 2)))
    assert score.SDTW == 0
    coverage = (3 + exp(-1 / 2)) / 4  # 3 is one link from 2
    expected = coverage * 3
    assert pytest.approx(coverage * expected / (expected + abs(expected - 3))) == score.CLS


def test_likeness_counts_success_beside_the_target(graph: NavigationGraph) -> None:
    [score] = score_paths(graph, [([0, 1, 2], [0, 1, 2, 3])])
    assert score.SDTW == score.nDTW == pytest.approx(exp(-1 / (4 * 2)))


@st.composite
def walks(draw: st.DrawFn) -> list[int]:
    """Any way along the links."""
    path = [draw(st.integers(0, 10))]
    for choice in draw(st.lists(st.integers(0, 3), max_size=12)):
        onward = [there for here, there in LINKS if here == path[-1]]
        if onward:
            path.append(onward[choice % len(onward)])
    return path


@pytest.mark.slow
@given(walks(), walks())
def test_all_scores_are_in_range_and_as_by_single_functions(walked: list[int], gold: list[int]) -> None:
    network = build_graph(
        [str(number) for number in range(11)], np.linspace(40, 40.01, 11), np.zeros(11), *np.array(LINKS).T
    )
    [score], [likeness] = score_walks(network, [(walked, gold)]), score_paths(network, [(walked, gold)])
    assert score.tc == task_completion(network, walked[-1], gold[-1])
    assert score.kpa == kpa(network, walked, gold)
    assert score.kpa_published == kpa_published(network, walked, gold)
    for value in (score.kpa, score.kpa_published, likeness.nDTW, likeness.SDTW, likeness.CLS):
        assert 0 <= value <= 1
    assert score.spd >= 0
    assert (score.spd == 0) == (walked[-1] == gold[-1])
    assert score.spd > 1 or score.tc == 1


@given(walks(), st.integers(0, 5))
def test_the_gold_path_itself_scores_all(gold: list[int], turns: int) -> None:
    network = build_graph(
        [str(number) for number in range(11)], np.linspace(40, 40.01, 11), np.zeros(11), *np.array(LINKS).T
    )
    walked = [node for node in gold for _ in range(turns + 1)]
    [score], [likeness] = score_walks(network, [(walked, gold)]), score_paths(network, [(walked, gold)])
    assert (score.tc, score.spd, score.kpa, score.kpa_published) == (1, 0, 1, 1)
    assert (likeness.nDTW, likeness.SDTW, likeness.CLS) == pytest.approx((1, 1, 1))


def test_path_of_drops_repetitions_only() -> None:
    assert path_of([1, 1, 2, 1, 1, 3, 3]) == [1, 2, 1, 3]


@pytest.fixture(scope="module")
def manhattan() -> NavigationGraph:
    return read_touchdown(real_data("touchdown") / "graph")


def gold_paths(folder: Path, dataset: str, graph: NavigationGraph) -> dict[str, list[int]]:
    lines = (folder / f"{dataset}_unseen" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines]
    key = "route_id" if dataset == "touchdown" else "id"
    return {str(item[key]): [graph.number(node) for node in item["route_panoids"]] for item in items}


@pytest.mark.parametrize("dataset", ["map2seq", "touchdown"])
def test_scores_equal_the_published_code(manhattan: NavigationGraph, dataset: str) -> None:
    folder = real_data("touchdown")
    gold = gold_paths(folder, dataset, manhattan)
    for agent in ("forward", "random"):
        file = folder / "expected" / f"baseline_{agent}_{dataset}_unseen_dev.json"
        expected = json.loads(file.read_text(encoding="utf-8"))
        walked = [
            ([manhattan.number(node) for node in item["pano_path"]], gold[str(item["id"])])
            for item in expected["instances"]
        ]
        scores = score_walks(manhattan, walked)
        ours = np.array([(score.tc, score.spd, score.kpa_published) for score in scores])
        theirs = np.array(
            [[item["metrics"][key] for key in ("tc", "spd", "kpa")] for item in expected["instances"]]
        )
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
        whole = [expected[key] for key in ("tc", "spd", "kpa")]
        np.testing.assert_allclose(ours.mean(axis=0) * [100, 1, 100], whole, rtol=0, atol=1e-9)
        assert all(score.kpa <= 1 for score in scores)


@pytest.mark.parametrize("dataset", ["map2seq", "touchdown"])
def test_gold_replay_is_perfect(manhattan: NavigationGraph, dataset: str) -> None:
    paths = gold_paths(real_data("touchdown"), dataset, manhattan)
    walked = [(path, path) for path in paths.values()]
    scores = score_walks(manhattan, walked)
    assert len(scores) == 800
    assert {(score.tc, score.spd, score.kpa, score.kpa_published) for score in scores} == {(1, 0, 1, 1)}
