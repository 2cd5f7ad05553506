import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_crossings import any_states, any_streets, crossing, streets

from virl.errors import BadInput, NoStreetView
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.hops import NO_WAY, Hops
from virl.platform.movers.discrete.actions import TOUCHDOWN, VELMA, Action, Rules, WalkState
from virl.platform.movers.discrete.oracle import Oracle, gold_actions, walk_states

RULES = st.sampled_from([VELMA, TOUCHDOWN])


def names(actions: list[Action]) -> str:
    return " ".join(actions)


def test_gold_actions_walk_the_path_and_stop() -> None:
    graph = crossing(left=-90, straight=0, right=90)
    assert names(gold_actions(graph, ["a", "b", "c", "straight"], 0.0)) == "forward forward forward stop"
    assert names(gold_actions(graph, ["a", "b", "c", "left"], 0.0)) == "forward forward left forward stop"
    assert names(gold_actions(graph, ["b", "a"], 0.0)) == "turn_around forward stop"
    assert gold_actions(graph, ["a"], 0.0) == [Action.STOP]


def test_gold_goes_forward_wherever_that_leads_on_and_the_oracle_turns_first_at_sharp_forks() -> None:
    graph = crossing(left=-100, right=50)
    path = ["a", "b", "c", "right"]
    assert names(gold_actions(graph, path, 0.0)) == "forward forward forward stop"
    arrived = WalkState(graph.number("c"), 0.0, graph.number("b"))
    assert Oracle(graph, path).action(arrived) is Action.RIGHT
    assert Oracle(graph, path, turn_at_forks=False).action(arrived) is Action.FORWARD
    gentle = crossing(left=-100, right=44)
    assert Oracle(gentle, path).action(arrived) is Action.FORWARD


def test_a_way_that_no_single_turn_faces_is_turned_to_from_the_nearer_side() -> None:
    graph = crossing(far_left=-120, half_left=-60, straight=10, right=90)
    turned_right = WalkState(graph.number("c"), 90.0)
    oracle = Oracle(graph, ["c", "half_left"])
    assert oracle.action(turned_right) is Action.LEFT
    assert names(gold_actions(graph, ["c", "half_left"], 90.0)) == "left left forward stop"


def test_off_the_path_the_oracle_takes_the_fewest_links_to_the_target() -> None:
    ways = {"a": {"b": 90.0, "x": 0.0}, "b": {"c": 90.0}, "c": {}, "x": {"a": 180.0, "y": 0.0, "c": 120.0}}
    graph = streets(ways | {"y": {"c": 100.0}})
    oracle = Oracle(graph, ["a", "b", "c"])
    arrived = WalkState(graph.number("x"), 0.0, graph.number("a"))
    assert oracle.action(arrived) is Action.RIGHT
    assert oracle.action(WalkState(graph.number("x"), 120.0)) is Action.FORWARD
    assert oracle.action(WalkState(graph.number("c"), 0.0)) is Action.STOP


def test_visits_tell_which_way_a_path_goes_on() -> None:
    graph = crossing(left=-90, straight=0, right=90)
    path = ["b", "c", "left", "c", "straight"]
    states = walk_states(graph, WalkState(graph.number("b"), 0.0), gold_actions(graph, path, 0.0))
    oracle = Oracle(graph, path)
    assert names(oracle.actions(states[:-1])) == "forward left forward turn_around forward left forward stop"
    second = WalkState(graph.number("c"), 90.0, graph.number("left"))
    assert oracle.action(second, visits=1) is Action.TURN_AROUND
    assert oracle.action(second, visits=2) is Action.LEFT
    assert oracle.action(second, visits=9) is Action.LEFT


def test_the_oracle_stops_where_no_way_leads_on() -> None:
    graph = streets({"a": {"b": 0.0}, "b": {}, "c": {}})
    assert Oracle(graph, ["c"]).action(WalkState(graph.number("a"), 0.0)) is Action.STOP


def test_a_missing_link_is_walked_around_by_the_oracle_and_refused_by_gold() -> None:
    graph = streets({"a": {"x": 0.0}, "x": {"b": 90.0}, "b": {"c": 90.0}, "c": {}})
    path = ["a", "b", "c"]
    assert Oracle(graph, path).action(WalkState(graph.number("a"), 0.0)) is Action.FORWARD
    with pytest.raises(BadInput, match="follows no link from a to b"):
        gold_actions(graph, path, 0.0)


def test_bad_paths_are_named() -> None:
    graph = streets({"a": {"b": 0.0}, "b": {"a": 180.0}})
    for path in ([], ["a", "nowhere"]):
        with pytest.raises((BadInput, NoStreetView), match=r"empty|nowhere"):
            gold_actions(graph, path, 0.0)
        with pytest.raises((BadInput, NoStreetView), match=r"empty|nowhere"):
            Oracle(graph, path)
    hidden = streets({"a": {"b": 0.0, "c": 0.0}, "b": {}, "c": {}})
    with pytest.raises(BadInput, match=r"no actions lead from a to c by velma's rules"):
        gold_actions(hidden, ["a", "c"], 0.0)


@pytest.mark.parametrize("near", [1e-238, 5e-14 / 4, 360.0 - 1e-14])
def test_headings_that_cannot_be_told_apart_are_one_direction(near: float) -> None:
    graph = streets({"a": {"b": 0.0, "c": near, "d": 90.0}, "b": {}, "c": {}, "d": {}})
    assert graph.heading[graph.links(graph.number("a"))].tolist() == [0.0, 0.0, 90.0]
    with pytest.raises(BadInput, match="no actions lead from a to c"):
        gold_actions(graph, ["a", "c"], 0.0)


@pytest.mark.slow
@given(st.data(), RULES)
def test_gold_actions_pass_exactly_the_nodes_of_the_path(data: st.DataObject, rules: Rules) -> None:
    graph = data.draw(any_streets())
    start = data.draw(any_states(graph))
    nodes = [start.node]
    for _ in range(data.draw(st.integers(0, 6))):
        onward = sorted({*graph.target[graph.links(nodes[-1])].tolist()} - {nodes[-1]})
        if onward:
            nodes.append(data.draw(st.sampled_from(onward)))
    try:
        actions = gold_actions(graph, [graph.ids[node] for node in nodes], start.heading, rules)
    except BadInput:
        headings = [graph.heading[graph.links(node)].tolist() for node in nodes]
        # links in the same direction cannot be told apart, and at two links VELMA has no turns
        assert any(len(set(ways)) < len(ways) or len(ways) == 2 for ways in headings)
        return
    states = walk_states(graph, WalkState(start.node, start.heading), actions, rules)
    passed = [states[0].node] + [state.node for state in states if state.came_from is not None]
    assert passed == nodes
    assert actions[-1] is Action.STOP


@pytest.mark.slow
@given(any_streets(clear=True), st.data())
def test_the_oracle_reaches_every_target_that_can_be_reached(
    graph: NavigationGraph, data: st.DataObject
) -> None:
    start, target = data.draw(any_states(graph)), data.draw(st.integers(0, len(graph) - 1))
    assume(int(Hops(graph, [target])(0, start.node)) != NO_WAY)
    oracle, state = Oracle(graph, [graph.ids[target]]), WalkState(start.node, start.heading)
    for _ in range(40):
        action = oracle.action(state)
        if action is Action.STOP:
            break
        state = VELMA.step(graph, state, action)
    assert state.node == target
