import pytest
from made_r2r import SCAN, write_r2r

from benchmarks.r2r.agents import MOVES, ForwardNavigator, RandomNavigator, RouteNavigator
from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import WalkState
from virl.platform.navigators.instruction.base import InstructionNavigator
from virl.platform.providers.graph.matterport import read_matterport


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> NavigationGraph:
    return read_matterport(write_r2r(tmp_path_factory.mktemp("r2r")) / "connectivity", SCAN)


def actions(
    graph: NavigationGraph, agent: InstructionNavigator, start: str, heading: float = 90.0
) -> list[str]:
    moves = list(agent.walk("Go on.", WalkState(graph.number(start), heading)))
    assert all(graph.ids[move.state.node] == move.action for move in moves[:-1])
    return [move.action for move in moves]


def test_a_route_is_walked_to_its_end(graph: NavigationGraph) -> None:
    route = RouteNavigator("gold", graph, [graph.number(name) for name in ("a0", "b0", "b1")])
    moves = list(route.walk("", WalkState(graph.number("a0"), 45.0)))
    assert [move.action for move in moves] == ["b0", "b1", "stop"]
    assert [move.state.heading for move in moves] == pytest.approx([180, 90, 90])
    assert [move.state.came_from for move in moves] == [graph.number("a0"), graph.number("b0"), None]


def test_forward_goes_on_and_stops_at_a_wall(graph: NavigationGraph) -> None:
    forward = ForwardNavigator(graph)
    assert actions(graph, forward, "a0") == ["a1", "a2", "a3", "a4", "a5", "stop"]
    assert actions(graph, forward, "b3") == ["b4", "b5", "stop"]
    assert actions(graph, forward, "b5", heading=80.0) == ["stop"]  # the only way leads back
    assert actions(graph, forward, "b4", heading=10.0) == ["a4", "a3", "a2", "a1", "a0", "stop"]


def test_random_depends_on_seed_start_and_instruction_alone(graph: NavigationGraph) -> None:
    walk = actions(graph, RandomNavigator(graph, seed=3), "a2")
    assert walk == actions(graph, RandomNavigator(graph, seed=3), "a2")
    assert len(walk) == MOVES + 1
    assert len({tuple(actions(graph, RandomNavigator(graph, seed), "a2")) for seed in range(20)}) > 5
