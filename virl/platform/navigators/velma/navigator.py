"""`VelmaNavigator`: a mind that reads a walk as text and says its next action."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from random import Random

from virl.mind.base import Mind
from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import MAX_ACTIONS, Action, WalkState, parse_action
from virl.platform.navigators.follower.streets import MapInWords
from virl.platform.navigators.instruction.base import Decision, Move, PromptForm, act, in_chat
from virl.platform.navigators.velma.prompt import (
    MAX_INSTRUCTION,
    Example,
    LandmarkExtractor,
    action_inputs,
    action_prompt,
    chat_inputs,
    chat_prompt,
    mind_landmarks,
    observed_so_far,
    tidy,
)
from virl.platform.navigators.velma.rules import VelmaAction, ask_until_read, published_action, quote_reply
from virl.platform.navigators.velma.verbalizer import (
    LandmarkScorer,
    Observer,
    StateObservation,
    TrafficFlow,
    Wording,
    sentence,
    walk_text,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A gold walk that may be shown to the mind as an example."""

    instruction: str
    start: WalkState
    actions: tuple[Action, ...]
    """Actions of the walk, the stop included."""
    landmarks: tuple[str, ...] = ()
    """Names of the landmarks in the instruction."""


@dataclass(frozen=True, slots=True)
class VelmaNavigator:
    """A navigator that asks a mind for each next action (VELMA, section 5)."""

    graph: NavigationGraph
    mind: Mind
    _: KW_ONLY
    scorer: LandmarkScorer | None = None
    """Scorer that says which landmarks are seen; without one no landmarks are asked for."""
    landmarks: LandmarkExtractor | None = None
    """Function that returns an instruction's landmarks, called once a walk; `None` asks the mind."""
    flow: TrafficFlow | None = None
    """Function that tells whether the start faces with or against traffic; `None` says nothing (Map2seq)."""
    examples: Sequence[Demonstration] = ()
    """Walks from which examples are drawn."""
    map: MapInWords | None = None
    """Map in words of the streets around, at the start and crossings; `None` as published."""
    shots: int = 2
    """Number of examples shown, drawn anew for each instruction; the paper shows 2."""
    seed: int = 0
    """Seed of the draw of examples, together with the instruction."""
    opening: Sequence[Action] = ()
    """Actions taken before the first decision: one forward in Map2seq."""
    max_actions: int = MAX_ACTIONS
    compat: bool = False
    """True to do as the published code: an unreadable reply means forward and is not asked for again."""
    wording: Wording = "paper"
    form: PromptForm = "auto"
    """Form in which the mind is asked; with `compat` always one text, as published."""

    @property
    def name(self) -> str:
        """Name of the navigator in results, such as `"velma openai:gpt-5-mini, 2-shot, chat"`."""
        shown = min(self.shots, len(self.examples))
        manner = ", compat" if self.compat else ", chat" if self._in_chat else ""
        return f"velma {self.mind.name}, {shown}-shot{manner}{', map in words' if self.map else ''}"

    @property
    def _in_chat(self) -> bool:
        """Return whether the mind is asked by messages; never with `compat`."""
        return not self.compat and in_chat(self.form, self.mind)

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk, as they are decided; it ends with a stop or at the limit of actions.

        An instruction is read up to `MAX_INSTRUCTION` characters; a longer one is warned of.

        Raises:
            MindFailed: no reply in `TRIES` named an action, or none held a list of landmarks.
            ModelUnavailable: the model cannot be reached.
            NoImagery: the scorer has nothing on a panorama of the walk.
        """
        if len(instruction) > MAX_INSTRUCTION:
            _log.warning(
                "the instruction has %d characters: the mind reads %d", len(instruction), MAX_INSTRUCTION
            )
        instruction = tidy(instruction)
        observer = Observer(self.graph, self.scorer, self.flow, self.map)
        names: tuple[str, ...] = ()
        if self.scorer is not None:
            form: PromptForm = "chat" if self._in_chat else "text"
            names = (self.landmarks or mind_landmarks(self.mind, form))(instruction)
        examples = self._examples_for(instruction, observer)
        observed = [observer.start(start, names)]

        def choose(moves: Sequence[Move]) -> Decision:
            """Return the next action, once the new states were observed."""
            # Each state is looked at once, though the whole walk is told at each step.
            observed.extend([observer.observe(move.state, names) for move in moves[len(observed) - 1 :]])
            return self._decide(instruction, observed, moves, examples)

        yield from act(self.graph, start, choose, opening=self.opening, max_actions=self.max_actions)

    def _decide(
        self,
        instruction: str,
        observed: Sequence[StateObservation],
        moves: Sequence[Move],
        examples: Sequence[Example],
    ) -> Decision:
        """Return the mind's next action, asked with the walk so far and what was observed on it."""
        taken = [Action(move.action) for move in moves]
        told = [sentence(one, self.wording) for one in observed]
        known = {"observed": observed, "taken": taken}
        if self._in_chat:
            replies = [VelmaAction(reason=move.reason, action=Action(move.action)) for move in moves]
            inputs = chat_inputs(instruction, told, replies, examples)
            reply = self.mind.ask(chat_prompt(), rule_inputs=known, **inputs)
            return Decision(reply.action, reply.reason)
        walk = walk_text(told, taken).text

        def ask(refused: int) -> str:
            """Return the mind's reply to the question, after `refused` unreadable ones."""
            inputs = action_inputs(instruction, walk, examples, refused=refused)
            return self.mind.ask(action_prompt(), rule_inputs=known, **inputs).text

        if not self.compat:
            action, refused = ask_until_read(ask, parse_action, "an action")
            return Decision(action, refused=refused)
        said = ask(0)
        published = published_action(said)
        if published is None:
            return Decision(Action.FORWARD, "the reply names no action", (quote_reply(said),))
        return Decision(published)

    def _examples_for(self, instruction: str, observer: Observer) -> list[Example]:
        """Return `shots` example walks of other instructions, drawn by the seed and the instruction."""
        # The walk of this very instruction would give the answer.
        others = [shown for shown in self.examples if tidy(shown.instruction) != instruction]
        drawn = Random(f"{self.seed} {instruction}").sample(others, min(self.shots, len(others)))
        return [self._example(shown, observer) for shown in drawn]

    def _example(self, shown: Demonstration, observer: Observer) -> Example:
        """Return a demonstration as an example, observed as the walk itself is."""
        told = observed_so_far(
            observer, shown.start, shown.actions, landmarks=shown.landmarks, wording=self.wording
        )
        steps = tuple(zip(told, map(str, shown.actions), strict=False))
        return Example(shown.instruction, walk_text(told, shown.actions).text, steps)
