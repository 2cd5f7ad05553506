"""On R2R's buildings and on Manhattan: gold walks by a scripted model, and every way told once."""

import json
import re

import pytest
from openai_server import ChatServer, text
from real_data import real_data

from virl.mind.open import open_mind
from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import WalkState
from virl.platform.navigators.navgpt.navigator import NavGptNavigator
from virl.platform.navigators.navgpt.observation import observation_text
from virl.platform.navigators.navgpt.sources import GraphObservations
from virl.platform.providers.graph.matterport import read_matterport, read_r2r_episodes
from virl.platform.providers.graph.touchdown import read_touchdown

FINISHED = text("There.\nFinal Answer: Finished!")
EPISODES = 6


def go(name):
    return text(f'On.\nAction: action_maker\nAction Input: "{name}"')


@pytest.fixture(scope="module")
def r2r():
    return real_data("r2r")


def episodes_of_one_scan(r2r):
    episodes = read_r2r_episodes(r2r / "R2R_val_unseen.json")
    scan = episodes[0].scan
    return [episode for episode in episodes if episode.scan == scan][::3][:EPISODES]


@pytest.mark.slow
def test_gold_paths_are_walked_with_the_headings_of_their_ways(r2r, monkeypatch):
    monkeypatch.delenv("VIRL_BASE_URL", raising=False)
    episodes = episodes_of_one_scan(r2r)
    graph = read_matterport(r2r / "connectivity", episodes[0].scan)
    script = [reply for episode in episodes for reply in (*map(go, episode.path[1:]), FINISHED)]
    with ChatServer(script) as server:
        mind = open_mind("openai:test", cache_dir=None, base_url=server.url)
        navigator = NavGptNavigator(graph, mind, GraphObservations(graph), form="text")
        for episode in episodes:
            start = WalkState(graph.number(episode.start), episode.heading)
            moves = list(navigator.walk(episode.instruction, start))
            assert [move.action for move in moves] == [*episode.path[1:], "stop"]
            assert graph.ids[moves[-1].state.node] == episode.target
            before = start
            for move in moves[:-1]:
                links = graph.links(before.node)
                way = list(graph.target[links]).index(move.state.node)
                assert move.state.heading == graph.heading[links][way]
                assert move.state.came_from == before.node
                before = move.state


def test_no_id_of_the_same_building_teleports(r2r, monkeypatch):
    monkeypatch.delenv("VIRL_BASE_URL", raising=False)
    episode = next(episode for episode in episodes_of_one_scan(r2r) if len(episode.path) > 3)
    graph = read_matterport(r2r / "connectivity", episode.scan)
    with ChatServer([go(episode.target), go(episode.path[1]), FINISHED]) as server:
        mind = open_mind("openai:test", cache_dir=None, base_url=server.url)
        navigator = NavGptNavigator(graph, mind, GraphObservations(graph), form="text")
        start = WalkState(graph.number(episode.start), episode.heading)
        moves = list(navigator.walk(episode.instruction, start))
        told = json.dumps(server.requests[1].body)
    assert [move.action for move in moves] == [episode.path[1], "stop"]
    assert episode.target in moves[0].refused[0]
    links = graph.links(start.node)
    assert all(
        graph.ids[node] in told.partition("You can go to one of these")[2] for node in graph.target[links]
    )


def ways_told(graph: NavigationGraph, node: int, heading: float) -> list[str]:
    text = observation_text(GraphObservations(graph).at(graph.ids[node]), heading)
    maps = re.findall(r"navigable viewpoints: (\{.*\})$", text, re.MULTILINE)
    return sorted(way for held in maps for way in json.loads(held))


def check_all_ways_are_told(graph: NavigationGraph, nodes: range) -> None:
    for node in nodes:
        expected = sorted(graph.ids[target] for target in graph.target[graph.links(node)])
        for heading in (0.0, 17.0, 340.0):
            assert ways_told(graph, node, heading) == expected


def test_every_way_of_a_building_is_told_once(r2r):
    scan = episodes_of_one_scan(r2r)[0].scan
    graph = read_matterport(r2r / "connectivity", scan)
    check_all_ways_are_told(graph, range(len(graph)))


@pytest.mark.slow
def test_every_way_of_manhattan_is_told_once():
    graph = read_touchdown(real_data("touchdown") / "graph")
    check_all_ways_are_told(graph, range(0, len(graph), 40))
