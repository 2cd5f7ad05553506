import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_crossings import any_states, any_streets, crossing, streets

from virl.errors import BadInput
from virl.platform.movers.discrete.actions import TOUCHDOWN, VELMA, Action, Rules, WalkState
from virl.platform.movers.discrete.table import ACTIONS, Walker, WalkerBatch, build_table

RULES = st.sampled_from([VELMA, TOUCHDOWN])


@pytest.mark.slow
@given(st.data(), RULES)
def test_every_step_and_validation_is_that_of_the_plain_rules(data: st.DataObject, rules: Rules) -> None:
    graph = data.draw(any_streets())
    starts = data.draw(st.lists(any_states(graph), max_size=4))
    table = build_table(graph, rules, starts)
    for number in range(len(table)):
        state = table.state(number)
        for column, action in enumerate(ACTIONS):
            assert table.state(table.after[number, column]) == rules.step(graph, state, action)
            carried = rules.validate(graph, state, action)
            assert ACTIONS[table.carried[number, column]] is carried
            assert table.state(table.validated[number, column]) == rules.step(graph, state, carried)
    for start in starts:
        assert table.state(table.number(start)) == start


@pytest.mark.slow
@given(st.data(), RULES, st.lists(st.sampled_from(ACTIONS), max_size=30))
def test_walkers_go_where_the_plain_rules_go(
    data: st.DataObject, rules: Rules, actions: list[Action]
) -> None:
    graph = data.draw(any_streets())
    starts = data.draw(st.lists(any_states(graph), min_size=1, max_size=3))
    table = build_table(graph, rules, starts)
    walkers, crowd, states = [Walker(table, start) for start in starts], WalkerBatch(table, starts), starts
    for action in actions:
        carried = [rules.validate(graph, state, action) for state in states]
        states = [rules.step(graph, state, done) for state, done in zip(states, carried, strict=True)]
        together = crowd.step(np.full(len(starts), ACTIONS.index(action)))
        assert [walker.step(action) for walker in walkers] == carried
        assert [ACTIONS[done] for done in together] == carried
        assert [walker.state for walker in walkers] == states
        assert [crowd.state(walker) for walker in range(len(crowd))] == states


def test_every_state_that_walking_leads_to_has_a_number() -> None:
    table = build_table(crossing(left=-80, straight=5, right=80))
    for number in range(len(table)):
        assert table.state(table.number(table.state(number))) == table.state(number)


def test_other_states_have_to_be_given_as_starts() -> None:
    graph = crossing(left=-80, right=80)
    start = WalkState(graph.number("c"), 12.5)
    with pytest.raises(BadInput, match="give it as a start"):
        Walker(build_table(graph), start)
    assert Walker(build_table(graph, starts=[start]), start).state == start


@pytest.mark.parametrize(
    "start", [WalkState(9, 0.0), WalkState(-1, 0.0), WalkState(0, float("nan")), WalkState(0, 0.0, 9)]
)
def test_starts_outside_the_graph_are_refused(start: WalkState) -> None:
    with pytest.raises(BadInput, match="cannot start at"):
        build_table(streets({"a": {"b": 0.0}, "b": {}}), starts=[start])


def test_rules_of_ones_own_have_no_table() -> None:
    def stand(graph: object, state: WalkState, action: Action) -> WalkState:
        return state

    with pytest.raises(BadInput, match="no transition table for lazy's rules"):
        build_table(streets({"a": {}}), Rules("lazy", ACTIONS, stand, VELMA.validate))


def test_a_batch_refuses_what_is_no_action_each() -> None:
    table = build_table(crossing(left=-80, right=80))
    crowd = WalkerBatch(table, np.array([0, 1, 2]))
    for actions in (np.array([0, 1]), np.array([0, 1, 5]), np.array([0, -1, 0])):
        with pytest.raises(BadInput, match="3 walkers need 3 actions from 0 to 4"):
            crowd.step(actions)
    assert crowd.numbers.tolist() == [0, 1, 2]
    with pytest.raises(BadInput, match="not in the table"):
        WalkerBatch(table, np.array([len(table)]))
    assert len(WalkerBatch(table, []).step(np.array([], int))) == 0
