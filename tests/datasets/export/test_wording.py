"""Sentences say what their clause says, in several ways."""

import re
from random import Random

import pytest

from virl.datasets.export.town import WAYS
from virl.datasets.export.wording import Clause, Face, Mention, Pass, See, Stop, Turn, phrases, word

BAKERY = Mention("Crumb & Co", "bakery", "left")
NEAR = Mention("Crumb & Co", "bakery", "right", "near")

SAID: list[tuple[Clause, str, str]] = [
    (Turn("left", "intersection", 1), r"left", r"right|light|2|second|two"),
    (Turn("right", "light", 1), r"right.*light|light.*right", r"left|intersection|crossing"),
    (Turn("left", "light", 3), r"3rd|third", r"2|second|next"),
    (Turn("sharp right", "intersection", 1), r"sharp", r"left|slight"),
    (Turn("slight left", "intersection", 1), r"slight|bear left", r"right|sharp"),
    (Turn("right", "end"), r"end|T-inter|any farther", r"left"),
    (Turn("left", "intersection", 2, NEAR), r"Crumb & Co", r"far right"),
    (Pass(1, "intersection"), r"intersection|crossing", r"light|turn|left"),
    (Pass(3, "light"), r"(3|three).*lights", r"2|two|intersection|turn"),
    (See(BAKERY), r"Crumb & Co.*left", r"right"),
    (Face("traffic", along=True), r"traffic", r"against|opposite"),
    (Face("traffic", along=False), r"against|opposite", r"moving with"),
    (Face("landmark", landmark=BAKERY), r"Crumb & Co.*left", r"right|traffic"),
    (Stop("after", 2), r"(2|two) steps", r"before|short|one"),
    (Stop("before", 1, "light"), r"(before|short of).*light", r"after|past|two"),
    (
        Stop("before", 3, "intersection"),
        r"(3|three) steps.*(before|short)|(3|three) steps short",
        r"after|past",
    ),
    (Stop("crossing", 2, "light"), r"(2nd|second).*light", r"before|after"),
    (Stop("share", share="2/3"), r"two thirds", r"half|quarter|one third"),
    (Stop("landmark", landmark=BAKERY), r"Crumb & Co.*left|to your left", r"right"),
    (Stop("dead end"), r"dead end|no farther", r"intersection"),
]


@pytest.mark.parametrize(("clause", "says", "never"), SAID, ids=lambda value: str(value)[:40])
def test_every_wording_of_a_clause_says_it(clause: Clause, says: str, never: str) -> None:
    wordings = {word([clause], Random(seed)) for seed in range(80)}
    assert len(wordings) >= 2
    for text in wordings:
        assert re.search(says, text, re.IGNORECASE), text
        assert not re.search(never, text), text
        assert text[0].isupper()
        assert text.endswith(".")
        assert "{" not in text


def test_every_way_and_number_has_words() -> None:
    assert set(phrases().turns) == set(WAYS) - {"straight"}
    assert set(phrases().counts) == set(phrases().ordinals) == {1, 2, 3, 4, 5}


def test_steps_are_counted_from_what_was_named_last() -> None:
    after_turn = {word([Turn("left", "light"), Stop("after", 2)], Random(seed)) for seed in range(60)}
    after_light = {word([Pass(1, "light"), Stop("after", 2)], Random(seed)) for seed in range(60)}
    assert not any("steps past the light" in text or "after the light" in text for text in after_turn)
    assert all(text.rindex("light") > text.index("steps") for text in after_light)


def test_a_kind_is_not_said_twice() -> None:
    gym = Mention("Fox Gym", "gym", "left")
    assert not any("the gym" in word([See(gym)], Random(seed)) for seed in range(60))


def test_the_same_seed_gives_the_same_words() -> None:
    clauses = [clause for clause, _, _ in SAID]
    assert word(clauses, Random(5)) == word(clauses, Random(5))
    assert word(clauses, Random(5)) != word(clauses, Random(6))
