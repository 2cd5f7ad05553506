from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_walk import FRAME, STAIRCASE, made_walk

from virl.narrate.narration import describe_walk, history, legs, turn_words
from virl.narrate.walk import Walk

POINTS = st.lists(st.tuples(st.integers(-300, 300), st.integers(-300, 300)), min_size=2, max_size=25)


def test_a_staircase_has_three_legs():
    east, north, east_again = legs(made_walk())
    assert (east.first, east.last, north.first, north.last, east_again.last) == (0, 8, 8, 14, 18)
    assert [round(leg.turn) for leg in (east, north, east_again)] == [0, -90, 90]
    assert [leg.metres for leg in (east, north, east_again)] == pytest.approx([80, 60, 40], rel=1e-3)
    assert [leg.crossings for leg in (east, north, east_again)] == [1, 0, 0]
    assert [leg.to_crossing for leg in (east, north, east_again)] == [True, True, False]
    assert east.heading == pytest.approx(90, abs=0.1)
    assert north.heading % 360 == pytest.approx(0, abs=0.1) or north.heading == pytest.approx(360, abs=0.1)


def test_the_walk_in_sentences():
    walk = made_walk(outcome="Entered Noodle Bar Mei.")
    assert describe_walk(walk, legs(walk)) == [
        "Start facing east.",
        "Walk 80 m east, past 1 crossing, to a crossing.",
        "Turn left and walk 60 m north, to a crossing.",
        "Turn right and walk 40 m east.",
        "Stop. Entered Noodle Bar Mei.",
    ]


def test_streets_are_named_where_they_are_known():
    names = iter(["Harbor Street", "Mill Lane", "Mill Lane"])
    walk = made_walk(heading=270.0)
    told = describe_walk(walk, legs(walk, lambda _: next(names)))
    assert told[1].startswith("Turn around onto Harbor Street and walk 80 m east")
    assert told[2].startswith("Turn left onto Mill Lane and walk")
    assert told[3].startswith("Turn right along Mill Lane and walk")


def test_the_positions_of_a_leg_name_its_street():
    asked = []
    legs(made_walk(), lambda positions: asked.append(len(positions)))
    assert asked == [9, 7, 5]


@pytest.mark.parametrize(
    ("angle", "words"),
    [
        (0, ""),
        (-34, ""),
        (-40, "turn left"),
        (119, "turn right"),
        (-130, "turn sharply left"),
        (180, "turn around"),
    ],
)
def test_turns_in_words(angle, words):
    assert turn_words(angle) == words


def test_panoramas_of_one_crossing_are_one_crossing_and_one_turn():
    corner = [(0.0, 0.0), (10.0, 0.0), (20.0, 0.0), (27.0, 7.0), (27.0, 17.0), (27.0, 27.0)]
    found = legs(made_walk(corner, crossings={2, 3}))
    assert len(found) == 2
    assert [leg.crossings for leg in found] == [0, 0]
    straight = [(10.0 * k, 0.0) for k in range(8)]
    [leg] = legs(made_walk(straight, crossings={2, 3, 6}))
    assert leg.crossings == 2


def test_a_gentle_curve_is_no_turn():
    arc = [(100 * np.sin(angle), 100 * (1 - np.cos(angle))) for angle in np.linspace(0, np.pi / 2, 16)]
    [leg] = legs(made_walk(arc, crossings=set()))
    assert leg.metres == pytest.approx(157, rel=0.01)


def test_turning_back_is_a_turn():
    out, back = legs(
        made_walk([(0.0, 0.0), (10.0, 0.0), (20.0, 0.0), (10.0, 0.1), (0.0, 0.1)], crossings=set())
    )
    assert abs(back.turn) > 175
    assert (out.last, back.first) == (2, 2)


def test_who_never_moved_has_no_legs():
    walk = made_walk([(0.0, 0.0)], crossings=set())
    assert legs(walk) == ()
    assert describe_walk(walk, ()) == ["Start facing east.", "Stop."]
    assert legs(made_walk([(0.0, 0.0), (0.0, 0.0)], crossings=set())) == ()


@pytest.mark.slow
@given(POINTS, st.floats(0, 359))
def test_legs_cover_the_walk(points, heading):
    walk = made_walk(points, crossings={1, 3}, heading=heading)
    found = legs(walk)
    if found:
        assert (found[0].first, found[-1].last) == (0, len(points) - 1)
        assert all(a.last == b.first for a, b in pairwise(found))
        total = sum(stop.walked for stop in walk.stops)
        assert sum(leg.metres for leg in found) == pytest.approx(total)


@pytest.mark.slow
@given(POINTS, st.floats(0, 359), st.sets(st.integers(0, 24)))
def test_going_as_the_history_says_leads_through_its_stops(points, heading, crossings):
    walk = made_walk(points, crossings, heading)
    place, facing = np.zeros(2), np.radians(heading)
    for entry in history(walk):
        facing += np.radians(entry.turn)
        place = place + entry.metres * np.array([np.sin(facing), np.cos(facing)])
        assert place == pytest.approx(walk.points()[entry.stop], abs=1e-6)
    assert entry.stop == len(points) - 1


def test_the_history_leaves_out_what_goes_straight_on():
    assert [entry.stop for entry in history(made_walk())] == [0, 3, 8, 14, 18]
    assert [entry.stop for entry in history(made_walk(crossings=set()))] == [0, 8, 14, 18]


def test_a_walk_is_measured_from_its_first_stop():
    walk = made_walk()
    assert isinstance(walk, Walk)
    assert walk.points() == pytest.approx(np.array(STAIRCASE), abs=0.01)
    assert FRAME.origin == walk.stops[0].position
