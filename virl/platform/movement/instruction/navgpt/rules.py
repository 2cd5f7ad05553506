"""The rules for NavGPT's prompts and for narrations: they read numbers and ids, and understand no words."""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, model_validator

from virl.mind.lexicon import Lexicon
from virl.mind.replies import Reply, Text
from virl.platform.movement.discrete.actions import Action
from virl.platform.movement.instruction.follower.plan import FollowerPlan
from virl.platform.movement.instruction.in_order import WalkProgress, next_in_order, plan_in_order

SUMMARY_WORDS = 30  # chosen: a sentence

_WAYS = re.compile(r"^[A-Z][A-Za-z ]+ navigable viewpoints: (\{.*\})$", re.MULTILINE)
_WHERE = re.compile(r"(?P<side>left|right) (?P<angle>[\d.]+)")
_GONE_TO = re.compile(r"Action Input: \"?([^\"\s]+)")
_AT = re.compile(r"^Not moved yet\. At viewpoint (\S+),", re.MULTILINE)
BACK_DEG, STRAIGHT_DEG = 150.0, 30.0  # turns of more lead back, and of less straight on; chosen

_WAY = re.compile(r"(?P<side>left|right) (?P<angle>[\d.]+),.*?(?:; map: .* in (?P<steps>\d+) steps)?$")
_DONE = re.compile(r"Done: (\d+) turns, then (\d+) crossings, then (\d+) steps of (\d+)\.")

_TOOL = "action_maker"
"""The one tool: takes the id of a viewpoint and walks there."""

# Marks may stand in bold and bear a number. All repetitions are bounded: replies can be long and odd.
_ACTION = re.compile(r"\bAction\W{0,2} ?\d{0,2} ?:")
_INPUT = re.compile(r"\bAction[\W_]{0,2} ?\d{0,2} ?Input\W{0,2} ?\d{0,2} ?:\s*(?P<line>[^\n]*)")
_FINAL = re.compile(r"\bFinal Answer\W{0,2} ?:")
_OBSERVATION = re.compile(r"^[ \t]{0,8}\W{0,2}Observation\W{0,2} ?:", re.MULTILINE)
_THOUGHT = re.compile(r"\s*\W{0,2}Thought\W{0,2} ?:\s*")
_WORD = re.compile(r"[^\s\"'`,;:(){}\[\]<>*]+")


class NavGptTurn(Reply):
    """A thought and a move, as a chat model gives them."""

    thought: str = Field(
        description="Which parts are done, which comes next, and why here; one to three sentences."
    )
    action: Literal["walk", "finish"] = Field(description="Walk to a viewpoint, or end the walk here.")
    viewpoint: str | None = Field(
        description="The id of the viewpoint to walk to, one of the last observation's; null to finish."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """As `Reply.offers`."""
        ids = _offered(inputs)
        if ids is None:
            return {}
        return {"viewpoint": ids} if ids else {"action": ["finish"]}

    @model_validator(mode="after")
    def _can_be_done(self, info: ValidationInfo) -> "NavGptTurn":
        if self.action == "finish":
            return self
        if self.viewpoint is None:
            raise ValueError("to walk, give the id of a viewpoint")
        ids = _offered(info.context or {})
        if ids is not None and self.viewpoint not in ids:
            valid = f"from here one can walk to {', '.join(ids)}" if ids else "no way leads on: finish"
            raise ValueError(f"viewpoint {self.viewpoint[:80]!r} cannot be gone to: {valid}")
        return self


class TakenStep(BaseModel):
    """A thought with its action, and what came of it."""

    reply: str
    observation: str


class StepQuestion(BaseModel):
    """Inputs of `movement/navgpt-step`."""

    instruction: str
    opening: str
    steps: tuple[TakenStep, ...]
    left_out: int


class SeenPart(BaseModel):
    """What lies in one direction, as far as the rules read it."""

    viewpoints: dict[str, str] = {}


class SeenAt(BaseModel):
    """An observation, as far as the rules read it."""

    viewpoint: str
    view: tuple[SeenPart, ...] = ()


class TurnThought(BaseModel):
    """A reply, as far as the rules read it."""

    thought: str = ""


class TurnTaken(BaseModel):
    """A move, and what came of it."""

    observation: SeenAt
    reply: TurnThought = TurnThought()


class TurnQuestion(BaseModel):
    """Inputs of `movement/navgpt-chat`."""

    instruction: str
    opening: SeenAt
    left_out: int
    steps: tuple[TurnTaken, ...]


class SummaryQuestion(BaseModel):
    """Inputs of `movement/navgpt-summary`."""

    description: str


def choose_viewpoint(question: StepQuestion, lexicon: Lexicon) -> Text:
    """Go on as straight as it goes to where one has not been; finish where no such way is left.

    Where a map is told, the turns of the instruction are taken in their order.
    """
    del lexicon
    mapped = ways_told(_told(question.steps[-1].observation if question.steps else question.opening))
    if is_mapped(mapped):
        way, thought = next_way(
            plan_in_order(question.instruction), question.steps[-1].reply if question.steps else "", mapped
        )
        if way is None:
            return Text(text=f"{thought}\nFinal Answer: Finished!")
        return Text(text=f'{thought}\nAction: action_maker\nAction Input: "{way.viewpoint}"')
    been = {*_AT.findall(question.opening)}
    been |= {name for step in question.steps for name in _GONE_TO.findall(step.reply)}
    told = [question.opening, *(step.observation for step in question.steps)]
    ways = next((ways for text in reversed(told) if (ways := dict(_ways(text)))), {})
    fresh = {name: angle for name, angle in ways.items() if name not in been}
    if not fresh:
        return Text(text="No way leads on to where I have not been.\nFinal Answer: Finished!")
    name = min(fresh, key=lambda one: fresh[one])
    thought = f"The rules read no instruction; the straightest new way turns by {fresh[name]:.0f} degrees."
    return Text(text=f'{thought}\nAction: action_maker\nAction Input: "{name}"')


def choose_turn(question: TurnQuestion, lexicon: Lexicon) -> NavGptTurn:
    """As `choose_viewpoint`."""
    del lexicon
    last = question.steps[-1].observation if question.steps else question.opening
    mapped = ways_told({name: where for part in last.view for name, where in part.viewpoints.items()})
    if is_mapped(mapped):
        said = question.steps[-1].reply.thought if question.steps else ""
        way, thought = next_way(plan_in_order(question.instruction), said, mapped)
        action: Literal["finish", "walk"] = "finish" if way is None else "walk"
        return NavGptTurn(thought=thought, action=action, viewpoint=way.viewpoint if way else None)
    told = [question.opening, *(step.observation for step in question.steps)]
    been = {one.viewpoint for one in told}
    fresh = {
        name: float(found["angle"])
        for part in told[-1].view
        for name, where in part.viewpoints.items()
        if name not in been and (found := _WHERE.match(where))
    }
    if not fresh:
        thought = "No way leads on to where I have not been."
        return NavGptTurn(thought=thought, action="finish", viewpoint=None)
    name = min(fresh, key=lambda one: fresh[one])
    thought = f"The rules read no instruction; the straightest new way turns by {fresh[name]:.0f} degrees."
    return NavGptTurn(thought=thought, action="walk", viewpoint=name)


def summarize_viewpoint(question: SummaryQuestion, lexicon: Lexicon) -> Text:
    """The lines without repeats, up to 30 words."""
    del lexicon
    words = "; ".join(dict.fromkeys(question.description.split("\n"))).split()
    return Text(text=" ".join(words[:SUMMARY_WORDS]))


def _told(text: str) -> dict[str, str]:
    """What a text says of each viewpoint to walk to."""
    return {name: where for block in _WAYS.findall(text) for name, where in json.loads(block).items()}


def _ways(text: str) -> Iterator[tuple[str, float]]:
    for name, where in _told(text).items():
        if found := _WHERE.match(where):
            yield name, float(found["angle"])


@dataclass(frozen=True, slots=True)
class ViewpointTold:
    """A viewpoint to walk to."""

    viewpoint: str
    turn: float
    """Degrees, positive to the right."""
    steps: int | None
    """To the next crossing that way, where a map tells it."""


def ways_told(told: Mapping[str, str]) -> list[ViewpointTold]:
    """The viewpoints of an observation, by what it says of each."""
    return [
        ViewpointTold(
            name,
            float(found["angle"]) * (-1 if found["side"] == "left" else 1),
            int(found["steps"]) if found["steps"] else None,
        )
        for name, where in told.items()
        if (found := _WAY.match(where))
    ]


def is_mapped(ways: Sequence[ViewpointTold]) -> bool:
    """Whether a map is told."""
    return any(way.steps is not None for way in ways)


def next_way(
    plan: FollowerPlan, thought: str, ways: Sequence[ViewpointTold]
) -> tuple[ViewpointTold | None, str]:
    """The way to take, `None` at the end, and the thought that goes with it.

    Args:
        plan: of the instruction.
        thought: of the step before; empty at the start.
        ways: that lead on from here, the way back included.
    """
    straight = min(ways, key=lambda way: abs(way.turn), default=None)
    if straight is None:
        return None, "No way leads on."
    done = _DONE.search(thought)
    if done is None:
        progress = WalkProgress(ahead=straight.steps)
    else:
        turns, passed, since, ahead = map(int, done.groups())
        progress = WalkProgress(turns, passed, since, ahead or None)
        if len(ways) > 2:
            progress = progress.crossing(straight.steps)
    action = next_in_order(plan, progress)
    if action is Action.STOP:
        return None, "This is where the instruction ends."
    aside = _on_side(ways, action)
    way = aside or straight
    progress = (progress.turned(aside.steps) if aside else progress).forward()
    told = f"{progress.turns} turns, then {progress.passed} crossings, then {progress.since} steps"
    return way, f"Done: {told} of {progress.ahead or 0}."


def _on_side(ways: Sequence[ViewpointTold], action: Action) -> ViewpointTold | None:
    """The way to a side whose turn is nearest to a right angle; `None` where none leads there."""
    sign = {Action.LEFT: -1, Action.RIGHT: 1}.get(action, 0)
    fit = [way for way in ways if STRAIGHT_DEG < sign * way.turn < BACK_DEG]
    return min(fit, key=lambda way: abs(abs(way.turn) - 90.0), default=None)


def _offered(inputs: Mapping[str, object]) -> list[str] | None:
    """The ids that can be gone to by the last observation; `None` if there is none."""
    steps = inputs.get("steps")
    last = steps[-1]["observation"] if isinstance(steps, list) and steps else inputs.get("opening")
    view = last.get("view") if isinstance(last, dict) else None
    return None if view is None else [name for part in view for name in part.get("viewpoints", ())]


@dataclass(frozen=True, slots=True)
class GoTo:
    """Walk to a viewpoint; the id is as the model gave it, known or not."""

    viewpoint: str


@dataclass(frozen=True, slots=True)
class Finish:
    """End the walk here."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A reply that is neither."""

    fault: str
    """What is wrong with it, for the model."""


def own_words(text: str) -> str:
    """A reply without a leading `Thought:`, and without what a model makes up after `Observation:`."""
    invented = _OBSERVATION.search(text)
    own = text[: invented.start()] if invented else text
    opening = _THOUGHT.match(own)
    return own[opening.end() if opening else 0 :].strip()


def thought_of(text: str) -> str:
    """What a reply says before it acts."""
    ends = [mark.start() for mark in (_action(text), _FINAL.search(text)) if mark]
    return text[: min(ends, default=len(text))].strip(" \n*")


def read_reply(text: str, known: Container[str]) -> GoTo | Finish | Malformed:
    """What a reply asks for.

    Args:
        text: the reply, as `own_words` gives it.
        known: the ids of all viewpoints.

    Returns:
        The move of the first `Action Input:` and the `Action:` before it, which may hold quotes and words
        around one known id; `Finish` where there is only a `Final Answer:`.
    """
    action, given, final = _action(text), _INPUT.search(text), _FINAL.search(text)
    if action and given:
        if final:
            return Malformed("Give either an Action or a Final Answer, not both.")
        return _read_move(text[action.end() : given.start()], given["line"], known)
    if final:
        return Finish()
    if not action:
        return Malformed("The line 'Action:' is missing after the thought.")
    return Malformed("The line 'Action Input:' is missing after the line 'Action:'.")


def _action(text: str) -> re.Match[str] | None:
    """The last `Action:` before the first `Action Input:`; a thought may hold the word, too."""
    given = _INPUT.search(text)
    marks = list(_ACTION.finditer(text, 0, given.start() if given else len(text)))
    return marks[-1] if marks else None


def _read_move(tool: str, line: str, known: Container[str]) -> GoTo | Malformed:
    named = _WORD.findall(tool)
    if [word.lower() for word in named[:1]] != [_TOOL]:
        return Malformed(f"{' '.join(named)[:80] or 'Nothing'} is no tool: the only one is {_TOOL}.")
    words = [word if word in known else word.rstrip(".") for word in _WORD.findall(line)]
    ids = list(dict.fromkeys(word for word in words if word in known))
    if len(ids) > 1:
        return Malformed("The line 'Action Input:' names more than one viewpoint id: give one.")
    if not words:
        return Malformed("The line 'Action Input:' holds no viewpoint id.")
    return GoTo(ids[0] if ids else words[0])
