"""Errors of reported poses."""

import numpy as np
import pytest

from benchmarks.counting.noise import PoseNoise, misplace_views, parse_noise
from benchmarks.counting.trip import SeenTrip
from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame, signed_turn
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.active import Sighting

HERE = LatLng(51.5, -0.12)
PICTURE = np.zeros((16, 16, 3), np.uint8)


def look(pano_id: str, heading: float = 30.0) -> Sighting:
    view = View(pano_id, Camera(heading, 0.0, 60.0, 16, 16), PICTURE)
    return Sighting("bin", 0.9, view, (1.0, 1.0, 5.0, 5.0), HERE)


def test_a_panorama_is_off_by_the_same_in_all_its_views() -> None:
    seeing = SeenTrip(((look("a"), look("a", 90.0)), (look("b"),), (look("a"),)), (None,) * 4)
    (first, turned), (other,), (again,) = misplace_views(seeing, PoseNoise(1.5, 2.0), 0).looks
    assert first == again
    assert first.position == turned.position != other.position
    assert signed_turn(first.view.camera.heading, turned.view.camera.heading) == pytest.approx(60.0)
    assert first.box == look("a").box
    assert first.view.pixels is PICTURE


def test_another_draw_errs_elsewhere() -> None:
    seeing = SeenTrip(((look("a"),),), (None,))
    first, second, again = (
        misplace_views(seeing, PoseNoise(1.5, 2.0), 0, draw).looks[0][0].position for draw in (0, 1, 0)
    )
    assert first == again != second


@pytest.mark.slow
def test_the_errors_have_the_deviations_asked_for() -> None:
    seeing = SeenTrip(tuple((look(f"p{number}"),) for number in range(2000)), (None,) * 2000)
    moved = [one for (one,) in misplace_views(seeing, PoseNoise(1.5, 2.0), 0).looks]
    metres = np.array([LocalFrame(HERE).point(one.position) for one in moved])
    degrees = np.array([signed_turn(30.0, one.view.camera.heading) for one in moved])
    assert metres.std(axis=0) == pytest.approx([1.5, 1.5], rel=0.08)
    assert degrees.std() == pytest.approx(2.0, rel=0.08)
    assert abs(metres.mean()) < 0.15
    assert abs(degrees.mean()) < 0.2


def test_no_noise_changes_nothing() -> None:
    seeing = SeenTrip(((look("a"),),), (None,))
    (moved,) = misplace_views(seeing, PoseNoise(), 0).looks[0]
    assert moved.position == pytest.approx(HERE, abs=1e-12)
    assert moved.view.camera == look("a").view.camera


def test_noise_is_read_from_two_numbers() -> None:
    assert parse_noise("1.5,2") == PoseNoise(1.5, 2.0)
    assert str(PoseNoise(1.5, 2.0)) == "1.5 m, 2 degrees"


@pytest.mark.parametrize("text", ["", "1.5", "1,2,3", "a,b", "-1,2", "1,nan", "1,90"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="metres and degrees"):
        parse_noise(text)
