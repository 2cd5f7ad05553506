"""The contract of navigators that follow an instruction by discrete actions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from virl.mind.base import Mind, chats
from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import MAX_ACTIONS, VELMA, Action, Rules, WalkState

PromptForm = Literal["auto", "chat", "text"]
"""Forms of a prompt: `text` is one text to continue, `chat` messages, `auto` messages to chat models only.
`text` is as published; `chat` has the walk as messages and typed replies; `auto` is `chat` for chat models,
else `text`."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The next action of a navigator, and the reason for it."""

    action: Action
    reason: str = ""
    refused: tuple[str, ...] = ()
    """Replies of a model that named no possible action, in the order given.
    It was asked again after each; in VELMA's compatibility mode it counted as forward instead."""


@dataclass(frozen=True, slots=True)
class Move:
    """One action of a walk, and the state that it led to."""

    action: str
    """Action carried out: the value of an `Action`, or the id of the viewpoint gone to."""
    state: WalkState
    """State after the action."""
    asked: str = ""
    """Action that was decided on, where validation carried out another one; else empty."""
    reason: str = ""
    """Reason that the navigator gave for the action."""
    refused: tuple[str, ...] = ()
    """Replies of a model that named no possible action, in the order given."""


def in_chat(form: PromptForm, mind: Mind) -> bool:
    """Return whether a mind is asked by chat messages: the form is `chat`, or `auto` for a chat model."""
    return form == "chat" or (form == "auto" and chats(mind))


class InstructionNavigator(Protocol):
    """A navigator that follows an instruction on a navigation graph."""

    @property
    def name(self) -> str:
        """Name of the navigator in results, such as `"follower --map"`."""
        ...

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk as they are decided, to a stop or the navigator's limit.

        Raises:
            MindFailed: the model gave no usable reply within its retries.
        """
        ...


def act(
    graph: NavigationGraph,
    start: WalkState,
    choose: Callable[[Sequence[Move]], Decision],
    *,
    rules: Rules = VELMA,
    opening: Sequence[Action] = (),
    max_actions: int = MAX_ACTIONS,
) -> Iterator[Move]:
    """Yield the moves that `choose` decides on, to a stop or the limit of actions.

    Args:
        graph: links between the panoramas.
        start: state where the walk begins.
        choose: returns the next decision, given the moves so far.
        rules: effects of actions.
        opening: actions that are taken before the first decision, unvalidated as in the published code
            (Map2seq episodes begin with one forward).
        max_actions: largest number of actions, those of the opening included.
    """
    moves: list[Move] = []
    state = start
    while len(moves) < max_actions:
        given = len(moves) < len(opening)
        decision = Decision(opening[len(moves)], "given") if given else choose(moves)
        action = decision.action if given else rules.validate(graph, state, decision.action)
        state = rules.step(graph, state, action)
        asked = "" if action is decision.action else decision.action.value
        moves.append(Move(action.value, state, asked, decision.reason, decision.refused))
        yield moves[-1]
        if action is Action.STOP:
            return
