import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.places import (
    TYPES_10,
    TYPES_20,
    Judged,
    Sought,
    accuracy_by_type,
    average_recall,
    labelling_accuracy,
    matched_recall,
    mean_accuracy,
    recall_by_type,
    recognized,
)


def sought(types: str, labels: str = "") -> Sought:
    return Sought(frozenset(types.split()), frozenset(labels.split()))


# A bank found; a bank taken for a bar; a bank that is also a cafe, found as a cafe; a gym nobody saw.
PLACES = [sought("bank", "bank"), sought("bank", "bar"), sought("bank cafe", "cafe bar"), sought("gym")]


def test_recall_counts_a_place_once_for_each_of_its_types() -> None:
    assert recall_by_type(PLACES) == {"bank": 1 / 3, "cafe": 1.0, "gym": 0.0}


def test_the_mean_is_over_the_types_that_are_there() -> None:
    recalls = recall_by_type(PLACES)
    assert average_recall(recalls) == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert average_recall(recalls, TYPES_10) == pytest.approx((1 / 3 + 1) / 2)
    assert average_recall(recalls, ["spa"]) is None
    assert len(set(TYPES_20)) == 20
    assert len(TYPES_10) == 10


def test_being_hit_and_being_named_are_two_things() -> None:
    assert matched_recall(PLACES) == 3 / 4
    assert labelling_accuracy(PLACES) == 2 / 3
    assert labelling_accuracy([sought("gym")]) is None
    with pytest.raises(ValueError, match="no places"):
        matched_recall([])


def test_an_answer_weighs_less_the_more_types_its_place_has() -> None:
    answers = [
        Judged(frozenset({"bar"}), correct=True),
        Judged(frozenset({"bar", "cafe"}), correct=False),
        Judged(frozenset({"cafe", "spa"}), correct=True),
    ]
    # bar: 1 / (1 + 1/2); cafe: (1/2) / (1/2 + 1/2); spa: 1
    assert accuracy_by_type(answers) == pytest.approx({"bar": 2 / 3, "cafe": 1 / 2, "spa": 1.0})
    assert mean_accuracy(answers) == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    with pytest.raises(ValueError, match="no answers"):
        mean_accuracy([])


def test_any_of_a_places_types_is_right_within_the_first_k() -> None:
    types = frozenset({"bakery", "store"})
    ranked = ["cafe", "store", "bank", "bakery"]
    assert [recognized(types, ranked, k).correct for k in (1, 2, 3)] == [False, True, True]


kinds = st.frozensets(st.sampled_from(TYPES_20), min_size=1, max_size=3)


@given(st.lists(st.builds(Judged, kinds, st.booleans()), min_size=1))
def test_accuracy_is_one_only_where_all_is_right(answers: list[Judged]) -> None:
    mean = mean_accuracy(answers)
    assert 0 <= mean <= 1 + 1e-12
    assert (mean == pytest.approx(1.0)) == all(answer.correct for answer in answers)
