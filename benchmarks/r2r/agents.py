"""The agents that can be scored, by name, and the baselines among them that read no instruction."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from virl.bench.resources import Resources
from virl.bench.walks import WalkingAgent
from virl.errors import UnknownName
from virl.geo.globe import signed_turn
from virl.mind.base import Mind
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.navigators.instruction.base import InstructionNavigator, Move, in_chat
from virl.platform.navigators.navgpt.navigator import NavGptNavigator
from virl.platform.navigators.navgpt.observation import Observations
from virl.platform.navigators.navgpt.sources import GraphObservations, read_published

from .dataset import Data
from .options import Options

MOVES = 5
"""Number of moves after which forward and random stop, as in Anderson et al. 2018 (R2R)."""
_AHEAD_DEG = 90.0  # chosen: a way that leads back is not ahead
AGENTS = ("gold", "shortest", "random", "forward", "navgpt")


def open_agent(data: Data, options: Options, resources: Resources) -> WalkingAgent:
    """Return the agent that the options name, ready to walk the split's episodes.

    Args:
        data: of the split.
        options: of the benchmark.
        resources: with the minds.

    Raises:
        UnknownName: there is no such agent.
        BadInput: the observations are missing or damaged, or no mind has such a name.
        ModelUnavailable: the model's package or key is missing.
    """
    if options.agent not in AGENTS:
        raise UnknownName("agent", options.agent, list(AGENTS))
    if options.agent == "navgpt":
        return _navgpt_agent(data, options, resources)
    make: Mapping[str, Callable[[NavigationGraph, InstructionEpisode], InstructionNavigator]] = {
        "gold": lambda graph, episode: RouteNavigator("gold", graph, [*map(graph.number, episode.path)]),
        "shortest": _shortest_navigator,
        "random": lambda graph, _: RandomNavigator(graph, options.seed),
        "forward": lambda graph, _: ForwardNavigator(graph),
    }
    made = make[options.agent]
    return WalkingAgent(options.agent, lambda episode: (made(_graph_of(data, episode), episode), None))


def _navgpt_agent(data: Data, options: Options, resources: Resources) -> WalkingAgent:
    """Return the agent that asks a mind with NavGPT's prompts; it sees published observations if given."""
    folder = options.observations
    seen: dict[str, Observations] = {
        scan: GraphObservations(one.graph) if folder is None else read_published(folder, scan, one.graph)
        for scan, one in data.buildings.items()
    }

    def navigator(episode: InstructionEpisode) -> tuple[InstructionNavigator, Mind]:
        """Return the navigator of an episode, and the mind that it asks."""
        asked = resources.mind(options.mind)  # its ledger is the episode's
        graph = _graph_of(data, episode)
        return NavGptNavigator(graph, asked, seen[episode.scan], form=options.form), asked

    kind, mind = next(iter(seen.values())).name, resources.mind(options.mind)
    chat = ", chat" if in_chat(options.form, mind) else ""
    return WalkingAgent(f"navgpt, {mind.name}, {kind} observations{chat}", navigator)


def _graph_of(data: Data, episode: InstructionEpisode) -> NavigationGraph:
    """Return the graph of the building in which an episode takes place."""
    return data.buildings[episode.scan].graph


def _shortest_navigator(graph: NavigationGraph, episode: InstructionEpisode) -> InstructionNavigator:
    """Return a navigator along the shortest path from an episode's start to its target."""
    path, _ = graph.shortest_path(graph.number(episode.start), graph.number(episode.target))
    return RouteNavigator("shortest", graph, path)


@dataclass(frozen=True, slots=True)
class RouteNavigator:
    """A navigator along a given path of nodes, to its end."""

    name: str
    graph: NavigationGraph
    path: Sequence[int]
    """Numbers of the nodes, each linked with the one before; the start first."""

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves along the path, then the stop; the instruction is not read."""
        del instruction
        state = start
        for node in self.path[1:]:
            state = _state_after(self.graph, state, node)
            yield _to_move(self.graph, state)
        yield _stop_move(state)


@dataclass(frozen=True, slots=True)
class ForwardNavigator:
    """A navigator by the link nearest to its heading, for five moves or until nothing lies ahead."""

    graph: NavigationGraph
    name: str = "forward"

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk straight on, then the stop; the instruction is not read."""
        del instruction
        state = start
        for _ in range(MOVES):
            links = self.graph.links(state.node)
            turns = np.abs(signed_turn(state.heading, self.graph.heading[links]))
            if not turns.size or turns.min() > _AHEAD_DEG:
                break
            state = _state_after(self.graph, state, int(self.graph.target[links][turns.argmin()]))
            yield _to_move(self.graph, state)
        yield _stop_move(state)


@dataclass(frozen=True, slots=True)
class RandomNavigator:
    """A navigator by five random links, drawn from seed, start and instruction."""

    graph: NavigationGraph
    seed: int = 0
    name: str = "random"

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves along random links, then the stop; the instruction is a part of the seed."""
        draw = random.Random(f"{self.seed} {self.graph.ids[start.node]} {instruction}")
        state = start
        for _ in range(MOVES):
            ways = self.graph.target[self.graph.links(state.node)].tolist()
            if not ways:
                break
            state = _state_after(self.graph, state, draw.choice(ways))
            yield _to_move(self.graph, state)
        yield _stop_move(state)


def _state_after(graph: NavigationGraph, state: WalkState, node: int) -> WalkState:
    """Return the state after a move to the linked node `node`."""
    links = graph.links(state.node)
    way = links.start + graph.target[links].tolist().index(node)
    return WalkState(node, float(graph.heading[way]), state.node)


def _to_move(graph: NavigationGraph, state: WalkState) -> Move:
    """Return the move to a state's node, named by the node's id."""
    return Move(graph.ids[state.node], state)


def _stop_move(state: WalkState) -> Move:
    """Return the move that stops in a state."""
    return Move(Action.STOP.value, WalkState(state.node, state.heading))
