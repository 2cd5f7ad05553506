"""The agents that can be scored, by name, and what each is made of."""

from collections.abc import Callable, Mapping

from virl.bench.resources import Resources
from virl.bench.walks import WalkingAgent
from virl.errors import UnknownName
from virl.mind.base import Mind
from virl.platform.episodes import InstructionEpisode
from virl.platform.graph import NavigationGraph
from virl.platform.movement.instruction.base import InstructionNavigator, in_chat
from virl.platform.movement.instruction.navgpt.navigator import NavGptNavigator
from virl.platform.movement.instruction.navgpt.observation import Observations
from virl.platform.movement.instruction.navgpt.published import read_published
from virl.platform.movement.instruction.navgpt.sources import GraphObservations

from .baselines import ForwardNavigator, RandomNavigator, RouteNavigator
from .dataset import Data
from .options import Options

AGENTS = ("gold", "shortest", "random", "forward", "navgpt")


def open_agent(data: Data, options: Options, resources: Resources) -> WalkingAgent:
    """Make an agent ready.

    Raises:
        UnknownName: there is no such agent.
        BadInput: the observations are missing or damaged, or no mind has such a name.
        ModelUnavailable: the model's package or key is missing.
    """
    if options.agent not in AGENTS:
        raise UnknownName("agent", options.agent, list(AGENTS))
    if options.agent == "navgpt":
        return _navgpt(data, options, resources)
    make: Mapping[str, Callable[[NavigationGraph, InstructionEpisode], InstructionNavigator]] = {
        "gold": _gold,
        "shortest": _shortest,
        "random": lambda graph, _: RandomNavigator(graph, options.seed),
        "forward": lambda graph, _: ForwardNavigator(graph),
    }
    made = make[options.agent]
    return WalkingAgent(options.agent, lambda episode: (made(_graph(data, episode), episode), None))


def _navgpt(data: Data, options: Options, resources: Resources) -> WalkingAgent:
    seen = {scan: _observations(scan, building.graph, options) for scan, building in data.buildings.items()}

    def navigator(episode: InstructionEpisode) -> tuple[InstructionNavigator, Mind]:
        asked = resources.mind(options.mind)  # its ledger is the episode's
        graph = _graph(data, episode)
        return NavGptNavigator(graph, asked, seen[episode.scan], form=options.form), asked

    kind, mind = next(iter(seen.values())).name, resources.mind(options.mind)
    chat = ", chat" if in_chat(options.form, mind) else ""
    return WalkingAgent(f"navgpt, {mind.name}, {kind} observations{chat}", navigator)


def _observations(scan: str, graph: NavigationGraph, options: Options) -> Observations:
    if options.observations is None:
        return GraphObservations(graph)
    return read_published(options.observations, scan, graph)


def _graph(data: Data, episode: InstructionEpisode) -> NavigationGraph:
    return data.buildings[episode.scan].graph


def _gold(graph: NavigationGraph, episode: InstructionEpisode) -> InstructionNavigator:
    return RouteNavigator("gold", graph, [graph.number(viewpoint) for viewpoint in episode.path])


def _shortest(graph: NavigationGraph, episode: InstructionEpisode) -> InstructionNavigator:
    path, _ = graph.shortest_path(graph.number(episode.start), graph.number(episode.target))
    return RouteNavigator("shortest", graph, path)
