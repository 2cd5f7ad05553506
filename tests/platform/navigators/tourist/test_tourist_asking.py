"""Landmarks by multiple choice, and by reading with a chat model, as V-IRL tests LLaVA and PP-OCR."""

import numpy as np
import pytest
from test_tourist_signs import OneWall

from virl.geo.globe import signed_turn
from virl.mind.prompt import load_prompt
from virl.mind.rules import RuleMind
from virl.platform.city.streetview import Pose
from virl.platform.navigators.tourist.rules import LandmarksRead
from virl.platform.navigators.tourist.spotters import NONE, ChoiceSpotter, ReadingMindSpotter, chosen_option
from virl.platform.perception.base import TextLine

NAMES = ["Moon Bakery", "Sun Books"]
OPTIONS = [*NAMES, NONE]


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("A", NAMES[0]),
        ("b.", NAMES[1]),
        ("(B)", NAMES[1]),
        ("The answer is B.", NAMES[1]),
        ("C. None of the above", NONE),
        ("None of the above.", NONE),
        ("Sun Books", NAMES[1]),
        ("I see the Moon Bakery on the left.", NAMES[0]),
        ("A bakery", None),
        ("D", None),
        ("Moon Bakery and Sun Books", None),
        ("", None),
    ],
)
def test_a_reply_chooses_by_its_letter_or_by_one_name(reply, chosen):
    assert chosen_option(reply, OPTIONS) == chosen


class Answers:
    """Says which option a view shows by the direction it looks in."""

    def __init__(self, heading):
        self.heading, self.asked = heading, []

    def describe(self, views, question=""):
        self.asked.append(question)
        return ["A" if abs(signed_turn(view.camera.heading, self.heading)) < 22 else "C" for view in views]


def test_each_of_eight_views_is_asked_about_with_none_of_them_as_an_option():
    wall = OneWall("", 0.0)
    model = Answers(135.0)
    (seen,) = ChoiceSpotter(wall, model, "choice:llava").spot(Pose("p", 0.0), NAMES, thorough=False)
    assert (seen.name, seen.heading) == ("Moon Bakery", 135.0)
    assert len(wall.cameras) == 8
    (question,) = model.asked
    assert "A. Moon Bakery\n" in question
    assert "C. None of the above" in question
    assert not ChoiceSpotter(wall, model, "choice:llava").spot(Pose("p", 0.0), [], thorough=False)


class Read:
    """Reads one line on the view towards the wall, and a doubtful one everywhere."""

    def __init__(self, wall):
        self.wall = wall

    def read(self, images):
        found = []
        for camera in self.wall.cameras[-len(images) :]:
            lines = [TextLine("Sun Books", 0.7, (300, 10, 340, 30))]
            if abs(signed_turn(camera.heading, self.wall.heading)) < 22:
                lines.append(TextLine(self.wall.text, 0.9, (10, 100, 90, 130)))
            found.append(lines)
        return found


class Counted(RuleMind):
    """Rules, and what they were asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def ask(self, prompt, **inputs):
        self.asked.append(inputs)
        return super().ask(prompt, **inputs)


def test_words_that_were_read_surely_are_put_to_the_mind():
    wall, mind = OneWall("M00N BAKERY", 90.0), Counted()
    spotter = ReadingMindSpotter(wall, Read(wall), mind)
    (seen,) = spotter.spot(Pose("p", 0.0), NAMES, thorough=False)
    assert (seen.name, seen.heading, seen.text) == ("Moon Bakery", 90.0, "M00N BAKERY")
    assert mind.asked == [{"words": ["M00N BAKERY"], "names": NAMES}]


def test_a_mind_can_name_only_what_is_looked_for():
    prompt = load_prompt("movement/tourist-landmark-text", LandmarksRead)
    with pytest.raises(ValueError, match="is none of the landmarks looked for"):
        prompt.reply.model_validate({"names": ["Mars Bar"]}, context={"names": NAMES})
    assert np.array_equal(prompt.reply.model_validate({"names": NAMES * 2}).names, NAMES)
