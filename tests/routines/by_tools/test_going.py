"""How the rules walk, and what they report on the way: a street that a test plays."""

from collections import Counter

from made_life import made_character

from virl.agent.tool import ToolData
from virl.mind.lexicon import load_lexicon
from virl.routines.by_tools.goals import read_goal
from virl.routines.by_tools.street_plans import PlannedCall, Situation, choose_unvisited_link, go_to
from virl.tools.base import Listing, bearing_of, tell_data
from virl.tools.looking import Find
from virl.tools.moving import Moved, Surroundings, WayOn, Whereabouts
from virl.tools.routes import RouteLegs, RouteStretch

BLOCK_M = 20.0
"""Metres between crossings, at each of which a move ends."""
NEAR, FAR, SURE = (
    Find(label="bench", direction=bearing_of(90, 90), score=0.61, share=0.004),
    Find(label="planter", direction=bearing_of(0, 90), score=0.74, share=0.001),
    Find(label="trash bin", direction=bearing_of(180, 90), score=0.81, share=0.0),
)


AHEAD = Surroundings(
    facing="east",
    heading=90,
    is_crossing=False,
    ways=(WayOn(direction=bearing_of(90, 90), distance_m=10, pano_id="p"),),
    moves_left=50,
)


def eastward(metres: float) -> RouteLegs:
    leg = RouteStretch(distance_m=metres, toward="east")
    return RouteLegs(distance_m=metres, minutes=3, mode="walking", legs=(leg,))


def situation() -> Situation:
    wanted = "Tess goes to 12 Station Street and reports benches, bins and planters."
    character = made_character(intention=wanted, tools=["route", "move", "where_am_i", "detect"])
    return Situation(character, read_goal(character), load_lexicon(), {}, turns_left=100)


def played(metres: float, *finds: Find) -> tuple[float, list[str], Counter[str]]:
    """Go along one straight leg: what is left, what was noticed, and how often each tool was called."""
    calls: Counter[str] = Counter()
    left = metres
    plan = go_to(situation(), {"address": "12 Station Street"}, eastward(left))
    reply = None
    while True:
        try:
            call: PlannedCall = plan.send(reply) if reply else next(plan)
        except StopIteration as ended:
            there, noticed = ended.value
            return there, noticed, calls
        calls[call.tool] += 1
        data: ToolData = AHEAD
        if call.tool == "move":
            left -= BLOCK_M
            data = Moved(distance_m=BLOCK_M, moves=2, surroundings=AHEAD)
        elif call.tool == "route":
            data = eastward(left)
        elif call.tool == "detect":
            data = Listing[Find](items=finds)
        elif call.tool == "where_am_i":
            data = Whereabouts(city="", clock="", surroundings=AHEAD, nearest_address="", nearest_place="")
        reply = tell_data(data)


def test_crossings_on_a_straight_leg_cost_no_question_and_looks_are_as_far_apart_as_things_are_seen() -> None:
    left, _, calls = played(200.0)
    assert left <= 25
    assert calls["move"] == 9
    assert calls["route"] <= 1
    assert calls["detect"] == 5  # after 20, 60, 100, 140 and 180 m


def test_what_is_far_off_is_reported_only_if_it_is_sure() -> None:
    _, noticed, _ = played(80.0, NEAR, FAR, SURE)
    assert noticed == [
        "On the way stand: bench (up to 1 in sight at once), trash bin (up to 1 in sight at once)."
    ]


def test_a_walker_takes_the_road_with_most_boards_and_goes_straight_on_where_none_is_seen() -> None:
    ways = [
        WayOn(direction=bearing_of(heading, 90), distance_m=10, pano_id=str(heading)) for heading in (0, 90)
    ]
    crossing = AHEAD.model_copy(update={"is_crossing": True, "ways": tuple(ways)})
    found = [
        choose_unvisited_link(crossing, (), boards) for boards in ({}, {0.0: 2, 90.0: 1}, {0.0: 1, 90.0: 1})
    ]
    assert [way and way.pano_id for way in found] == ["90", "0", "90"]
