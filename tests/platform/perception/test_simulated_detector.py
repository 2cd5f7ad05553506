"""The simulated detector: its noise against the stated curves, and what it must never depend on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.errors import BadInput, ModelUnavailable
from virl.platform.city.city import Visible
from virl.platform.city.streetview import Box, Camera, View
from virl.platform.perception.detectors.simulated import (
    Draws,
    SimulatedDetector,
    SimulatedSettings,
    chance_found,
    likeness,
    name_look,
    size_of,
)
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers import open_city
from virl.resources import data_folder
from virl.settings.model import load_settings, parse_settings

LEVELS = ("simulated-low", "simulated", "simulated-high")
FOLDER = data_folder("platform/models")
SETTINGS = {name: load_settings(FOLDER / f"{name}.yaml", SimulatedSettings) for name in LEVELS}
DEFAULT = SETTINGS["simulated"]
SIZES = st.floats(1, 640)
SHARES = st.floats(0.01, 1)
levels = pytest.mark.parametrize("settings", SETTINGS.values(), ids=LEVELS)


@dataclass
class MadeTruth:
    """The same things in every view."""

    seen: Sequence[Visible]
    asked: list[frozenset[str]] = field(default_factory=list)

    def visible(self, pano_id, camera, min_pixels=12, kinds=None):
        self.asked.append(frozenset(kinds))
        return [one for one in self.seen if one.kind in kinds]


def thing(number: int, kind: str, size: float, seen: float = 1.0) -> Visible:
    left, top = 320 - size / 2, 320 - size / 2
    return Visible(f"{kind}-{number}", kind, kind, (left, top, left + size, top + size), 10.0, seen)


def view_of(pano_id: str, heading: float = 0.0, fov: float = 60.0) -> View:
    return View(pano_id, Camera(heading, fov=fov), np.zeros((640, 640, 3), np.uint8))


def share_found(
    settings: SimulatedSettings, kind: str, label: str, size: float, seen: float = 1.0, count: int = 2000
) -> float:
    """In how many of so many views of as many things one is found."""
    things = [thing(number, kind, size, seen) for number in range(count)]
    (found,) = SimulatedDetector(MadeTruth(things), settings).detect([view_of("p")], [label])
    return len(found) / count


def within(measured: float, stated: float, count: int) -> bool:
    """Whether a rate over so many independent draws is within four standard deviations of the stated one."""
    return abs(measured - stated) <= 4 * sqrt(max(stated * (1 - stated), 1e-4) / count)


@given(st.sampled_from(list(SETTINGS.values())), SIZES, SIZES, SHARES, SHARES)
def test_larger_and_plainer_things_are_found_more_often(settings, size, larger, seen, plainer):
    size, larger = sorted((size, larger))
    seen, plainer = sorted((seen, plainer))
    assert 0 <= chance_found(size, seen, settings) <= chance_found(larger, plainer, settings)
    assert chance_found(larger, plainer, settings) <= settings.found


@given(st.sampled_from(list(SETTINGS.values())), SIZES, SIZES)
def test_larger_look_alikes_are_less_alike(settings, size, larger):
    size, larger = sorted((size, larger))
    assert 0 <= likeness(larger, settings) <= likeness(size, settings) <= 1


def test_the_chances_are_those_that_the_model_file_states():
    chances = [chance_found(size, 1.0, DEFAULT) for size in (60, 22, 8)]
    assert chances == pytest.approx([0.96, 0.65, 0.06], abs=0.01)
    assert likeness(28, DEFAULT) == 0.5
    assert likeness(68, DEFAULT) == pytest.approx(0.05, abs=0.002)


@pytest.mark.parametrize("size", [8, 15, 22, 40, 90])
@pytest.mark.parametrize("seen", [0.3, 1.0])
def test_things_are_found_as_often_as_stated(size, seen):
    assert within(share_found(DEFAULT, "bench", "bench", size, seen), chance_found(size, seen, DEFAULT), 2000)


@pytest.mark.parametrize("size", [10, 28, 60])
def test_look_alikes_are_mistaken_as_often_as_stated(size):
    stated = DEFAULT.confusions["mailbox"]["trash bin"] * likeness(size, DEFAULT)
    assert within(share_found(DEFAULT, "mailbox", "trash bin", size), stated, 2000)


def signs(count: int, types: tuple[str, ...], size: float) -> list[Visible]:
    left, top = 320 - size / 2, 320 - size / 2
    box = (left, top, left + size, top + size)
    return [Visible(f"sign-{n}", "sign", "Words", box, 10.0, 1.0, f"place-{n}", types) for n in range(count)]


@pytest.mark.parametrize("size", [12, 40, 90])
def test_a_place_is_found_by_its_sign_and_taken_for_another_as_often_as_stated(size):
    asked = ["book_store", "bank", "gym"]
    truth = MadeTruth(signs(2000, ("book_store", "store"), size))
    (found,) = SimulatedDetector(truth, DEFAULT).detect([view_of("p")], asked)
    seen = chance_found(size, 1.0, DEFAULT)
    assert within(len(found) / 2000, seen, 2000)
    wrong = sum(one.label != "book_store" for one in found)
    assert within(wrong / len(found), DEFAULT.place_confusion * likeness(size, DEFAULT), len(found))
    assert {one.label for one in found} <= set(asked)


def test_a_place_of_no_type_asked_for_is_found_only_by_mistake():
    truth = MadeTruth(signs(2000, ("museum",), 14))
    (found,) = SimulatedDetector(truth, DEFAULT).detect([view_of("p")], ["bank", "gym"])
    stated = chance_found(14, 1.0, DEFAULT) * DEFAULT.place_confusion * likeness(14, DEFAULT)
    assert within(len(found) / 2000, stated, 2000)


def test_what_is_no_look_alike_is_never_mistaken():
    for kind in ("tree", "street lamp", "parked car", "fire hydrant"):
        assert share_found(DEFAULT, kind, "trash bin", 12) == 0
    assert share_found(DEFAULT, "sign", "sign", 100) == 0


def test_background_labels_give_it_something_else_to_choose():
    boxes = [thing(number, "mailbox", 24) for number in range(1000)]
    detector = SimulatedDetector(MadeTruth(boxes), DEFAULT)

    def mistaken(*labels: str) -> int:
        (found,) = detector.detect([view_of("p")], labels)
        return sum(one.label == "trash bin" for one in found)

    assert 0 < mistaken("trash bin", "mailbox") < 0.7 * mistaken("trash bin")


def looks_at_one_kind(hardness: float) -> np.ndarray:
    """Whether each of 600 things is found in each of four views, shape (600, 4)."""
    settings = DEFAULT.model_copy(update={"hardness": hardness})
    things = [thing(number, "bench", settings.half_size) for number in range(600)]
    chance = chance_found(settings.half_size, 1.0, settings)
    looks = [name_look("p", Camera(turn)) for turn in (0, 90, 180, 270)]
    return np.array(
        [[Draws(0, look, one.id, hardness).happens("found", chance) for look in looks] for one in things]
    )


def test_some_things_are_hard_from_everywhere():
    alone, default, same = (looks_at_one_kind(hardness) for hardness in (0.0, DEFAULT.hardness, 1.0))
    never = [(~found.any(axis=1)).mean() for found in (alone, default, same)]
    assert never[0] + 0.03 < never[1] < never[2] - 0.2
    assert (same == same[:, :1]).all()
    together = np.corrcoef(default.T)[np.triu_indices(4, 1)]
    assert 0.15 < together.mean() < 0.4  # a latent correlation of 0.4 is 0.26 between yes and no
    assert abs(np.corrcoef(alone.T)[np.triu_indices(4, 1)].mean()) < 0.06


SCENE = [
    *(thing(number, "trash bin", 10 + number) for number in range(40)),
    *(thing(number, "mailbox", 10 + number) for number in range(40)),
    *(thing(number, "bollard", 10 + number) for number in range(40)),
]
LABELS = ["trash bin", "fire hydrant"]


def test_neither_order_nor_company_nor_repetition_changes_what_is_found():
    views = [view_of(pano, heading) for pano in ("p", "q") for heading in (0, 60, 120)]
    together = SimulatedDetector(MadeTruth(SCENE), DEFAULT).detect(views, LABELS)
    detector = SimulatedDetector(MadeTruth(SCENE[::-1]), DEFAULT)
    alone = [detector.detect([view], LABELS)[0] for view in reversed(views)][::-1]
    assert together == alone
    assert together == detector.detect(views, LABELS)
    fewer = SimulatedDetector(MadeTruth(SCENE[:20]), DEFAULT).detect(views, LABELS)
    assert all(one in found for some, found in zip(fewer, together, strict=True) for one in some)


def test_another_seed_panorama_or_camera_errs_elsewhere_but_a_hairs_breadth_does_not():
    def found(view: View, seed: int = 0) -> list:
        return SimulatedDetector(MadeTruth(SCENE), DEFAULT, seed).detect([view], LABELS)[0]

    here = found(view_of("p", 30.0))
    assert here == found(view_of("p", 30.2)) == found(view_of("p", 29.8))
    others = [
        found(view_of("p", 30.0), seed=1),
        found(view_of("q", 30.0)),
        found(view_of("p", 33.0)),
        found(view_of("p", 30.0, fov=40.0)),
    ]
    assert all(other != here for other in others)
    assert found(view_of("p", 359.8)) == found(view_of("p", 0.0))


@levels
def test_boxes_are_off_within_their_bounds_and_stay_in_the_picture(settings):
    camera = Camera(0, width=640, height=480)
    box: Box = (600.0, 100.0, 640.0, 180.0)
    jitter = settings.box_jitter
    boxes = np.array([Draws(0, "look", f"t{i}", 0.4).jitter(box, camera, jitter) for i in range(2000)])
    assert (boxes[:, 2] == 640).all()  # an edge that the picture cuts stays
    assert (boxes[:, 0] < boxes[:, 2]).all()
    assert (boxes[:, 1] < boxes[:, 3]).all()
    assert np.abs(boxes[:, 0] - 600).max() <= 2.5 * jitter * 40
    assert np.abs(boxes[:, [1, 3]] - [100, 180]).max() <= 2.5 * jitter * 80
    assert boxes[:, 1].std() == pytest.approx(jitter * 80, rel=0.1)
    assert abs(boxes[:, 1].mean() - 100) < 4 * jitter * 80 / sqrt(2000)


@levels
def test_scores_follow_certainty_and_false_ones_are_lower(settings):
    def mean_score(kind: str, label: str, size: float) -> float:
        things = [thing(number, kind, size) for number in range(500)]
        (found,) = SimulatedDetector(MadeTruth(things), settings).detect([view_of("p")], [label])
        scores = [one.score for one in found]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        return float(np.mean(scores))

    half, alike = settings.half_size, settings.confusion_half_size
    assert mean_score("bench", "bench", 4 * half) > mean_score("bench", "bench", half) + 0.15
    assert mean_score("mailbox", "trash bin", alike / 3) > mean_score("mailbox", "trash bin", alike) + 0.04
    assert mean_score("mailbox", "trash bin", alike) < mean_score("trash bin", "trash bin", alike) - 0.1


def test_labels_are_words_and_only_what_may_answer_is_looked_for():
    truth = MadeTruth([thing(0, "trash bin", 300), thing(0, "tree", 300)])
    detector = SimulatedDetector(truth, DEFAULT)

    def labels(*asked: str) -> list[str]:
        return [one.label for one in detector.detect([view_of("p")], asked)[0]]

    assert labels("Garbage_Can") == ["Garbage_Can"]
    assert truth.asked[-1] == {"trash bin", "mailbox", "planter", "bollard"}
    assert sorted(labels()) == ["trash bin", "tree"]
    assert labels("unicorn") == []
    assert labels("bin", "trash bin") == ["bin"]
    assert detector.detect([], ["bin"]) == []
    with pytest.raises(BadInput, match="empty"):
        labels("tree", " ")


def test_without_ground_truth_it_says_what_to_take_instead():
    with pytest.raises(ModelUnavailable, match=r"another with --detector, such as .* or recorded"):
        Models().detector("simulated")


@pytest.mark.parametrize("name", LEVELS)
def test_it_opens_by_name_with_the_seed_of_the_options(name):
    truth = MadeTruth(SCENE)
    opened = [Models(ModelOptions(truth=truth, seed=seed)).detector(name) for seed in (4, 4, 5)]
    first, again, other = (detector.detect([view_of("p")], LABELS) for detector in opened)
    assert first == again != other


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("box_jitter: 0.04|box_jitter: 0.5", "box_jitter"),
        ("found: 0.98|found: 1.2", "found"),
        ("mailbox: {trash bin: 0.35}|mailbox: {trash bin: 2}", "trash bin"),
        ("mailbox: {trash bin: 0.35}|mailbox: {unicorn: 0.2}", "unicorn"),
        ("car: parked car|car: autogyro", "autogyro"),
    ],
)
def test_settings_that_make_no_sense_are_named(line, named):
    text = (FOLDER / "simulated.yaml").read_text()
    old, new = line.split("|")
    assert old in text
    with pytest.raises(BadInput, match=named):
        parse_settings(text.replace(old, new), SimulatedSettings, source="simulated.yaml")


@pytest.fixture(scope="module")
def streets() -> dict[tuple[str, Camera], list[Visible]]:
    """What 24 views of Virlton truly show."""
    city = open_city("virlton")
    assert city.truth is not None
    panoramas = city.street_map.panorama_ids()[::130]
    views = [(pano_id, Camera(50.0 * number, fov=60)) for number, pano_id in enumerate(panoramas)]
    return {(pano_id, camera): city.truth.visible(pano_id, camera, 24) for pano_id, camera in views}


@dataclass
class KeptTruth:
    """What was kept of a truth."""

    kept: dict[tuple[str, Camera], list[Visible]]

    def visible(self, pano_id, camera, min_pixels=12, kinds=None):
        return [one for one in self.kept[pano_id, camera] if one.kind in kinds]


@pytest.mark.slow
@levels
def test_in_the_streets_of_virlton_it_finds_as_much_as_stated(streets, settings):
    detector = SimulatedDetector(KeptTruth(streets), settings.model_copy(update={"confusions": {}}))
    views = [View(pano_id, camera, np.zeros((1, 1, 3), np.uint8)) for pano_id, camera in streets]
    found = sum(map(len, detector.detect(views, ())))
    chances = np.array(
        [
            chance_found(size_of(one.box), one.visible_fraction, settings)
            for things in streets.values()
            for one in things
            if one.kind in settings.knows
        ]
    )
    assert len(chances) > 80
    assert abs(found - chances.sum()) <= 4 * sqrt((chances * (1 - chances)).sum())


@levels
@pytest.mark.slow
def test_in_the_streets_of_virlton_only_look_alikes_are_mistaken(streets, settings):
    detector = SimulatedDetector(KeptTruth(streets), settings)
    for pano_id, camera in streets:
        view = View(pano_id, camera, np.zeros((1, 1, 3), np.uint8))
        for one in detector.detect([view], ["trash bin"])[0]:
            kinds = {
                thing.kind
                for thing in streets[pano_id, camera]
                if np.abs(np.subtract(thing.box, one.box)).max() <= 0.4 * max(size_of(thing.box), 10)
            }
            assert kinds & {"trash bin", "mailbox", "planter", "bollard"}
