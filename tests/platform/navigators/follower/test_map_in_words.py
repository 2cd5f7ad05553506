"""The map around a walker in words, and agents that are told it."""

import pytest
from made_avenues import BLOCK, at, avenues, cell_of

from virl.mind.rules import RuleMind
from virl.platform.movers.discrete.actions import Action
from virl.platform.navigators.follower.clauses import End, FollowerPlan, PlannedLeg
from virl.platform.navigators.follower.reading import understand
from virl.platform.navigators.follower.streets import MapInWords, map_sentence, steps_by_side
from virl.platform.navigators.instruction.in_order import WalkProgress, next_in_order
from virl.platform.navigators.navgpt.navigator import NavGptNavigator
from virl.platform.navigators.navgpt.observation import WayAhead, observation_text
from virl.platform.navigators.navgpt.rules import next_way
from virl.platform.navigators.navgpt.sources import GraphObservations, MappedObservations
from virl.platform.navigators.velma.navigator import VelmaNavigator
from virl.platform.navigators.velma.prompt import observed_so_far
from virl.platform.navigators.velma.verbalizer import Observer

GRID = avenues()
MAP = MapInWords(GRID)
START = at(GRID, (8, 3))
HALFWAY = "Go to the light and turn left. Go through one light and stop halfway down the block."


def test_each_way_is_told_with_the_steps_to_the_next_crossing() -> None:
    ways = MAP.ways(START.node, START.heading)
    told = map_sentence(ways)
    assert told == "Map: ahead, a crossing of 4 ways in 5 steps; behind, a crossing of 3 ways in 3 steps."
    assert steps_by_side(ways) == {"ahead": 5, "behind": 3}


def test_a_crossing_tells_the_ways_to_the_sides_and_a_street_may_end() -> None:
    graph = avenues(missing=[(8, 12)])
    crossing = at(graph, (8, 8), heading=90.0)
    ways = MapInWords(graph).ways(crossing.node, crossing.heading)
    assert "left, a dead end in 3 steps" in map_sentence(ways)
    assert steps_by_side(ways) == {"ahead": BLOCK, "left": 3, "right": BLOCK, "behind": BLOCK}


def test_velma_is_told_at_the_start_and_at_crossings_only() -> None:
    actions = [Action.FORWARD] * 6
    told = observed_so_far(Observer(GRID, map=MAP), START, actions)
    assert [index for index, one in enumerate(told) if "Map: " in one] == [0, 5]
    assert told[5].startswith("There is a 4-way intersection. Map: ahead, a crossing")
    assert VelmaNavigator(GRID, RuleMind(), map=MAP).name == "velma rules, 0-shot, map in words"


def test_without_a_map_velma_is_told_none() -> None:
    told = observed_so_far(Observer(GRID), START, [Action.FORWARD] * 6)
    assert told == ["", "", "", "", "", "There is a 4-way intersection.", ""]


@pytest.mark.parametrize("form", ["text", "chat"])
@pytest.mark.parametrize("agent", ["velma", "navgpt"])
def test_with_the_map_the_rules_stop_halfway_down_the_block(agent: str, form: str) -> None:
    mind = RuleMind()
    navigator = (
        VelmaNavigator(GRID, mind, map=MAP, form=form)  # type: ignore[arg-type]
        if agent == "velma"
        else NavGptNavigator(
            GRID,
            mind,
            MappedObservations(GraphObservations(GRID), MAP),
            max_steps=55,
            form=form,  # type: ignore[arg-type]
        )
    )
    start = at(GRID, (24, 3))
    *_, last = navigator.walk(HALFWAY, start)
    x, y = cell_of(GRID, last.state.node)
    assert y == 8
    assert abs(x - 12) <= 1


def test_navgpt_is_told_what_lies_behind_each_viewpoint() -> None:
    seen = MappedObservations(GraphObservations(GRID), MAP)
    text = observation_text(seen.at(GRID.ids[START.node]), START.heading)
    assert '"8.4": "right 0.00, 10.00 m; map: a crossing of 4 ways in 5 steps"' in text
    assert seen.name == "graph, map in words"


@pytest.mark.parametrize(
    ("progress", "action"),
    [
        (WalkProgress(), Action.FORWARD),
        (WalkProgress(since=5).next_crossing(8), Action.FORWARD),
        (WalkProgress(passed=1, since=8).next_crossing(8), Action.LEFT),
        (WalkProgress(passed=1, since=2).next_crossing(8), Action.FORWARD),
        (WalkProgress(turns=1, passed=0, since=3, ahead=8), Action.FORWARD),
        (WalkProgress(turns=1, passed=0, since=4, ahead=8), Action.STOP),
        (WalkProgress(turns=1, passed=1, since=0, ahead=8), Action.STOP),
        (WalkProgress(turns=2), Action.STOP),
    ],
)
def test_turns_and_the_stop_come_in_order(progress: WalkProgress, action: Action) -> None:
    plan = FollowerPlan(
        understand("").orient, (PlannedLeg("left", 2, "said"),), End("fraction", 0, fraction=0.5)
    )
    assert next_in_order(plan, progress) == action


def test_before_a_light_is_before_it_where_the_map_tells_how_far_it_is() -> None:
    plan = understand("Turn left. Stop just before the light.")
    at_turn = WalkProgress(turns=1, ahead=8)
    walked = [at_turn]
    while next_in_order(plan, walked[-1]) is not Action.STOP:
        walked.append(walked[-1].forward())
    assert 5 <= walked[-1].since <= 7


def test_navgpts_rules_count_a_turn_that_is_also_the_straightest_way() -> None:
    plan = understand("Turn left at the light. Stop at the next light.")
    ways = [WayAhead("aside", -35.0, 6), WayAhead("other", 90.0), WayAhead("back", 180.0)]
    way, thought = next_way(plan, [ways, ways])
    assert way is not None
    assert (way.viewpoint, thought) == ("aside", "Done: 1 turns, then 0 crossings, then 1 steps of 6.")
