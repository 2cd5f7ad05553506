"""The rules for following directions, `movement/tourist-landmarks` and `-action`, and what they read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from pydantic import BaseModel, Field, ValidationInfo, field_validator, model_validator

from virl.mind.lexicon import Lexicon
from virl.mind.replies import Reply, name_list, number_range
from virl.platform.navigators.tourist.goals import WalkGoal, read_goals
from virl.platform.navigators.tourist.signs import MIN_RESEMBLANCE, name_likeness
from virl.platform.navigators.tourist.spotting import LandmarkSighting


@dataclass(frozen=True, slots=True)
class ArrivalObservation:
    """The things that a walker observes at a panorama."""

    heading: float
    """Direction that the walker faces, degrees clockwise from north."""
    seen: tuple[LandmarkSighting, ...] = ()
    """Landmarks in sight, the surest first."""
    crossing: int | None = None
    """Number of ways that meet here, the way back included; `None` if no crossing is told of."""
    ways: tuple[str, ...] = ()
    """Directions in which ways leave, clockwise from dead ahead; empty where not told of.
    They are told at the start, at crossings and where the street ends."""
    been_here: bool = False
    """True if the walker has come to this panorama before."""

    def to_prompt(self) -> dict[str, object]:
        """Return the observation as plain JSON values for the prompt `movement/tourist-action`."""
        return {
            "seen": [{"name": one.name, "where": one.direction(self.heading)} for one in self.seen],
            "crossing": self.crossing,
            "ways": list(self.ways),
            "been_here": self.been_here,
        }

    def sentence(self) -> str:
        """Return the observation in words, for a record of the walk."""
        told = []
        if self.crossing is not None:
            told.append(f"A crossing of {self.crossing} ways: {', '.join(self.ways)}.")
        elif self.ways:
            told.append(f"Ways lead {', '.join(self.ways)}.")
        told += [f"{one.name} is seen, {one.direction(self.heading)}." for one in self.seen]
        if self.been_here:
            told.append("Been here before.")
        return " ".join(told) or "The street leads on."


@dataclass(frozen=True, slots=True)
class Act:
    """A decision on the walker's next action."""

    action: str
    """Name of the action: `forward`, `turn`, `stop` or `lost`."""
    direction: str = ""
    """Direction of a turn; empty for other actions."""
    sentence: int = 1
    """Number of the sentence of the directions that is being carried out, from 1."""
    reason: str = ""
    """Reason of the decision, a sentence."""
    refused: tuple[str, ...] = ()
    """Reasons why earlier replies to the same question were not possible, in order."""
    decided_by: str = ""
    """Decider in place of the mind; empty where the mind decided."""

    @property
    def words(self) -> str:
        """Name of the action in words, such as `"turn left"`."""
        return f"{self.action} {self.direction}".strip()


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """An observation, and the action taken on it."""

    observed: Mapping[str, object]
    """Observation as `ArrivalObservation.to_prompt` gives it."""
    act: Act

    def to_prompt(self) -> dict[str, object]:
        """Return the entry as plain JSON values for the prompt `movement/tourist-action`."""
        return {**self.observed, "did": self.act.words, "sentence": self.act.sentence}


TOO_MANY = 2
"""Number of crossings past the one to turn at, from which a walk that has not turned is given up. Chosen."""
UNCOUNTED = 4
"""Largest number of crossings passed in search of a stop whose directions count none up to it. Chosen."""
BESIDE = {"left", "right", "rear left", "rear right", "rear"}
"""Directions in words, such as `left` and `rear`, in which a thing is no longer ahead."""
NEAR_AHEAD = {"front left", "front right"}
"""Directions in words of a landmark near ahead; one straight ahead may be at the street's far end."""
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

DirectionSeen = Literal[
    "front", "front right", "right", "rear right", "rear", "rear left", "left", "front left"
]
"""Names of the eight directions as the walker sees them, clockwise."""
Compass = Literal["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"]
Direction = Literal[DirectionSeen, Compass]
"""Names of the directions as the walker sees them, then of the eight of the compass."""
_TURNS = {Act("turn", way).words for way in get_args(Direction)}


class LandmarkNames(Reply):
    """The landmarks that directions name."""

    names: tuple[str, ...] = Field(
        max_length=20, description="As they are written in the directions, in their order, each once."
    )

    @field_validator("names")
    @classmethod
    def _stand_there(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        """Refuse names that the directions do not have; return each of them once."""
        text = (info.context or {}).get("directions")
        for name in names:
            if (
                isinstance(text, str)
                and " ".join(name.split()).casefold() not in " ".join(text.split()).casefold()
            ):
                raise ValueError(f"{name!r} does not stand in the directions")
        return tuple(dict.fromkeys(filter(None, (" ".join(name.split()) for name in names))))


class LandmarksRead(Reply):
    """The landmarks whose signs were read in a view."""

    names: tuple[str, ...] = Field(
        max_length=20, description="Names among the landmarks looked for; empty if none was read."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that each field of a reply to this question may have, by field."""
        return {"names": name_list(inputs, "names")}

    @field_validator("names")
    @classmethod
    def _are_looked_for(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        """Refuse names that are not looked for; return each of them once."""
        known = (info.context or {}).get("names")
        for name in names:
            if known is not None and name not in known:
                raise ValueError(f"{name!r} is none of the landmarks looked for")
        return tuple(dict.fromkeys(names))


class WalkAction(Reply):
    """The next action of one who follows directions."""

    action: Literal["forward", "turn", "stop", "lost"] = Field(
        description="Walk on, turn and walk on that way, stop at the destination, or admit being lost."
    )
    direction: Direction | None = Field(
        default=None, description="Where to turn to, one of the ways told; null unless the action is turn."
    )
    sentence: int = Field(ge=1, description="The number of the sentence that is being carried out.")
    reason: str = Field(description="Why, in one sentence.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that each field of a reply to this question may have, by field."""
        here = inputs.get("here")
        ways = name_list(here, "ways") if isinstance(here, dict) else []
        return {
            "sentence": number_range(inputs, "sentences", 1),
            "direction": ways or get_args(DirectionSeen),
        }

    @field_validator("sentence")
    @classmethod
    def _is_there(cls, sentence: int, info: ValidationInfo) -> int:
        """Refuse the number of a sentence that the directions do not have."""
        sentences = (info.context or {}).get("sentences")
        if sentences is not None and sentence > len(sentences):
            raise ValueError(f"there are {len(sentences)} sentences, no number {sentence}")
        return sentence

    @model_validator(mode="after")
    def _turns_somewhere(self) -> "WalkAction":
        """Refuse a turn without a direction, and a direction without a turn."""
        if (self.action == "turn") != (self.direction is not None):
            raise ValueError("a direction goes with turn, and with turn alone")
        return self


class LandmarkTextQuestion(BaseModel):
    """Inputs of `movement/tourist-landmark-text`."""

    words: tuple[str, ...]
    names: tuple[str, ...]


class TouristLandmarkQuestion(BaseModel):
    """The inputs of the prompt `movement/tourist-landmarks`."""

    directions: str


class SeenLandmark(BaseModel):
    """A landmark in sight, by name, and its direction from the walker."""

    name: str
    where: str


class Noticed(BaseModel):
    """The things noticed at a panorama, and the action that the walker took there."""

    seen: tuple[SeenLandmark, ...]
    crossing: int | None
    ways: tuple[str, ...]
    been_here: bool
    did: str = ""


class TouristActionQuestion(BaseModel):
    """The inputs of the prompt `movement/tourist-action`."""

    sentences: tuple[str, ...]
    landmarks: tuple[str, ...]
    walk: tuple[Noticed, ...]
    here: Noticed
    refused: tuple[str, ...]


@dataclass(slots=True)
class _Progress:
    """The progress of a walk along the goals of its directions."""

    goal: int = 0
    """Index of the next goal of the directions."""
    crossings: int = 0
    """Number of crossings come to since the last turn."""
    marks: list[int] = field(default_factory=lambda: [0])
    """Numbers of the steps at the last turn, or at the start, and at each crossing since."""
    back: int | None = None
    """Number of the step at which the walker turned back to find the stop; `None` without one."""
    ahead: list[str] = field(default_factory=list)
    """Names of landmarks that were seen near ahead at the step before."""


def match_landmarks(question: LandmarkTextQuestion, _: Lexicon) -> LandmarksRead:
    """Return the landmarks whose names resemble words read on signs, compared as the `ocr` spotter does."""
    return LandmarksRead(
        names=tuple(
            name
            for name in question.names
            if any(name_likeness(words, name) >= MIN_RESEMBLANCE for words in question.words)
        )
    )


def list_landmarks(question: TouristLandmarkQuestion, _: Lexicon) -> LandmarkNames:
    """Return the names in quotation marks or, if there are none, capitalised names inside sentences."""
    text = " ".join(question.directions.split())
    names = _QUOTED.findall(text) or [name for name in _CAPITALS.findall(text) if not _NOT_A_NAME.match(name)]
    return LandmarkNames(names=tuple(dict.fromkeys(name.strip() for name in names if name.strip()))[:20])


def choose_action(question: TouristActionQuestion, _: Lexicon) -> WalkAction:
    """Return the next action by the goals of the directions, in order, each at its crossing."""
    goals = read_goals(question.sentences, question.landmarks)
    progress = _Progress()
    for number, step in enumerate(question.walk):
        _count_crossing(progress, step, number)
        goal = goals[min(progress.goal, len(goals) - 1)]
        if goal.kind == "start" or (goal.kind == "turn" and step.did in _TURNS):
            progress.goal += 1
            progress.crossings, progress.marks = 0, [number]
        elif goal.kind == "stop" and step.did in _TURNS:
            progress.back = number
        progress.ahead = [one.name for one in step.seen if one.where in NEAR_AHEAD]
    _count_crossing(progress, question.here, len(question.walk))
    goal = goals[min(progress.goal, len(goals) - 1)]
    match goal.kind:
        case "start":
            return _start(goals, question)
        case "turn":
            return _turn(goal, progress, question)
        case "stop":
            return _stop(goal, progress, question)


def _count_crossing(progress: _Progress, step: Noticed, number: int) -> None:
    """Count the crossing, if any, that the walk came to at the step of a number."""
    if step.crossing is not None:
        progress.crossings += 1
        progress.marks.append(number)


def _start(goals: Sequence[WalkGoal], question: TouristActionQuestion) -> WalkAction:
    """Return the action at the start: set off in the first goal's direction, stop, or give up."""
    goal, stop = goals[0], goals[-1]
    here, direction = question.here, goal.direction
    if stop.here:
        return _action("stop", len(question.sentences), "I was told that I am there already")
    if question.refused:
        return _action("lost", goal.sentence, "the way to set off is not there")
    if direction == "front" and len(goals) == 2 and _names_beside(question, stop.names):
        return _action("stop", len(question.sentences), "what I was sent to is right here")
    if direction == "front" and _leads(here, "front"):
        return _action("forward", goal.sentence, "the directions begin straight ahead")
    if direction == "front" and len(here.ways) == 1:
        return _action("turn", goal.sentence, "the only way there is", here.ways[0])
    return _action("turn", goal.sentence, f"the directions begin to the {direction}", direction)


def _turn(goal: WalkGoal, progress: _Progress, question: TouristActionQuestion) -> WalkAction:
    """Return the action on the way to a turn: walk on, turn at its crossing, or give up."""
    here, due = question.here, goal.crossing or 1
    nth = f"crossing {progress.crossings} of {due} since the last turn"
    if here.crossing is None:
        if len(here.ways) == 1:
            return _action("lost", goal.sentence, "the street ends, and the turn I was told of did not come")
        return _action("forward", goal.sentence, f"on to where it goes {goal.direction}; {nth}")
    blocked = not _leads(here, "front")
    can_turn = not question.refused and any(
        way in here.ways for way in (goal.direction, *_NEXT_TO[goal.direction])
    )
    if can_turn and (blocked or (progress.crossings >= due and not goal.ends)):
        return _action("turn", goal.sentence, f"{nth}: here it goes {goal.direction}", goal.direction)
    if blocked or (progress.crossings >= due + TOO_MANY and not goal.ends):
        return _action("lost", goal.sentence, f"{nth}: I have not been able to turn {goal.direction}")
    return _action("forward", goal.sentence, f"{nth}: straight on")


def _stop(goal: WalkGoal, progress: _Progress, question: TouristActionQuestion) -> WalkAction:
    """Return the action on the way to the stop: walk on, stop, search along the street, or give up."""
    here = question.here
    most = UNCOUNTED if goal.crossing is None else goal.crossing
    blocked = bool(question.refused or (here.ways and not _leads(here, "front")))
    due = goal.crossing is None or progress.crossings >= goal.crossing or blocked
    if due and (arrived := _arrival_reason(goal, progress, question, blocked=blocked, most=most)):
        return _action("stop", goal.sentence, arrived)
    if goal.part is not None and len(progress.marks) > most:
        return _follow_along(goal, goal.part, progress, question, blocked=blocked, most=most)
    if progress.crossings > most and not goal.ends:
        unseen = (
            f"crossing {progress.crossings} since the last turn, and I have not seen {_any_of(goal.names)}"
        )
        return _action("lost", goal.sentence, unseen)
    if blocked:
        return _action("lost", goal.sentence, f"no way leads on, and I have not seen {_any_of(goal.names)}")
    return _action("forward", goal.sentence, f"on until I see {_any_of(goal.names)}")


def _arrival_reason(
    goal: WalkGoal, progress: _Progress, question: TouristActionQuestion, *, blocked: bool, most: int
) -> str | None:
    """Return why to stop here, else `None`; `most` crossings come before the stop; `blocked`: no way on."""
    here = question.here
    if beside := _names_beside(question, goal.names):
        return f"{beside[0]} is right here"
    seen = [one.name for one in here.seen if one.name in goal.names]
    passed = [name for name in progress.ahead if name in goal.names]
    if passed and not seen:
        return f"{passed[0]} was ahead a moment ago, and I have come up to it"
    if goal.at_crossing and here.crossing is not None and progress.crossings > most:
        return f"crossing {progress.crossings} since the last turn, where I was told to stop"
    if goal.ends and blocked:
        return "the street ends, where I was told to stop"
    if blocked and seen:
        return f"no way leads on, and {seen[0]} is in sight"
    return None


def _follow_along(
    goal: WalkGoal,
    part: float,
    progress: _Progress,
    question: TouristActionQuestion,
    *,
    blocked: bool,
    most: int,
) -> WalkAction:
    """Return the action for a stop at `part` of the block after crossing `most`: to its end, then back."""
    here = len(question.walk)
    if progress.back is None:
        if progress.crossings > most or blocked:
            if question.refused or "rear" not in question.here.ways:
                return _action("lost", goal.sentence, "this is too far, and no way leads back")
            return _action("turn", goal.sentence, "this is too far: back to where I was told to stop", "rear")
        return _action("forward", goal.sentence, "on to the next crossing, to see how far it is")
    whole = progress.back - progress.marks[most]
    if here - progress.back >= round((1.0 - part) * whole):
        return _action("stop", goal.sentence, "as far along as I was told to stop")
    return _action("forward", goal.sentence, "back to where I was told to stop")


def _names_beside(question: TouristActionQuestion, names: Sequence[str]) -> list[str]:
    """Return which of `names` are landmarks seen beside or behind the walker."""
    return [one.name for one in question.here.seen if one.name in names and one.where in BESIDE]


def _leads(here: Noticed, direction: str) -> bool:
    """Return whether a way leads in a direction; without a crossing, `front` includes slight turns."""
    near = ("front left", "front right") if direction == "front" and len(here.ways) <= 2 else ()
    return direction in here.ways or any(way in here.ways for way in near)


def _any_of(names: Sequence[str]) -> str:
    """Return names joined by "or", or "where to stop" where there are none."""
    return " or ".join(names) or "where to stop"


def _action(action: str, sentence: int, reason: str, direction: str | None = None) -> WalkAction:
    """Return an action with the number of the sentence that it carries out and a reason."""
    return WalkAction.model_validate(
        {"action": action, "sentence": sentence, "reason": reason, "direction": direction}
    )
