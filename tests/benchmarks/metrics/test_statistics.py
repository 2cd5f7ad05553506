import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics import mean_with_interval, success_weighted_path_length

lengths = st.floats(0, 1e4)


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


@given(lengths, lengths)
def test_spl_is_between_nothing_and_all(walked: float, shortest: float) -> None:
    assert 0 <= success_weighted_path_length(True, walked, shortest) <= 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_an_interval_holds_its_mean(values: list[float]) -> None:
    mean, low, high = mean_with_interval(values)
    assert mean == pytest.approx(sum(values) / len(values))
    assert min(values) - 1e-9 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= max(values) + 1e-9


def test_nothing_scored_is_not_zero() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean_with_interval([])
