"""The agents that can be scored, by name, and what each is made of."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from virl.bench.resources import Resources
from virl.bench.walks import WalkingAgent
from virl.errors import BadInput, UnknownName
from virl.mind.base import Mind
from virl.mind.rules import RuleMind
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.movers.base import is_steered
from virl.platform.movers.discrete.actions import MAX_ACTIONS
from virl.platform.movers.discrete.oracle import gold_actions
from virl.platform.movers.discrete.task import OPENING, start_state
from virl.platform.navigators.follower.navigator import Follower, Sight
from virl.platform.navigators.follower.streets import MapInWords
from virl.platform.navigators.instruction.base import InstructionNavigator, in_chat
from virl.platform.navigators.instruction.baselines import (
    HUMAN,
    ForwardNavigator,
    GoldNavigator,
    HumanNavigator,
    RandomNavigator,
    ShortestPathNavigator,
)
from virl.platform.navigators.navgpt.navigator import NavGptNavigator
from virl.platform.navigators.navgpt.observation import Observations
from virl.platform.navigators.navgpt.sources import (
    DescribedObservations,
    GraphObservations,
    MappedObservations,
)
from virl.platform.navigators.tourist.signs import OcrSpotter, SignReader
from virl.platform.navigators.tourist.spotters import RecognizerSpotter
from virl.platform.navigators.tourist.spotting import LandmarkSpotter
from virl.platform.navigators.velma.navigator import Demonstration, VelmaNavigator
from virl.platform.navigators.velma.prompt import known_landmarks, mind_landmarks, read_landmarks
from virl.platform.perception.senses import open_senses
from virl.platform.providers.graph.data_files import episode_faults
from virl.platform.providers.graph.touchdown import read_episode_file

from .dataset import Data, Selection, landmarks_file
from .options import Options
from .vision import open_sight, open_views

POOL = 200
"""Number of walks that worked examples are drawn from. Chosen: enough to differ, and quick to prepare."""

AGENTS = ("forward", "random", "gold", "shortest", "follower", "velma", "navgpt", HUMAN)
ASK_A_MIND = ("velma", "navgpt")
WITH_MAP = ("follower", "velma", "navgpt")


def open_agent(data: Data, options: Options, resources: Resources) -> WalkingAgent:
    """Return the agent that the options name, ready to walk the split's episodes.

    Args:
        data: of the split.
        options: of the benchmark.
        resources: with the minds.

    Raises:
        UnknownName: there is no such agent.
        BadInput: an option does not go with the agent, or a file it needs is damaged.
        ModelUnavailable: the model's package or key is missing.
    """
    if options.agent not in AGENTS:
        raise UnknownName("agent", options.agent, list(AGENTS))
    if options.agent != "follower" and (options.prior or options.signs or options.recognizer):
        raise BadInput("--prior, --signs and --recognizer require --agent follower")
    if options.signs and options.recognizer:
        raise BadInput("--signs and --recognizer look for the same landmark: leave one out")
    if options.agent not in WITH_MAP and options.map:
        raise BadInput(f"--map requires --agent {', '.join(WITH_MAP[:-1])} or {WITH_MAP[-1]}")
    if options.map and options.compat:
        raise BadInput("--map does not go with --compat velma, which asks as published: leave one out")
    if options.form == "chat" and options.compat:
        raise BadInput("--form chat does not go with --compat velma, which asks as published: leave one out")
    if options.agent == HUMAN and not is_steered():
        raise BadInput(f"--agent {HUMAN} is a person who plays: see docs/how-to/watch.md")
    if options.agent in ASK_A_MIND:
        return _agent_that_asks(data, options, resources)
    sight = _open_sight(data, options, resources) if options.signs or options.recognizer else None
    open_navigator = _baseline_maker(data.graph, options, sight)
    name = open_navigator(next(iter(data.episodes.values()))).name if data.episodes else options.agent
    return WalkingAgent(name, lambda episode: (open_navigator(episode), None))


def _open_sight(data: Data, options: Options, resources: Resources) -> Sight:
    """Return the follower's sight: a spotter of landmarks, and those named in each instruction."""
    names = _landmarks(data, options.selection)
    known = {episode.instruction: names.get(episode.id, ()) for episode in data.episodes.values()}
    extract = known_landmarks(known) if names else mind_landmarks(RuleMind())
    return Sight(data.graph, _open_spotter(data, options, resources), extract)


def _open_spotter(data: Data, options: Options, resources: Resources) -> LandmarkSpotter:
    """Return the spotter of landmarks: by the chosen recognizer, else by reading signs."""
    if options.recognizer:
        views = open_views(options.sight, data, "--recognizer")
        return RecognizerSpotter(views, resources.recognizer(options.recognizer))
    reader = resources.reader("sign-reader" if data.made_city else "rapidocr", data.made_city)
    return OcrSpotter(SignReader(open_views(options.sight, data, "--signs"), reader))


def _baseline_maker(
    graph: NavigationGraph, options: Options, sight: Sight | None
) -> Callable[[InstructionEpisode], InstructionNavigator]:
    """Return a function from an episode to the navigator of an agent that asks no mind."""
    opening = OPENING[options.dataset]
    makers: dict[str, Callable[[InstructionEpisode], InstructionNavigator]] = {
        "forward": lambda _: ForwardNavigator(graph, opening),
        "random": lambda _: RandomNavigator(graph, opening, seed=options.seed),
        "gold": lambda episode: GoldNavigator(graph, episode.path),
        "shortest": lambda episode: ShortestPathNavigator(graph, episode.target, opening),
        HUMAN: lambda _: HumanNavigator(graph, opening),
    }
    if options.agent == "follower":
        follower = Follower(
            graph,
            use_map=options.map,
            use_prior=options.prior,
            oriented=options.dataset == "map2seq",
            opening=opening,
            sight=sight,
        )
        return lambda _: follower
    return makers[options.agent]


def _agent_that_asks(data: Data, options: Options, resources: Resources) -> WalkingAgent:
    """Return an agent that asks a mind: VELMA or NavGPT."""
    make = (_velma_maker if options.agent == "velma" else _navgpt_maker)(data, options, resources)

    def open_navigator(_: InstructionEpisode) -> tuple[InstructionNavigator, Mind]:
        """Return the navigator of an episode, and the mind that it asks."""
        asked = resources.mind(options.mind)  # its ledger is the episode's
        return make(asked), asked

    mind = resources.mind(options.mind)
    if options.agent == "velma":
        return WalkingAgent(make(mind).name, open_navigator)
    views = "views described" if options.views else "no views"
    told = f"{views}, map in words" if options.map else views
    chat = ", chat" if in_chat(options.form, mind) else ""
    return WalkingAgent(f"navgpt {mind.name}, {told}{chat}", open_navigator)


def _navgpt_maker(data: Data, options: Options, _: Resources) -> Callable[[Mind], InstructionNavigator]:
    """Return a function from a mind to a NavGPT navigator."""
    seen: Observations = GraphObservations(data.graph)
    if options.views:
        seen = DescribedObservations(data.graph, open_views(options.sight, data), open_senses().describer)
    if options.map:
        seen = MappedObservations(seen, MapInWords(data.graph))
    return lambda mind: NavGptNavigator(data.graph, mind, seen, max_steps=MAX_ACTIONS, form=options.form)


def _velma_maker(
    data: Data, options: Options, resources: Resources
) -> Callable[[Mind], InstructionNavigator]:
    """Return a function from a mind to a VELMA navigator."""
    seen = open_sight(options.sight, data, options.dataset, resources)
    names = _landmarks(data, options.selection)
    known = {episode.instruction: names.get(episode.id, ()) for episode in data.episodes.values()}
    examples = demonstrations(data, options)
    return lambda mind: VelmaNavigator(
        data.graph,
        mind,
        scorer=seen.scorer,
        landmarks=known_landmarks(known) if names else None,
        flow=seen.flow,
        examples=examples,
        shots=options.shots,
        seed=options.seed,
        opening=OPENING[options.dataset],
        map=MapInWords(data.graph) if options.map else None,
        compat=options.compat is not None,
        form=options.form,
    )


def demonstrations(data: Data, options: Options) -> list[Demonstration]:
    """Return gold walks for worked examples, at most `POOL`, from the training split or a named file."""
    training = replace(options.selection, split="train", episodes=options.examples)
    file = training.file(data.folder)
    if options.shots == 0 or (options.examples is None and not file.is_file()):
        return []
    usable = [
        episode
        for episode in read_episode_file(file).episodes
        if episode.id not in data.episodes and not episode_faults(data.graph, episode)
    ]
    drawn = Random(options.seed).sample(usable, min(POOL, len(usable)))
    names = _landmarks(data, training)
    shown = []
    for episode in drawn:
        start = start_state(data.graph, episode, options.dataset)
        actions = tuple(gold_actions(data.graph, episode.path, start.heading))
        shown.append(Demonstration(episode.instruction, start, actions, names.get(episode.id, ())))
    return shown


def _landmarks(data: Data, chosen: Selection) -> dict[str, tuple[str, ...]]:
    """Return the landmarks extracted before, by episode's id; empty if there is no such file."""
    file = landmarks_file(data, chosen)
    return read_landmarks(file) if file else {}
