from math import exp, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.bench.metrics.paths import cls, dtw, ndtw, sdtw, success_weighted_path_length

places = st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=1, max_size=8)


def between(walked: list, gold: list) -> np.ndarray:
    return np.linalg.norm(np.array(walked, float)[:, None] - np.array(gold, float)[None], axis=-1)


def length(path: list) -> float:
    return float(np.linalg.norm(np.diff(np.array(path, float), axis=0), axis=1).sum())


def test_dtw_by_hand() -> None:
    # A walk at 0, 2, 4 beside a gold path at 0, 1, 2, 3 on a line.
    #         0  1  2  3      cheapest sums: 0  1  3  6
    #   0     0  1  2  3                     2  1  1  2
    #   2     2  1  0  1                     6  4  3  2
    #   4     4  3  2  1
    distances = np.array([[0, 1, 2, 3], [2, 1, 0, 1], [4, 3, 2, 1]], float)
    assert dtw(distances) == 2
    assert ndtw(distances, 3.0) == pytest.approx(exp(-2 / (4 * 3)))
    assert sdtw(distances, 3.0, True) == pytest.approx(exp(-1 / 6))
    assert sdtw(distances, 3.0, False) == 0


def test_cls_by_hand() -> None:
    # Gold 0, 3, 6 and a walk 0, 3, 0: the last gold node is 3 away from the nearest one walked.
    distances = np.array([[0, 3, 6], [3, 0, 3], [0, 3, 6]], float)
    coverage = (1 + 1 + exp(-3 / 3)) / 3
    expected = coverage * 6
    score = expected / (expected + abs(expected - 6))
    assert cls(distances, 3.0, walked_length=6, gold_length=6) == pytest.approx(coverage * score)


def test_standing_still_where_one_should() -> None:
    assert cls(np.zeros((1, 1)), 3.0, 0.0, 0.0) == 1
    assert ndtw(np.zeros((1, 1)), 3.0) == 1


def test_no_way_between_walk_and_gold_scores_nothing() -> None:
    distances = np.full((2, 2), inf)
    assert ndtw(distances, 3.0) == 0
    assert cls(distances, 3.0, 5.0, 5.0) == 0


@given(places)
def test_the_gold_path_itself_scores_one(path: list) -> None:
    distances = between(path, path)
    assert ndtw(distances, 3.0) == 1
    assert cls(distances, 3.0, length(path), length(path)) == pytest.approx(1)


@pytest.mark.slow
@given(places, places)
def test_scores_are_between_nothing_and_all(walked: list, gold: list) -> None:
    distances = between(walked, gold)
    for score in (ndtw(distances, 3.0), cls(distances, 3.0, length(walked), length(gold))):
        assert 0 <= score <= 1


@pytest.mark.slow
@given(places, places, st.floats(-180, 180), st.floats(-100, 100))
def test_turning_and_moving_both_paths_changes_nothing(
    walked: list, gold: list, turn: float, shift: float
) -> None:
    angle = np.radians(turn)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = [(np.array(path) @ rotation + shift).tolist() for path in (walked, gold)]
    assert dtw(between(*moved)) == pytest.approx(dtw(between(walked, gold)), abs=1e-6)


@given(places, places)
def test_dtw_is_the_same_from_either_side_and_backward(walked: list, gold: list) -> None:
    distances = between(walked, gold)
    assert dtw(distances.T) == pytest.approx(dtw(distances))
    assert dtw(distances[::-1, ::-1]) == pytest.approx(dtw(distances))


@given(places, places, st.floats(0.5, 10))
def test_units_do_not_matter(walked: list, gold: list, scale: float) -> None:
    distances, lengths = between(walked, gold), (length(walked), length(gold))
    assert ndtw(distances * scale, 3 * scale) == pytest.approx(ndtw(distances, 3.0))
    scaled = cls(distances * scale, 3 * scale, *(scale * metres for metres in lengths))
    assert scaled == pytest.approx(cls(distances, 3.0, *lengths))


@pytest.mark.parametrize(
    ("success", "walked", "shortest", "expected"),
    [
        (True, 100, 100, 1.0),
        (True, 200, 100, 0.5),
        (True, 50, 100, 1.0),  # no longer than the way that was measured as shortest
        (False, 100, 100, 0.0),
        (True, 0, 0, 1.0),
    ],
)
def test_spl_by_hand(success: bool, walked: float, shortest: float, expected: float) -> None:
    assert success_weighted_path_length(success, walked, shortest) == expected


@given(st.floats(0, 1e4), st.floats(0, 1e4))
def test_spl_is_between_nothing_and_all(walked: float, shortest: float) -> None:
    assert 0 <= success_weighted_path_length(True, walked, shortest) <= 1
