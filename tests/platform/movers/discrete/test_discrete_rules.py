"""Crossings as in the VELMA paper (Table 4), and what holds on any graph."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_crossings import any_states, any_streets, crossing, streets, walk

from virl.geo.globe import signed_turn
from virl.platform.movers.discrete.actions import TOUCHDOWN, VELMA, Action, Rules, WalkState

TEE = {"left": -75, "right": 60}
CROSS = {"left": -110, "straight": -40, "right": 30}
STAR = {"far_left": -100, "half_left": -50, "half_right": 40, "far_right": 100}
MIRRORED_STAR = {"far_left": -100, "half_left": -40, "half_right": 50, "far_right": 100}

TABLE_4 = [
    (TOUCHDOWN, TEE, "left", "forward left forward"),
    (TOUCHDOWN, TEE, "right", "forward forward"),
    (VELMA, TEE, "left", "forward left forward"),
    (VELMA, TEE, "right", "forward right forward"),
    (TOUCHDOWN, CROSS, "left", "forward left left forward"),
    (TOUCHDOWN, CROSS, "straight", "forward left forward"),
    (TOUCHDOWN, CROSS, "right", "forward forward"),
    (VELMA, CROSS, "left", "forward left forward"),
    (VELMA, CROSS, "straight", "forward forward"),
    (VELMA, CROSS, "right", "forward right forward"),
    (TOUCHDOWN, STAR, "far_left", "forward left left forward"),
    (TOUCHDOWN, STAR, "half_left", "forward left forward"),
    (TOUCHDOWN, STAR, "half_right", "forward forward"),
    (TOUCHDOWN, STAR, "far_right", "forward right forward"),
    (VELMA, STAR, "far_left", "forward left left forward"),
    (VELMA, STAR, "half_left", "forward left forward"),
    (VELMA, MIRRORED_STAR, "half_right", "forward right forward"),
    (VELMA, MIRRORED_STAR, "far_right", "forward right right forward"),
]


@pytest.mark.parametrize(("rules", "arms", "arm", "actions"), TABLE_4)
def test_crossings_are_cleared_by_the_sequences_of_table_4(
    rules: Rules, arms: dict[str, float], arm: str, actions: str
) -> None:
    graph = crossing(**arms)
    end = walk(graph, WalkState(graph.number("b"), 0.0, graph.number("a")), actions, rules)
    assert graph.ids[end.node] == arm


def test_at_five_ways_forward_takes_the_straighter_of_the_middle_two_as_published_code_does() -> None:
    for arms, straighter, actions in (
        (STAR, "half_right", "forward forward"),
        (STAR, "far_right", "forward right forward"),
        (MIRRORED_STAR, "half_left", "forward forward"),
        (MIRRORED_STAR, "far_left", "forward left forward"),
    ):
        graph = crossing(**arms)
        end = walk(graph, WalkState(graph.number("b"), 0.0, graph.number("a")), actions, VELMA)
        assert graph.ids[end.node] == straighter


def test_velma_tells_arriving_from_having_turned() -> None:
    graph = crossing(left=-80, straight=20, right=90)
    c = graph.number("c")
    arrived = WalkState(c, 0.0, graph.number("b"))
    assert walk(graph, arrived, "left", VELMA) == WalkState(c, 280.0)
    assert walk(graph, arrived, "left left", VELMA) == WalkState(c, 180.0)  # the way back, once turned
    assert walk(graph, arrived, "forward", VELMA) == WalkState(graph.number("straight"), 20.0, c)
    facing_back = WalkState(c, 180.0)
    assert walk(graph, facing_back, "forward", VELMA) == WalkState(graph.number("b"), 180.0, c)


def test_bends_are_followed_forward_and_turns_become_forward() -> None:
    graph = streets({"a": {"b": 0.0}, "b": {"a": 180.0, "c": 70.0}, "c": {"b": 250.0}})
    arrived = WalkState(graph.number("b"), 0.0, graph.number("a"))
    beyond = WalkState(graph.number("c"), 70.0, graph.number("b"))
    assert [walk(graph, arrived, name, VELMA) for name in ("forward", "left", "right")] == [beyond] * 3
    assert walk(graph, arrived, "turn_around", VELMA) == WalkState(graph.number("b"), 180.0)
    start = WalkState(graph.number("a"), 0.0)
    assert walk(graph, start, "forward", TOUCHDOWN) == WalkState(graph.number("b"), 70.0, graph.number("a"))


def test_velma_never_leaves_a_dead_end_but_its_transitions_would() -> None:
    graph = crossing(left=-90, right=90)
    end, c = graph.number("left"), graph.number("c")
    arrived = WalkState(end, 270.0, c)
    for asked in (Action.FORWARD, Action.LEFT, Action.RIGHT):
        assert VELMA.validate(graph, arrived, asked) is Action.STOP
        assert VELMA.step(graph, arrived, asked) == WalkState(end, 270.0)
    turned = walk(graph, arrived, "turn_around", VELMA)
    assert turned == WalkState(end, 90.0)
    assert VELMA.validate(graph, turned, Action.FORWARD) is Action.STOP
    assert VELMA.step(graph, turned, Action.FORWARD) == WalkState(c, 90.0, end)
    assert walk(graph, turned, "forward", TOUCHDOWN).node == c


def test_crossings_allow_every_action() -> None:
    graph = crossing(left=-90, right=90)
    for came_from in (None, graph.number("b")):
        state = WalkState(graph.number("c"), 0.0, came_from)
        assert [VELMA.validate(graph, state, action) for action in Action] == list(Action)


@pytest.mark.slow
@given(st.data(), st.sampled_from([VELMA, TOUCHDOWN]), st.sampled_from(list(Action)))
def test_a_step_follows_a_link_or_turns_to_one_or_stands(
    data: st.DataObject, rules: Rules, action: Action
) -> None:
    graph = data.draw(any_streets())
    state = data.draw(any_states(graph))
    after = rules.step(graph, state, action)
    links = graph.links(state.node)
    if after.came_from is not None:
        assert action is Action.FORWARD
        assert after.came_from == state.node
        assert after.node in graph.target[links]
    else:
        assert after.node == state.node
        assert after.heading == state.heading or after.heading in graph.heading[links]
    if action is Action.STOP:
        assert after == WalkState(state.node, state.heading)


@pytest.mark.slow
@given(st.data())
def test_touchdowns_forward_faces_the_way_on_that_is_nearest_to_the_way_taken(data: st.DataObject) -> None:
    graph = data.draw(any_streets())
    state = data.draw(any_states(graph))
    after = TOUCHDOWN.step(graph, state, Action.FORWARD)
    onward = graph.heading[graph.links(after.node)]
    if after.came_from is None or len(onward) == 0:
        return
    links = graph.links(state.node)
    turns = [abs(signed_turn(state.heading, heading)) for heading in graph.heading[links]]
    taken = graph.heading[links][turns.index(min(turns))]
    assert abs(signed_turn(taken, after.heading)) == min(abs(signed_turn(taken, way)) for way in onward)


@pytest.mark.slow
@given(st.data(), st.sampled_from([VELMA, TOUCHDOWN]), st.sampled_from(list(Action)))
def test_what_validation_allows_it_leaves_alone(data: st.DataObject, rules: Rules, action: Action) -> None:
    graph = data.draw(any_streets())
    state = data.draw(any_states(graph))
    carried = rules.validate(graph, state, action)
    assert rules.validate(graph, state, carried) is carried
