"""Metrics of V-IRL's benchmarks on places: arrival and reactions, counts of finds, and multiple choice."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from virl.geo.globe import LatLng, distance
from virl.mind.lexicon import Lexicon
from virl.mind.replies import Reply

SUCCESS_M = 25.0
"""Metres from the destination within which a walk has to end to succeed (V-IRL, section 5.4)."""
INTERSECTION_M = 5.0
"""Metres from a key position; a walk that comes closer has reached it (V-IRL's published code)."""
STOP_M = 20.0
"""Metres from the destination; a walk that comes closer has passed it (V-IRL's published code)."""
WINDOW = 3
"""Number of actions before the nearest point to a key position, and as many from it, that may be its turn."""


@dataclass(frozen=True, slots=True)
class KeyPosition:
    """A position at which a route turns, and the right action there."""

    position: LatLng
    turn: str
    """Name of the right action at the position, as in `WalkedPath.actions`."""


@dataclass(frozen=True, slots=True)
class WalkedPath:
    """The positions of a walk with its actions: `actions[i]` at `positions[i]`; the last may have none."""

    positions: Sequence[LatLng]
    actions: Sequence[str]


@dataclass(frozen=True, slots=True)
class VlnScore:
    """The metrics of one walk along a V-IRL route: each 1 or 0, or a share of intermediate key positions."""

    success: float
    start_reaction: float
    """1 if the first action was the one toward the first key position, else 0."""
    intersection_arrival: float | None
    """Share in [0, 1] of intermediate key positions that were reached; `None` for a route without any."""
    intersection_reaction: float | None
    stop_arrival: float


def score_vln(
    walked: WalkedPath, first_action: str, between: Sequence[KeyPosition], destination: LatLng
) -> VlnScore:
    """Return V-IRL's metrics of a walk; `first_action`: the right one, `between`: key positions on the way.

    Args:
        walked: the walk; its positions are not empty.
        first_action: the right one at the start.
        between: the key positions between start and destination.
        destination: the place itself.
    """
    nearest = [_nearest(walked.positions, key.position) for key in between]
    arrived = [metres < INTERSECTION_M for _, metres in nearest]
    reacted = [
        key.turn in walked.actions[max(0, moment - WINDOW) : moment + WINDOW]
        for key, (moment, _) in zip(between, nearest, strict=True)
    ]
    _, closest = _nearest(walked.positions, destination)
    return VlnScore(
        success=float(distance(walked.positions[-1], destination) < SUCCESS_M),
        start_reaction=float(bool(walked.actions) and walked.actions[0] == first_action),
        intersection_arrival=_hit_share(arrived),
        intersection_reaction=_hit_share(reacted),
        stop_arrival=float(closest < STOP_M),
    )


METRICS = ("start_reaction", "intersection_arrival", "intersection_reaction", "stop_arrival")


def _nearest(positions: Sequence[LatLng], goal: LatLng) -> tuple[int, float]:
    """Return (index, metres) of the position of a walk that is nearest to a goal."""
    metres = [distance(position, goal) for position in positions]
    moment = min(range(len(metres)), key=metres.__getitem__)
    return moment, metres[moment]


def _hit_share(hits: Sequence[bool]) -> float | None:
    """Return the share of true values, [0, 1]; `None` if there are no values."""
    return sum(hits) / len(hits) if hits else None


@dataclass(frozen=True, slots=True)
class SoughtPlace:
    """A place that a model had to find, with the labels of the boxes that were matched to it."""

    types: frozenset[str]
    """The place's types that the model was asked to find; not empty."""
    labels: frozenset[str]
    """Labels of the boxes that were matched to the place; empty if none was."""

    @property
    def is_matched(self) -> bool:
        """Return whether any box was matched to the place."""
        return bool(self.labels)

    @property
    def is_detected(self) -> bool:
        """Return whether a box labelled with one of the place's types was matched to it."""
        return bool(self.labels & self.types)


LETTERS = "ABCD"

_STRICT = re.compile(
    r"""^\s*+(?:[("'*]++\s*+)?                  # a bracket, quotes or bold before it
        (?:(?:the\s++)?(?:correct\s++|best\s++)?(?:answer|option|choice)
            \s*+(?:is|:)?\s*+:?\s*+(?:[("'*]++\s*+)?)?
        (?:option\s++)?
        ([A-Da-d])                              # the letter alone ...
        (?![A-Za-z0-9'])                        # ... which begins no word
        [^\S\n]*+(?:[)"'*]+[^\S\n]*+)?(?:[.:,)\n-]|$)  # and punctuation, a new line or nothing after it""",
    re.VERBOSE | re.IGNORECASE,
)
_ANOTHER = re.compile(r"\s*(?:(?:and|or|[&/,])\s*)?[(]?[A-D]\s*(?:[).,;]|and\b|or\b|$)")
"""Pattern of a second letter that a reply names right after the first."""
_LISTED = re.compile(r"""^[^\S\n]*+[("'*]*+[A-D]\s*[).:]""", re.MULTILINE)
"""Pattern of a letter that begins a line, as in a reply that repeats the options."""


def strict_letter(reply: str) -> str | None:
    """Return the one letter that a reply chooses; `None` if it chooses none or several.

    `B`, `(b)`, `B.`, `B) A bank` and `The answer is B.` choose B. `Both A and D`, `Customers come` and
    `A bank` choose none: a letter has to stand alone, at the beginning or after "the answer is". A reply that
    repeats the options line by line chooses none either.
    """
    found = _STRICT.match(reply)
    if not found or _ANOTHER.match(reply, found.end()) or _LISTED.search(reply, found.end()):
        return None
    return found.group(1).upper()


class MappedLetter(Reply):
    """The option that a reply means, as a chat model reads it."""

    letter: Literal["A", "B", "C", "D", "X"] = Field(
        description="The option that the reply means; X for none of them, or several."
    )


class ReplyQuestion(BaseModel):
    """Inputs of the prompt `vqa/letter`: a question, its four options, and the reply to map to one."""

    question: str
    options: tuple[str, ...]
    reply: str


def map_reply(question: ReplyQuestion, _: Lexicon) -> MappedLetter:
    """Return the one option whose text occurs in the reply, any case; X if none or several do."""
    said = [
        letter
        for letter, option in zip(LETTERS, question.options, strict=True)
        if option.casefold() in question.reply.casefold()
    ]
    return MappedLetter.model_validate({"letter": said[0] if len(said) == 1 else "X"})


def legacy_letter(reply: str, right: str, mapped: str = "") -> str | None:
    """Return the letter V-IRL's code takes from a reply, favouring `right`; else `mapped`, `None` if empty.

    An exact letter with `.`, `)` or `,` after it; else the right letter if the reply begins with it in either
    case: so `Customers come` is C where C is right; else what a chat model read in it.

    Args:
        reply: the model's words.
        right: the right letter.
        mapped: what a chat model read in the reply, if one was asked.
    """
    text = reply.strip()
    if re.fullmatch(r"[A-D][.),]?", text):
        return text[0]
    if text[:1].upper() == right.upper():
        return right
    return mapped or None


def rotations(options: Sequence[str], answer: int) -> list[tuple[tuple[str, ...], int]]:
    """Return (options, index of the right one) for each cyclic shift; `answer` is the right one's index."""
    count = len(options)
    return [
        (tuple(options[(place + shift) % count] for place in range(count)), (answer - shift) % count)
        for shift in range(count)
    ]
