"""Reading what the model wants: one move, the end, or neither."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, ValidationInfo, model_validator

from virl.mind.replies import Reply

TOOL = "action_maker"
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
    if [word.lower() for word in named[:1]] != [TOOL]:
        return Malformed(f"{' '.join(named)[:80] or 'Nothing'} is no tool: the only one is {TOOL}.")
    words = [word if word in known else word.rstrip(".") for word in _WORD.findall(line)]
    ids = list(dict.fromkeys(word for word in words if word in known))
    if len(ids) > 1:
        return Malformed("The line 'Action Input:' names more than one viewpoint id: give one.")
    if not words:
        return Malformed("The line 'Action Input:' holds no viewpoint id.")
    return GoTo(ids[0] if ids else words[0])
