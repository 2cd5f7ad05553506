"""Matching of things reported to true ones, worked out by hand on a flat street."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.counting.matching import Glance, Reported, match_headings, match_positions
from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.city import Thing

FRAME = LocalFrame(LatLng(51.5, -0.12))


def thing(name: str, x: float, y: float, kind: str = "bin") -> Thing:
    return Thing(name, kind, FRAME.position(x, y))


def seen(x: float, y: float, label: str = "bin", *glances: Glance) -> Reported:
    return Reported(label, FRAME.position(x, y), glances)


def test_each_true_thing_makes_one_report_right_and_the_next_a_duplicate() -> None:
    matches = match_positions([seen(2, 0), seen(1, 0), seen(9, 0)], [thing("a", 0, 0)], 5.0)
    assert matches.right == {1: "a"}
    assert matches.duplicates == {0: "a"}
    assert [matches.outcome(number) for number in range(3)] == ["duplicate", "right", "false"]


def test_as_many_pairs_as_possible_come_before_near_ones() -> None:
    # the nearest pair, 0 with b, would leave report 1 without a thing
    matches = match_positions([seen(3, 0), seen(8, 0)], [thing("a", 0, 0), thing("b", 4, 0)], 5.0)
    assert matches.right == {0: "a", 1: "b"}


def test_a_thing_of_another_kind_makes_nothing_right() -> None:
    matches = match_positions([seen(0, 0), seen(0, 0, "bench")], [thing("a", 0, 0, "bench")], 5.0)
    assert matches.right == {1: "a"}
    assert matches.outcome(0) == "false"


def test_the_radius_is_in_metres_and_included() -> None:
    assert match_positions([seen(0, 4.9)], [thing("a", 0, 0)], 5.0).right == {0: "a"}
    assert match_positions([seen(0, 5.1)], [thing("a", 0, 0)], 5.0).right == {}


def test_nothing_reported_or_nothing_there() -> None:
    assert match_positions([], [thing("a", 0, 0)], 5.0).right == {}
    assert match_positions([seen(0, 0)], [], 5.0).outcome(0) == "false"


points = st.tuples(st.integers(-9, 9), st.integers(-9, 9))


@pytest.mark.slow
@given(st.lists(points, max_size=6), st.lists(points, max_size=6, unique=True))
def test_matches_are_one_to_one_within_the_radius_and_none_is_left_that_could_be_made(
    reported: list[tuple[int, int]], true: list[tuple[int, int]]
) -> None:
    matches = match_positions(
        [seen(*at) for at in reported], [thing(str(i), *at) for i, at in enumerate(true)], 5.0
    )
    assert len(set(matches.right.values())) == len(matches.right)
    assert not matches.right.keys() & matches.duplicates.keys()
    for number, (x, y) in enumerate(reported):
        near = {str(i) for i, (a, b) in enumerate(true) if (a - x) ** 2 + (b - y) ** 2 < 24.9}
        if number in matches.right:
            a, b = true[int(matches.right[number])]
            assert (a - x) ** 2 + (b - y) ** 2 < 25.1
        else:
            assert near <= set(matches.right.values())
            assert not near or number in matches.duplicates


def test_virl_wants_a_true_thing_in_the_box_and_nearer_than_its_range() -> None:
    north = Glance(FRAME.position(0, 0), 350.0, 10.0)
    things = [thing("near", 0, 12), thing("far", 0, 18), thing("beside", 12, 0), thing("beyond", 0, 25)]
    assert match_headings([seen(99, 99, "bin", north)], things, 20.0) == {0: "near"}
    assert match_headings([seen(0, 25, "bin", north)], things[2:], 20.0) == {}
    assert match_headings([seen(0, 12, "bench", north)], things, 20.0) == {}


def test_virl_counts_a_thing_reported_twice_right_twice_and_any_view_will_do() -> None:
    north, east = (Glance(FRAME.position(0, 0), at - 5, at + 5) for at in (5.0, 90.0))
    twice = [seen(0, 0, "bin", east, north), seen(0, 0, "bin", north)]
    assert match_headings(twice, [thing("a", 0.5, 12)], 20.0) == {0: "a", 1: "a"}
