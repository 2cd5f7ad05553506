"""The agents that can be scored, by name, and what each is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from virl.errors import UnknownName
from virl.mind.base import Mind
from virl.mind.open import open_mind
from virl.platform.episodes import Episode
from virl.platform.graph import NavigationGraph
from virl.platform.movement.instruction.base import InstructionNavigator
from virl.platform.movement.instruction.navgpt.navigator import MAX_STEPS, NavGptNavigator
from virl.platform.movement.instruction.navgpt.observation import Observations
from virl.platform.movement.instruction.navgpt.published import read_published
from virl.platform.movement.instruction.navgpt.sources import GraphObservations

from ..following.trial import Agent, limiter
from .baselines import ForwardNavigator, RandomNavigator, RouteNavigator
from .dataset import Data

AGENTS = ("gold", "shortest", "random", "forward", "navgpt")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says of an agent."""

    agent: str
    mind: str = "rules"
    replies: Path | None = None
    """Where replies of models are kept."""
    observations: Path | None = None
    """Observations in NavGPT's published layout; without them only the ways that lead on are told."""
    rate: float | None = None
    """Requests a second at most, over all episodes at once; `None` sets no limit."""
    seed: int = 0


def open_agent(data: Data, choices: Choices) -> Agent:
    """Make an agent ready.

    Raises:
        UnknownName: there is no such agent.
        BadInput: the observations are missing or damaged, or no mind has such a name.
        ModelUnavailable: the model's package or key is missing.
    """
    if choices.agent not in AGENTS:
        raise UnknownName("agent", choices.agent, list(AGENTS))
    if choices.agent == "navgpt":
        return _navgpt(data, choices)
    make: Mapping[str, Callable[[NavigationGraph, Episode], InstructionNavigator]] = {
        "gold": _gold,
        "shortest": _shortest,
        "random": lambda graph, _: RandomNavigator(graph, choices.seed),
        "forward": lambda graph, _: ForwardNavigator(graph),
    }
    settings = {"agent": choices.agent} | ({"seed": choices.seed} if choices.agent == "random" else {})
    made = make[choices.agent]
    return Agent(choices.agent, settings, lambda episode: (made(_graph(data, episode), episode), None))


def _navgpt(data: Data, choices: Choices) -> Agent:
    seen = {scan: _observations(scan, building.graph, choices) for scan, building in data.buildings.items()}
    mind = open_mind(choices.mind, cache_dir=choices.replies, limiter=limiter(choices.rate))

    def navigator(episode: Episode) -> tuple[InstructionNavigator, Mind]:
        asked = mind.apart()  # its ledger is the episode's
        return NavGptNavigator(_graph(data, episode), asked, seen[episode.scan]), asked

    settings = {
        "agent": "navgpt",
        "mind": mind.name,
        "observations": None if choices.observations is None else str(choices.observations.resolve()),
        "max_steps": MAX_STEPS,
    }
    kind = next(iter(seen.values())).name
    return Agent(f"navgpt, {mind.name}, {kind} observations", settings, navigator)


def _observations(scan: str, graph: NavigationGraph, choices: Choices) -> Observations:
    if choices.observations is None:
        return GraphObservations(graph)
    return read_published(choices.observations, scan, graph)


def _graph(data: Data, episode: Episode) -> NavigationGraph:
    return data.buildings[episode.scan].graph


def _gold(graph: NavigationGraph, episode: Episode) -> InstructionNavigator:
    return RouteNavigator("gold", graph, [graph.number(viewpoint) for viewpoint in episode.path])


def _shortest(graph: NavigationGraph, episode: Episode) -> InstructionNavigator:
    path, _ = graph.shortest_path(graph.number(episode.start), graph.number(episode.target))
    return RouteNavigator("shortest", graph, path)
