"""The published walks, action by action."""

import json

from real_data import real_data

from virl.platform.movement.discrete.actions import Action, parse_action
from virl.platform.movement.discrete.rules import VELMA, WalkState
from virl.platform.providers.graph.touchdown import read_touchdown


def test_every_state_and_validated_action_of_the_random_walks_is_reproduced() -> None:
    data = real_data("touchdown")
    graph = read_touchdown(data / "graph")
    states = 0
    for line in (data / "expected" / "random_walks.jsonl").read_text().splitlines():
        walk = json.loads(line)
        state = WalkState(graph.number(walk["start"][0]), walk["start"][1])
        for text, validated, expected in zip(walk["actions"], walk["validated"], walk["states"], strict=True):
            action = VELMA.validate(graph, state, parse_action(text) or Action.FORWARD)
            assert action == validated
            state = VELMA.step(graph, state, action)
            assert [graph.ids[state.node], state.heading] == expected
            states += 1
    assert states > 20_000


def test_every_gold_action_is_reproduced() -> None:
    data = real_data("touchdown")
    graph = read_touchdown(data / "graph")
    for dataset in ("map2seq", "touchdown"):
        for line in (data / "expected" / f"gold_{dataset}_unseen_dev.jsonl").read_text().splitlines():
            walk = json.loads(line)
            node, heading = walk["states"][0]
            state = WalkState(graph.number(node), heading)
            for action, expected in zip(walk["actions"], walk["states"][1:], strict=False):
                state = VELMA.step(graph, state, Action(action))
                assert [graph.ids[state.node], state.heading] == expected
