from math import degrees, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_world import CAMERA_M, Thing, camera_to, exact_box, seen, settings, sighting

from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Camera
from virl.platform.perception.memory.positions import ray_of, span_of


@given(
    distance=st.floats(4.0, 40.0),
    heading=st.floats(0.0, 360.0),
    aside=st.floats(-12.0, 12.0),
    pitch=st.floats(-25.0, 0.0),
    fov=st.floats(60.0, 100.0),
)
def test_an_exact_box_tells_direction_and_distance_through_any_camera(
    distance: float, heading: float, aside: float, pitch: float, fov: float
) -> None:
    thing = Thing(0.0, distance)
    camera = Camera(aside, pitch, fov, 640, 640)
    one = sighting(thing, 0.0, 0.0, camera=camera)
    ray = ray_of(seen(one), settings())
    assert abs(signed_turn(ray.heading, 0.0)) < 0.15
    assert ray.metres == pytest.approx(distance, rel=0.03)
    assert ray.share > 0.02


def test_a_heading_is_right_on_both_sides_of_north() -> None:
    for x in (-0.5, 0.0, 0.5):
        ray = ray_of(seen(sighting(Thing(x, 20.0), 0.0, 0.0, camera=Camera(359.0, -8.0, 60.0))), settings())
        assert signed_turn(0.0, ray.heading) == pytest.approx(degrees(x / 20.0), abs=0.05)


@given(distance=st.floats(5.0, 30.0), hidden=st.floats(0.3, 0.8))
def test_what_hides_the_foot_widens_the_error_around_the_truth(distance: float, hidden: float) -> None:
    thing = Thing(0.0, distance)
    camera = camera_to(thing, 0.0, 0.0, fov=90.0)
    whole = seen(sighting(thing, 0.0, 0.0, camera=camera))
    covered = exact_box(thing, 0.0, 0.0, camera, hidden=hidden)
    part = sighting(thing, 0.0, 0.0, camera=camera)
    ray = ray_of(seen(type(part)(part.label, part.score, part.view, covered, part.position)), settings())
    assert ray.share >= ray_of(whole, settings()).share
    assert abs(log(ray.metres / distance)) < 2 * ray.share


def test_a_foot_below_the_picture_leaves_the_top_to_tell() -> None:
    thing = Thing(0.0, 4.0)
    camera = Camera(0.0, -10.0, 40.0, 640, 640)
    one = sighting(thing, 0.0, 0.0, camera=camera)
    assert one.box[3] > 640
    clipped = (*one.box[:3], 640.0)
    ray = ray_of(seen(type(one)(one.label, one.score, one.view, clipped, one.position)), settings())
    assert ray.source == "its top"
    assert ray.metres == pytest.approx(4.0, rel=0.02)


def test_a_kind_of_unknown_height_is_ranged_by_its_foot() -> None:
    ray = ray_of(seen(sighting(Thing(0.0, 12.0, label="statue"), 0.0, 0.0)), settings())
    assert ray.source == "its foot"
    assert ray.metres == pytest.approx(12.0, rel=0.02)


def test_what_floats_above_the_horizon_or_may_not_be_ranged_is_guessed() -> None:
    floating = Thing(0.0, 12.0, height=6.0, label="banner")
    camera = Camera(0.0, 0.0, 60.0, 640, 640)
    above = sighting(floating, 0.0, 0.0, camera=camera)
    above = type(above)(above.label, above.score, above.view, (300.0, 100.0, 340.0, 200.0), above.position)
    assert ray_of(seen(above), settings()).source == "a guess"
    plain = seen(sighting(Thing(0.0, 12.0), 0.0, 0.0))
    assert ray_of(plain, settings(box_range=False)).source == "a guess"
    assert ray_of(plain, settings(box_range=False)).share > 3 * ray_of(plain, settings()).share


def test_nothing_is_taken_to_be_beyond_reach_without_saying_how_unsure_that_is() -> None:
    far = ray_of(
        seen(sighting(Thing(0.0, 600.0), 0.0, 0.0, camera=Camera(0.0, 0.0, 10.0, 2048, 2048))), settings()
    )
    assert far.metres == settings().reach_m
    assert log(600.0 / far.metres) < 2 * far.share


def test_a_wide_box_errs_more_in_heading_and_a_cut_one_most() -> None:
    camera = Camera(0.0, -10.0, 60.0, 640, 640)
    thin, wide = (
        ray_of(seen(sighting(Thing(0.0, 8.0, width=w), 0.0, 0.0, camera=camera)), settings())
        for w in (0.4, 4.0)
    )
    assert thin.heading_error < wide.heading_error
    cut = sighting(Thing(4.7, 8.0, width=1.0), 0.0, 0.0, camera=camera)
    box = (cut.box[0], cut.box[1], 640.0, cut.box[3])
    half = ray_of(seen(type(cut)(cut.label, cut.score, cut.view, box, cut.position)), settings())
    assert half.heading_error > 3 * thin.heading_error


@given(st.floats(10.0, 100.0), st.floats(-20.0, 20.0))
def test_the_span_of_a_thing_is_the_same_through_every_camera(fov: float, aside: float) -> None:
    thing = Thing(0.0, 15.0)
    middle = camera_to(thing, 0.0, 0.0).pitch
    camera = Camera(min(fov, 60.0) / 60 * aside, middle, fov, 640, 640)
    span = span_of(seen(sighting(thing, 0.0, 0.0, camera=camera)), 0.1)
    assert abs(signed_turn(span.heading, 0.0)) < 0.1
    assert span.width == pytest.approx(degrees(thing.width / 15.0), rel=0.05)
    assert span.low == pytest.approx(-degrees(CAMERA_M / 15.0), abs=0.3)
