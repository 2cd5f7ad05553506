"""What counts as right, wrong and missed."""

import numpy as np
import pytest

from virl.doctor.labelled_views import LabelledThing, LabelledView
from virl.doctor.model_quality import score_detections, score_lines, score_ranks
from virl.platform.perception.base import Detection, TextLine

BENCH = LabelledThing(labels=("bench",), box=(0, 0, 100, 100), clear=True)
BAKERY = LabelledThing(labels=("bakery", "cafe"), box=(200, 0, 400, 50), text="Moon Bakery", clear=True)
FAR_BIN = LabelledThing(labels=("trash bin",), box=(500, 500, 510, 512), clear=False)


def view(*things: LabelledThing, types: tuple[str, ...] = ()) -> LabelledView:
    return LabelledView(
        file="v.png", pano_id="p", heading=0, pitch=0, fov=60, place_types=types, things=things
    )


def score(*found: Detection, least: float = 0.5):
    tally = score_detections([view(BENCH, BAKERY, FAR_BIN)], [found], lambda _: least)
    return tally.right, tally.found, tally.there


def test_a_box_is_right_with_any_of_the_labels_and_enough_in_common():
    assert score(Detection("cafe", 0.9, (210, 5, 390, 45))) == (1, 1, 2)
    assert score(Detection("Bakery", 0.9, (210, 10, 330, 40))) == (1, 1, 2)  # the words on the board
    assert score(Detection("bank", 0.9, (210, 5, 390, 45))) == (0, 1, 2)
    assert score(Detection("cafe", 0.9, (210, 5, 230, 45))) == (0, 1, 2)


def test_a_second_box_of_a_thing_is_wrong_and_a_low_score_is_no_find():
    twice = [Detection("bench", 0.9, (0, 0, 99, 99)), Detection("bench", 0.6, (1, 1, 100, 100))]
    assert score(*twice) == (1, 2, 2)
    assert score(*twice, least=0.7) == (1, 1, 2)
    assert score(*twice, least=0.95) == (0, 0, 2)


def test_what_is_hardly_seen_is_neither_missed_nor_wrong():
    assert score(Detection("trash bin", 0.9, (500, 500, 510, 512))) == (0, 0, 2)
    assert score(Detection("sign", 0.9, (210, 5, 390, 45), "Moon")) == (0, 0, 2)


def test_shares_and_labels():
    tally = score_detections(
        [view(BENCH, BAKERY)], [[Detection("bench", 0.9, (0, 0, 99, 99))]], lambda _: 0.5
    )
    assert (tally.precision, tally.recall) == (1.0, 0.5)
    assert tally.of_label == {"bench": (1, 1), "bakery": (0, 1)}
    nothing = score_detections([view()], [[]], lambda _: 0.5)
    assert (nothing.precision, nothing.recall) == (None, None)


def test_words_of_a_sign_may_be_read_with_a_slip():
    lines = [TextLine("M0on Bakery", 0.9, (200, 0, 400, 50)), TextLine("0000", 0.9, (0, 300, 90, 320))]
    tally = score_lines([view(BENCH, BAKERY)], [lines])
    assert (tally.right, tally.found, tally.there) == (1, 2, 1)


def test_the_best_label_of_a_view_of_a_place_counts():
    scores = np.array([[0.2, 0.7, 0.1], [0.5, 0.3, 0.2]], np.float32)
    views = [view(types=("cafe", "bakery")), view(types=("bank",))]
    tally = score_ranks(views, scores, ["bank", "bakery", "spa"])
    assert (tally.right, tally.found, tally.there) == (2, 2, 2)
    wrong = score_ranks([view(types=("spa",))], scores[:1], ["bank", "bakery", "spa"])
    assert (wrong.right, wrong.recall) == (0, pytest.approx(0))
