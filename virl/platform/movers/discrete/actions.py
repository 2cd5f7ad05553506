"""The actions of a discrete walk, and how they are read from text."""

import re
from enum import StrEnum

MAX_ACTIONS = 55  # VELMA's limit of actions an episode
"""Actions of a walk at most, those of the opening included."""


class Action(StrEnum):
    """An agent's action in one step of a walk."""

    FORWARD = "forward"
    LEFT = "left"
    RIGHT = "right"
    TURN_AROUND = "turn_around"
    STOP = "stop"


_WORDS = re.compile(r"[a-z]+")
_SYNONYMS = {
    "turnleft": Action.LEFT,
    "turnright": Action.RIGHT,
    "turnaround": Action.TURN_AROUND,
    "around": Action.TURN_AROUND,
}
_SYNONYMS |= {action.value.replace("_", ""): action for action in Action}


def parse_action(text: str) -> Action | None:
    """Return the action that a reply begins with, `None` if it begins with none.

    Case, numbers, punctuation and spaces around it do not matter: `" 12. Turn left."` is `LEFT`.
    """
    words = _WORDS.findall(text.lower())[:2]
    if words[:1] == ["turn"]:
        return _SYNONYMS.get("".join(words))
    return _SYNONYMS.get(words[0]) if words else None
