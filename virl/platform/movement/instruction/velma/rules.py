"""The rules for VELMA's prompts: turn words in their order, counted crossings, and names in capitals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from virl.mind.lexicon import Lexicon, in_order
from virl.mind.replies import Text
from virl.platform.movement.discrete.actions import Action, parse_action
from virl.platform.movement.instruction.velma.replies import VelmaAction, VelmaLandmarks
from virl.platform.movement.instruction.velma.verbalizer import walk_text

SAME_CROSSING_STEPS = 2  # crossings told within so many steps are one; tuned on map2seq_seen dev
HALF_BLOCK_STEPS = 5  # steps from the last crossing to a stop that names none; tuned on map2seq_seen dev

_CROSSING = r"(?:inters\w+|lights?|corners?|streets?|blocks?|stop ?signs?|junctions?|t)"
_BREAK = re.compile(r"[.;!?,]|\b(?:and|then|before|until)\b")
_TURN = re.compile(
    r"\b(?:turn(?:ing)?|tak(?:e|ing)|mak(?:e|ing)|hang|bear(?:ing)?|go(?:ing)?|head(?:ing)?)\s+"
    r"(?:(?:a|an|the|your|to|another|immediate|first|next|second|third|fourth|sharp|hard|slight)\s+){0,3}"
    r"(left|right)\b"
)
_THROUGH = re.compile(r"\b(?:pass|past|through|cross|straight)\w*\b")
_A_CROSSING = re.compile(rf"\b{_CROSSING}\b")
_NUMBERED_CROSSING = re.compile(rf"\b\d+ {_CROSSING}\b")
_NUMBERS = {"two": 2, "both": 2, "three": 3, "four": 4, "five": 5, "couple": 2}
_ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
_COUNTED = re.compile(rf"\b(\d|{'|'.join(_NUMBERS)})\b(?: more| of)*\s+(?:\w+ )?{_CROSSING}\b")
_ACTION_LINE = re.compile(r"^\d+\. (\w+)$")
_CROSSING_LINE = re.compile(r"\d-way intersection")
_FLOW = re.compile(r"You are facing (with|against) the flow of traffic")

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


class VelmaLandmarkQuestion(BaseModel):
    """Inputs of `movement/velma-landmarks`."""

    instruction: str


class VelmaActionQuestion(BaseModel):
    """Inputs of `movement/velma-action` that the rules read."""

    instruction: str
    walk: str


class VelmaTurn(BaseModel):
    """An action, and what was observed after it."""

    reply: VelmaAction
    observation: str


class VelmaChatQuestion(BaseModel):
    """Inputs of `movement/velma-chat` that the rules read."""

    instruction: str
    opening: str
    steps: tuple[VelmaTurn, ...]


@dataclass(frozen=True, slots=True)
class _InstructionLeg:
    """A stretch up to a turn or to the end."""

    turn: str
    """`left`, `right` or `stop`."""
    crossings: int
    """At which crossing since the last turn; for the stop, how many are passed before it."""


def list_landmarks(question: VelmaLandmarkQuestion, lexicon: Lexicon) -> Text:
    """As `name_landmarks`, in a numbered list."""
    names = name_landmarks(question, lexicon).names
    return Text(text="\n".join(f"{number}. {name}" for number, name in enumerate(names, 1)) or "none")


def name_landmarks(question: VelmaLandmarkQuestion, lexicon: Lexicon) -> VelmaLandmarks:
    """Names in capitals within a sentence, and things of a short list, in the order of the text."""
    del lexicon
    found = [(match.start(1), match[1]) for match in _NAME.finditer(question.instruction)]
    found = [(start, name) for start, name in found if not _NOT_A_NAME.match(name)]
    found += [(match.start(1), match[1]) for match in _THING_NAME.finditer(question.instruction)]
    return VelmaLandmarks(names=tuple(dict.fromkeys(name for _, name in sorted(found))))


def choose_chat_action(question: VelmaChatQuestion, lexicon: Lexicon) -> VelmaAction:
    """As `choose_action`."""
    told = [question.opening, *(step.observation for step in question.steps)]
    walk = walk_text(told, [step.reply.action for step in question.steps]).text
    said = choose_action(VelmaActionQuestion(instruction=question.instruction, walk=walk), lexicon).text
    return VelmaAction(reason="Turns are taken in their order.", action=parse_action(said) or Action.FORWARD)


def choose_action(question: VelmaActionQuestion, lexicon: Lexicon) -> Text:
    """The turns of the instruction in their order, each at the crossing that it counts; then the stop."""
    del lexicon
    actions, crossings = _walked(question.walk)
    legs = list(_legs(question.instruction))
    if not actions and _starts_around(question):
        return Text(text="turn_around")
    turns = [number for number, action in enumerate(actions) if action in ("left", "right")]
    leg = legs[min(len(turns), len(legs) - 1)]
    since = turns[-1] + 1 if turns else 0
    passed = [step for step in crossings if step > since]
    at_crossing = bool(passed) and passed[-1] == len(actions)
    if len(turns) >= len(legs):
        return Text(text="stop")
    if leg.turn != "stop":
        return Text(text=leg.turn if at_crossing and len(passed) >= leg.crossings else "forward")
    return Text(text="stop" if _has_arrived(leg, passed, len(actions) - since, question) else "forward")


def _has_arrived(leg: _InstructionLeg, passed: list[int], steps: int, question: VelmaActionQuestion) -> bool:
    at_next = re.search(rf"\b{_CROSSING}\b", _last_sentence(question.instruction))
    if at_next:
        return len(passed) > leg.crossings
    if len(passed) < leg.crossings:
        return False
    return len(passed) > leg.crossings or steps >= HALF_BLOCK_STEPS


def _last_sentence(instruction: str) -> str:
    sentences = [part for part in re.split(r"[.;!?]", instruction.lower()) if part.strip()]
    stops = [part for part in sentences if re.search(r"\b(?:stop|end|arriv|finish|destination)", part)]
    return (stops or sentences or [""])[-1]


def _starts_around(question: VelmaActionQuestion) -> bool:
    text = question.instruction.lower()
    if "turn around" in text[:80]:
        return True
    faces = _FLOW.search(question.walk)
    if faces is None or "flow of traffic" not in text:
        return False
    return ("against" in text) != (faces[1] == "against")


def _walked(walk: str) -> tuple[list[str], list[int]]:
    """The actions so far, and after how many of them each crossing was told; close ones are one."""
    actions: list[str] = []
    crossings: list[int] = []
    for line in walk.splitlines():
        if action := _ACTION_LINE.match(line):
            actions.append(action[1])
        elif _CROSSING_LINE.search(line) and (
            not crossings or len(actions) - crossings[-1] > SAME_CROSSING_STEPS
        ):
            crossings.append(len(actions))
    return actions, crossings


def _legs(instruction: str) -> Iterator[_InstructionLeg]:
    passed = ordinal = 0
    for clause in _BREAK.split(instruction.lower()):
        ordinal = max([ordinal, *(number for word, number in _ORDINALS.items() if word in clause.split())])
        turn = _TURN.search(clause)
        if turn:
            yield _InstructionLeg(turn[1], passed + max(ordinal, 1))
            passed = ordinal = 0
        elif _NUMBERED_CROSSING.search(clause) or in_order(clause, _THROUGH, _A_CROSSING, apart="\n"):
            passed += _count(clause)
    yield _InstructionLeg("stop", passed)


def _count(clause: str) -> int:
    counted = _COUNTED.search(clause)
    if counted is None:
        return 1
    return _NUMBERS.get(counted[1]) or int(counted[1])
