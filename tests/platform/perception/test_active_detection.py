"""Looking around: sweeps, closer looks, and one thing in two views."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.bench.shared_models import SharedDetector
from virl.errors import BadInput
from virl.geo.globe import LatLng, signed_turn
from virl.platform.city.streetview import Box, Camera, Panorama, Pose, View
from virl.platform.perception.active import Look, Looking, look_around, look_closer
from virl.platform.perception.base import Detection, LookScores
from virl.platform.perception.cameras import carry_box, closer_camera, intersection_over_union
from virl.platform.perception.images import clip_box
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers import open_city

HERE = LatLng(10.0, 20.0)
AHEAD = Pose("p", 0.0)


@dataclass
class Blank:
    """A street view whose pictures are never looked at."""

    asked: list[Camera] = field(default_factory=list)

    def nearest(self, position, radius=50.0):
        return None

    def panorama(self, pano_id: str) -> Panorama:
        return Panorama(pano_id, HERE, 0.0, ())

    def view(self, pano_id: str, camera: Camera) -> View:
        self.asked.append(camera)
        return View(pano_id, camera, np.zeros((1, 1, 3), np.uint8))

    @property
    def closer(self) -> list[Camera]:
        return self.asked[3:]


@dataclass(frozen=True)
class Thing:
    """A thing around a panorama; the box is what a camera sees that looks straight at it, fov 60."""

    label: str
    heading: float
    pitch: float = 0.0
    width: float = 40.0
    height: float = 60.0

    def box(self, camera: Camera) -> Box | None:
        straight = Camera(self.heading, self.pitch, 60)
        x, y = self.width / 2, self.height / 2
        there = carry_box((320 - x, 320 - y, 320 + x, 320 + y), straight, camera)
        return there and clip_box(there, camera.width, camera.height)


Certainty = Callable[[Thing, Camera], float]


@dataclass
class Sharp:
    """Finds the things where they are, with a score that depends on the camera."""

    things: Sequence[Thing]
    score: Certainty = lambda *_: 0.9
    asked: list[tuple[str, ...]] = field(default_factory=list)

    look_scores = LookScores(0.55, 0.65)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        self.asked.append(tuple(labels))
        return [
            [
                Detection(thing.label, self.score(thing, view.camera), box)
                for thing in self.things
                if thing.label in labels and (box := thing.box(view.camera))
            ]
            for view in views
        ]


@dataclass
class Fixed:
    """Finds the same things in every view, if they are asked for."""

    found: Sequence[Detection]

    look_scores = LookScores(0.55, 0.65)

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        return [[one for one in self.found if one.label in labels] for _ in views]


def look(*things: Thing, score: Certainty | None = None, **options) -> tuple[Look, Blank]:
    streetview = Blank()
    detector = Sharp(things, score) if score else Sharp(things)
    labels = options.pop("labels", ["bin"])
    return look_around(streetview, detector, AHEAD, labels, **options), streetview


def headings(seen: Look) -> list[int]:
    """Where the rays through the middles of the confirmed boxes go, from left to right."""
    found = []
    for one in seen.sightings:
        x, y = (one.box[0] + one.box[2]) / 2, (one.box[1] + one.box[3]) / 2
        found.append(round(signed_turn(0.0, one.view.camera.direction(x, y)[0])))
    return sorted(found)


def test_the_thresholds_are_those_of_the_detector():
    """OWL's scores are low: with another detector's thresholds it would find nothing."""
    unsure = Thing("bin", 30.0)
    detector = Sharp([unsure], lambda _, camera: 0.32 if camera.fov == 30 else 0.21)
    detector.look_scores = LookScores(0.2, 0.3)
    assert look_around(Blank(), detector, AHEAD, ["bin"]).sightings
    detector.look_scores = LookScores(0.2, 0.33)
    seen = look_around(Blank(), detector, AHEAD, ["bin"])
    assert seen.candidates
    assert not seen.sightings
    detector.look_scores = LookScores(0.22, 0.3)
    assert not look_around(Blank(), detector, AHEAD, ["bin"]).candidates


def test_it_looks_to_both_sides_and_then_straight_at_what_it_saw():
    seen, streetview = look(Thing("bin", 75.0, -12.0))
    assert [round(signed_turn(0, camera.heading)) for camera in streetview.asked[:3]] == [-60, 0, 60]
    (closer,) = streetview.closer
    assert (closer.heading, closer.pitch) == (pytest.approx(75, abs=0.3), pytest.approx(-12, abs=0.3))
    assert closer.fov == 30
    (one,) = seen.sightings
    assert one.view.camera == closer
    assert (one.label, one.position) == ("bin", HERE)
    assert one.box == pytest.approx(Thing("bin", 75.0, -12.0).box(closer), abs=0.1)
    assert [len(found) for found in seen.found] == [0, 0, 1]


def test_what_the_edge_between_two_views_cuts_is_one_thing_looked_at_whole():
    seen, streetview = look(Thing("bin", 30.4))
    assert [len(found) for found in seen.found] == [0, 1, 1]
    assert len(seen.candidates) == 1
    (closer,) = streetview.closer
    assert closer.heading == pytest.approx(30.4, abs=0.2)
    assert headings(seen) == [30]


def test_two_things_beside_an_edge_are_two():
    seen, _ = look(Thing("bin", 26.0), Thing("bin", 34.0))
    assert headings(seen) == [26, 34]


def test_what_two_overlapping_views_show_is_one_candidate():
    seen, _ = look(Thing("bin", 178.0), looking=Looking(range_deg=360, fov=50))  # 8 views cover 400 degrees
    assert sum(map(len, seen.found)) == 2
    assert len(seen.candidates) == 1
    assert headings(seen) == [178]


def test_close_neighbours_are_each_confirmed_as_themselves():
    seen, _ = look(Thing("bin", 0.0), Thing("bin", 5.0), Thing("bin", -5.0))
    assert headings(seen) == [-5, 0, 5]


def test_two_candidates_that_turn_out_to_be_one_thing_are_one():
    def parts(thing: Thing, camera: Camera) -> float:
        return 0.9 if (thing.width == 40) == (camera.fov < 60) else 0.6

    whole, left, right = Thing("bin", 0.0), Thing("bin", -1.0, width=18), Thing("bin", 1.0, width=18)
    seen, streetview = look(whole, left, right, score=parts)
    assert len(streetview.closer) == 3
    assert headings(seen) == [0]


def test_what_the_closer_look_does_not_show_well_enough_is_dropped():
    def doubtful(thing: Thing, camera: Camera) -> float:
        return 0.8 if camera.fov == 60 or thing.heading > 0 else 0.6

    things = Thing("bin", -20.0), Thing("bin", 20.0)
    assert headings(look(*things, score=doubtful)[0]) == [20]
    assert headings(look(*things, score=doubtful, looking=Looking(recheck=0.59))[0]) == [-20, 20]
    assert headings(look(*things, score=doubtful, looking=Looking(active=False))[0]) == [-20, 20]


def test_a_label_may_have_thresholds_of_its_own():
    things = [Thing("bin", -20.0), Thing("Fire_hydrant", 20.0)]
    detector = Sharp(things, lambda _, camera: 0.6 if camera.fov == 60 else 0.7)
    found = {}
    for first, second in ((0.5, 0.7), (0.61, 0.7), (0.6, 0.71)):
        detector.look_scores = LookScores(0.55, 0.65, {"fire hydrant": LookScores(first, second)})
        seen = look_around(Blank(), detector, AHEAD, ["bin", "Fire_hydrant"])
        found[first] = len(seen.candidates), [one.label for one in seen.sightings]
    assert found == {0.5: (2, ["bin", "Fire_hydrant"]), 0.61: (1, ["bin"]), 0.6: (2, ["bin"])}
    assert len(
        look_around(Blank(), detector, AHEAD, ["Fire_hydrant"], looking=Looking(recheck=0.6)).sightings
    )


def test_a_recheck_of_one_label_leaves_the_others_to_the_detector():
    things = [Thing("bin", -20.0), Thing("hydrant", 20.0)]
    detector = Sharp(things, lambda *_: 0.7)
    looks = {
        score: look_around(
            Blank(), detector, AHEAD, ["bin", "hydrant"], looking=Looking(recheck={"hydrant": score})
        )
        for score in (0.7, 0.71)
    }
    assert {score: sorted(one.label for one in look.sightings) for score, look in looks.items()} == {
        0.7: ["bin", "hydrant"],
        0.71: ["bin"],
    }


CAFE = Detection("cafe", 0.6, (500, 200, 600, 240), "Cafe Rio")
AGAIN = Detection("cafe", 0.9, (200, 290, 440, 350), "Cafe Rio, since 1990")
VIEW = View("p", Camera(0, 0, 60), np.zeros((1, 1, 3), np.uint8))


def test_what_is_seen_again_where_it_should_be_is_confirmed_in_the_closer_view():
    aside = Detection("cafe", 0.99, (0, 0, 80, 40), "Cafe Lima")
    streetview = Blank()
    (confirmed,) = look_closer(streetview, Fixed([aside, AGAIN]), [(VIEW, CAFE)], ["cafe"])
    assert confirmed is not None
    closer, detection = confirmed
    assert detection == AGAIN
    assert closer.pano_id == "p"
    assert streetview.asked == [closer.camera] == [closer_camera(VIEW.camera, CAFE.box)]


@pytest.mark.parametrize(
    "found",
    [
        [replace(AGAIN, label="bar")],
        [replace(AGAIN, score=0.64)],
        [replace(AGAIN, box=(0, 290, 100, 350))],
        [AGAIN, replace(AGAIN, label="bar", score=0.95)],
    ],
    ids=["another label", "too doubtful", "elsewhere", "a rival"],
)
def test_what_is_not_there_again_is_not_confirmed(found):
    assert look_closer(Blank(), Fixed(found), [(VIEW, CAFE)], ["cafe", "bar"]) == [None]


def test_a_first_look_below_its_score_is_no_candidate():
    seen, streetview = look(Thing("bin", 0.0), score=lambda *_: 0.5)
    assert seen.candidates == seen.sightings == ()
    assert streetview.closer == []
    assert len(seen.found[1]) == 1


@pytest.mark.parametrize(("rival", "kept"), [(0.95, []), (0.7, [10])])
def test_what_looks_more_like_something_else_is_dropped(rival, kept):
    def scores(thing: Thing, camera: Camera) -> float:
        return 0.8 if thing.label == "bin" else rival if camera.fov < 60 else 0.3

    things = Thing("bin", 10.0), Thing("planter", 10.0)
    seen, _ = look(*things, score=scores, background=["planter"])
    assert headings(seen) == kept
    assert {one.label for one in seen.sightings} <= {"bin"}
    assert headings(look(*things, score=scores)[0]) == [10]


def test_a_thing_before_another_is_no_rival():
    seen, _ = look(
        Thing("bench", 0.0, width=200), Thing("bin", 0.0, width=30), labels=["bench"], background=["bin"],
        score=lambda thing, _: 0.95 if thing.label == "bin" else 0.8,
    )  # fmt: skip
    assert [one.label for one in seen.sightings] == ["bench"]


def test_without_active_detection_nothing_is_looked_at_again():
    seen, streetview = look(Thing("bin", 75.0), Thing("bin", 30.4), looking=Looking(active=False))
    assert streetview.closer == []
    assert seen.sightings == seen.candidates
    for one in seen.sightings:
        assert 0 <= one.box[0] < one.box[2] <= 640
        assert one.view.camera.fov == 60
    assert len(seen.sightings) == 2


def test_the_detector_is_asked_twice_for_all_labels_and_never_with_no_view():
    detector = Sharp([Thing("bin", -20.0), Thing("bench", 20.0)])
    look_around(Blank(), detector, AHEAD, ["bin", "bench"], background=["tree"])
    assert detector.asked == [("bin", "bench", "tree")] * 2
    nothing = Sharp([])
    assert look_around(Blank(), nothing, AHEAD, ["bin"]).sightings == ()
    assert len(nothing.asked) == 1


@given(
    heading=st.floats(-89, 89),
    pitch=st.floats(-89, 89),
    width=st.floats(3, 600),
    height=st.floats(3, 600),
    tilt=st.sampled_from([-90.0, -40.0, 0.0, 40.0, 90.0]),
)
def test_closer_cameras_keep_to_what_a_camera_can_do(heading, pitch, width, height, tilt):
    seen, streetview = look(Thing("bin", heading, pitch, width, height), looking=Looking(pitch=tilt))
    assert len(streetview.closer) == len(seen.candidates)
    for camera in streetview.closer:
        assert 30 <= camera.fov <= 120
        assert -90 <= camera.pitch <= 90


@pytest.mark.parametrize(
    ("labels", "background", "message"),
    [
        ([], [], "no labels to look for"),
        ([], ["tree"], "no labels to look for"),
        (["bin", "  "], [], "empty"),
        (["bin"], [""], "empty"),
        (["bin"], ["bin"], "is both a label and background"),
    ],
)
def test_labels_that_make_no_sense_are_refused(labels, background, message):
    with pytest.raises(BadInput, match=message):
        look_around(Blank(), Sharp([]), AHEAD, labels, background=background)


@pytest.mark.parametrize(
    "box",
    [
        (float("nan"), 0.0, 10.0, 10.0),
        (0.0, 0.0, float("inf"), 10.0),
        (100.0, 100.0, 50.0, 200.0),
        (100.0, 100.0, 100.0, 200.0),
        (700.0, 10.0, 900.0, 50.0),
    ],
)
def test_absurd_boxes_are_refused(box):
    with pytest.raises(BadInput, match="'bin' the box"):
        look_around(Blank(), Fixed([Detection("bin", 0.9, box)]), AHEAD, ["bin"])


def test_a_box_that_reaches_beyond_its_picture_is_cut():
    beyond = Detection("bin", 0.9, (-5.0, 600.0, 100.0, 700.0))
    seen = look_around(Blank(), Fixed([beyond]), AHEAD, ["bin"], looking=Looking(active=False))
    assert all(one.box == (0.0, 600.0, 100.0, 640.0) for one in seen.sightings)


LABELS, BACKGROUND = ["trash bin", "fire hydrant", "bench"], ["mailbox", "planter", "bollard"]
KINDS = (*LABELS, *BACKGROUND)


class Unseen:
    """A city's street view without its pictures, and its ground truth, each view of it asked once."""

    def __init__(self, city) -> None:
        self.panorama = city.streetview.panorama
        self._visible = cache(lambda pano_id, camera: city.truth.visible(pano_id, camera, 24, KINDS))

    def view(self, pano_id: str, camera: Camera) -> View:
        return View(pano_id, camera, np.zeros((1, 1, 3), np.uint8))

    def visible(self, pano_id, camera, min_pixels=24, kinds=KINDS):
        return [one for one in self._visible(pano_id, camera) if one.kind in kinds]


def precision_and_recall(
    city, poses: Sequence[Pose], looking: Looking, scores: LookScores
) -> tuple[float, float]:
    """Over looks from poses: of what is reported, and of what stands in plain sight within 25 m."""
    simulated = Models(ModelOptions(truth=city, seed=1)).detector("simulated")
    detector = SharedDetector(lambda question, views: simulated.detect(views, question[1]), scores)
    right = reported = there = found = 0
    for pose in poses:
        seen = look_around(city, detector, pose, LABELS, background=BACKGROUND, looking=looking)
        hits = set()
        for one in seen.sightings:
            true = city.visible(pose.pano_id, one.view.camera, kinds=[one.label])
            named = [thing for thing in true if intersection_over_union(thing.box, one.box) >= 0.5]
            hits.update(thing.id for thing in named)
            right += bool(named)
        reported += len(seen.sightings)
        near = {
            thing.id
            for view in seen.sweep
            for thing in city.visible(pose.pano_id, view.camera, kinds=LABELS)
            if thing.distance <= 25 and thing.visible_fraction >= 0.5
        }
        there += len(near)
        found += len(near & hits)
    return right / reported, found / there


@pytest.mark.slow
def test_looking_closer_finds_more_of_what_is_there_and_less_of_what_is_not():
    """In the streets of Virlton, at the same score demanded of what is reported."""
    virlton = open_city("virlton")
    city = Unseen(virlton)
    poses = [
        Pose(pano_id, virlton.streetview.panorama(pano_id).links[0].heading)
        for pano_id in virlton.street_map.panorama_ids()[::15]
    ]
    active = precision_and_recall(city, poses, Looking(), LookScores(0.55, 0.65))
    strict = precision_and_recall(city, poses, Looking(active=False), LookScores(0.65, 0.65))
    believing = precision_and_recall(city, poses, Looking(active=False), LookScores(0.55, 0.65))
    assert active[0] > 0.95 > strict[0] > believing[0]
    assert active[1] > strict[1]
