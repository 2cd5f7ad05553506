"""Task completion on real streets, so that a change of the grammar or the numbers cannot lose it unseen."""

import pytest
from real_data import real_data

from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.movers.discrete.task import OPENING, start_state
from virl.platform.navigators.follower.navigator import Follower
from virl.platform.providers.graph.touchdown import Dataset, read_episodes, read_touchdown

EVERY = 6
"""One episode in so many is walked."""


@pytest.fixture(scope="module")
def graph() -> NavigationGraph:
    return read_touchdown(real_data("touchdown") / "graph")


def completed(
    graph: NavigationGraph, follower: Follower, episode: InstructionEpisode, dataset: Dataset
) -> bool:
    *_, last = follower.walk(episode.instruction, start_state(graph, episode, dataset))
    end, target = last.state.node, graph.number(episode.target)
    return (
        end == target or target in graph.target[graph.links(end)] or end in graph.target[graph.links(target)]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "scenario", "use_map", "least"),
    [
        ("map2seq", "seen", False, 0.5),
        ("map2seq", "seen", True, 0.56),
        ("touchdown", "unseen", False, 0.19),
        ("touchdown", "unseen", True, 0.24),
    ],
)
def test_completion_on_the_sets_it_was_tuned_on(
    graph: NavigationGraph, dataset: Dataset, scenario: str, use_map: bool, least: float
) -> None:
    episodes = read_episodes(real_data("touchdown") / f"{dataset}_{scenario}" / "dev.jsonl")[::EVERY]
    follower = Follower(graph, use_map=use_map, oriented=dataset == "map2seq", opening=OPENING[dataset])
    done = [completed(graph, follower, episode, dataset) for episode in episodes]
    assert sum(done) >= least * len(done)
