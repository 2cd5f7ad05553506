"""The rules for following directions: `movement/tourist-landmarks` and `movement/tourist-action`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from virl.mind.lexicon import Lexicon
from virl.platform.movement.instruction.tourist.clauses import WalkGoal, read_goals
from virl.platform.movement.instruction.tourist.replies import LandmarkNames, WalkAction

TOO_MANY = 2
"""Crossings beyond the one that a turn was told of, at which the walk does not fit the directions. Chosen."""
UNCOUNTED = 4
"""Crossings to a stop, where the directions do not count them, after which it should have come. Chosen."""
BESIDE = {"left", "right", "rear left", "rear right", "rear"}
"""Where something is that is not ahead any more."""

_QUOTED = re.compile(
    r"[\"\N{LEFT DOUBLE QUOTATION MARK}]([^\"\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}]+)"
    r"[\"\N{RIGHT DOUBLE QUOTATION MARK}]"
)
_CAPITALS = re.compile(
    r"(?<=[a-z,;] )([A-Z0-9][\w'&-]*(?:(?: (?:of|the|and|&|de|la|on|du|di) | )[A-Z0-9][\w'&-]*)*)"
)
_NOT_A_NAME = re.compile(r"^(?:I|T|OK|Then|Turn|Go|Stop|Take|Pass|Walk|You|If|\d\w*)$")
_NEXT_TO = {
    "front": ("front left", "front right"),
    "front left": ("left", "front"),
    "left": ("front left", "rear left"),
    "rear left": ("left", "rear"),
    "rear": ("rear left", "rear right"),
    "rear right": ("right", "rear"),
    "right": ("front right", "rear right"),
    "front right": ("right", "front"),
}


class TouristLandmarkQuestion(BaseModel):
    """Inputs of `movement/tourist-landmarks`."""

    directions: str


class SeenLandmark(BaseModel):
    """A landmark in sight."""

    name: str
    where: str


class Noticed(BaseModel):
    """What was noticed somewhere, and what was done there."""

    seen: tuple[SeenLandmark, ...]
    crossing: int | None
    ways: tuple[str, ...]
    been_here: bool
    did: str = ""


class TouristActionQuestion(BaseModel):
    """Inputs of `movement/tourist-action`."""

    sentences: tuple[str, ...]
    landmarks: tuple[str, ...]
    walk: tuple[Noticed, ...]
    here: Noticed
    refused: tuple[str, ...]


@dataclass(slots=True)
class _Progress:
    """How far a walk has got with its goals."""

    goal: int = 0
    crossings: int = 0
    """Come to since the last turn."""
    ahead: list[str] = field(default_factory=list)
    """Names that were seen from the place before."""


def list_landmarks(question: TouristLandmarkQuestion, lexicon: Lexicon) -> LandmarkNames:
    """Names in quotation marks; where there are none, names in capitals within a sentence."""
    del lexicon
    text = " ".join(question.directions.split())
    names = _QUOTED.findall(text) or [name for name in _CAPITALS.findall(text) if not _NOT_A_NAME.match(name)]
    return LandmarkNames(names=tuple(dict.fromkeys(name.strip() for name in names if name.strip()))[:20])


def choose_action(question: TouristActionQuestion, lexicon: Lexicon) -> WalkAction:
    """The goals of the directions in their order, each at the crossing that it counts; then the stop."""
    del lexicon
    goals = read_goals(question.sentences, question.landmarks)
    progress = _Progress()
    for step in question.walk:
        _notice(progress, step)
        _done(progress, step, goals)
        progress.ahead = [one.name for one in step.seen]
    _notice(progress, question.here)
    goal = goals[min(progress.goal, len(goals) - 1)]
    match goal.kind:
        case "start":
            return _start(goal, question)
        case "turn":
            return _turn(goal, progress, question)
        case "stop":
            return _stop(goal, progress, question)


def _notice(progress: _Progress, step: Noticed) -> None:
    progress.crossings += step.crossing is not None


def _done(progress: _Progress, step: Noticed, goals: Sequence[WalkGoal]) -> None:
    goal = goals[min(progress.goal, len(goals) - 1)]
    if goal.kind == "start" or (goal.kind == "turn" and step.did.startswith("turn")):
        progress.goal += 1
        progress.crossings = 0


def _start(goal: WalkGoal, question: TouristActionQuestion) -> WalkAction:
    here, direction = question.here, goal.direction
    if question.refused:
        return _lost(goal, "the way to set off is not there")
    if direction == "front" and len(_stops(question)) and _beside(question, _stops(question)):
        return _act("stop", _sentences(question), "what I was sent to is right here")
    if direction == "front" and _leads(here, "front"):
        return _act("forward", goal.sentence, "the directions begin straight ahead")
    if direction == "front" and len(here.ways) == 1:
        return _act("turn", goal.sentence, "the only way there is", here.ways[0])
    return _act("turn", goal.sentence, f"the directions begin to the {direction}", direction)


def _turn(goal: WalkGoal, progress: _Progress, question: TouristActionQuestion) -> WalkAction:
    here, due = question.here, goal.crossing or 1
    nth = f"crossing {progress.crossings} of {due} since the last turn"
    if here.crossing is None:
        if len(here.ways) == 1:
            return _lost(goal, "the street ends, and the turn I was told of did not come")
        return _act("forward", goal.sentence, f"on to where it goes {goal.direction}; {nth}")
    blocked = not _leads(here, "front")
    can_turn = _can_turn(here, goal.direction) and not question.refused
    if can_turn and (blocked or (progress.crossings >= due and not goal.ends)):
        return _act("turn", goal.sentence, f"{nth}: here it goes {goal.direction}", goal.direction)
    if blocked or (progress.crossings >= due + TOO_MANY and not goal.ends):
        return _lost(goal, f"{nth}: I have not been able to turn {goal.direction}")
    return _act("forward", goal.sentence, f"{nth}: straight on")


def _stop(goal: WalkGoal, progress: _Progress, question: TouristActionQuestion) -> WalkAction:
    here = question.here
    if names := _beside(question, goal.names):
        return _act("stop", goal.sentence, f"{names[0]} is right here")
    seen = [one for one in here.seen if one.name in goal.names]
    passed = [
        name for name in progress.ahead if name in goal.names and name not in {one.name for one in seen}
    ]
    if passed and not seen:
        return _act("stop", goal.sentence, f"{passed[0]} was ahead a moment ago, and I have come up to it")
    most = UNCOUNTED if goal.crossing is None else goal.crossing
    if progress.crossings > most:
        return _lost(
            goal,
            f"crossing {progress.crossings} since the last turn, and I have not seen {_either(goal.names)}",
        )
    if question.refused or (here.ways and not _leads(here, "front")):
        return _lost(goal, f"no way leads on, and I have not seen {_either(goal.names)}")
    return _act("forward", goal.sentence, f"on until I see {_either(goal.names)}")


def _beside(question: TouristActionQuestion, names: Sequence[str]) -> list[str]:
    return [one.name for one in question.here.seen if one.name in names and one.where in BESIDE]


def _stops(question: TouristActionQuestion) -> tuple[str, ...]:
    goals = read_goals(question.sentences, question.landmarks)
    return goals[-1].names if len(goals) == 2 else ()


def _sentences(question: TouristActionQuestion) -> int:
    return len(question.sentences)


def _leads(here: Noticed, direction: str) -> bool:
    near = ("front left", "front right") if direction == "front" and len(here.ways) <= 2 else ()
    return direction in here.ways or any(way in here.ways for way in near)


def _can_turn(here: Noticed, direction: str) -> bool:
    return any(way in here.ways for way in (direction, *_NEXT_TO[direction]))


def _either(names: Sequence[str]) -> str:
    return " or ".join(names) or "where to stop"


def _lost(goal: WalkGoal, reason: str) -> WalkAction:
    return WalkAction(action="lost", sentence=goal.sentence, reason=reason)


def _act(action: str, sentence: int, reason: str, direction: str | None = None) -> WalkAction:
    return WalkAction.model_validate(
        {"action": action, "sentence": sentence, "reason": reason, "direction": direction}
    )
