from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from virl.bench.benchmark import Tally
from virl.bench.statistics import compare, estimate, estimate_groups, mean_with_interval, wilson

SHARES = st.floats(0, 1).map(lambda value: round(value, 3))


def plain(values: list[float]) -> list[Tally]:
    return [Tally(f"u{number:03}", value) for number, value in enumerate(values)]


def test_a_mean_over_types_counts_each_type_once() -> None:
    # 3 of 4 bars, 0 of 1 banks, a place that is both: bar 3/5 + ..., worked by hand
    tallies = [Tally(f"bar{i}", float(i < 3), group="bar") for i in range(4)]
    tallies += [Tally("bank", 0.0, group="bank")]
    tallies += [Tally("both", 1.0, group="bar"), Tally("both", 1.0, group="bank")]
    found = estimate(tallies)
    assert found is not None
    assert found.mean == pytest.approx((4 / 5 + 1 / 2) / 2)
    assert {name: value.mean for name, value in estimate_groups(tallies).items()} == pytest.approx(
        {"bar": 4 / 5, "bank": 1 / 2}
    )


def test_weights_of_many_labels_are_spread() -> None:
    # recognition: a right picture of two types (1/2 each) and a wrong one of a single type
    tallies = [Tally("a", 0.5, 0.5, "x"), Tally("a", 0.5, 0.5, "y"), Tally("b", 0.0, 1.0, "x")]
    found = estimate(tallies)
    assert found is not None
    assert found.mean == pytest.approx((0.5 / 1.5 + 1.0) / 2)


def test_a_ratio_is_of_sums() -> None:
    found = estimate([Tally("a", 1, 4), Tally("b", 2, 2)])
    assert found is not None
    assert found.mean == pytest.approx(3 / 6)


@pytest.mark.parametrize("tallies", [[], [Tally("a", 0.0, 0.0)]])
def test_nothing_to_average_has_no_value(tallies: list[Tally]) -> None:
    assert estimate(tallies) is None
    assert compare(tallies, tallies) is None


@settings(max_examples=25)
@given(st.lists(SHARES, min_size=1, max_size=30))
def test_the_interval_holds_the_mean_and_lies_within_the_values(values: list[float]) -> None:
    found = estimate(plain(values))
    assert found is not None
    assert found.mean == pytest.approx(np.mean(values))
    assert min(values) - 1e-9 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= max(values) + 1e-9


def test_the_interval_is_as_wide_as_theory_says() -> None:
    found = estimate(plain([1.0] * 60 + [0.0] * 40))
    assert found is not None
    half = 1.96 * np.sqrt(0.6 * 0.4 / 100)
    assert found.low == pytest.approx(0.6 - half, abs=0.015)
    assert found.high == pytest.approx(0.6 + half, abs=0.015)


def test_units_are_drawn_whole() -> None:
    """Ten tallies of one unit are no more certain than one."""
    one = [Tally(f"u{i}", float(i % 2)) for i in range(20)]
    ten = [Tally(f"u{i}", float(i % 2)) for i in range(20) for _ in range(10)]
    few, many = estimate(one), estimate(ten)
    assert few is not None
    assert many is not None
    assert many == pytest.approx(few)


def test_the_same_result_twice_does_not_differ() -> None:
    tallies = plain([0.0, 1.0, 1.0, 0.0, 1.0])
    found = compare(tallies, tallies)
    assert found is not None
    assert found[:4] == (0.0, 0.0, 0.0, 1.0)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=9))
def test_p_is_that_of_all_exchanges(pairs: list[tuple[bool, bool]]) -> None:
    first, second = (plain([float(pair[side]) for pair in pairs]) for side in (0, 1))
    found = compare(first, second)
    differences = [b - a for a, b in pairs]
    observed = abs(sum(differences))
    exact = np.mean(
        [
            abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed
            for signs in product((1, -1), repeat=len(pairs))
        ]
    )
    assert found is not None
    assert found.p == pytest.approx(exact)


@pytest.mark.parametrize(("hits", "units"), [(0, 3), (3, 3), (27, 40), (1, 12), (488, 500)])
def test_where_each_unit_is_yes_or_no_the_interval_is_wilsons(hits: int, units: int) -> None:
    known = binomtest(hits, units).proportion_ci(0.95, method="wilson")
    found = estimate(plain([float(number < hits) for number in range(units)]), is_share=True)
    assert found is not None
    assert found == pytest.approx((hits / units, known.low, known.high), abs=1e-6)


@settings(max_examples=25)
@given(st.lists(st.tuples(SHARES, st.sampled_from("ab")), min_size=1, max_size=30))
def test_no_share_is_surer_than_wilson_on_its_units(values: list[tuple[float, str]]) -> None:
    tallies = [Tally(f"u{number}", value, group=group) for number, (value, group) in enumerate(values)]
    plainly, found = estimate(tallies), estimate(tallies, is_share=True)
    assert plainly is not None
    assert found is not None
    score = wilson(min(1.0, found.mean), len(values))
    assert found.low <= min(plainly.low, score.low)
    assert found.high >= max(plainly.high, score.high)


def test_what_may_exceed_one_has_the_bootstraps_interval() -> None:
    tallies = [Tally("a", 3.0), Tally("b", 0.5)]
    assert estimate(tallies, is_share=True) == estimate(tallies)


def test_p_is_exact_where_fifteen_units_differ() -> None:
    values = np.random.default_rng(3).normal(0.4, 1.0, 15)
    known = permutation_test(
        (values, np.zeros(15)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=2**15
    )
    same = [Tally(f"same {number}", 1.0) for number in range(60)]
    found = compare([*plain([0.0] * 15), *same], [*plain(values.tolist()), *same])
    assert found is not None
    assert found.units == 75
    assert found.p == pytest.approx(known.pvalue)


def test_only_common_units_are_compared() -> None:
    first = [Tally("a", 0.0), Tally("b", 1.0), Tally("only first", 0.0)]
    second = [Tally("a", 1.0), Tally("b", 1.0), Tally("only second", 0.0)]
    found = compare(first, second)
    assert found is not None
    assert found.units == 2
    assert found.mean == pytest.approx(0.5)


def test_pairing_sees_a_small_difference_that_is_always_there() -> None:
    level = np.random.default_rng(1).random(40)
    found = compare(plain(level.tolist()), plain((level + 0.02).tolist()))
    assert found is not None
    assert found.low > 0.019
    assert found.p < 0.01


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_the_interval_of_a_mean_holds_it(values: list[float]) -> None:
    mean, low, high = mean_with_interval(values)
    assert mean == pytest.approx(sum(values) / len(values))
    assert min(values) - 1e-9 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= max(values) + 1e-9


def test_nothing_scored_is_not_zero() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean_with_interval([])
