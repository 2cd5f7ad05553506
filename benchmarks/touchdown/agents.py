"""The agents that can be scored, by name, and what each is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

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
from virl.platform.movement.instruction.navgpt.observation import Observations
from virl.platform.movement.instruction.navgpt.sources import DescribedObservations, GraphObservations
from virl.platform.movement.instruction.velma.landmarks import known_landmarks, read_landmarks
from virl.platform.movement.instruction.velma.navigator import Demonstration, VelmaNavigator
from virl.platform.perception.open import open_senses
from virl.platform.providers.graph.episodes import episode_faults
from virl.platform.providers.graph.touchdown import read_episode_file

from ..following.trial import Agent, limiter
from .dataset import Data, Selection, landmarks_file
from .vision import Sight, open_sight, open_views

POOL = 200
"""Walks that worked examples are drawn from. Chosen: enough to differ, and quick to prepare."""

AGENTS = ("forward", "random", "gold", "shortest", "follower", "velma", "navgpt")
ASK_A_MIND = ("velma", "navgpt")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says of an agent."""

    agent: str
    mind: str = "rules"
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
    views: bool = False
    """Whether NavGPT's agent is told what panoramas show."""
    sight: Sight = field(default_factory=Sight)


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
            graph,
            use_map=choices.use_map,
            use_prior=choices.use_prior,
            oriented=chosen.dataset == "map2seq",
            opening=opening,
        )
        return lambda _: follower
    return makers[choices.agent]


def _asking(data: Data, chosen: Selection, choices: Choices, settings: dict[str, Any]) -> Agent:
    mind = open_mind(choices.mind, cache_dir=choices.replies, limiter=limiter(choices.rate))
    make = _velma(data, chosen, choices) if choices.agent == "velma" else _navgpt(data, choices)
    settings |= {"mind": choices.mind}
    if choices.agent == "navgpt":
        settings |= {"views": choices.views} | choices.sight.settings()
    if choices.agent == "velma":
        settings |= {"shots": choices.shots, "seed": choices.seed, "compat": choices.compat}
        settings |= choices.sight.settings()

    def opened(_: Episode) -> tuple[InstructionNavigator, Mind]:
        asked = mind.apart()  # its ledger is the episode's
        return make(asked), asked

    name = make(mind).name if choices.agent == "velma" else f"navgpt {mind.name}, {_eyes(choices)}"
    return Agent(name, settings, opened)


def _eyes(choices: Choices) -> str:
    return "views described" if choices.views else "no views"


def _navgpt(data: Data, choices: Choices) -> Callable[[Mind], InstructionNavigator]:
    seen: Observations = GraphObservations(data.graph)
    if choices.views:
        seen = DescribedObservations(data.graph, open_views(choices.sight, data), open_senses().describer)
    return lambda mind: NavGptNavigator(data.graph, mind, seen, max_steps=MAX_ACTIONS)


def _velma(data: Data, chosen: Selection, choices: Choices) -> Callable[[Mind], InstructionNavigator]:
    seen = open_sight(choices.sight, data, chosen.dataset)
    names = _landmarks(data, chosen)
    known = {episode.instruction: names.get(episode.id, ()) for episode in data.episodes.values()}
    examples = demonstrations(data, chosen, choices)
    return lambda mind: VelmaNavigator(
        data.graph,
        mind,
        scorer=seen.scorer,
        landmarks=known_landmarks(known) if names else None,
        flow=seen.flow,
        examples=examples,
        shots=choices.shots,
        seed=choices.seed,
        opening=OPENING[chosen.dataset],
        compat=choices.compat,
    )


def demonstrations(data: Data, chosen: Selection, choices: Choices) -> list[Demonstration]:
    """Gold walks of the training split, or of the file that was named: `POOL` of them, drawn by the seed."""
    training = replace(chosen, split="train", episodes=choices.examples)
    file = training.file(data.folder)
    if choices.shots == 0 or (choices.examples is None and not file.is_file()):
        return []
    usable = [
        episode
        for episode in read_episode_file(file).episodes
        if episode.id not in data.episodes and not episode_faults(data.graph, episode)
    ]
    drawn = Random(choices.seed).sample(usable, min(POOL, len(usable)))
    names = _landmarks(data, training)
    shown = []
    for episode in drawn:
        start = start_state(data.graph, episode, chosen.dataset)
        actions = tuple(gold_actions(data.graph, episode.path, start.heading))
        shown.append(Demonstration(episode.instruction, start, actions, names.get(episode.id, ())))
    return shown


def _landmarks(data: Data, chosen: Selection) -> dict[str, tuple[str, ...]]:
    """The names of landmarks that were extracted before, by episode."""
    file = landmarks_file(data, chosen)
    return read_landmarks(file) if file else {}
