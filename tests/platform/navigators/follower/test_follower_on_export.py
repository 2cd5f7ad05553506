"""On the small export of Virlton that is committed for tests: episodes written from templates."""

from pathlib import Path

import pytest

from virl.platform.movers.discrete.task import OPENING, start_state
from virl.platform.navigators.follower.navigator import Follower
from virl.platform.providers.graph.touchdown import Dataset, read_episodes, read_touchdown

EXPORT = Path(__file__).parents[3] / "data" / "virlton-small"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "use_map", "least"),
    [("map2seq", False, 10), ("map2seq", True, 15), ("touchdown", False, 10), ("touchdown", True, 15)],
)
def test_made_instructions_are_followed(dataset: Dataset, use_map: bool, least: int) -> None:
    graph = read_touchdown(EXPORT / "graph")
    follower = Follower(graph, use_map=use_map, oriented=dataset == "map2seq", opening=OPENING[dataset])
    reached = 0
    episodes = read_episodes(EXPORT / f"{dataset}_unseen" / "dev.jsonl")
    for episode in episodes:
        *_, last = follower.walk(episode.instruction, start_state(graph, episode, dataset))
        target = graph.number(episode.target)
        beside = {target, *graph.target[graph.links(target)].tolist()}
        reached += last.state.node in beside
    assert len(episodes) == 30
    assert reached >= least
