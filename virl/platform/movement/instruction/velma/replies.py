"""Replies of a model: typed ones, and free text that is read or refused."""

from collections.abc import Callable
from typing import TypeVar

from pydantic import Field

from virl.errors import MindFailed
from virl.mind.replies import Reply
from virl.platform.movement.discrete.actions import Action, parse_action

TRIES = 3
"""How often a question is asked before giving up (chosen)."""

MAX_QUOTED = 200
"""Characters of a refused reply that are kept (chosen)."""

ReadT = TypeVar("ReadT")


class VelmaAction(Reply):
    """The next action of a walk, as a chat model gives it."""

    reason: str = Field(
        description="Which part of the instructions comes next, and what tells where; at most 20 words."
    )
    action: Action = Field(description="The next action.")


class VelmaLandmarks(Reply):
    """The landmarks that instructions name, as a chat model lists them."""

    names: tuple[str, ...] = Field(
        max_length=40, description="As they are written, in the order of the text, each once; may be empty."
    )


def ask_until_read(
    ask: Callable[[int], str], read: Callable[[str], ReadT | None], wanted: str
) -> tuple[ReadT, tuple[str, ...]]:
    """Ask until a reply can be read.

    Args:
        ask: gives a reply, told how many were refused before.
        read: what a reply says, `None` if it cannot be read.
        wanted: such as `"an action"`, for the error.

    Returns:
        What was read, and the replies refused before.

    Raises:
        MindFailed: no reply could be read in `TRIES`.
    """
    refused: list[str] = []
    while len(refused) < TRIES:
        reply = ask(len(refused))
        found = read(reply)
        if found is not None:
            return found, tuple(refused)
        refused.append(quoted(reply))
    raise MindFailed(
        f"the mind did not name {wanted} in {TRIES} replies, the last being {refused[-1]!r}: "
        f"choose another model with --mind"
    )


def quoted(reply: str) -> str:
    """A reply on one line, without control characters, shortened."""
    shown = "".join(character if character.isprintable() else " " for character in reply)
    return " ".join(shown.split())[:MAX_QUOTED]


def published_action(reply: str) -> Action | None:
    """The action in a reply by the rules of VELMA's code, which makes `forward` of what this cannot read.

    Only the first word counts, or the second where the first is "turn".
    """
    words = ["".join(filter(str.isalpha, word)) for word in reply.lower().split()[:2]]
    return parse_action("".join(words[1:] if words[:1] == ["turn"] else words[:1]))
