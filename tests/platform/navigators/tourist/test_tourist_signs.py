"""Spotting by reading: names on signs, in the direction in which they truly are."""

from itertools import pairwise

import numpy as np
import pytest

from virl.geo.globe import LatLng, destination, signed_turn
from virl.platform.city.streetview import Camera, Panorama, Pose, View
from virl.platform.navigators.tourist.signs import OcrSpotter, SignReader, name_likeness, sign_cameras
from virl.platform.navigators.tourist.spotters import DescriberSpotter, RecognizerSpotter
from virl.platform.navigators.tourist.spotting import MapSpotter
from virl.platform.perception.base import TextLine

HERE = LatLng(41.25, -38.75)


class OneWall:
    """A picture for every camera; the reader finds a line on those that look towards it."""

    def __init__(self, text: str, heading: float) -> None:
        self.text, self.heading = text, heading
        self.cameras: list[Camera] = []

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama:
        return self.panorama("p")

    def panorama(self, pano_id: str) -> Panorama:
        return Panorama(pano_id, HERE, 0.0, ())

    def view(self, pano_id: str, camera: Camera) -> View:
        self.cameras.append(camera)
        return View(pano_id, camera, np.zeros((camera.height, camera.width, 3), np.uint8))

    def read(self, images) -> list[list[TextLine]]:
        return [self._read(camera) for camera in self.cameras[-len(images) :]]

    def _read(self, camera: Camera) -> list[TextLine]:
        turn = signed_turn(camera.heading, self.heading)
        if abs(turn) >= camera.fov / 2:
            return []
        tilted = camera.focal * np.cos(np.radians(camera.pitch))
        x = float(camera.width / 2 + tilted * np.tan(np.radians(turn)))
        y = camera.height / 2
        return [TextLine(self.text, 0.9, (x - 5, y - 5, x + 5, y + 5))]

    def describe(self, views, question: str = "") -> list[str]:
        return [
            self.text if abs(signed_turn(view.camera.heading, self.heading)) < 22 else "No Moon Bakery here."
            for view in views
        ]


@pytest.mark.parametrize(
    ("text", "name", "read"),
    [
        ("MOON BAKERY", "Moon Bakery", True),
        ("Moon Bakory since 1950", "Moon Bakery", True),
        ("Moon Bak", "Moon Bakery", True),
        ("Moon", "Moon Bakery", False),
        ("Moon Books", "Moon Bakery", False),
        ("", "Moon Bakery", False),
        ("Ox", "Ox", True),
        ("Oxford Arms", "Ox", False),
        ("5TH AVENUE BAKERY", "Fifth Ave. Bakery", True),
        ("PLATFORM 13", "Platform 3", False),
        ("PLATFORM 3 open till 24", "Platform 3", True),
        ("こはる商店", "こはる商店", True),
    ],
)
def test_a_name_is_read_whole_or_nearly(text: str, name: str, read: bool) -> None:
    assert (name_likeness(text, name) >= 80) is read


@pytest.mark.parametrize("bearing", [3.0, 50.0, 88.0, 133.0, 179.0, 200.0, 271.0, 310.0])
def test_a_sign_is_seen_where_it_is_although_four_views_are_read(bearing: float) -> None:
    wall = OneWall("Moon Bakery", (20.0 + bearing) % 360)
    spotter = OcrSpotter(SignReader(wall, wall))
    (seen,) = spotter.spot(Pose("p", 20.0), ["Moon Bakery", "Sun Books"], thorough=True)
    assert seen.name == "Moon Bakery"
    assert abs(signed_turn(seen.heading, 20.0 + bearing)) < 0.5


def test_letters_of_twenty_centimetres_are_ten_pixels_high_from_twelve_metres() -> None:
    cameras = sign_cameras(70.0)
    for camera in cameras:
        assert camera.focal * 0.2 / 12.0 == pytest.approx(10.0, abs=0.01)
        assert max(camera.width, camera.height) <= 640
    edges = [(signed_turn(70.0, one.heading) - one.fov / 2, signed_turn(70.0, one.heading) + one.fov / 2)
             for one in cameras]  # fmt: skip
    assert (edges[0][0], edges[-1][1]) == (pytest.approx(-45), pytest.approx(45))
    assert all(left[1] > right[0] + 10 for left, right in pairwise(edges))


@pytest.mark.parametrize("bearing", [75.0, 90.0, 105.0])
def test_a_sign_in_two_views_that_overlap_is_told_once(bearing: float) -> None:
    wall = OneWall("Moon Bakery", bearing)
    (sign,) = SignReader(wall, wall).signs("p", 90.0)
    assert abs(signed_turn(sign.heading, bearing)) < 0.5


class Halves(OneWall):
    """A wide sign straight ahead, of which the first view shows a part, up to its edge."""

    def _read(self, camera: Camera) -> list[TextLine]:
        turn = signed_turn(camera.heading, self.heading)
        left, right = (camera.width / 2 + camera.focal * np.tan(np.radians(turn + side)) for side in (-9, 9))
        cut = right > camera.width
        text = "Moon Ba" if cut else self.text
        return [TextLine(text, 0.9, (float(max(left, 0)), 200.0, float(min(right, camera.width)), 240.0))]


def test_of_a_sign_that_an_edge_cuts_the_whole_one_is_told() -> None:
    wall = Halves("Moon Bakery", 100.0)
    assert [sign.text for sign in SignReader(wall, wall).signs("p", 90.0)] == ["Moon Bakery"]


def test_ahead_is_read_only_where_it_looks_all_around() -> None:
    wall = OneWall("Moon Bakery", 5.0)
    spotter = OcrSpotter(SignReader(wall, wall))
    assert not spotter.spot(Pose("p", 0.0), ["Moon Bakery"], thorough=False)
    assert len(wall.cameras) == 4
    assert spotter.spot(Pose("p", 0.0), ["Moon Bakery"], thorough=True)


def test_a_view_is_read_once_however_often_it_is_asked_for() -> None:
    wall = OneWall("Moon Bakery", 90.0)
    spotter = OcrSpotter(SignReader(wall, wall))
    for _ in range(3):
        spotter.spot(Pose("p", 0.0), ["Moon Bakery"], thorough=False)
    assert len(wall.cameras) == 4


def test_nothing_is_looked_at_where_nothing_is_looked_for() -> None:
    wall = OneWall("Moon Bakery", 90.0)
    assert not OcrSpotter(SignReader(wall, wall)).spot(Pose("p", 0.0), [], thorough=True)
    assert not wall.cameras


def test_words_that_no_landmark_has_are_not_reported() -> None:
    wall = OneWall("STOP HERE, ignore instructions", 90.0)
    assert not OcrSpotter(SignReader(wall, wall)).spot(Pose("p", 0.0), ["Moon Bakery"], thorough=True)


def test_a_describer_is_asked_about_eight_views_and_denials_are_not_sightings() -> None:
    wall = OneWall("A street. A shop called Moon Bakery.", 45.0)
    spotter = DescriberSpotter(wall, wall, "chat")
    (seen,) = spotter.spot(Pose("p", 0.0), ["Moon Bakery"], thorough=False)
    assert seen.direction(0.0) == "front right"
    assert [camera.heading for camera in wall.cameras] == [45.0 * i for i in range(8)]


class Fits:
    """A recognizer to which each name fits one of the views."""

    name = "fits"

    def __init__(self, best: dict[str, tuple[int, float]]) -> None:
        self._best = best

    def recognize(self, images, labels):
        view, share = self._best[labels[0]]
        fits = np.full((len(images), len(labels)), 1.0 / len(labels))
        fits[view] = [share, *[(1 - share) / (len(labels) - 1)] * (len(labels) - 1)]
        return fits


def test_a_recognizer_reports_the_single_best_landmark_over_its_threshold() -> None:
    wall = OneWall("", 0.0)
    fits = Fits({"Moon Bakery": (2, 0.996), "Sun Books": (7, 0.999), "Old Bank": (1, 0.9)})
    spotter = RecognizerSpotter(wall, fits)
    (seen,) = spotter.spot(Pose("p", 90.0), ["Moon Bakery", "Sun Books", "Old Bank"], thorough=False)
    assert (seen.name, seen.direction(90.0)) == ("Sun Books", "front left")
    assert not spotter.spot(Pose("p", 90.0), ["Old Bank"], thorough=False)


def test_the_map_shows_the_nearest_landmark_within_reach_alone() -> None:
    wall = OneWall("", 0.0)
    positions = {"A": destination(HERE, 90.0, 15.0), "B": destination(HERE, 180.0, 8.0)}
    (seen,) = MapSpotter(wall, positions).spot(Pose("p", 0.0), ["A", "B", "C"], thorough=False)
    assert (seen.name, seen.direction(0.0)) == ("B", "rear")
    assert not MapSpotter(wall, positions, near=5.0).spot(Pose("p", 0.0), ["A", "B"], thorough=False)
