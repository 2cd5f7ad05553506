from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_avenues import Cell, at, avenues, cell_of

from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import MAX_ACTIONS, Action, WalkState
from virl.platform.navigators.follower.navigator import Follower
from virl.platform.navigators.instruction.base import InstructionNavigator

GRID = avenues()
WALKS: dict[str, Cell] = {
    "Go to the light and turn left. Stop at the next light.": (0, 8),
    "Go through one light and turn right at the second light. Stop two steps after turning.": (11, 16),
    "Turn right at the next intersection. Turn left at the light after that. Stop just before the light.": (
        16,
        14,
    ),
    "Go through the next two lights and stop halfway down the block.": (8, 20),
    "Make a right at the light. Go through one light and stop just past it.": (18, 8),
}


def end_of(follower: Follower, text: str, start: WalkState) -> Cell:
    *_, last = follower.walk(text, start)
    return cell_of(follower.graph, last.state.node)


@pytest.mark.parametrize("use_map", [False, True])
@pytest.mark.parametrize(("text", "target"), WALKS.items(), ids=WALKS)
def test_walks_on_a_grid(text: str, target: Cell, use_map: bool) -> None:
    x, y = end_of(Follower(GRID, use_map=use_map, oriented=True), text, at(GRID, (8, 3)))
    assert abs(x - target[0]) + abs(y - target[1]) <= 1  # task completion


@pytest.mark.parametrize(("lights", "north"), [("the double lights", 24), ("the light", 20)])
def test_a_double_light_is_one_crossing(lights: str, north: int) -> None:
    graph = avenues(more=[20])
    text = f"Go through the light, then go through {lights}. Turn left at the next light. Stop."
    *_, last = Follower(graph, use_map=True, oriented=True).walk(text, at(graph, (8, 3)))
    assert cell_of(graph, last.state.node)[1] == north


def test_the_walker_may_look_further_and_return() -> None:
    text = "Go through the light and stop halfway down the block."
    moves = list(Follower(GRID, oriented=True).walk(text, at(GRID, (8, 6))))
    assert "turn_around" in [move.action for move in moves]
    assert abs(cell_of(GRID, moves[-1].state.node)[1] - 12) <= 1


def test_the_map_finds_the_start_that_makes_the_rest_possible() -> None:
    gap = avenues(missing=[(x, 16) for x in range(9, 16)], yaw=None)
    text = "Walk to the light. Turn right there and stop a step after turning."
    x, y = end_of(Follower(gap, use_map=True), text, at(gap, (8, 12)))
    assert (y, abs(x - 6) <= 1) == (8, True)  # no way leads right in the north


@pytest.mark.parametrize(
    ("text", "goes_north"), [("Go with the flow of traffic.", True), ("Go against the traffic.", False)]
)
@pytest.mark.parametrize("use_map", [False, True])
def test_traffic_flows_the_way_the_car_drove(text: str, goes_north: bool, use_map: bool) -> None:
    start = at(GRID, (8, 12), 180.0)
    end = end_of(Follower(GRID, use_map=use_map), f"{text} Stop at the next light.", start)
    assert end == ((8, 16) if goes_north else (8, 8))


def test_names_tell_what_is_used() -> None:
    names = [Follower(GRID, use_map=a, use_prior=b).name for a in (False, True) for b in (False, True)]
    assert names == ["follower", "follower --prior", "follower --map", "follower --map --prior"]


def test_it_is_a_navigator() -> None:
    navigator: InstructionNavigator = Follower(GRID)
    assert navigator.name == "follower"
    with pytest.raises(FrozenInstanceError):
        navigator.use_map = True  # type: ignore[attr-defined]


def test_opening_actions_come_first() -> None:
    follower = Follower(GRID, oriented=True, opening=(Action.FORWARD,))
    first = next(follower.walk("Stop.", at(GRID, (8, 3))))
    assert (first.action, first.reason) == ("forward", "given")


@pytest.mark.parametrize("use_map", [False, True])
def test_a_node_without_links_is_no_trouble(use_map: bool) -> None:
    lonely = avenues(1)
    (move,) = Follower(lonely, use_map=use_map).walk("Turn left at the light.", at(lonely, (0, 0)))
    assert move.action == "stop"


class Guarded:
    """Entries of links that may only be read for nodes where the walker has stood."""

    def __init__(self, values: Any, allowed: "Allowed") -> None:
        self.values, self.allowed = values, allowed

    def __getitem__(self, key: Any) -> Any:
        assert isinstance(key, slice | int | np.integer)
        reads = range(key.start, key.stop) if isinstance(key, slice) else [int(key)]
        assert set(reads) <= self.allowed.links, "read a link of a node where it has not stood"
        return self.values[key]


class Allowed:
    """What the walker may read so far."""

    def __init__(self) -> None:
        self.nodes: set[int] = set()
        self.links: set[int] = set()


class Veiled:
    """A graph that fails the test when anything is read of a node where the walker has not stood."""

    def __init__(self, graph: NavigationGraph) -> None:
        self._graph, self._allowed = graph, Allowed()
        self.target = Guarded(graph.target, self._allowed)
        self.heading = Guarded(graph.heading, self._allowed)

    def stand(self, node: int) -> None:
        links = self._graph.links(node)
        self._allowed.nodes.add(node)
        self._allowed.links |= set(range(links.start, links.stop))

    def links(self, node: int) -> slice:
        assert node in self._allowed.nodes, "read a node where it has not stood"
        return self._graph.links(node)

    @property
    def first(self) -> Any:
        return _PerNode(self._graph.first, self._allowed, ends=True)

    @property
    def yaw(self) -> Any:
        return _PerNode(self._graph.yaw, self._allowed)


class _PerNode:
    def __init__(self, values: Any, allowed: Allowed, ends: bool = False) -> None:
        self.values, self.allowed, self.ends = values, allowed, ends

    def __getitem__(self, node: int) -> Any:
        assert node in self.allowed.nodes or (self.ends and node - 1 in self.allowed.nodes)
        return self.values[node]


@pytest.mark.parametrize("text", [*WALKS, "", "Turn around. Go to the dead end."])
@pytest.mark.parametrize("oriented", [False, True])
def test_the_embodied_follower_reads_only_where_it_has_stood(text: str, oriented: bool) -> None:
    veiled, start = Veiled(GRID), at(GRID, (8, 3))
    veiled.stand(start.node)
    actions = 0
    for move in Follower(veiled, oriented=oriented).walk(text, start):  # type: ignore[arg-type]
        veiled.stand(move.state.node)
        actions += 1
    assert 1 <= actions <= MAX_ACTIONS


def test_the_map_does_read_ahead() -> None:
    veiled, start = Veiled(GRID), at(GRID, (8, 3))
    veiled.stand(start.node)
    with pytest.raises((AssertionError, AttributeError)):
        list(Follower(veiled, use_map=True).walk("Stop at the light.", start))  # type: ignore[arg-type]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.text() | st.lists(st.sampled_from(" ".join(WALKS).split())).map(" ".join), st.booleans())
def test_any_text_is_walked(text: str, use_map: bool) -> None:
    moves = list(Follower(GRID, use_map=use_map, max_actions=20).walk(text, at(GRID, (8, 3))))
    assert 1 <= len(moves) <= 20


def test_ten_thousand_words_are_walked() -> None:
    text = "Turn left at the light and walk past the bank. " * 1000
    assert 1 <= len(list(Follower(GRID, use_map=True).walk(text, at(GRID, (8, 3))))) <= MAX_ACTIONS
