"""Episodes made ready to be walked by numbers: where they start and end, and what is sensed in each state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.geo.globe import Floats, Ints
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.city.hops import Hops
from virl.platform.movers.discrete.actions import VELMA, Action, Rules, WalkState
from virl.platform.movers.discrete.table import ACTIONS, TransitionTable, build_table
from virl.platform.providers.graph.data_files import snapped_heading
from virl.platform.providers.graph.touchdown import Dataset

Observation = dict[str, np.ndarray]
"""Arrays of the observation of one walker or of many, by their names in the observation space."""
Numbers = int | NDArray[np.integer]
"""Number of a state or an episode, or an array of such numbers."""
OPENING: dict[Dataset, tuple[Action, ...]] = {"touchdown": (), "map2seq": (Action.FORWARD,)}
"""Actions taken before the first decision, by data set: Map2seq begins with one forward (VELMA's code)."""


@dataclass(frozen=True, slots=True, eq=False)
class WalkTask:
    """Episodes on a transition table, with the arrays that environments look up, made by `build_task`."""

    table: TransitionTable
    """Transition table of the graph: its states and the steps between them."""
    episodes: tuple[InstructionEpisode, ...]
    start: Ints
    """Number of the state at the first decision of each episode, shape (episodes,)."""
    taken: int
    """Number of actions taken before the first decision."""
    near: Ints
    """Numbers of each episode's target node and its neighbours, padded with -1, shape (episodes, most)."""
    hops: Hops
    """Function of (episode, node) to the number of links from the node to the episode's target."""
    facing: NDArray[np.float32]
    """Sine and cosine of each state's heading, shape (states, 2)."""
    links: NDArray[np.float32]
    """Sine and cosine of the clockwise turn to each link of a state, shape (states, most links, 2)."""
    is_link: NDArray[np.int8]
    """1 for links, 0 for the padding of `links`, shape (states, most links)."""
    possible: NDArray[np.int8]
    """1 for actions that validation carries out unchanged, else 0, shape (states, 5)."""

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """Return the same object, as copies of an environment share what they look up."""
        return self

    def observe(self, number: Numbers, episode: Numbers) -> Observation:
        """Return the observations of walkers as new arrays, by the numbers of their states and episodes."""
        return {
            "arrived": np.array(self.table.came_from[number] >= 0, np.int64)[()],
            "episode": np.array(episode, np.int64)[()],
            "heading": self.facing.take(number, axis=0),
            "link_mask": self.is_link.take(number, axis=0),
            "links": self.links.take(number, axis=0),
            "node": np.array(self.table.node[number], np.int64)[()],
        }

    def is_near(self, number: Numbers, episode: Numbers) -> NDArray[np.bool_]:
        """Return whether states are at the target of their episode, or one link from it."""
        node = np.asarray(self.table.node[number])
        return np.asarray((self.near[episode] == node[..., None]).any(axis=-1))


def build_task(
    graph: NavigationGraph,
    episodes: Sequence[InstructionEpisode],
    dataset: Dataset = "touchdown",
    rules: Rules = VELMA,
) -> WalkTask:
    """Return episodes with the transition table of their graph and the arrays that environments look up.

    Args:
        graph: street graph of the episodes.
        episodes: at least one.
        dataset: data set whose rules of starting they follow.
        rules: effects of actions.

    Raises:
        BadInput: there are no episodes.
        NoStreetView: the graph does not have the start or the target of an episode.
    """
    if not episodes:
        raise BadInput("no episodes: give at least one")
    starts = []
    for episode in episodes:
        state = start_state(graph, episode, dataset)
        for action in OPENING[dataset]:
            state = rules.step(graph, state, action)
        starts.append(state)
    table = build_table(graph, rules, starts)
    targets = [graph.number(episode.target) for episode in episodes]
    turns = _link_turns(graph, table)
    there = ~np.isnan(turns)
    known = np.array([action in rules.actions for action in ACTIONS])
    return WalkTask(
        table=table,
        episodes=tuple(episodes),
        start=np.array([table.number(state) for state in starts]),
        taken=len(OPENING[dataset]),
        near=_nodes_near(graph, targets),
        hops=Hops(graph, targets),
        facing=_sin_cos(table.heading),
        links=np.where(there[..., None], _sin_cos(turns), np.float32(0)),
        is_link=there.astype(np.int8),
        possible=((table.carried == np.arange(len(ACTIONS))) & known).astype(np.int8),
    )


def _link_turns(graph: NavigationGraph, table: TransitionTable) -> Floats:
    """Return the degrees clockwise from each state's heading to its links, ascending, padded with `nan`."""
    most = max(1, int(graph.degree.max()))
    headings = np.full((len(graph), most), np.nan)
    nth = np.arange(len(graph.target)) - np.repeat(graph.first[:-1], graph.degree)
    headings[np.repeat(np.arange(len(graph)), graph.degree), nth] = graph.heading
    return np.sort((headings[table.node] - table.heading[:, None]) % 360.0, axis=1)


def _nodes_near(graph: NavigationGraph, targets: Sequence[int]) -> Ints:
    """Return the numbers of each target and the nodes linked with it, shape (targets, most); -1 fills up."""
    source = np.repeat(np.arange(len(graph)), graph.degree)
    near = {
        # Neighbours in both directions: a one-way link counts at either end.
        target: np.unique([target, *graph.target[graph.links(target)], *source[graph.target == target]])
        for target in set(targets)
    }
    rows = np.full((len(targets), max(len(nodes) for nodes in near.values())), -1)
    for row, target in zip(rows, targets, strict=True):
        row[: len(near[target])] = near[target]
    return rows


def _sin_cos(degrees: Floats) -> NDArray[np.float32]:
    """Return sine and cosine of angles in degrees, on a new last axis of length 2."""
    angle = np.radians(degrees)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).astype(np.float32)


def start_state(graph: NavigationGraph, episode: InstructionEpisode, dataset: Dataset) -> WalkState:
    """Return an episode's first state: Touchdown headings are snapped to the nearest link, Map2seq's kept.

    Args:
        graph: links between the panoramas.
        episode: episode that begins.
        dataset: data set whose rules of starting it follows.

    Raises:
        NoStreetView: the graph does not have the panorama where the episode starts.
    """
    heading = snapped_heading(graph, episode) if dataset == "touchdown" else episode.heading
    return WalkState(graph.number(episode.start), heading)
