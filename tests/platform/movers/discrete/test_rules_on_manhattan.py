"""The published walks on the real street network, action by action."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_data import real_data

from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import TOUCHDOWN, VELMA, Action, Rules, WalkState, parse_action
from virl.platform.movers.discrete.oracle import Oracle, gold_actions, walk_states
from virl.platform.movers.discrete.table import ACTIONS, TransitionTable, Walker, WalkerBatch, build_table
from virl.platform.movers.discrete.task import start_state
from virl.platform.providers.graph.touchdown import Dataset, read_episodes, read_touchdown


@pytest.fixture(scope="module")
def data() -> Path:
    return real_data("touchdown")


@pytest.fixture(scope="module")
def graph(data: Path) -> NavigationGraph:
    return read_touchdown(data / "graph")


@pytest.fixture(scope="module")
def walks(data: Path) -> list[dict[str, Any]]:
    return read_lines(data / "expected" / "random_walks.jsonl")


@pytest.fixture(scope="module")
def table(graph: NavigationGraph, walks: list[dict[str, Any]]) -> TransitionTable:
    return build_table(graph, VELMA, [start_of(graph, walk) for walk in walks])


def read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def start_of(graph: NavigationGraph, walk: dict[str, Any]) -> WalkState:
    return WalkState(graph.number(walk["start"][0]), walk["start"][1])


def given(text: str) -> Action:
    return parse_action(text) or Action.FORWARD  # as published: what names no action is a forward


@pytest.mark.slow
def test_the_plain_rules_reproduce_every_random_walk(
    graph: NavigationGraph, walks: list[dict[str, Any]]
) -> None:
    states = 0
    for walk in walks:
        state = start_of(graph, walk)
        for text, validated, expected in zip(walk["actions"], walk["validated"], walk["states"], strict=True):
            action = VELMA.validate(graph, state, given(text))
            assert action == validated
            state = VELMA.step(graph, state, action)
            assert [graph.ids[state.node], state.heading] == expected
            states += 1
    assert states == 22_294


@pytest.mark.slow
def test_a_walker_reproduces_every_random_walk(
    graph: NavigationGraph, walks: list[dict[str, Any]], table: TransitionTable
) -> None:
    for walk in walks:
        walker = Walker(table, start_of(graph, walk))
        for text, validated, expected in zip(walk["actions"], walk["validated"], walk["states"], strict=True):
            assert walker.step(given(text)) == validated
            state = walker.state
            assert [graph.ids[state.node], state.heading] == expected


@pytest.mark.slow
def test_a_batch_reproduces_all_random_walks_at_once(
    graph: NavigationGraph, walks: list[dict[str, Any]], table: TransitionTable
) -> None:
    crowd = WalkerBatch(table, [start_of(graph, walk) for walk in walks])
    for step in range(max(len(walk["actions"]) for walk in walks)):
        going = [nth for nth, walk in enumerate(walks) if step < len(walk["actions"])]
        actions = np.zeros(len(walks), int)
        actions[going] = [ACTIONS.index(given(walks[nth]["actions"][step])) for nth in going]
        carried = crowd.step(actions)
        nodes, headings = table.node[crowd.numbers], table.heading[crowd.numbers]
        for nth in going:
            assert ACTIONS[carried[nth]] == walks[nth]["validated"][step]
            assert [graph.ids[nodes[nth]], headings[nth]] == walks[nth]["states"][step]


@pytest.mark.slow
@pytest.mark.parametrize("rules", [VELMA, TOUCHDOWN], ids=lambda rules: rules.name)
def test_the_table_agrees_with_the_plain_rules_at_crossings_and_a_sample_of_roads(
    graph: NavigationGraph, rules: Rules
) -> None:
    table = build_table(graph, rules)
    crossings = np.flatnonzero(graph.degree[table.node] > 2)
    rng = np.random.default_rng(0)
    for number in (*rng.choice(crossings, 2_000).tolist(), *rng.integers(len(table), size=2_000).tolist()):
        state = table.state(number)
        for column, action in enumerate(ACTIONS):
            assert table.state(int(table.after[number, column])) == rules.step(graph, state, action)
            assert ACTIONS[table.carried[number, column]] is rules.validate(graph, state, action)


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["map2seq", "touchdown"])
def test_gold_actions_and_their_states_are_the_published_ones(
    data: Path, graph: NavigationGraph, dataset: Dataset
) -> None:
    episodes = read_episodes(data / f"{dataset}_unseen" / "dev.jsonl")
    published = read_lines(data / "expected" / f"gold_{dataset}_unseen_dev.jsonl")
    for nth, (episode, walk) in enumerate(zip(episodes, published, strict=True)):
        assert episode.id == str(walk["id"])
        start = start_state(graph, episode, dataset)
        actions = gold_actions(graph, episode.path, start.heading)
        states = walk_states(graph, start, actions)
        assert actions == walk["actions"]
        assert [[graph.ids[state.node], state.heading] for state in states] == walk["states"]
        if nth % 8 == 0:
            assert Oracle(graph, episode.path, turn_at_forks=False).actions(states[:-1]) == actions
