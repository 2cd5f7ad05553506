"""What a direction means: the eight views, walking on, and turning."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Link
from virl.platform.navigators.tourist.spotting import LandmarkSighting, eight_cameras
from virl.platform.navigators.tourist.ways import (
    AHEAD_DEG,
    DIRECTIONS,
    direction_of,
    directions_of,
    heading_of,
    link_ahead,
    link_toward,
)

HEADINGS = st.floats(0, 359.99)


def link(name: str, heading: float) -> Link:
    return Link(name, heading % 360, 10.0)


@given(HEADINGS)
def test_front_is_dead_ahead_and_the_eight_views_tile_the_circle(heading: float) -> None:
    cameras = eight_cameras(heading)
    assert abs(signed_turn(heading, cameras[0].heading)) < 1e-9
    edges = [(camera.sector((0, 0, 640, 640)), camera) for camera in cameras]
    for (before, _), (after, _) in zip(edges, edges[1:] + edges[:1], strict=True):
        assert signed_turn(before[1], after[0]) == pytest.approx(0.0, abs=1e-6)


@given(HEADINGS, st.integers(0, 7), st.floats(-22.4, 22.4))
def test_what_is_in_the_middle_of_a_view_is_said_to_be_there(heading: float, eighth: int, off: float) -> None:
    seen = LandmarkSighting("x", heading_of(DIRECTIONS[eighth], heading) + off, 1.0)
    assert seen.direction(heading) == DIRECTIONS[eighth]


def test_left_front_can_be_said_at_a_whole_number_of_degrees() -> None:
    assert LandmarkSighting("x", 315.0, 1.0).direction(0.0) == "front left"


def test_compass_words_mean_the_same_whichever_way_one_faces() -> None:
    assert heading_of("southwest", 10.0) == heading_of("southwest", 200.0) == 225.0


def test_a_street_is_followed_round_its_bends_but_a_crossing_is_walked_straight_over() -> None:
    back, bend, side = link("back", 180), link("bend", 80), link("side", 280)
    assert link_ahead([back, bend], 0.0, "back") == bend
    assert link_ahead([back, bend, side], 0.0, "back") is None
    assert link_ahead([back, bend, side, link("on", 20)], 0.0, "back") == link("on", 20)


def test_at_the_start_nothing_leads_ahead_that_is_not_ahead() -> None:
    assert link_ahead([link("a", 90), link("b", 270)], 0.0, None) is None
    assert link_ahead([link("a", 40), link("b", 220)], 0.0, None) == link("a", 40)


def test_the_way_ahead_is_called_front_and_no_other() -> None:
    links = [link("back", 180), link("on", 35), link("left", 345 - 60)]
    assert directions_of(links, 0.0, "back") == ("front", "rear", "left")
    fork = [link("back", 180), link("a", 10), link("b", 350 - 5)]
    assert directions_of(fork, 0.0, "back") == ("front", "rear", "front left")


def test_a_turn_needs_a_way_that_leads_there() -> None:
    links = [link("back", 180), link("right", 100)]
    assert link_toward(links, 0.0, "right") == link("right", 100)
    assert link_toward(links, 0.0, "left") is None


def test_left_is_said_before_anything_finer_unless_another_way_is_more_to_the_left() -> None:
    half_left, left = link("half", 310), link("left", 268)
    assert direction_of([half_left, link("back", 180)], 0.0, half_left) == "left"
    assert direction_of([half_left, left, link("back", 180)], 0.0, half_left) == "front left"
    assert direction_of([half_left, left, link("back", 180)], 0.0, left) == "left"


@pytest.mark.slow
@given(HEADINGS, st.lists(st.integers(0, 23), min_size=2, max_size=5, unique=True))
def test_a_direction_told_leads_where_it_was_meant(heading: float, ways: list[int]) -> None:
    links = [link(str(way), 15.0 * way) for way in ways]
    assume(all(abs(signed_turn(a.heading, b.heading)) >= 46 for a in links for b in links if a != b))
    for one in links:
        assert link_toward(links, heading, direction_of(links, heading, one)) == one


@given(HEADINGS, st.lists(HEADINGS, min_size=1, max_size=5))
def test_walking_on_never_turns_far_at_a_crossing_and_never_goes_back(
    heading: float, ways: list[float]
) -> None:
    links = [link(str(number), way) for number, way in enumerate(ways)]
    ahead = link_ahead(links, heading, "0")
    assert ahead is None or ahead.pano_id != "0"
    if ahead is not None and len(links) > 2:
        assert abs(signed_turn(heading, ahead.heading)) <= AHEAD_DEG
