from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from virl.routines.errands.trip import (
    EXACT_STOPS,
    Times,
    best_order,
    exact_order,
    local_search,
    prove_order,
    times_between,
)

ENDS = ("open", "home", "fixed")
SEEDS = st.integers(0, 10_000)


def random_times(rng: Generator, stops: int, end: str, missing: float = 0.0) -> Times:
    """Times that differ both ways, a share of them infinite; from a whole matrix, as an agent has them."""
    count = stops + 1 + (end == "fixed")
    matrix = rng.uniform(10, 1000, (count, count))
    matrix[rng.random((count, count)) < missing] = np.inf
    np.fill_diagonal(matrix, 0)
    if end == "home":
        matrix = np.vstack([matrix, matrix[:1]])
        matrix = np.hstack([matrix, matrix[:, :1]])
    return times_between(matrix, stops)


def by_force(times: Times) -> float:
    """The least seconds of all orders, added leg by leg."""

    def seconds(order: Sequence[int]) -> float:
        total = float(times.leave[order[0]]) + float(times.arrive[order[-1]])
        for here, there in zip(order, order[1:], strict=False):  # noqa: RUF007
            total += float(times.between[here, there])
        return total

    return min(map(seconds, permutations(range(len(times)))))


@settings(max_examples=60)
@given(SEEDS, st.integers(1, 6), st.sampled_from(ENDS), st.sampled_from([0.0, 0.3]))
def test_the_exact_order_is_the_shortest_of_all(seed: int, stops: int, end: str, missing: float) -> None:
    times = random_times(np.random.default_rng(seed), stops, end, missing)
    order = exact_order(times)
    assert order.seconds == pytest.approx(by_force(times))
    assert order.seconds <= order.bound + 0.01 or order.seconds == np.inf
    if np.isfinite(order.seconds):
        assert sorted(order.stops) == list(range(stops))
        assert times.seconds_along(order.stops) == pytest.approx(order.seconds)


@settings(max_examples=12)
@given(SEEDS, st.integers(1, 7), st.sampled_from(ENDS), st.sampled_from([0.0, 0.25]))
def test_the_proof_finds_the_shortest_too(seed: int, stops: int, end: str, missing: float) -> None:
    times = random_times(np.random.default_rng(seed), stops, end, missing)
    searched = local_search(times)
    assert sorted(searched.stops) == list(range(stops))
    order = prove_order(times, searched, 20.0)
    assert sorted(order.stops) == list(range(stops))
    assert order.seconds == pytest.approx(by_force(times), abs=1e-4)
    assert order.bound <= by_force(times) + 1e-4


@pytest.mark.parametrize("end", ENDS)
def test_more_stops_than_are_tried_one_by_one_are_ordered_as_well(end: str) -> None:
    times = random_times(np.random.default_rng(7), EXACT_STOPS + 1, end)
    order = best_order(times, 20.0)
    assert order.seconds == pytest.approx(exact_order(times).seconds, abs=0.01)
    assert order.seconds <= order.bound + 0.01


def test_a_search_that_is_cut_short_says_how_far_it_may_be_from_the_shortest() -> None:
    times = random_times(np.random.default_rng(3), 14, "open")
    searched = local_search(times)
    cut = prove_order(times, searched, 1e-9)
    assert (cut.stops, cut.bound) == (searched.stops, 0.0)
    assert cut.seconds > 0.01


def test_where_no_order_leads_through_the_time_is_infinite() -> None:
    times = random_times(np.random.default_rng(1), 13, "home")
    times.leave[4] = times.between[:, 4] = np.inf
    assert best_order(times, 5.0).seconds == np.inf
    few = random_times(np.random.default_rng(1), 3, "open")
    few.leave[:] = np.inf
    assert exact_order(few).seconds == np.inf
