"""The rules of questions about places: always the same, never two right answers, blind to photos."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virl.datasets.collect.questions import FEWEST_WORDS, MOST_WORDS, PlaceChoices, Served, load_intentions
from virl.errors import BadInput, MindFailed
from virl.mind.prompt import load_prompt, render
from virl.mind.replies import Text
from virl.mind.rules import RuleMind
from virl.platform.city.place_types import types_96

CHOICES, CHECK = load_prompt("vqa/choices", PlaceChoices), load_prompt("vqa/check", Served)
WISHES = ["to buy bread", "to swim", "to read", "to sing"]


def chosen(name: str, *types: str) -> PlaceChoices:
    return RuleMind().ask(CHOICES, name=name, types=list(types), question="Who?", faults="")


def served(options: list[str], *types: str) -> tuple[int, ...]:
    return RuleMind().ask(CHECK, types=list(types), options=options).served


def test_the_table_has_a_sentence_of_fair_length_for_each_of_the_96_types() -> None:
    table = load_intentions()
    sentences = [text for types in table.groups.values() for text in types.values()]
    assert all(table.group_of(kind) for kind in types_96())
    assert all(FEWEST_WORDS <= len(text.split()) <= MOST_WORDS for text in sentences)
    assert len(set(sentences)) == len(sentences)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.sampled_from(sorted(types_96())), min_size=1, max_size=3, unique=True), st.integers(0, 99))
def test_one_of_four_wishes_is_right_and_the_check_finds_it(types: list[str], number: int) -> None:
    choices = chosen(f"Zyx {number}", *types)
    assert choices == chosen(f"Zyx {number}", *types)
    assert served(list(choices.options), *types) == (0,)


def test_a_place_of_two_kinds_is_not_asked_with_a_wish_of_the_other() -> None:
    table = load_intentions()
    for number in range(20):
        wrong = chosen(f"Zyx {number}", "cafe", "book_store").wrong
        kindred = {*table.groups["food"].values(), *table.groups["books"].values()}
        assert kindred.isdisjoint(wrong)


def test_wishes_that_the_table_does_not_know_are_served_by_none() -> None:
    assert served(WISHES, "bakery") == ()


def test_a_type_without_a_sentence_is_refused() -> None:
    with pytest.raises(MindFailed, match="on dragon_lair are missing: use a model"):
        chosen("Zyx", "dragon_lair")


def test_the_rules_do_not_see_photos() -> None:
    prompt = load_prompt("vqa/answer", Text)
    with pytest.raises(MindFailed, match="no rule answers prompt 'vqa/answer': choose a model"):
        RuleMind().ask(prompt, images=[np.zeros((9, 9, 3), np.uint8)], question="Who?", options=WISHES)


def test_options_are_lettered_in_their_order_and_nothing_else_is_asked_for() -> None:
    asked = render(load_prompt("vqa/answer", Text), {"question": "Who would?", "options": WISHES})
    assert asked.index("Who would?") < asked.index("A. to buy bread") < asked.index("D. to sing")
    assert asked.strip().endswith("Answer with one letter and nothing else.")
    with pytest.raises(BadInput, match="input options is missing"):
        render(load_prompt("vqa/answer", Text), {"question": "Who would?"})


def test_earlier_faults_are_told_only_where_there_are_any() -> None:
    inputs = {"name": "n", "types": ["bar"], "question": "Who?"}
    assert "refused" not in render(CHOICES, inputs | {"faults": ""})
    assert "were refused: too short. Write others." in render(CHOICES, inputs | {"faults": "too short"})
