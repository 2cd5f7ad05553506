import numpy as np
import pytest
from made_world import ORIGIN, Thing, at, camera_to, seen, settings, sighting

from virl.platform.city.streetview import Camera
from virl.platform.perception.memory.association import by_features, by_geometry, by_panorama, by_view
from virl.platform.perception.memory.objects import Estimate

BIN, NEXT = Thing(3.0, 12.0), Thing(3.0, 15.0)


def view(thing: Thing, camera: Camera, *, pano_id: str = "here", box: tuple[float, ...] | None = None):
    one = sighting(thing, 0.0, 0.0, camera=camera, pano_id=pano_id)
    return seen(type(one)(one.label, one.score, one.view, box or one.box, one.position))


def says(opinion: object) -> str:
    return getattr(opinion, "says", "nothing")


def test_boxes_of_one_view_are_two_things_unless_it_is_the_same_box() -> None:
    camera = Camera(10.0, -5.0, 60.0)
    assert says(by_view(view(BIN, camera), [view(NEXT, camera)])) == "different"
    assert says(by_view(view(BIN, camera), [view(BIN, camera)])) == "same"
    assert by_view(view(BIN, camera), [view(BIN, camera, pano_id="there")]) is None
    assert by_view(view(BIN, camera), [view(BIN, Camera(11.0, -5.0, 60.0))]) is None


@pytest.mark.parametrize("north", [0.0, 0.5, 359.5])
def test_one_thing_is_the_same_in_every_zoom_of_a_panorama(north: float) -> None:
    thing = Thing(0.0, 12.0)
    wide, close = Camera(north, 0.0, 60.0), Camera(360.0 - north, -9.0, 30.0)
    assert says(by_panorama(view(thing, wide), [view(thing, close)], settings())) == "same"
    assert by_panorama(view(thing, wide), [view(thing, close, pano_id="there")], settings()) is None


def test_neighbours_are_told_apart_from_one_panorama() -> None:
    opinion = by_panorama(view(BIN, camera_to(BIN, 0, 0)), [view(NEXT, camera_to(NEXT, 0, 0))], settings())
    assert says(opinion) == "different"
    assert "2.7 degrees apart" in getattr(opinion, "reason", "")


def test_large_boxes_beyond_the_heading_limit_are_different_though_they_overlap() -> None:
    camera, near = Camera(0.0, 0.0, 90.0), Camera(1.0, 0.0, 90.0)
    one = view(BIN, camera, box=(100.0, 200.0, 500.0, 400.0))
    other = view(BIN, near, box=(200.0, 200.0, 600.0, 400.0))
    assert says(by_panorama(one, [other], settings())) == "different"
    lenient = settings().model_copy(update={"heading_deg": 30.0})
    assert says(by_panorama(one, [other], lenient)) == "same"


def test_a_touch_of_overlap_is_no_verdict() -> None:
    one = view(BIN, Camera(0.0, 0.0, 60.0), box=(300.0, 300.0, 330.0, 340.0))
    other = view(BIN, Camera(0.5, 0.0, 60.0), box=(315.0, 300.0, 345.0, 340.0))
    assert says(by_panorama(one, [other], settings())) == "no verdict"


def test_a_thing_that_two_views_cut_is_one() -> None:
    left, right = Camera(330.0, 0.0, 60.0), Camera(30.0, 0.0, 60.0)
    half = view(BIN, left, box=(620.0, 380.0, 640.0, 440.0))
    rest = view(BIN, right, box=(0.0, 378.0, 24.0, 442.0))
    assert says(by_panorama(half, [rest], settings())) == "same"
    assert says(by_panorama(rest, [half], settings())) == "same"
    lower = view(BIN, right, box=(0.0, 520.0, 24.0, 600.0))
    assert says(by_panorama(half, [lower], settings())) == "different"
    inner = view(BIN, right, box=(60.0, 378.0, 84.0, 442.0))
    assert says(by_panorama(half, [inner], settings())) == "different"


def test_geometry_says_same_different_or_that_it_cannot_say() -> None:
    sharp = Estimate(ORIGIN, (0.3, 0.0, 0.3))
    assert says(by_geometry(sharp, Estimate(at(0.8, 0.0), (0.3, 0.0, 0.3)), settings())[0]) == "same"
    assert says(by_geometry(sharp, Estimate(at(4.0, 0.0), (0.3, 0.0, 0.3)), settings())[0]) == "different"
    vague = Estimate(at(4.0, 0.0), (900.0, 0.0, 900.0))
    opinion, cost = by_geometry(sharp, vague, settings())
    assert says(opinion) == "no verdict"
    assert cost > 0
    assert "m2" in opinion.reason


def test_few_matches_prove_nothing() -> None:
    limit = settings().min_matches
    assert by_features(limit, settings()).says == "same"
    assert by_features(limit - 1, settings()).says == "no verdict"
    assert str(limit - 1) in by_features(limit - 1, settings()).reason


def test_covariance_along_one_line_is_used() -> None:
    """Apart across the line of sight is different; as far apart along it is not."""
    long = Estimate(ORIGIN, (0.2, 0.0, 25.0))
    point = (0.2, 0.0, 0.2)
    assert says(by_geometry(long, Estimate(at(0.0, 4.0), point), settings())[0]) == "same"
    assert says(by_geometry(long, Estimate(at(4.0, 0.0), point), settings())[0]) == "different"
    assert np.isclose(long.sigma, 5.0)
