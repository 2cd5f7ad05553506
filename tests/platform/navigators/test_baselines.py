import json
from collections import Counter

import pytest
from real_data import real_data

from virl.errors import BadInput
from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.movers.discrete.task import OPENING, start_state
from virl.platform.navigators.instruction.base import InstructionNavigator, Move
from virl.platform.navigators.instruction.baselines import (
    ForwardNavigator,
    GoldNavigator,
    RandomNavigator,
    ShortestPathNavigator,
)
from virl.platform.providers.graph.touchdown import Dataset, read_episodes, read_touchdown

SIDE = 8


def name(x: int, y: int) -> str:
    return f"{x % SIDE}-{y % SIDE}"


def endless_blocks() -> NavigationGraph:
    """A crossing at every panorama; who leaves on one side comes back on the other."""
    cells = [(x, y) for x in range(SIDE) for y in range(SIDE)]
    ids = [name(x, y) for x, y in cells]
    ways = [(0, 1, 0.0), (1, 0, 90.0), (0, -1, 180.0), (-1, 0, 270.0)]
    links = [(name(x, y), name(x + dx, y + dy), heading) for x, y in cells for dx, dy, heading in ways]
    return build_graph(
        ids,
        [y * 1e-4 for _, y in cells],
        [x * 1e-4 for x, _ in cells],
        [ids.index(here) for here, _, _ in links],
        [ids.index(there) for _, there, _ in links],
        heading=[heading for _, _, heading in links],
        length=[10.0] * len(links),
    )


BLOCKS = endless_blocks()
START = WalkState(BLOCKS.number("0-0"), 0.0)


def passed(start: WalkState, moves: list[Move], graph: NavigationGraph = BLOCKS) -> list[str]:
    nodes = [start.node] + [move.state.node for move in moves if move.state.came_from is not None]
    return [graph.ids[node] for node in nodes]


def actions(navigator: InstructionNavigator, instruction: str = "Go.") -> list[str]:
    return [move.action for move in navigator.walk(instruction, START)]


def test_forward_stops_after_so_many_panoramas() -> None:
    assert actions(ForwardNavigator(BLOCKS, stop_after=4)) == ["forward"] * 3 + ["stop"]
    moves = list(ForwardNavigator(BLOCKS).walk("Go.", START))
    assert len(passed(START, moves)) == 40
    assert len(moves) == 40


def test_random_draws_evenly_at_crossings_and_goes_forward_after_a_turn() -> None:
    drawn: Counter[str] = Counter()
    for number in range(200):
        moves = list(RandomNavigator(BLOCKS).walk(f"Walk {number}.", START))
        assert moves[-1].action == Action.STOP or len(moves) == 55
        turned = False
        for move in moves:
            if turned:
                assert move.action in ("forward", "stop")
            elif move.action != "stop":
                drawn[move.action] += 1
            turned = move.action in ("left", "right")
        if moves[-1].action == "stop":
            assert len(passed(START, moves)) == 40
    total = sum(drawn.values())
    for action in ("forward", "left", "right"):
        assert drawn[action] / total == pytest.approx(1 / 3, abs=0.02)
    assert set(drawn) == {"forward", "left", "right"}


def test_random_walks_depend_on_seed_and_instruction_not_on_order() -> None:
    first, second = RandomNavigator(BLOCKS, seed=7), RandomNavigator(BLOCKS, seed=7)
    assert actions(first, "A.") != actions(first, "B.")
    assert (actions(second, "B."), actions(second, "A.")) == (actions(first, "B."), actions(first, "A."))
    assert actions(RandomNavigator(BLOCKS, seed=8), "A.") != actions(first, "A.")


def test_gold_walks_its_path_however_long() -> None:
    path = [name(0, y) for y in range(70)] + [name(1, 69)]
    moves = list(GoldNavigator(BLOCKS, path).walk("Go.", START))
    assert passed(START, moves) == path
    assert [move.action for move in moves][-3:] == ["right", "forward", "stop"]
    with pytest.raises(BadInput, match="follows no link from 0-0 to 3-3"):
        GoldNavigator(BLOCKS, ["0-0", "3-3"]).walk("Go.", START)


def test_shortest_takes_the_fewest_links() -> None:
    moves = list(ShortestPathNavigator(BLOCKS, "6-3").walk("Go.", START))
    nodes = passed(START, moves)
    assert (nodes[-1], len(nodes), moves[-1].action) == ("6-3", 6, "stop")
    assert len(list(ShortestPathNavigator(BLOCKS, "4-4", max_actions=3).walk("Go.", START))) == 3


@pytest.mark.parametrize(
    "navigator",
    [
        ForwardNavigator(BLOCKS),
        RandomNavigator(BLOCKS),
        GoldNavigator(BLOCKS, ["0-0", "0-1"]),
        ShortestPathNavigator(BLOCKS, "0-1"),
    ],
    ids=lambda navigator: navigator.name,
)
def test_odd_instructions_are_walked_like_any_other(navigator: InstructionNavigator) -> None:
    for instruction in ("", "🚶‍♀️ \x00\x1b[2J", "left " * 10_000):
        moves = list(navigator.walk(instruction, START))
        assert moves[-1].action == "stop" or len(moves) == 55


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["map2seq", "touchdown"])
def test_forward_takes_the_published_walks_and_gold_and_shortest_arrive(dataset: Dataset) -> None:
    data = real_data("touchdown")
    graph = read_touchdown(data / "graph")
    episodes = read_episodes(data / f"{dataset}_unseen" / "dev.jsonl")
    published = json.loads((data / "expected" / f"baseline_forward_{dataset}_unseen_dev.json").read_text())
    missed = 0
    for nth, (episode, walk) in enumerate(zip(episodes, published["instances"], strict=True)):
        start = start_state(graph, episode, dataset)
        moves = list(ForwardNavigator(graph, OPENING[dataset]).walk(episode.instruction, start))
        assert [move.action for move in moves] == walk["actions"]
        assert passed(start, moves, graph) == walk["pano_path"]
        if nth % 4 == 0:
            gold = list(GoldNavigator(graph, episode.path).walk(episode.instruction, start))
            assert passed(start, gold, graph) == list(episode.path)
            shortest = ShortestPathNavigator(graph, episode.target, OPENING[dataset])
            *_, last = shortest.walk(episode.instruction, start)
            missed += graph.ids[last.state.node] != episode.target
    assert missed <= 1  # a start in a dead end, a goal beyond the limit of actions
