from collections.abc import Sequence

import numpy as np
import pytest

from virl.platform.city.streetview import Camera, Image, View
from virl.platform.perception.base import TextLine
from virl.platform.perception.detectors.sign_detector import SignDetector
from virl.platform.perception.signs import group_lines


class FixedReader:
    """Gives the same lines for every picture, and keeps what it was shown."""

    def __init__(self, *lines: TextLine) -> None:
        self.lines = lines
        self.shown: list[Image] = []

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        self.shown += images
        return [list(self.lines) for _ in images]


def line(text, x, y, width=100.0, height=20.0, score=1.0):
    return TextLine(text, score, (x, y, x + width, y + height))


def view(pitch=0.0, fov=60.0):
    return View("p", Camera(0, pitch, fov), np.zeros((640, 640, 3), np.uint8))


def texts(groups):
    return sorted(" / ".join(line.text for line in group) for group in groups)


def test_a_name_and_its_tagline_are_one_sign():
    name, tagline = line("Golden Noodle", 100, 100, 200, 40), line("since 1970", 150, 145, 100, 14)
    assert texts(group_lines([tagline, name])) == ["Golden Noodle / since 1970"]


def test_parts_of_a_line_are_one_sign_in_reading_order():
    left, right = line("Golden", 100, 100, 90, 30), line("Noodle", 205, 102, 90, 30)
    assert texts(group_lines([right, left])) == ["Golden / Noodle"]


def test_neighbouring_shops_are_signs_of_their_own():
    signs = [
        line("Noodle House", 100, 100, 150, 30),
        line("Farmacia", 300, 100, 150, 30),  # beside it, beyond a gap
        line("Hotel", 100, 200, 150, 30),  # below it, beyond a gap
        line("Books", 240, 133, 100, 20),  # a little lower and hardly overlapping
    ]
    assert len(group_lines(signs)) == 4


def test_far_smaller_print_near_a_sign_is_no_part_of_it():
    assert len(group_lines([line("BANK", 100, 100, 300, 100), line("No parking", 200, 205, 60, 8)])) == 2


def test_no_lines_make_no_signs():
    assert group_lines([]) == []


def test_signs_are_named_best_first_and_nameless_ones_last(lexicon, detector_settings):
    reader = FixedReader(
        line("Ito & Co", 100, 100),
        line("Laundrcmat", 100, 200),
        line("Bakery", 100, 300),
        line("000", 100, 350),
    )
    (found,) = SignDetector(reader, lexicon, detector_settings).detect([view()], [])
    assert [(thing.label, thing.text) for thing in found] == [
        ("bakery", "Bakery"),
        ("laundry", "Laundrcmat"),
        ("sign", "Ito & Co"),
    ]
    assert found[0].score > found[1].score


def test_only_what_was_asked_for_is_found(lexicon, detector_settings):
    reader = FixedReader(line("Ito & Co", 100, 100), line("Bookshop", 100, 200), line("Bakery", 100, 300))
    detector = SignDetector(reader, lexicon, detector_settings)

    def labels(*asked):
        return [thing.label for thing in detector.detect([view()], asked)[0]]

    assert labels("book store") == ["book store"]
    assert labels("book_store", "bakery") == ["book_store", "bakery"]
    assert labels("sign") == ["sign"]
    assert labels("trash bin") == []


def test_a_type_far_less_likely_than_another_is_not_reported(lexicon, detector_settings):
    reader = FixedReader(line("Bakery and tea", 100, 100))
    (found,) = SignDetector(reader, lexicon, detector_settings).detect([view()], ["cafe"])
    assert found == []


def test_doubtful_reading_lowers_the_score(lexicon, detector_settings):
    reader = FixedReader(line("Bakery", 100, 100, score=0.6))
    (found,) = SignDetector(reader, lexicon, detector_settings).detect([view()], [])
    assert found[0].score == pytest.approx(0.6 * lexicon.classify("Bakery")["bakery"])


def test_only_rows_where_signs_hang_are_read_and_boxes_are_those_of_the_view(lexicon, detector_settings):
    reader = FixedReader(line("Bakery", 100, 10))
    detector = SignDetector(reader, lexicon, detector_settings)
    for pitch in (0.0, -25.0, 30.0):
        (found,) = detector.detect([view(pitch)], [])
        camera = view(pitch).camera
        height = len(reader.shown[-1])
        top = found[0].box[1] - 10
        assert 0 < height < 640
        if top > 0:
            assert camera.direction(320, top)[1] == pytest.approx(detector_settings.highest_pitch, abs=0.2)
        if top + height < 640:
            lowest = camera.direction(320, top + height)[1]
            assert lowest == pytest.approx(detector_settings.lowest_pitch, abs=0.2)


def test_a_view_of_the_ground_is_not_read(lexicon, detector_settings):
    reader = FixedReader(line("Bakery", 100, 10))
    detector = SignDetector(reader, lexicon, detector_settings)
    found = detector.detect([view(pitch=-90), view(), view(pitch=-80)], [])
    assert [len(things) for things in found] == [0, 1, 0]
    assert len(reader.shown) == 1


@pytest.mark.slow
def test_drawn_signs_are_read_and_told(reader, lexicon, detector_settings, draw_street):
    street = draw_street(
        ("Golden Noodle House", [(40, 270), (300, 285), (300, 335), (40, 330)]),
        ("Farmacia Centrale", [(360, 285), (620, 270), (620, 335), (360, 335)]),
    )
    seen = View("p", Camera(0, 0, 60), street)
    (found,) = SignDetector(reader, lexicon, detector_settings).detect([seen], [])
    assert {thing.label: thing.text for thing in found} == {
        "restaurant": "Golden Noodle House",
        "pharmacy": "Farmacia Centrale",
    }
    left = next(thing for thing in found if thing.label == "restaurant")
    assert left.box[2] < 320
    assert 265 < left.box[1] < left.box[3] < 340
