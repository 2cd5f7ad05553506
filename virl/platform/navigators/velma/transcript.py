"""Finished walks as a model would have seen them: what fine-tuning learns from."""

from collections.abc import Sequence
from dataclasses import dataclass

from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.movers.discrete.oracle import walk_states
from virl.platform.navigators.velma.observations import Observer
from virl.platform.navigators.velma.prompt import Example, action_text
from virl.platform.navigators.velma.verbalizer import Span, WalkText, Wording, sentence, walk_text


@dataclass(frozen=True, slots=True)
class Transcript:
    """A prompt with the whole walk behind it."""

    text: str
    action_spans: tuple[Span, ...]
    """First character, and the one behind the last, of the word of each action, in order."""


def transcript(
    observer: Observer,
    instruction: str,
    start: WalkState,
    actions: Sequence[Action],
    *,
    landmarks: Sequence[str] = (),
    examples: Sequence[Example] = (),
    wording: Wording = "paper",
) -> Transcript:
    """Return a walk's text as `VelmaNavigator` builds it step by step: each action's prefix is its prompt.

    Args:
        observer: says what is observed on the way.
        instruction: as the data set gives it.
        start: where the walk begins.
        actions: as carried out, an opening forward and the stop included.
        landmarks: names to look out for.
        examples: shown before the walk.
        wording: how landmarks are told.
    """
    walk = walk_so_far(observer, start, actions, landmarks=landmarks, wording=wording)
    text = action_text(instruction, walk.text, examples)
    offset = len(text) - len(walk.text)
    return Transcript(text, tuple((offset + first, offset + end) for first, end in walk.action_spans))


def walk_so_far(
    observer: Observer,
    start: WalkState,
    actions: Sequence[Action],
    *,
    landmarks: Sequence[str] = (),
    wording: Wording = "paper",
) -> WalkText:
    """Return a walk as text, which ends in the number of the next action unless the walk has stopped.

    Args:
        observer: tells what is around.
        start: of the walk.
        actions: so far.
        landmarks: of the instruction.
        wording: of the sentences.
    """
    return walk_text(observed_so_far(observer, start, actions, landmarks=landmarks, wording=wording), actions)


def observed_so_far(
    observer: Observer,
    start: WalkState,
    actions: Sequence[Action],
    *,
    landmarks: Sequence[str] = (),
    wording: Wording = "paper",
) -> list[str]:
    """Return the sentence on the start of a walk and on each state after an action but a stop.

    Args:
        observer: tells what is around.
        start: of the walk.
        actions: so far.
        landmarks: of the instruction.
        wording: of the sentences.
    """
    states = walk_states(observer.graph, start, actions)
    if actions and actions[-1] is Action.STOP:
        states.pop()
    observed = [
        observer.start(start, landmarks),
        *(observer.observe(state, landmarks) for state in states[1:]),
    ]
    return [sentence(observation, wording) for observation in observed]
