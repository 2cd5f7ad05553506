"""Tallies, metrics and their intervals, worked out by hand."""

import pytest

from benchmarks.counting.matching import Reported
from benchmarks.counting.tally import METRICS, CountTally, differences, metrics, tally
from virl.bench.statistics import wilson
from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.city import Thing

FRAME = LocalFrame(LatLng(51.5, -0.12))


def thing(name: str, x: float, kind: str = "bin") -> Thing:
    return Thing(name, kind, FRAME.position(x, 0.0))


def seen(x: float, shows: str | None, label: str = "bin") -> Reported:
    return Reported(label, FRAME.position(x, 0.0), (), shows)


def made(**numbers: int) -> CountTally:
    nothing = dict.fromkeys(CountTally.__dataclass_fields__, 0)
    return CountTally(**nothing | numbers)


def test_a_tally_by_hand() -> None:
    things = [thing("a", 0), thing("b", 100), thing("c", 200), thing("d", 300), thing("e", 400, "bench")]
    reported = [
        seen(1, "a"),  # right
        seen(3, "a"),  # a duplicate that lies near
        seen(130, "a"),  # a duplicate that lies elsewhere: false, but a repeat
        seen(201, "c"),  # right, though nobody had to see it
        seen(400, None, "bin"),  # a bench taken for a bin
    ]
    score = tally(reported, things, required={"a", "b", "e"}, sighted={"a", "c", "d"})
    assert score == made(
        reported=5,
        right=2,
        duplicates=1,
        required=3,
        found=1,
        miscount=3,  # four bins for two, no bench for one
        surplus=1,
        sighted=3,
        repeats=2,
        lost=1,  # d
    )


def test_metrics_are_ratios_of_sums_not_means_of_ratios() -> None:
    small = made(reported=1, right=1, required=1, found=1)
    large = made(reported=9, right=4, duplicates=1, required=19, found=4, miscount=6, surplus=-6)
    found = metrics([small, large])
    assert found["precision"].mean == pytest.approx(0.5)
    assert found["recall"].mean == pytest.approx(0.25)
    assert found["f1"].mean == pytest.approx(1 / 3)
    assert found["duplicates"].mean == pytest.approx(0.2)
    assert found["count_error"].mean == pytest.approx(0.3)
    assert found["count_bias"].mean == pytest.approx(-0.3)
    assert "repeats" not in found  # nothing was sighted


def test_intervals_come_from_resampling_walks() -> None:
    good, bad = (made(reported=2, right=right, required=2, found=right) for right in (2, 0))
    assert metrics([good] * 8)["precision"] == wilson(1.0, 8)
    mixed = metrics([good, bad] * 10)["precision"]
    assert mixed.mean == 0.5
    assert mixed.low == pytest.approx(0.3, abs=0.06)  # of 20 walks, 95 % of samples have 6 to 14 good ones
    assert mixed.high == pytest.approx(0.7, abs=0.06)


def test_differences_pair_the_walks() -> None:
    easy, hard = (made(reported=10, right=right, required=10, found=right) for right in (9, 3))
    easy_less, hard_less = (made(reported=10, right=right, required=10, found=right) for right in (8, 2))
    gap = differences([easy, hard] * 5, [easy_less, hard_less] * 5)["precision"]
    assert gap == pytest.approx((-0.1, -0.1, -0.1))
    apart = metrics([easy, hard] * 5)["precision"]
    assert apart.high - apart.low > 0.2


def test_every_metric_is_given_where_every_divisor_is_above_0() -> None:
    assert set(metrics([made(reported=1, right=1, required=1, found=1, sighted=1)])) == set(METRICS)
