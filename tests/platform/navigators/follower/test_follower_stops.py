import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.platform.navigators.follower.clauses import End, Sureness
from virl.platform.navigators.follower.model import (
    REACH,
    Endings,
    block_shares,
    default_parameters,
    offsets,
    ordinal_weights,
)
from virl.platform.navigators.follower.reading import understand

P = default_parameters()
KINDS = ("in", "before", "after", "turned")


def likeliest(shares: list[float]) -> int:
    return max(range(len(shares)), key=shares.__getitem__)


@given(
    st.builds(
        End,
        st.sampled_from(["fraction", "building", "corner", "landmark", "open"]),
        st.just(0),
        fraction=st.none() | st.floats(0.02, 1),
        building=st.none() | st.integers(1, 9),
        remarks=st.integers(0, 99),
    ),
    st.integers(1, 120),
)
def test_shares_of_a_block_sum_to_one(end: End, steps: int) -> None:
    shares = block_shares(end, steps, P)
    assert len(shares) == steps + 1
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0


@given(st.sampled_from(KINDS), st.none() | st.floats(0.5, 12))
def test_offsets_sum_to_one(kind: str, steps: float | None) -> None:
    shares = offsets(End(kind, 0, steps=steps), P)  # type: ignore[arg-type]
    assert sum(shares.values()) == pytest.approx(1)
    assert set(shares) == set(range(-REACH, REACH + 1))


@given(st.integers(1, 9), st.sampled_from(["said", "implied", "open"]))
def test_the_crossing_that_is_said_is_the_likeliest(ordinal: int, sureness: str) -> None:
    weights = ordinal_weights(ordinal, sureness, 0, P)  # type: ignore[arg-type]
    assert max(weights, key=weights.__getitem__) == ordinal
    assert sum(weights.values()) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("sureness", ["said", "implied", "open"])
def test_each_landmark_on_the_way_makes_a_later_turn_likelier(sureness: Sureness) -> None:
    few, many = (ordinal_weights(1, sureness, remarks, P) for remarks in (0, 4))
    assert many[1] < few[1]
    assert all(many[later] > few[later] for later in (2, 3, 4))


def test_the_more_crossings_are_counted_the_likelier_is_one_too_many() -> None:
    few, many = (ordinal_weights(ordinal, "said", 0, P) for ordinal in (2, 5))
    assert few[1] < many[4]
    assert ordinal_weights(3, "said", 0, P, passed=3)[2] > ordinal_weights(3, "said", 0, P)[2]


@pytest.mark.parametrize(
    ("phrase", "block", "node"),
    [
        ("stop halfway down the block", 20, 10),
        ("stop a quarter of the way down the block", 20, 5),
        ("stop just before the next light", 9, 7),
        ("stop at the bank on the corner", 9, 2),
        ("stop in the middle of the intersection", 9, 9),
        ("stop two steps before the light", 9, 6),
    ],
)
def test_where_phrases_put_the_end(phrase: str, block: int, node: int) -> None:
    endings = Endings(understand(phrase).end, P)
    assert abs(likeliest(list(endings.block(block, 0, 0, 1.0))) - node) <= 1


def test_a_block_with_an_unseen_end_may_be_longer() -> None:
    endings = Endings(understand("stop just before the next light").end, P)
    expected = endings.unseen(4, 0, 0)
    assert sum(expected[5:]) > 3 * sum(expected[:5])
