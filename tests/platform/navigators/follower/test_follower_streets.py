import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_avenues import BLOCK, at, avenues, cell_of, name

from virl.geo.globe import signed_float_turn
from virl.platform.navigators.follower.clauses import Hint
from virl.platform.navigators.follower.model import default_parameters, hint_fit, pass_fit
from virl.platform.navigators.follower.navigator import SeenLinks
from virl.platform.navigators.follower.streets import (
    Exit,
    MapLinks,
    Segment,
    Streets,
    mean_heading,
    straight_on,
)

GRID = avenues()
P = default_parameters()


def test_a_segment_leads_to_the_next_crossing() -> None:
    streets = Streets(MapLinks(GRID))
    north = next(way for way in streets.starts(GRID.number(name((8, 3)))) if way.headings[0] == 0.0)
    assert cell_of(GRID, north.nodes[-1]) == (8, 8)
    assert (north.steps, north.known) == (5, True)


def test_exits_run_from_left_to_right_without_the_way_back() -> None:
    streets = Streets(MapLinks(GRID))
    north = next(way for way in streets.starts(GRID.number(name((8, 3)))) if way.headings[0] == 0.0)
    exits = streets.exits(north)
    assert [round(way.turn) for way in exits] == [-90, 0, 90]
    assert straight_on(exits) is exits[1]
    assert not any(way.rough for way in exits)


def ways(*turns: float) -> list[Exit]:
    segment = Segment((0, 1), (0.0,), known=True)
    return [Exit(segment, turn, rank, rough=False) for rank, turn in enumerate(turns)]


def test_of_two_ways_ahead_either_may_be_straight_on() -> None:
    alike, apart = ways(-9.0, 7.0), ways(0.0, 40.0)
    assert pass_fit(alike[0], alike[1], alike, P) > 0.9 * pass_fit(alike[1], alike[1], alike, P)
    assert pass_fit(apart[1], apart[0], apart, P) < 0.2 * pass_fit(apart[0], apart[0], apart, P)


@pytest.mark.parametrize(
    ("hint", "links", "turns", "better_links", "better_turns"),
    [
        (Hint("near"), 8, (-90, 0, 90), 2, (-90, 0, 90)),
        (Hint("far"), 8, (-90, 0, 90), 20, (-90, 0, 90)),
        (Hint(kind="tee"), 8, (-90, 0, 90), 8, (-90, 90)),
        (Hint(kind="side"), 8, (-90, 0, 90), 8, (0, 90)),
        (Hint(kind="four"), 8, (-90, 90), 8, (-90, 0, 90)),
        (Hint(kind="many"), 8, (-90, 90), 8, (-90, -40, 0, 90)),
    ],
)
def test_crossings_fit_what_the_text_tells_of_them(
    hint: Hint, links: int, turns: tuple[float, ...], better_links: int, better_turns: tuple[float, ...]
) -> None:
    assert 2 * hint_fit(hint, links, ways(*turns), P) < hint_fit(hint, better_links, ways(*better_turns), P)


def test_no_hint_tells_nothing() -> None:
    assert hint_fit(Hint(), 8, ways(-90.0, 90.0), P) == 1.0


def test_what_nobody_has_seen_is_not_known() -> None:
    seen = SeenLinks(GRID)
    start = at(GRID, (8, 3)).node
    seen.stand(start)
    (segment,) = (way for way in Streets(seen).starts(start) if way.headings[0] == 0.0)
    assert (segment.steps, segment.known) == (1, False)
    assert seen.ways(segment.nodes[-1]) is None
    assert seen.path(start, segment.nodes[-1]) == list(segment.nodes)
    assert seen.path(start, GRID.number(name((0, 0)))) is None


def test_ways_at_the_edge_of_what_is_seen_are_rough() -> None:
    seen = SeenLinks(GRID)
    for y in range(3, BLOCK + 1):
        seen.stand(GRID.number(name((8, y))))
    streets = Streets(seen)
    (segment,) = (way for way in streets.starts(GRID.number(name((8, 3)))) if way.headings[0] == 0.0)
    assert [way.rough for way in streets.exits(segment)] == [True, True, True]


@given(st.floats(0, 360), st.floats(0, 360))
def test_turns_are_within_half_a_circle(source: float, target: float) -> None:
    turn = signed_float_turn(source, target)
    assert -180 <= turn <= 180
    assert signed_float_turn(source + turn, target) == pytest.approx(0, abs=1e-9)


def test_directions_are_averaged_across_north() -> None:
    assert signed_float_turn(mean_heading([350.0, 10.0]), 0.0) == pytest.approx(0)
