"""A walk as text: numbered actions, and above each what was observed before it (sections 5.3 and 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from virl.platform.movers.discrete.actions import Action
from virl.platform.navigators.follower.streets import map_sentence
from virl.platform.navigators.velma.observations import Direction, StateObservation

Wording = Literal["paper", "code"]
"""Wording of landmarks: `There is X on your left.` as in the paper, `X on your left.` as its code does."""

Span = tuple[int, int]
"""Range of characters: the first one, and the one after the last."""


@dataclass(frozen=True, slots=True)
class WalkText:
    """A walk as lines."""

    text: str
    action_spans: tuple[Span, ...]
    """The span of the word of each action in the text."""


def sentence(observation: StateObservation, wording: Wording = "paper") -> str:
    """Return one line on an observation: traffic, crossing, landmarks, map; empty for nothing."""
    told = []
    if observation.flow:
        told.append(f"You are facing {observation.flow} the flow of traffic.")
    if observation.ways:
        told.append(f"There is a {observation.ways}-way intersection.")
    for direction in Direction:
        names = [sighting.landmark for sighting in observation.sightings if sighting.direction is direction]
        if names:
            told.append(_landmarks(" and ".join(names), direction, wording))
    return " ".join([*told, map_sentence(observation.map)] if observation.map else told)


def walk_text(sentences: Sequence[str], actions: Sequence[Action]) -> WalkText:
    """Return the text of a walk.

    Args:
        sentences: what was observed before each action, empty for nothing; one more than there are actions
            where the next action is still wanted.
        actions: as carried out.

    Returns:
        The lines, each action's word located. Where the next action is wanted, the text ends in its number.
    """
    text, spans = "", []
    for number, (told, action) in enumerate(zip(sentences, actions, strict=False), 1):
        text += f"{told}\n" * bool(told) + f"{number}. "
        spans.append((len(text), len(text) + len(action)))
        text += f"{action}\n"
    if len(sentences) > len(actions):
        told = sentences[-1]
        return WalkText(text + f"{told}\n" * bool(told) + f"{len(sentences)}.", tuple(spans))
    return WalkText(text.removesuffix("\n"), tuple(spans))


def _landmarks(names: str, direction: Direction, wording: Wording) -> str:
    """Return the sentence on landmarks in a direction, in the paper's or the code's wording."""
    if wording == "paper":
        return f"There is {names} {direction}."
    return f"{names[0].upper()}{names[1:]} {direction}."
