"""Episodes made ready to be walked, and the walks of a model on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.movers.discrete.actions import Action, WalkState, parse_action
from virl.platform.movers.discrete.oracle import gold_actions
from virl.platform.movers.discrete.task import OPENING, start_state
from virl.platform.navigators.instruction.base import Decision, Move, act
from virl.platform.navigators.velma.prompt import action_text, walk_so_far
from virl.platform.navigators.velma.verbalizer import Observer, WalkText
from virl.platform.providers.graph.touchdown import Dataset

from .writer import GreedyWriter, PromptTooLong

_WALK = "1."  # any walk: what a prompt says before it does not depend on it


@dataclass(frozen=True, slots=True)
class TrainingRoute:
    """An episode that can be walked, with its gold actions and the prompt before the walk."""

    episode: InstructionEpisode
    start: WalkState
    gold: tuple[Action, ...]
    """Actions of the gold path, opening actions and the stop included."""
    prompt: str
    """Text before the walk, without any worked example."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """A walk whose actions a model decided."""

    start: WalkState
    moves: tuple[Move, ...]
    too_long: bool = False
    """True if the walk ended because its text grew beyond the limit."""

    @property
    def actions(self) -> list[Action]:
        """Actions of the walk as carried out, opening actions included."""
        return [Action(move.action) for move in self.moves]

    @property
    def states(self) -> list[WalkState]:
        """State before each action, and at last the state at the end."""
        return [self.start, *(move.state for move in self.moves)]

    @property
    def is_stopped(self) -> bool:
        """Return whether the walk ended with a stop, not at a limit."""
        return bool(self.moves) and self.actions[-1] is Action.STOP

    @property
    def invalid(self) -> list[str]:
        """Replies that named no action; `forward` was done instead, as in VELMA's code."""
        return [reply for move in self.moves for reply in move.refused]


@dataclass(frozen=True, slots=True)
class Walks:
    """The walks of a data set's episodes, and their wording in VELMA's prompts.

    Args:
        observer: says what is observed; it holds the graph.
        dataset: says how its episodes begin.
        max_actions: limit of an episode.
        landmarks: names to look out for, by episode id.
    """

    observer: Observer
    dataset: Dataset
    max_actions: int
    landmarks: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def graph(self) -> NavigationGraph:
        """Graph on which the walks take place."""
        return self.observer.graph

    @property
    def opening_actions(self) -> tuple[Action, ...]:
        """Actions that are taken before the model's first decision."""
        return OPENING[self.dataset]

    def route(self, episode: InstructionEpisode) -> TrainingRoute:
        """Return the episode with its start and its gold actions.

        Raises:
            BadInput: its gold path cannot be walked.
            NoStreetView: its path leaves the graph.
        """
        start = start_state(self.graph, episode, self.dataset)
        gold = tuple(gold_actions(self.graph, episode.path, start.heading))
        return TrainingRoute(
            episode, start, gold, action_text(episode.instruction, _WALK).removesuffix(_WALK)
        )

    def transcript(self, route: TrainingRoute, actions: Sequence[Action]) -> WalkText:
        """Return the prompt with a walk; it ends in the next action's number, if the walk has not stopped."""
        landmarks = self.landmarks.get(route.episode.id, ())
        walk = walk_so_far(self.observer, route.start, actions, landmarks=landmarks)
        offset = len(route.prompt)
        spans = tuple((offset + start, offset + end) for start, end in walk.action_spans)
        return WalkText(route.prompt + walk.text, spans)

    def decided_spans(self, told: WalkText) -> tuple[tuple[int, int], ...]:
        """Return the spans of the actions that the walker decided, without the opening actions."""
        return told.action_spans[len(self.opening_actions) :]

    def roll_out(self, route: TrainingRoute, writer: GreedyWriter) -> Rollout:
        """Let the model behind `writer` walk an episode; a reply that names no action counts as `forward`."""

        def choose(moves: Sequence[Move]) -> Decision:
            """Return the model's next action after the moves so far; `forward` for a reply without any."""
            reply = writer.reply(self.transcript(route, [Action(move.action) for move in moves]).text)
            action = parse_action(reply)
            return Decision(action) if action else Decision(Action.FORWARD, refused=(reply,))

        moves: list[Move] = []
        walk = act(
            self.graph, route.start, choose, opening=self.opening_actions, max_actions=self.max_actions
        )
        try:
            moves.extend(walk)
        except PromptTooLong:
            return Rollout(route.start, tuple(moves), too_long=True)
        return Rollout(route.start, tuple(moves))
