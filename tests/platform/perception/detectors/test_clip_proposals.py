from dataclasses import replace

import numpy as np
import pytest

from virl.errors import BadInput
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection, LookScores
from virl.platform.perception.detectors.clip_proposals import ClipProposals, ClipProposalsSettings

COLOURS = {"red door": (200, 30, 30), "green door": (30, 160, 40), "wall": (170, 140, 120)}
SETTINGS = ClipProposalsSettings(
    kind="clip-proposals",
    proposals="boxes",
    proposal_labels=("front",),
    min_proposal=0.4,
    recognizer="colours",
    background=("wall",),
    margin=0.0,
    min_score=0.8,
    first_look=0.8,
    second_look=0.8,
    max_overlap=0.5,
)


class Boxes:
    """Proposes the same boxes in every view, and keeps what it was asked for."""

    def __init__(self, *boxes):
        self.boxes = boxes
        self.asked = None

    look_scores = LookScores(0.5, 0.5)

    def detect(self, views, labels):
        self.asked = labels
        return [list(self.boxes) for _ in views]


class Colours:
    """Recognises a picture by its mean colour: a softmax over the distances to the labels' colours."""

    name = "colours"

    def __init__(self):
        self.calls = []

    def recognize(self, images, labels):
        self.calls.append((len(images), list(labels)))
        means = np.array([image.reshape(-1, 3).mean(axis=0) for image in images])
        wanted = np.array([COLOURS[label] for label in labels])
        away = np.linalg.norm(means[:, None] - wanted[None], axis=2)
        fits = np.exp(-away / 10)
        return (fits / fits.sum(axis=1, keepdims=True)).astype(np.float32)


def street(*doors):
    pixels = np.full((60, 120, 3), COLOURS["wall"], np.uint8)
    for label, left in doors:
        pixels[10:50, left : left + 20] = COLOURS[label]
    return View("p", Camera(0, 0, 60, 120, 60), pixels)


def box(left, score=0.9, label="thing", width=20, text=""):
    return Detection(label, score, (float(left), 10.0, float(left + width), 50.0), text)


def test_boxes_are_named_by_what_they_show_and_scored_by_the_recognizer():
    boxes, colours = Boxes(box(10), box(50, text="OPEN"), box(90)), Colours()
    detector = ClipProposals(boxes, colours, SETTINGS)
    views = [street(("red door", 10), ("green door", 50)), street(("green door", 10))]
    first, second = detector.detect(views, ["Red_Door", "green door"])
    assert {(one.label, one.box[0], one.text) for one in first} == {
        ("Red_Door", 10, ""),
        ("green door", 50, "OPEN"),
    }
    assert [(one.label, one.box[0]) for one in second] == [("green door", 10)]
    assert all(one.score > 0.99 for one in first)
    assert boxes.asked == ("front",)
    assert colours.calls == [(6, ["red door", "green door", "wall"])]  # all views at once


def test_without_a_background_every_box_is_something():
    view, ask = street(("red door", 10)), ["red door", "green door"]
    named = ClipProposals(Boxes(box(90)), Colours(), SETTINGS).detect([view], ask)[0]
    forced = SETTINGS.model_copy(update={"background": (), "min_score": 0.0})
    assert named == []
    assert len(ClipProposals(Boxes(box(90)), Colours(), forced).detect([view], ask)[0]) == 1


def test_a_background_that_is_asked_for_is_no_background():
    found = ClipProposals(Boxes(box(90)), Colours(), SETTINGS).detect([street()], ["wall", "red door"])[0]
    assert [one.label for one in found] == ["wall"]


def test_weak_proposals_are_not_looked_at_and_doubles_are_dropped():
    colours = Colours()
    detector = ClipProposals(Boxes(box(10), box(11, 0.5), box(50, 0.3)), colours, SETTINGS)
    found = detector.detect([street(("red door", 10), ("red door", 50))], ["red door"])[0]
    assert [one.box[0] for one in found] == [10]
    assert colours.calls[0][0] == 2


def test_the_margin_widens_what_is_looked_at():
    view = street(("red door", 10))
    tight = ClipProposals(Boxes(box(10)), Colours(), SETTINGS)
    wide = ClipProposals(Boxes(box(10)), Colours(), SETTINGS.model_copy(update={"margin": 1.0}))
    assert [one.label for one in tight.detect([view], ["red door"])[0]] == ["red door"]
    assert wide.detect([view], ["red door"])[0] == []  # mostly wall


def test_nothing_proposed_is_nothing_found_and_nothing_asked():
    colours = Colours()
    assert ClipProposals(Boxes(), colours, SETTINGS).detect([street(), street()], ["red door"]) == [[], []]
    assert ClipProposals(Boxes(box(10)), colours, SETTINGS).detect([], ["red door"]) == []
    assert colours.calls == []


@pytest.mark.parametrize(
    ("labels", "pixels", "proposal", "message"),
    [
        ([], street().pixels, box(10), "finds only the labels it is given"),
        ([" "], street().pixels, box(10), "is empty"),
        (["red door"], np.zeros((0, 9, 3), np.uint8), box(10), "no pixels"),
        (["red door"], street().pixels, box(500), "is outside the picture"),
        (["red door"], street().pixels, box(float("nan")), "is outside the picture"),
    ],
)
def test_bad_input_is_refused(labels, pixels, proposal, message):
    detector = ClipProposals(Boxes(proposal), Colours(), SETTINGS)
    with pytest.raises(BadInput, match=message):
        detector.detect([replace(street(), pixels=pixels)], labels)
