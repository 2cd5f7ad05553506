"""What the rules read in wishes for a home."""

import pytest

from virl.mind.prompt import load_prompt
from virl.mind.rules import RuleMind
from virl.routines.homes.replies import HomeWants

PROMPT = load_prompt("homes/wants", HomeWants)
TYPES = ["bakery", "bank", "bar", "gym", "hospital", "library", "park", "pharmacy", "school", "supermarket"]


@pytest.mark.parametrize(
    ("wish", "near"),
    [
        ("She could not live without a park close by.", True),
        ("He will never be happy without a library around the corner.", True),
        ("A school should be no more than ten minutes away.", True),
        ("She has no car, so a supermarket should be close.", True),
        ("They hope for a bakery not far from the door.", True),
        ("A gym must be reachable without a car.", True),
        ("A pharmacy at no great distance would do.", True),
        ("The bank should be there in next to no time.", True),
        ("A home without a bar below, please.", False),
        ("It should be far from any school.", False),
        ("No school next door.", False),
        ("She wants a flat that isn't near a hospital.", False),
    ],
)
def test_double_negations_are_wishes_to_be_near(wish: str, near: bool) -> None:
    wants = RuleMind().ask(PROMPT, name="Ada", background="", intention=wish, place_types=TYPES).wants
    assert [want.near for want in wants] == [near]


def test_what_one_cannot_live_without_is_a_must() -> None:
    wish = "She could not live without a park."
    wants = RuleMind().ask(PROMPT, name="Ada", background="", intention=wish, place_types=TYPES).wants
    assert [want.importance for want in wants] == [3]
