"""The rules for VELMA's prompts: turn words in their order, counted crossings, and names in capitals."""

import re
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel, Field

from virl.errors import MindFailed
from virl.mind.lexicon import Lexicon
from virl.mind.replies import Reply, Text
from virl.platform.movers.discrete.actions import Action, parse_action
from virl.platform.navigators.follower.streets import steps_by_side
from virl.platform.navigators.instruction.in_order import WalkProgress, next_in_order, plan_in_order
from virl.platform.navigators.velma.verbalizer import StateObservation

_NAME = re.compile(
    r"(?:(?<=[a-z,;] )|(?<=\d ))"
    r"([A-Z0-9][\w'&-]*(?:(?: (?:of|the|a|&|de|la|on) | |(?<=\b[A-Z])\. )[A-Z0-9][\w'&-]*)*)"
)
_THING = (
    "bank|church|park|playground|school|hotel|deli|pharmacy|garden|garage|fountain|statue|mural|awning|hydrant|"
    "mailbox|scaffolding|bus stop|bus station|subway(?: entrance| station)?|bike rentals?|bike racks?|"
    "bicycle rental|parking lot|post office|fire station|police station|library|museum|theater|diner|"
    "restaurant|cafe|bench|bridge|tunnel|fence|truck|van|crane|crosswalk|dumpster|phone booth|trash can|"
    "gas station|supermarket|hospital|market|store|shop|salon|gate|doors?|flags?|sign|tree"
)
_LINKING = r"(?:of|the|and|left|right|on|at|to|with|in|is|a) "
_THING_NAME = re.compile(
    rf"\b((?:an?|the|some|two|three) (?:(?!{_LINKING})[a-z-]+ ){{0,3}}?(?:{_THING})s?)\b"
)
_NOT_A_NAME = re.compile(r"^(?:I|T|OK|Then|Turn|Go|Stop|Take|Pass|Walk|You|If|\d\w*)$")

_TRIES = 3
"""Number of times that a question is asked before the walk fails (chosen)."""
MAX_QUOTED = 200
"""Largest number of characters of a refused reply that are recorded (chosen)."""

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


class VelmaLandmarkQuestion(BaseModel):
    """The inputs of the prompt `movement/velma-landmarks`."""

    instruction: str


class VelmaActionQuestion(BaseModel):
    """Inputs of `movement/velma-action` and `movement/velma-chat` that the rules read."""

    instruction: str
    observed: tuple[StateObservation, ...] = ()
    """Observations at the start and after each action."""
    taken: tuple[Action, ...] = ()


def list_landmarks(question: VelmaLandmarkQuestion, lexicon: Lexicon) -> Text:
    """Return the names that `name_landmarks` finds, in a numbered list, or `none`."""
    names = name_landmarks(question, lexicon).names
    return Text(text="\n".join(f"{number}. {name}" for number, name in enumerate(names, 1)) or "none")


def name_landmarks(question: VelmaLandmarkQuestion, _: Lexicon) -> VelmaLandmarks:
    """Return capitalised names inside sentences, and the things of a short list, in the text's order."""
    found = [(match.start(1), match[1]) for match in _NAME.finditer(question.instruction)]
    found = [(start, name) for start, name in found if not _NOT_A_NAME.match(name)]
    found += [(match.start(1), match[1]) for match in _THING_NAME.finditer(question.instruction)]
    return VelmaLandmarks(names=tuple(dict.fromkeys(name for _, name in sorted(found))))


def choose_chat_action(question: VelmaActionQuestion, _: Lexicon) -> VelmaAction:
    """Return the action of `choose_action`, with a reason."""
    return VelmaAction(reason="Turns are taken in their order.", action=_next_action(question))


def choose_action(question: VelmaActionQuestion, _: Lexicon) -> Text:
    """Return the text of the next action: the instruction's turns in order, then stop."""
    return Text(text=_next_action(question))


def _next_action(question: VelmaActionQuestion) -> Action:
    """Return the next action: the instruction's turns in order, or a turn around at the start."""
    if not question.taken and _starts_around(question):
        return Action.TURN_AROUND
    return next_in_order(plan_in_order(question.instruction), _progress(question))


def _starts_around(question: VelmaActionQuestion) -> bool:
    """Return whether the walk begins with a turn around, by its text and the flow of traffic observed."""
    text = question.instruction.lower()
    # At the beginning only: later on it is a step like others.
    if "turn around" in text[:80]:
        return True
    faces = next((one.flow for one in question.observed[:1]), None)
    if faces is None or "flow of traffic" not in text:
        return False
    return ("against" in text) != (faces == "against")


def _progress(question: VelmaActionQuestion) -> WalkProgress:
    """Return how many turns, crossings and steps the walk of a question has made so far."""
    steps = steps_by_side(question.observed[0].map) if question.observed else {}
    progress = WalkProgress(ahead=steps.get("ahead"))
    for action, seen in zip(question.taken, question.observed[1:], strict=True):
        match action:
            case Action.FORWARD:
                progress = progress.forward()
            case Action.LEFT:
                progress = progress.after_turn(steps.get("left"))
            case Action.RIGHT:
                progress = progress.after_turn(steps.get("right"))
            case Action.TURN_AROUND:
                progress = WalkProgress(ahead=steps.get("behind"))
        # The map is told at crossings: in between the last one holds.
        steps = steps_by_side(seen.map) or steps
        if seen.ways:
            progress = progress.next_crossing(steps.get("ahead"))
    return progress


def ask_until_read(
    ask: Callable[[int], str], read: Callable[[str], ReadT | None], wanted: str
) -> tuple[ReadT, tuple[str, ...]]:
    """Return (content of a reply, replies refused before it), asking until `read` finds the wanted content.

    Args:
        ask: returns a reply, given how many were refused before.
        read: returns the content of a reply; `None` if it cannot be read.
        wanted: content in words, such as `"an action"`, for the error.

    Raises:
        MindFailed: no reply could be read in `_TRIES`.
    """
    refused: list[str] = []
    while len(refused) < _TRIES:
        reply = ask(len(refused))
        found = read(reply)
        if found is not None:
            return found, tuple(refused)
        refused.append(quote_reply(reply))
    raise MindFailed(
        f"the mind did not name {wanted} in {_TRIES} replies, the last being {refused[-1]!r}: "
        f"choose another model with --mind"
    )


def quote_reply(reply: str) -> str:
    """Return a reply on one line, without control characters and cut after `MAX_QUOTED` characters."""
    shown = "".join(character if character.isprintable() else " " for character in reply)
    return " ".join(shown.split())[:MAX_QUOTED]


def published_action(reply: str) -> Action | None:
    """Return the action in a reply as VELMA's code reads it; `None` where that code goes forward.

    Only the first word counts, or the second where the first is "turn".
    """
    words = ["".join(filter(str.isalpha, word)) for word in reply.lower().split()[:2]]
    return parse_action("".join(words[1:] if words[:1] == ["turn"] else words[:1]))
