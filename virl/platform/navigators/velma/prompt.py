"""The text that asks for the next action, and whole walks in the same form."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from virl.mind.base import Prompt
from virl.mind.prompt import load_prompt
from virl.mind.rendering import render
from virl.mind.replies import Text
from virl.platform.movers.discrete.actions import Action
from virl.platform.navigators.velma.rules import VelmaAction

MAX_INSTRUCTION = 6_000  # characters; chosen: three times the longest of Touchdown (2,067) and Map2seq
"""Characters of an instruction that are read."""

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Example:
    """A finished walk that is shown before the one to walk."""

    instruction: str
    walk: str
    """Text of the walk, with its actions."""
    steps: tuple[tuple[str, str], ...] = ()
    """Pairs of what was observed and the action taken on it, in order: the walk for chat models."""


@cache
def action_prompt() -> Prompt[Text]:
    """Load `prompts/movement/velma-action.md`."""
    return load_prompt("movement/velma-action", Text)


def action_inputs(
    instruction: str, walk: str, examples: Sequence[Example] = (), *, refused: int = 0
) -> dict[str, Any]:
    """Return the inputs of `movement/velma-action`.

    Args:
        instruction: as the data set gives it.
        walk: the walk so far.
        examples: shown in this order.
        refused: how many replies to this very question named no action.
    """
    return {
        "actions": [action.value for action in Action],
        "examples": [
            {"instruction": tidy(example.instruction), "walk": example.walk} for example in examples
        ],
        "instruction": tidy(instruction),
        "refused": refused,
        "walk": walk,
    }


@cache
def chat_prompt() -> Prompt[VelmaAction]:
    """Load `prompts/movement/velma-chat.md`."""
    return load_prompt("movement/velma-chat", VelmaAction)


def chat_inputs(
    instruction: str, told: Sequence[str], replies: Sequence[VelmaAction], examples: Sequence[Example] = ()
) -> dict[str, Any]:
    """Return the inputs of `movement/velma-chat`.

    Args:
        instruction: as the data set gives it.
        told: what was observed at the start and after each action; one more than there are replies.
        replies: the actions so far.
        examples: shown in this order.
    """
    steps = zip(replies, told[1:], strict=True)
    return {
        "examples": [
            {
                "instructions": tidy(example.instruction),
                "walk": [{"observed": seen, "action": action} for seen, action in example.steps],
            }
            for example in examples
        ],
        "instruction": tidy(instruction),
        "opening": told[0],
        "steps": [{"reply": reply.model_dump(mode="json"), "observation": seen} for reply, seen in steps],
    }


def action_text(instruction: str, walk: str, examples: Sequence[Example] = ()) -> str:
    """Return the text that a model is sent; it ends with the walk.

    Args:
        instruction: of the episode.
        walk: so far, as text.
        examples: worked walks before it.
    """
    return render(action_prompt(), action_inputs(instruction, walk, examples)).rstrip()


def tidy(instruction: str) -> str:
    """Return an instruction as valid Unicode on one line, cut after `MAX_INSTRUCTION` characters."""
    valid = instruction.encode("utf-8", "replace").decode("utf-8")
    return _BLANKS.sub(" ", valid).strip()[:MAX_INSTRUCTION]
