from collections.abc import Sequence

import numpy as np
import pytest

from virl.bench.shared_models import SharedDescriber, model_function
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection, LookScores, SceneDescription, describe_scenes
from virl.platform.perception.describers.sign_describer import NOTHING, SignDescriber, SignDescriberSettings
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers import open_city

GREY = np.full((640, 640, 3), 120, np.uint8)
BOX = (0.0, 0.0, 10.0, 10.0)
BOOKS = Detection("book_store", 0.95, BOX, "Blue Door Books")
NOODLES = Detection("restaurant", 0.9, BOX, "Golden Noodle House / daily")
NAMELESS = Detection("sign", 0.9, BOX, "Ito & Co")
BIN = Detection("trash_bin", 0.9, BOX)


class FixedDetector:
    """Finds what it was given, one list for each view."""

    def __init__(self, *found: list[Detection]) -> None:
        self.found = found

    look_scores = LookScores(0.5, 0.5)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        return [list(things) for things in self.found]


@pytest.fixture
def describe(lexicon):
    def say(*found, question="", most=6, fov=30, pixels=GREY):
        views = [View("p", Camera(0, fov=fov), pixels) for _ in found]
        settings = SignDescriberSettings(
            kind="sign-describer", detector="d", lexicon="l", most=most, some_fronts=0.05, many_fronts=0.3
        )
        return SignDescriber(FixedDetector(*found), lexicon, settings).describe(views, question)

    return say


def test_signs_are_named_with_what_they_tell_of(describe):
    assert describe([BOOKS, NOODLES, NAMELESS], [NAMELESS]) == [
        "3 signs: 'Blue Door Books' (book store), 'Golden Noodle House / daily' (restaurant), 'Ito & Co'",
        "1 sign: 'Ito & Co'",
    ]


def test_nothing_to_read_is_said_so(describe):
    assert describe([]) == [NOTHING]


def test_signs_that_the_question_is_about_come_first(describe):
    (said,) = describe([BOOKS, NOODLES], question="Which road leads to a restaurant for lunch?")
    assert said.index("Golden Noodle") < said.index("Blue Door")


def test_at_most_so_many_signs_are_named_but_all_are_counted(describe):
    assert describe([BOOKS, NOODLES, NAMELESS], most=1) == ["3 signs: 'Blue Door Books' (book store), ..."]


def test_things_without_words_are_counted(describe):
    assert describe([BIN, BIN, NAMELESS], [BIN]) == ["1 sign: 'Ito & Co'; 2 trash bins", "1 trash bin"]


def street(red: float, colour: tuple[int, int, int] = (200, 30, 30)) -> np.ndarray:
    """A grey picture of which a share of every row is coloured."""
    picture = GREY.copy()
    picture[:, : round(640 * red)] = colour
    return picture


@pytest.mark.parametrize(
    ("pixels", "said"),
    [
        (GREY, "no shopfronts"),
        (street(0.1), "some shopfronts"),
        (street(0.5), "many shopfronts"),
        (street(0.5, (40, 160, 40)), "no shopfronts"),  # greenery
        (street(0.5, (80, 130, 220)), "no shopfronts"),  # sky
    ],
)
def test_a_street_is_judged_by_the_colours_of_its_ground_floors(describe, pixels, said):
    assert describe([NAMELESS], fov=60, pixels=pixels) == [f"1 sign: 'Ito & Co'; {said}"]


def test_signs_and_shopfronts_are_data_beside_the_text(lexicon):
    joes = Detection("restaurant", 0.9, BOX, "Joe's Diner")
    settings = SignDescriberSettings(
        kind="sign-describer", detector="d", lexicon="l", most=2, some_fronts=0.05, many_fronts=0.3
    )
    describer = SignDescriber(FixedDetector([joes, BOOKS, NAMELESS], [BIN]), lexicon, settings)
    wide, narrow = (View("p", Camera(0, fov=fov), street(0.5)) for fov in (60, 30))
    shared = SharedDescriber(model_function(describer))
    for one in (describer, shared):
        assert describe_scenes(one, [wide, narrow], "") == [
            SceneDescription(
                "3 signs: 'Joe's Diner' (restaurant), 'Blue Door Books' (book store), ...; many shopfronts",
                ("Joe's Diner", "Blue Door Books"),
                "many",
            ),
            SceneDescription("1 trash bin"),
        ]


def test_a_describer_of_words_alone_has_no_data():
    class Words:
        def describe(self, views, question=""):
            return [f"many shopfronts, 'Open' {question}" for _ in views]

    for one in (Words(), SharedDescriber(model_function(Words()))):
        assert describe_scenes(one, [View("p", Camera(0), GREY)], "?") == [
            SceneDescription("many shopfronts, 'Open' ?")
        ]


def test_colours_above_and_below_the_ground_floors_do_not_count(describe):
    picture = street(0.5)
    picture[280:400] = 120
    assert describe([], fov=60, pixels=picture) == [f"{NOTHING}; no shopfronts"]


def test_what_a_second_detector_finds_is_counted(lexicon):
    class Bins(FixedDetector):
        look_scores = LookScores(0.5, 0.5)

        def detect(self, views, labels):
            assert tuple(labels) == ("trash_bin", "bench")
            return super().detect(views, labels)

    settings = SignDescriberSettings(
        kind="sign-describer",
        detector="d",
        objects="o",
        object_labels=("trash_bin", "bench"),
        lexicon="l",
        most=6,
        some_fronts=0.05,
        many_fronts=0.3,
    )
    describer = SignDescriber(FixedDetector([BOOKS], []), lexicon, settings, Bins([BIN, BIN], [BIN]))
    assert ("detector", "o") in settings.needs().models
    assert describer.describe([View("p", Camera(0, fov=30), GREY)] * 2) == [
        "1 sign: 'Blue Door Books' (book store); 2 trash bins",
        "1 trash bin",
    ]


@pytest.mark.slow
def test_things_in_virlton_are_named():
    city = open_city("virlton")
    small = Camera(0, width=160, height=160)
    near = (
        pano
        for pano in sorted(city.street_map.panorama_ids())
        if any(
            thing.kind == "street lamp" and thing.distance < 12 for thing in city.truth.visible(pano, small)
        )
    )
    view = city.streetview.view(next(near), Camera(0))
    (said,) = Models(ModelOptions(truth=city.truth)).describer("sign-and-object-describer").describe([view])
    assert "street lamp" in said
