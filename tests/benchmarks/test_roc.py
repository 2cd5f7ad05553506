"""The ROC of matches: its area and thresholds, and the drawing."""

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.perf.roc import FALSE_RATE, Curve, Scores, draw_roc

COUNTS = st.lists(st.integers(0, 60), min_size=1, max_size=30)


def scores(same: list[int], other: list[int]) -> Scores:
    return Scores(np.array(same, float), np.array(other, float))


@pytest.mark.slow
@given(same=COUNTS, other=COUNTS)
def test_the_area_is_that_under_the_curve(same: list[int], other: list[int]) -> None:
    one = scores(same, other)
    false, true = one.curve().T
    assert one.area == pytest.approx(float(np.trapezoid(true, false)))
    assert (np.diff(false) >= 0).all()
    assert (np.diff(true) >= 0).all()


@pytest.mark.slow
@given(same=COUNTS, other=COUNTS)
def test_the_threshold_is_the_lowest_that_is_strict_enough(same: list[int], other: list[int]) -> None:
    one = scores(same, other)
    assert one.rates(one.threshold)[1] <= FALSE_RATE
    assert one.threshold == 1 or one.rates(one.threshold - 1)[1] > FALSE_RATE


def test_the_drawing_marks_each_threshold_where_its_rates_are(tmp_path: Path) -> None:
    one = scores([5, 20, 30, 40], [1, 2, 3, 25])
    file = tmp_path / "new" / "roc.svg"
    draw_roc([Curve("first <one>", one, 22), Curve("second", one, 4)], file)
    svg = ET.parse(file).getroot()  # noqa: S314 - written above
    marks = [(float(mark.get("cx", 0)), float(mark.get("cy", 0))) for mark in svg.findall(".//{*}circle")]
    (first_x, first_y), (second_x, second_y) = marks
    assert first_x == second_x  # both let a quarter of the others pass
    assert first_y - second_y == pytest.approx(360 / 2)  # half of the same, and all of them
    texts = [text.text or "" for text in svg.findall(".//{*}text")]
    assert any(text.startswith(f"first <one>: area {one.area:.3f}") for text in texts)
    assert len(svg.findall(".//{*}polyline")) == 2
