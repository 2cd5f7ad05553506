"""What the rules read in wishes for a home."""

import pytest

from virl.mind.lexicon import load_lexicon
from virl.mind.prompt import load_prompt
from virl.mind.rules import RuleMind
from virl.routines.homes.rules import HomeRatings, HomeWants, highest_rent

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


@pytest.mark.parametrize(
    ("wish", "importance", "near"),
    [
        ("A home far from the library is unacceptable.", 3, True),
        ("Anything far away from a school is out of the question.", 3, True),
        ("Without a pharmacy down the road, forget it.", 3, True),
        ("Without bars in the street, he sleeps well.", 2, False),
        ("A park nearby matters more than anything.", 3, True),
        ("A bank on the corner, though that is not essential.", 1, True),
        ("A bakery is a small plus.", 1, True),
        ("It would not hurt if a library was near.", 1, True),
        ("She had enough of bars.", 2, False),
    ],
)
def test_how_much_a_place_matters_is_read_from_the_whole_sentence(
    wish: str, importance: int, near: bool
) -> None:
    wants = RuleMind().ask(PROMPT, name="Ada", background="", intention=wish, place_types=TYPES).wants
    assert [(want.importance, want.near) for want in wants] == [(importance, near)]


def rated(intention: str, **home: object) -> float:
    facts = {"rent": 1000.0, "area_m2": 60.0, "bedrooms": 1, "year_built": 1960} | home
    prompt = load_prompt("homes/rating", HomeRatings)
    asked = {"name": "Ada", "background": "", "intention": intention, "price": [500.0, 1500.0]}
    return RuleMind().ask(prompt, **asked, wants=[], homes=[{"home": facts, "nearby": []}]).ratings[0].rating


@pytest.mark.parametrize(
    ("wish", "better", "worse"),
    [
        ("Nothing modern, please.", {"year_built": 1890}, {"year_built": 2020}),
        ("Please no old house.", {"year_built": 2020}, {"year_built": 1890}),
        ("Two sleeping rooms, please.", {"bedrooms": 2}, {"bedrooms": 0}),
        ("It must not cost much.", {"rent": 600.0}, {"rent": 1400.0}),
    ],
)
def test_a_home_is_rated_by_what_is_said_of_it(
    wish: str, better: dict[str, object], worse: dict[str, object]
) -> None:
    assert rated(wish, **better) > rated(wish, **worse)


@pytest.mark.parametrize(
    ("wish", "differs"),
    [
        ("A yoga studio would be fine.", "bedrooms"),
        ("There should be a large supermarket.", "area_m2"),
        ("A gym is a small plus.", "area_m2"),
    ],
)
def test_the_size_of_something_else_is_not_that_of_the_home(wish: str, differs: str) -> None:
    assert rated(wish, **{differs: 0}) == rated(wish, **{differs: 3})


@pytest.mark.parametrize(
    ("wish", "usd"),
    [
        ("A flat for at most 1500 dollars.", 1500),
        ("A flat under $1,500 a month, or no more than 1400 dollars.", 1400),
        ("A studio below 1200, near a gym.", 1200),
        ("A flat not more than 500 metres from a park.", None),
        ("A flat with two bedrooms.", None),
        ("A flat for at most 1.500 dollars.", None),
    ],
)
def test_the_highest_rent_is_read(wish: str, usd: float | None) -> None:
    assert highest_rent(wish, load_lexicon()) == usd
