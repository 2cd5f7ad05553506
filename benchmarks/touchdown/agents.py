"""The agents that can be scored, by name, and what each is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.rate_limiters import InMemoryRateLimiter

from benchmarks.touchdown.dataset import Data, Selection, landmarks_file
from benchmarks.touchdown.vision import Sight, open_sight
from virl.errors import BadInput, UnknownName
from virl.mind.base import Mind
from virl.mind.open import open_mind
from virl.platform.episodes import Episode
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.oracle import gold_actions
from virl.platform.movement.discrete.start import OPENING, start_state
from virl.platform.movement.instruction.base import MAX_ACTIONS, InstructionNavigator
from virl.platform.movement.instruction.baselines import (
    ForwardNavigator,
    GoldNavigator,
    RandomNavigator,
    ShortestPathNavigator,
)
from virl.platform.movement.instruction.follower.navigator import Follower
from virl.platform.movement.instruction.navgpt.navigator import NavGptNavigator
from virl.platform.movement.instruction.navgpt.sources import GraphObservations
from virl.platform.movement.instruction.velma.landmarks import known_landmarks, read_landmarks
from virl.platform.movement.instruction.velma.navigator import Demonstration, VelmaNavigator
from virl.platform.providers.graph.touchdown import read_episode_file

AGENTS = ("forward", "random", "gold", "shortest", "follower", "velma", "navgpt")
ASK_A_MIND = ("velma", "navgpt")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says of an agent."""

    agent: str
    mind: str = "rules"
    base_url: str | None = None
    replies: Path | None = None
    """Where replies of models are kept."""
    rate: float | None = None
    """Requests a second, over all workers; `None` sets no limit."""
    seed: int = 0
    use_map: bool = False
    use_prior: bool = False
    compat: bool = False
    shots: int = 2
    examples: Path | None = None
    """Episodes to draw worked examples from; by default the training split where the data has one."""
    sight: Sight = field(default_factory=Sight)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that is ready to be scored."""

    name: str
    settings: Mapping[str, Any]
    """What its records depend on."""
    open: Callable[[Episode], tuple[InstructionNavigator, Mind | None]]
    """A navigator for one episode, and the mind it asks."""


def open_agent(data: Data, chosen: Selection, choices: Choices) -> Agent:
    """Make an agent ready.

    Raises:
        UnknownName: there is no such agent.
        BadInput: an option does not go with the agent, or a file it needs is damaged.
        ModelUnavailable: the model's package or key is missing.
    """
    if choices.agent not in AGENTS:
        raise UnknownName("agent", choices.agent, list(AGENTS))
    if choices.agent != "follower" and (choices.use_map or choices.use_prior):
        raise BadInput("--map and --prior go with --agent follower")
    settings: dict[str, Any] = {"agent": choices.agent}
    if choices.agent in ASK_A_MIND:
        return _asking(data, chosen, choices, settings)
    opened = _baseline(data.graph, chosen, choices)
    if choices.agent == "random":
        settings["seed"] = choices.seed
    if choices.agent == "follower":
        settings |= {"map": choices.use_map, "prior": choices.use_prior}
    name = opened(next(iter(data.episodes.values()))).name if data.episodes else choices.agent
    return Agent(name, settings, lambda episode: (opened(episode), None))


def _baseline(
    graph: NavigationGraph, chosen: Selection, choices: Choices
) -> Callable[[Episode], InstructionNavigator]:
    opening = OPENING[chosen.dataset]
    makers: dict[str, Callable[[Episode], InstructionNavigator]] = {
        "forward": lambda _: ForwardNavigator(graph, opening),
        "random": lambda _: RandomNavigator(graph, opening, seed=choices.seed),
        "gold": lambda episode: GoldNavigator(graph, episode.path),
        "shortest": lambda episode: ShortestPathNavigator(graph, episode.target, opening),
    }
    if choices.agent == "follower":
        follower = Follower(
            graph, use_map=choices.use_map, oriented=chosen.dataset == "map2seq", opening=opening
        )
        return lambda _: follower
    return makers[choices.agent]


def _asking(data: Data, chosen: Selection, choices: Choices, settings: dict[str, Any]) -> Agent:
    limiter = (
        None
        if choices.rate is None
        else InMemoryRateLimiter(requests_per_second=choices.rate, check_every_n_seconds=0.01)
    )

    mind = open_mind(choices.mind, cache_dir=choices.replies, base_url=choices.base_url, limiter=limiter)
    make = _velma(data, chosen, choices) if choices.agent == "velma" else _navgpt(data)
    settings |= {"mind": choices.mind, "compat": choices.compat}
    if choices.agent == "velma":
        settings |= {"shots": choices.shots, "seed": choices.seed, "sight": choices.sight.settings()}

    def opened(_: Episode) -> tuple[InstructionNavigator, Mind]:
        asked = mind.apart()  # its ledger is the episode's
        return make(asked), asked

    return Agent(make(mind).name, settings, opened)


def _navgpt(data: Data) -> Callable[[Mind], InstructionNavigator]:
    return lambda mind: NavGptNavigator(
        data.graph, mind, GraphObservations(data.graph), max_steps=MAX_ACTIONS
    )


def _velma(data: Data, chosen: Selection, choices: Choices) -> Callable[[Mind], InstructionNavigator]:
    seen = open_sight(choices.sight, data, chosen.dataset)
    known = landmarks_file(data, chosen)
    landmarks = None
    if known is not None:
        by_id = read_landmarks(known)
        landmarks = known_landmarks(
            {
                episode.instruction: by_id[episode.id]
                for episode in data.episodes.values()
                if episode.id in by_id
            }
        )
    return lambda mind: VelmaNavigator(
        data.graph,
        mind,
        scorer=seen.scorer,
        landmarks=landmarks,
        flow=seen.flow,
        examples=_demonstrations(data, chosen, choices),
        shots=choices.shots,
        seed=choices.seed,
        opening=OPENING[chosen.dataset],
        compat=choices.compat,
    )


def _demonstrations(data: Data, chosen: Selection, choices: Choices) -> list[Demonstration]:
    """Gold walks of the training split, or of the file that was named."""
    file = choices.examples or data.folder / f"{chosen.dataset}_{chosen.scenario}" / "train.jsonl"
    if choices.shots == 0 or (choices.examples is None and not file.is_file()):
        return []
    episodes = read_episode_file(file).episodes
    shown = [episode for episode in episodes if episode.id not in data.episodes]
    demonstrations = []
    for episode in shown:
        start = start_state(data.graph, episode, chosen.dataset)
        actions = tuple(gold_actions(data.graph, episode.path, start.heading))
        demonstrations.append(Demonstration(episode.instruction, start, actions))
    return demonstrations
