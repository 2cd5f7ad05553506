import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.bench.metrics.places import legacy_letter, rotations, strict_letter

OPTIONS = ("to borrow books", "to buy bread", "to see a film", "to swim")


@pytest.mark.parametrize(
    "reply",
    ["B", "b", "(B)", "B.", "B)", " B: bread", "B) A bank", "**B**", "Answer: B", "The answer is B.",
     "The correct answer is (B), as bread is sold.", "Option B", "B, because bread is sold"],
)  # fmt: skip
def test_a_letter_that_stands_alone_is_chosen(reply: str) -> None:
    assert strict_letter(reply) == "B"


@pytest.mark.parametrize(
    "reply",
    ["", "Customers come to buy", "Both A and D", "A bank", "A and B", "A, B", "B or C", "E", "I don't know",
     "Be my guest", "D'accord", "(A), (B)", "The answer is Bread"],
)  # fmt: skip
def test_words_and_several_letters_choose_nothing(reply: str) -> None:
    assert strict_letter(reply) is None


@pytest.mark.parametrize(
    ("reply", "right"), [("Customers come to buy", "C"), ("Both A and D", "B"), ("a bank", "A")]
)
def test_the_published_parse_credits_what_names_no_letter(reply: str, right: str) -> None:
    assert legacy_letter(reply, right) == right
    assert strict_letter(reply) is None


def test_the_published_parse_takes_a_plain_letter_and_no_other() -> None:
    assert legacy_letter("B)", "A") == "B"
    assert legacy_letter("swimming", "A") is None


def test_options_move_left_and_the_right_one_with_them() -> None:
    assert rotations(OPTIONS, 1)[1] == (("to buy bread", "to see a film", "to swim", "to borrow books"), 0)
    assert rotations(OPTIONS, 1)[2] == (("to see a film", "to swim", "to borrow books", "to buy bread"), 3)


@given(answer=st.integers(0, 3))
def test_each_round_holds_the_same_right_option(answer: int) -> None:
    for shown, right in rotations(OPTIONS, answer):
        assert shown[right] == OPTIONS[answer]
        assert sorted(shown) == sorted(OPTIONS)
