"""What names, kitchens and reviews say of spice and of dishes."""

import pytest

from virl.mind.lexicon import load_lexicon
from virl.routines.explore.rules import PlaceFacts, PlaceQuestion, ReviewText, decide


def question(intention: str, cuisine: str = "", *reviews: str, **facts: object) -> PlaceQuestion:
    place = PlaceFacts.model_validate(
        {"name": "Everest", "types": ["restaurant"], "cuisine": cuisine} | facts
    )
    return PlaceQuestion(
        name="Hiro",
        background="A student.",
        intention=intention,
        place=place,
        reviewed=bool(reviews),
        reviews=tuple(ReviewText(rating=4.0, text=text) for text in reviews),
    )


MILD = "He looks for a restaurant. He cannot eat spicy food."


@pytest.mark.parametrize("cuisine", ["nepalese", "Thai;indian", "sri_lankan"])
def test_a_kitchen_that_is_usually_spicy_is_passed_by(cuisine: str) -> None:
    decided = decide(question(MILD, cuisine), load_lexicon())
    assert decided.action == "continue"
    assert "usually spicy" in decided.reason


@pytest.mark.parametrize("cuisine", ["", "pizza", "nepalese;pizza"])
def test_others_say_nothing(cuisine: str) -> None:
    decided = decide(question(MILD, cuisine), load_lexicon())
    assert (decided.action, "usually" in decided.reason) == ("enter", False)


def test_visitors_are_believed_first_and_who_likes_it_hot_enters() -> None:
    told = decide(question(MILD, "nepalese", "Not spicy at all.", "Mild food, not spicy."), load_lexicon())
    assert "usually" not in told.reason
    hot = decide(question("He looks for a restaurant with spicy food.", "nepalese"), load_lexicon())
    assert (hot.action, "usually spicy" in hot.reason) == ("enter", True)


@pytest.mark.parametrize(
    ("cuisine", "reviews", "name", "has_it"),
    [
        ("pizza", (), "Everest", True),
        ("nepalese", (), "Pizzeria Ida", True),
        ("nepalese", ("Their pizza is good.",), "Everest", True),
        ("nepalese", ("Good food.",), "Everest", False),
    ],
)
def test_a_dish_that_is_wished_for_is_looked_for(
    cuisine: str, reviews: tuple[str, ...], name: str, has_it: bool
) -> None:
    asked = question("He wants to eat pizza in a restaurant.", cuisine, *reviews, name=name)
    decided = decide(asked, load_lexicon())
    assert (decided.action == "enter") is has_it
    assert ("nothing that is known of it speaks of pizza" in decided.reason.lower()) is not has_it
