import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from virl.errors import BadInput
from virl.narrate.narration import align_drawing, read_points

EXACT = np.array([[0, 0], [80, 0], [80, 60], [120, 60]], float)


@given(st.floats(-180, 180), st.floats(-1000, 1000), st.floats(-1000, 1000))
def test_where_a_drawing_lies_and_how_it_is_turned_does_not_matter(angle, x, y):
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    drawn = EXACT @ np.array([[cos, -sin], [sin, cos]]) + (x, y)
    laid = align_drawing(drawn, EXACT)
    assert laid.mean_error_m < 1e-6
    assert laid.scale == pytest.approx(1)
    assert laid.points == pytest.approx(EXACT, abs=1e-6)


def test_a_drawing_that_takes_left_for_right_stays_wrong():
    assert align_drawing(EXACT * (1, -1), EXACT).mean_error_m > 20


def test_a_drawing_of_half_the_size_says_so():
    laid = align_drawing(EXACT / 2, EXACT)
    assert laid.scale == pytest.approx(2)
    middle = EXACT.mean(axis=0)
    assert laid.mean_error_m == pytest.approx(np.linalg.norm((EXACT - middle) / 2, axis=1).mean())


def test_the_error_is_the_mean_distance():
    exact = np.array([[0, 0], [10, 0]], float)
    assert align_drawing(np.array([[0, 0], [14, 0]], float), exact).mean_error_m == pytest.approx(2)


def test_a_drawing_without_extent_is_laid_on_the_middle():
    laid = align_drawing(np.zeros((4, 2)), EXACT)
    assert laid.points == pytest.approx(np.tile(EXACT.mean(axis=0), (4, 1)))


@example([(0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 2.2250738585e-313)])
@given(st.lists(st.tuples(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5)), min_size=4, max_size=4))
def test_no_move_or_turn_fits_better(points):
    drawn = np.array(points)
    best = align_drawing(drawn, EXACT).points
    for degrees in (-3, 3):
        turn = np.exp(1j * np.radians(degrees))
        centre = best.mean(axis=0)
        turned = (best - centre) @ np.array([1, 1j]) * turn
        other = np.stack([turned.real, turned.imag], axis=1) + centre
        assert ((best - EXACT) ** 2).sum() <= ((other - EXACT) ** 2).sum() * (1 + 1e-9) + 1e-6


@pytest.mark.parametrize(
    "text",
    [
        "[[0, 0], [1.5, -2]]",
        "```json\n[[0, 0], [1.5, -2]]\n```",
        "Here you go:\n```\n[[0,0],\n[1.5,-2.0]]\n```\nEnjoy [x].",
        "Points: [[0, 0], [1.5, -2]].",
    ],
)
def test_points_are_read_from_what_models_send(text):
    assert read_points(text, 2).tolist() == [[0, 0], [1.5, -2]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "JSON list"),
        ("import os; os.system('x')", "JSON list"),
        ("[[0, 0], [1]]", "JSON list"),
        ("[[0, 0], [1, 2, 3]]", "JSON list"),
        ("[[0, 0], [1, NaN]]", "JSON list"),
        ('[[0, 0], [1, "two"]]', "JSON list"),
        ("[[0, 0], [1, 1e9]]", "farther"),
        ("[[0, 0]]", "1 points where the history has 2"),
        ("[]", "0 points"),
        ("[" * 5000, "JSON list"),
    ],
)
def test_anything_else_is_refused_with_the_reason(text, words):
    with pytest.raises(BadInput, match=words):
        read_points(text, 2)


def test_numbers_are_only_read():
    assert json.loads(json.dumps(read_points("[[0, 0]]", 1).tolist())) == [[0, 0]]
