"""The rules for NavGPT's prompts, and the reading of what a model replies to them."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, model_validator

from virl.mind.lexicon import Lexicon
from virl.mind.replies import Reply, Text
from virl.platform.movers.discrete.actions import Action
from virl.platform.navigators.follower.clauses import FollowerPlan
from virl.platform.navigators.instruction.in_order import WalkProgress, next_in_order, plan_in_order
from virl.platform.navigators.navgpt.observation import Stand, WayAhead

SUMMARY_WORDS = 30  # chosen: a sentence
"""Largest number of words of a viewpoint's summary that rules make instead of a model."""
BACK_DEG, STRAIGHT_DEG = 150.0, 30.0  # turns of more lead back, and of less straight on; chosen

_TOOL = "action_maker"
"""Name of the only tool that NavGPT has, which takes a viewpoint's id and walks there."""

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
        """Return the values that each field of a reply to this question may have, by field."""
        ids = _offered_ids(inputs)
        if ids is None:
            return {}
        return {"viewpoint": ids} if ids else {"action": ["finish"]}

    @model_validator(mode="after")
    def _can_be_done(self, info: ValidationInfo) -> "NavGptTurn":
        """Refuse a walk to anything but a viewpoint that was offered."""
        if self.action == "finish":
            return self
        if self.viewpoint is None:
            raise ValueError("to walk, give the id of a viewpoint")
        ids = _offered_ids(info.context or {})
        if ids is not None and self.viewpoint not in ids:
            valid = f"from here one can walk to {', '.join(ids)}" if ids else "no way leads on: finish"
            raise ValueError(f"viewpoint {self.viewpoint[:80]!r} cannot be gone to: {valid}")
        return self


class WalkQuestion(BaseModel):
    """Inputs of `movement/navgpt-step` and `movement/navgpt-chat` that the rules read."""

    instruction: str
    stands: tuple[Stand, ...] = ()
    """Viewpoints that the walk visited, with the ways from each, the start first."""


class SummaryQuestion(BaseModel):
    """The inputs of the prompt `movement/navgpt-summary`."""

    description: str


def choose_viewpoint(question: WalkQuestion, lexicon: Lexicon) -> Text:
    """Return the choice of `choose_turn` as text with a thought and an action."""
    turn = choose_turn(question, lexicon)
    if turn.viewpoint is None:
        return Text(text=f"{turn.thought}\nFinal Answer: Finished!")
    return Text(text=f'{turn.thought}\nAction: {_TOOL}\nAction Input: "{turn.viewpoint}"')


def choose_turn(question: WalkQuestion, _: Lexicon) -> NavGptTurn:
    """Return the straightest way to a new viewpoint, or with a map the next way of the plan, or the finish.

    Where a map is told, the turns of the instruction are taken in their order.
    """
    ways = question.stands[-1].ways if question.stands else ()
    if any(way.steps is not None for way in ways):
        way, thought = next_way(plan_in_order(question.instruction), [one.ways for one in question.stands])
    else:
        been = {one.viewpoint for one in question.stands}
        fresh = [one for one in ways if one.viewpoint not in been]
        way = min(fresh, key=lambda one: abs(one.turn), default=None)
        thought = (
            f"The rules read no instruction; the straightest new way turns by {abs(way.turn):.0f} degrees."
            if way
            else "No way leads on to where I have not been."
        )
    return NavGptTurn(
        thought=thought, action="walk" if way else "finish", viewpoint=way.viewpoint if way else None
    )


def summarize_viewpoint(question: SummaryQuestion, _: Lexicon) -> Text:
    """Return the lines on a viewpoint without repeats, cut after `SUMMARY_WORDS` words."""
    words = "; ".join(dict.fromkeys(question.description.split("\n"))).split()
    return Text(text=" ".join(words[:SUMMARY_WORDS]))


def next_way(plan: FollowerPlan, ways: Sequence[Sequence[WayAhead]]) -> tuple[WayAhead | None, str]:
    """Return (way to take next by a plan, `None` to stop; thought) after the `ways` at each viewpoint so far.

    `ways` has, for each viewpoint so far, the last being where the walker stands, the ways that leave it.
    """
    way, progress = None, WalkProgress()
    for number, around in enumerate(ways):
        straight = min(around, key=lambda one: abs(one.turn), default=None)
        if straight is None:
            return None, "No way leads on."
        if number == 0:
            # The start counts as no crossing, however many ways leave it.
            progress = WalkProgress(ahead=straight.steps)
        elif len(around) > 2:
            progress = progress.next_crossing(straight.steps)
        action = next_in_order(plan, progress)
        if action is Action.STOP:
            return None, "This is where the instruction ends."
        aside = _way_to_side(around, action)
        way = aside or straight
        progress = (progress.after_turn(aside.steps) if aside else progress).forward()
    told = f"{progress.turns} turns, then {progress.passed} crossings, then {progress.since} steps"
    return way, f"Done: {told} of {progress.ahead or 0}."


def _way_to_side(ways: Sequence[WayAhead], action: Action) -> WayAhead | None:
    """Return the way that a left or right turn takes, nearest to a right angle; `None` for other actions."""
    sign = {Action.LEFT: -1, Action.RIGHT: 1}.get(action, 0)
    fit = [way for way in ways if STRAIGHT_DEG < sign * way.turn < BACK_DEG]
    return min(fit, key=lambda way: abs(abs(way.turn) - 90.0), default=None)


def _offered_ids(inputs: Mapping[str, object]) -> list[str] | None:
    """Return the ids of the viewpoints that the last observation offers; `None` without one."""
    steps = inputs.get("steps")
    last = steps[-1]["observation"] if isinstance(steps, list) and steps else inputs.get("opening")
    view = last.get("view") if isinstance(last, dict) else None
    return None if view is None else [name for part in view for name in part.get("viewpoints", ())]


@dataclass(frozen=True, slots=True)
class GoTo:
    """A wish of the model to walk to a viewpoint; its id is as the model wrote it, known or not."""

    viewpoint: str


@dataclass(frozen=True, slots=True)
class Finish:
    """A wish of the model to end the walk here."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A reply of the model that cannot be carried out."""

    fault: str
    """The fault of the reply, in words for the model."""


def own_words(text: str) -> str:
    """Return a model's reply without a leading `Thought:` and without text from `Observation:` on."""
    invented = _OBSERVATION.search(text)
    own = text[: invented.start()] if invented else text
    opening = _THOUGHT.match(own)
    return own[opening.end() if opening else 0 :].strip()


def thought_of(text: str) -> str:
    """Return the thought in a reply: the text before its action or final answer."""
    ends = [mark.start() for mark in (_action(text), _FINAL.search(text)) if mark]
    return text[: min(ends, default=len(text))].strip(" \n*")


def read_reply(text: str, known: Container[str]) -> GoTo | Finish | Malformed:
    """Return the wish in a reply (`own_words` of it): a walk to a viewpoint, the end of the walk, or neither.

    The walk is that of the first `Action Input:` and the `Action:` before it, which may hold quotes and words
    around one of the `known` ids of viewpoints; the end is asked for where there is only a `Final Answer:`.
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
    """Return the match of the last `Action:` before the first `Action Input:`; `None` without one."""
    given = _INPUT.search(text)
    marks = list(_ACTION.finditer(text, 0, given.start() if given else len(text)))
    return marks[-1] if marks else None


def _read_move(tool: str, line: str, known: Container[str]) -> GoTo | Malformed:
    """Return the move that an action asks for, or its fault: a wrong tool, no id, or several `known` ids."""
    named = _WORD.findall(tool)
    if [word.lower() for word in named[:1]] != [_TOOL]:
        return Malformed(f"{' '.join(named)[:80] or 'Nothing'} is no tool: the only one is {_TOOL}.")
    # A full stop may end the line, or be a part of an id.
    words = [word if word in known else word.rstrip(".") for word in _WORD.findall(line)]
    ids = list(dict.fromkeys(word for word in words if word in known))
    if len(ids) > 1:
        return Malformed("The line 'Action Input:' names more than one viewpoint id: give one.")
    if not words:
        return Malformed("The line 'Action Input:' holds no viewpoint id.")
    return GoTo(ids[0] if ids else words[0])
