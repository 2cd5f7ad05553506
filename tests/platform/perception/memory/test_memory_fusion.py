from math import atan2, degrees, hypot

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_world import ORIGIN, at, metres

from virl.geo.globe import LatLng, LocalFrame, distance
from virl.platform.perception.memory.objects import Estimate
from virl.platform.perception.memory.positions import Ray, fuse, place, separation, surprise

EAST_WEST = st.floats(-30.0, 30.0)


def ray(
    x: float,
    y: float,
    to: tuple[float, float],
    *,
    turn: float = 0.0,
    stretch: float = 1.0,
    share: float = 0.15,
) -> Ray:
    away = hypot(to[0] - x, to[1] - y)
    heading = (degrees(atan2(to[0] - x, to[1] - y)) + turn) % 360
    return Ray(at(x, y), f"{x},{y}", heading, np.radians(1.5), away * stretch, share, "test")


@given(EAST_WEST, st.floats(5.0, 30.0))
def test_one_ray_is_placed_at_its_end_with_the_longer_error_along_it(x: float, y: float) -> None:
    estimate = place(ray(0.0, 0.0, (x, y)), 0.5)
    assert metres(estimate.position) == pytest.approx((x, y), abs=0.05)
    assert estimate.sigma == pytest.approx(hypot(0.15 * hypot(x, y), 0.5), rel=0.01)


@settings(max_examples=30)
@given(EAST_WEST, st.floats(5.0, 30.0))
def test_exact_rays_meet_where_the_thing_is(x: float, y: float) -> None:
    rays = [ray(px, 0.0, (x, y)) for px in (-20.0, 0.0, 20.0)]
    estimate = fuse(rays, 0.5)
    assert metres(estimate.position) == pytest.approx((x, y), abs=0.05)
    assert estimate.sigma < place(rays[0], 0.5).sigma


def test_directions_correct_distances_that_are_all_too_long() -> None:
    rays = [ray(px, 0.0, (0.0, 10.0), stretch=1.25, share=0.3) for px in (-15.0, -5.0, 5.0, 15.0)]
    x, y = metres(fuse(rays, 0.5).position)
    assert hypot(x, y - 10.0) < 1.0
    lone = metres(place(rays[1], 0.5).position)
    assert hypot(lone[0], lone[1] - 10.0) > 2.0


def test_one_ray_that_is_far_off_hardly_moves_the_rest() -> None:
    good = [ray(px, 0.0, (0.0, 12.0)) for px in (-20.0, -10.0, 10.0, 20.0)]
    x, y = metres(fuse([*good, ray(0.0, 0.0, (0.0, 12.0), turn=40.0)], 0.5).position)
    assert hypot(x, y - 12.0) < 1.0


def test_looks_from_one_panorama_weigh_as_one() -> None:
    one = ray(0.0, 0.0, (3.0, 12.0))
    assert fuse([one] * 6, 0.5).sigma == pytest.approx(place(one, 0.5).sigma, rel=0.1)


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 10_000))
def test_the_error_that_is_stated_is_the_error_that_is_made(seed: int) -> None:
    rng = np.random.default_rng(seed)
    squares = []
    for _ in range(25):
        to = (rng.uniform(-15, 15), rng.uniform(6, 15))
        rays = [
            ray(px, 0.0, to, turn=rng.normal(0, 1.5), stretch=float(np.exp(rng.normal(0, 0.15))))
            for px in (-15.0, -5.0, 5.0, 15.0)
        ]
        truth = Estimate(at(*to), (1e-6, 0.0, 1e-6))
        squares.append(separation(fuse(rays, 0.05), truth)[1])
    assert 0.7 < np.mean(squares) < 4.5  # two degrees of freedom: 2, and a little as the loss is robust


@pytest.mark.slow
@given(EAST_WEST, st.floats(5.0, 25.0), st.sampled_from([0.6, 1.6]))
def test_two_directions_that_cross_place_a_thing_whatever_the_distances_say(
    x: float, y: float, stretch: float
) -> None:
    """Two sigma of a distance that is off by half weigh little against directions good to a degree."""
    rays = [ray(px, 0.0, (x, y), stretch=stretch, share=0.7) for px in (-12.0, 12.0)]
    found = metres(fuse(rays, 0.05).position)
    assert hypot(found[0] - x, found[1] - y) < 0.15 * hypot(abs(x) + 12.0, y)


def test_the_smaller_the_parallax_the_larger_the_error() -> None:
    sigmas = [
        fuse([ray(-half, 0.0, (0.0, 15.0), share=0.7), ray(half, 0.0, (0.0, 15.0), share=0.7)], 0.5).sigma
        for half in (0.2, 1.0, 3.0, 10.0)
    ]
    assert sigmas == sorted(sigmas, reverse=True)
    assert sigmas[0] > 6.0
    assert sigmas[-1] < 1.0


def test_directions_that_part_or_cross_behind_stay_before_the_cameras() -> None:
    """They are of two things; the answer must be unsure, and not behind anyone's back."""
    north = ray(0.0, 0.0, (0.0, 10.0), share=0.7)
    for to in ((9.0, 10.0), (5.0, 10.0)):
        estimate = fuse([north, ray(5.0, 0.0, to, share=0.7)], 0.5)
        assert metres(estimate.position)[1] > 2.0
        assert estimate.sigma > 2.0


def test_it_works_across_the_date_line() -> None:
    frame = LocalFrame(LatLng(-16.5, 179.9999))
    thing = frame.position(12.0, 10.0)
    rays = [
        Ray(
            frame.position(x, 0.0),
            str(x),
            degrees(atan2(12.0 - x, 10.0)) % 360,
            0.02,
            hypot(12.0 - x, 10.0),
            0.2,
            "",
        )
        for x in (-5.0, 25.0)
    ]
    assert distance(fuse(rays, 0.5).position, thing) < 0.1


def test_separation_and_surprise_follow_the_normal_law() -> None:
    one = Estimate(ORIGIN, (1.0, 0.0, 4.0))
    other = Estimate(at(3.0, 4.0), (3.0, 0.0, 12.0))
    apart, square, area = separation(one, other)
    assert apart == pytest.approx(5.0, rel=1e-3)
    assert square == pytest.approx(9 / 4 + 16 / 16, rel=1e-3)
    assert area == pytest.approx(2 * np.pi * 2 * 4, rel=1e-3)
    density = np.exp(-square / 2) / area  # of the difference, under "one thing"
    assert surprise(square, area, 0.001) == pytest.approx(-2 * np.log(density / 0.001))
