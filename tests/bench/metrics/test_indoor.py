from dataclasses import asdict
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.bench.metrics.paths import score_indoor

# A corridor with nodes at 0, 2, 4, 6 and 8 m.
CORRIDOR = np.abs(np.subtract.outer(np.arange(0.0, 10.0, 2.0), np.arange(0.0, 10.0, 2.0)))
walks = st.lists(st.integers(0, 4), min_size=1, max_size=8)


def test_a_walk_that_goes_too_far_by_hand() -> None:
    score = score_indoor(CORRIDOR, walked=[0, 1, 2, 3, 4], gold=[0, 1, 2])
    assert score.trajectory_lengths == 8
    assert score.nav_error == 4
    assert score.oracle_error == 0
    assert (score.success, score.oracle_success, score.spl, score.SDTW) == (0, 1, 0, 0)
    assert score.nDTW == pytest.approx(exp(-(2 + 4) / (3 * 3)))
    assert pytest.approx(4 / (4 + abs(4 - 8))) == score.CLS


def test_a_walk_that_stops_short_by_hand() -> None:
    score = score_indoor(CORRIDOR, walked=[0, 1, 0, 1], gold=[0, 1, 2])
    assert score.trajectory_lengths == 6
    assert score.nav_error == 2
    assert (score.success, score.oracle_success) == (1, 1)
    assert score.spl == pytest.approx(4 / 6)
    assert score.nDTW == score.SDTW == pytest.approx(exp(-(0 + 0 + 2 + 0 + 2) / (3 * 3)), rel=1e-12)
    coverage = (1 + 1 + exp(-2 / 3)) / 3
    assert pytest.approx(coverage * (4 * coverage) / (4 * coverage + 6 - 4 * coverage)) == score.CLS


def test_success_is_closer_than_three_metres() -> None:
    three = np.array([[0.0, 3.0], [3.0, 0.0]])
    assert score_indoor(three, [0], [0, 1]).success == 0
    assert score_indoor(three - 1e-9 * (three > 0), [0], [0, 1]).success == 1


def test_nodes_that_are_not_linked_count_their_shortest_way() -> None:
    assert score_indoor(CORRIDOR, walked=[0, 3, 2], gold=[0, 1, 2]).trajectory_lengths == 8


@given(walks, walks)
def test_scores_are_in_range(walked: list[int], gold: list[int]) -> None:
    score = score_indoor(CORRIDOR, walked, gold)
    for share in (score.success, score.oracle_success, score.spl, score.nDTW, score.SDTW, score.CLS):
        assert 0 <= share <= 1
    assert 0 <= score.oracle_error <= score.nav_error <= 8
    assert score.success <= score.oracle_success
    assert score.spl <= score.success
    assert score.nDTW * score.success == score.SDTW


@given(st.integers(0, 4), st.integers(0, 4))
def test_the_gold_path_itself_scores_all(start: int, end: int) -> None:
    gold = list(range(start, end + 1)) or list(range(start, end - 1, -1))
    score = score_indoor(CORRIDOR, gold, gold)
    assert (score.success, score.oracle_success, score.nDTW, score.SDTW, score.CLS) == (1, 1, 1, 1, 1)
    assert score.spl == (1 if len(gold) > 1 else 0)  # a gold path of no length: 0, as published


@given(walks, walks)
def test_mirroring_the_building_changes_nothing(walked: list[int], gold: list[int]) -> None:
    mirrored = score_indoor(CORRIDOR, [4 - node for node in walked], [4 - node for node in gold])
    assert asdict(mirrored) == asdict(score_indoor(CORRIDOR, walked, gold))
