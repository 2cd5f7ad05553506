"""Reads walking directions, clause by clause: where to turn, at which crossing, and where to stop."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from virl.mind.lexicon import in_order
from virl.platform.movement.instruction.tourist.ways import PARTS

_CROSSING = (
    r"(?:crossings?|intersections?|cross ?streets?|junctions?|corners?|(?:traffic )?lights?|blocks?|streets?)"
)
_COUNTS = {
    "one": 1,
    "two": 2,
    "both": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "a couple of": 2,
}
_ORDINALS = {
    "next": 1,
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "fifth": 5,
    "5th": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "eleventh": 11,
    "twelfth": 12,
}
_COUNT = "|".join((*_COUNTS, r"\d+"))
_ORDINAL = "|".join((*_ORDINALS, r"\d+(?:st|nd|rd|th)"))
_NAME = "\N{REPLACEMENT CHARACTER}"

_PASS = re.compile(
    r"\b(?:past|over|through|across|cross|crossing|pass|after)\b (?:straight )?(?:over |through )?"
    r"(?:the |another )?"
    rf"(?:next |first |following )?(?:(?P<count>{_COUNT}) )?(?:more )?{_CROSSING}\b"
)
_NTH = re.compile(rf"\b(?P<nth>{_ORDINAL})\b (?:\w+ )?(?:{_CROSSING}|one|left|right)\b")
_AT = re.compile(rf"\b(?:at|to|reach|into|come to) (?:the|a) {_CROSSING}\b")
_ENDS = re.compile(
    r"\b(?:street|road|way|lane|avenue) (?:ends|comes to an end|stops)\b"
    r"|\bend of (?:the|this) (?:street|road|way)\b"
    r"|\bt[- ](?:junction|intersection|crossing)\b|\b(?:at|to) the t\b"
)
_AROUND = re.compile(r"\bturn(?:ing)? (?:all the way )?(?:around|round|back)\b|\bgo back\b")
_BEHIND, _WALK = re.compile(r"\bbehind you\b"), re.compile(r"\bwalk")
_SEEN = re.compile(r"\b(?:see|is|are|will be|stands?|passing|pass)\b")
_ON_A_SIDE = re.compile(r"\bon (?:your|the) (?:left|right)\b")
_TURN = re.compile(
    r"\b(?:turn|turning|take|go|going|make|bear|keep|head|heading|hang|swing|set off|walk|off|a)\b"
    r"(?: (?:to|your|the|a|an|off|down|into|street|road|way|on|hard|first|second|third|next|slightly|slight|"
    r"sharp|sharply|half)){0,5}"
    r" (?P<side>left|right)\b"
)
_STRAIGHT = re.compile(
    r"\b(?:keep|keeping|go|continue) straight (?:on|ahead)\b(?! (?:to|until|till|as far)\b)"
)
_BEAR = re.compile(r"\b(?:bear|slight|slightly|half)\b")
_SHARP = re.compile(r"\b(?:sharp|sharply|hard)\b")
_STOP = re.compile(
    r"\b(?:stop|arrived?|destination|there you are|you are there|look for|you will find|you have reached)\b"
)
_PART = re.compile(rf"\b(?P<part>{'|'.join(PARTS)})\b")
_HERE = re.compile(r"\bstop (?:right )?here\b|\balready (?:there|here)\b|\b(?:there|here) already\b")
_STOP_THERE = re.compile(r"\bstop(?:ping)?\b(?! when)")
_WAYPOINT = re.compile(
    rf"\b(?:past|pass|passing|passed|after|before|beyond|leave|leaving) (?:the )?{_NAME}"
    rf"|\bon the way\b[^{_NAME}]*{_NAME}"
)


@dataclass(frozen=True, slots=True)
class WalkGoal:
    """One thing to do on a walk."""

    kind: Literal["start", "turn", "stop"]
    sentence: int
    """That tells of it, from 1."""
    direction: str = ""
    """Of a start or a turn: `left`, `front left`, `rear` ..."""
    crossing: int | None = None
    """Of a turn: at which crossing since the last one. Of the stop: how many are passed before it; `None` if
    the directions do not say."""
    ends: bool = False
    """Of a turn or the stop: where the street ends."""
    at: bool = False
    """Of the stop: at the crossing after those that are passed, whether or not a name is seen there."""
    part: float | None = None
    """Of the stop: how far along it is to the next crossing or the end of the street, in (0, 1)."""
    here: bool = False
    """Of the stop: right where the directions begin."""
    names: tuple[str, ...] = ()
    """Of the stop: what is seen beside it."""


@dataclass(slots=True)
class _LegSoFar:
    passed: int = 0
    counted: bool = False
    nth: int | None = None
    ends: bool = False
    at: bool = False
    stops: bool = False
    """Whether the stop is at the crossing or the end of the street that the leg comes to."""
    part: float | None = None
    here: bool = False


def read_goals(sentences: Sequence[str], names: Sequence[str]) -> tuple[WalkGoal, ...]:
    """What directions ask for, in order; the last is always a stop.

    Args:
        sentences: the directions.
        names: of the landmarks in them, which are not read as words.
    """
    goals: list[WalkGoal] = []
    leg = _LegSoFar()
    ends_named: list[str] = []
    turned = 0
    for number, sentence in enumerate(sentences, 1):
        text, named = _masked(sentence, names)
        placed = False
        for clause in re.split(r"[,;:]|\b(?:and|then)\b", text):
            placed |= _count(clause, leg)
            leg.stops |= placed and bool(_STOP_THERE.search(clause))
            turn = _turn(clause) or _straight_on(clause, leg)
            first = not goals and not (leg.counted or leg.nth or leg.ends or leg.at)
            if turn and not (number > 1 and first and not _is_imperative(clause)):
                goals.append(_turn_goal(turn, number, leg, starts=first and number == 1))
                leg, ends_named, turned = _LegSoFar(), [], number
        if turned != number or number == len(sentences):
            ends_named += _stop_names(text, named)
    stop = WalkGoal(
        "stop",
        min(turned + 1, len(sentences)),
        crossing=_passed_before_stop(leg),
        ends=leg.stops and leg.ends and leg.part is None,
        at=leg.stops and not leg.ends and leg.part is None,
        part=leg.part if leg.stops else None,
        here=leg.here and not goals,
        names=tuple(dict.fromkeys(ends_named)),
    )
    return (*_with_start(goals), stop)


def _turn_goal(direction: str, sentence: int, leg: _LegSoFar, *, starts: bool) -> WalkGoal:
    if starts:
        return WalkGoal("start", sentence, direction)
    return WalkGoal("turn", sentence, direction, leg.passed + (leg.nth or 1), leg.ends)


def _with_start(goals: Sequence[WalkGoal]) -> Iterator[WalkGoal]:
    if not goals or goals[0].kind != "start":
        yield WalkGoal("start", 1, "front")
    yield from goals


def _passed_before_stop(leg: _LegSoFar) -> int | None:
    if not leg.counted and leg.nth is None and leg.part is None:
        return None
    return leg.passed + ((leg.nth or 1) - 1)


def _count(clause: str, leg: _LegSoFar) -> bool:
    """Count what a clause tells of; whether it tells of a crossing or an end of the street to come to."""
    rest = clause
    leg.here |= bool(_HERE.search(clause))
    if part := _PART.search(clause):
        leg.part = PARTS[part["part"]]
    if passed := _PASS.search(clause):
        count = passed["count"]
        leg.passed += 1 if count is None else _COUNTS.get(count) or int(count)
        leg.counted = True
        rest = clause[: passed.start()] + clause[passed.end() :]
    if nth := _NTH.search(rest):
        leg.nth = _ORDINALS.get(nth["nth"]) or int(nth["nth"][:-2])
    ends, at = bool(_ENDS.search(rest)), bool(_AT.search(rest))
    leg.ends |= ends
    leg.at |= at
    return ends or at or nth is not None


def _straight_on(clause: str, leg: _LegSoFar) -> str | None:
    """A crossing that is told of although the walk does not turn there, as a turn to the front."""
    told_of = leg.nth is not None or leg.at
    return "front" if told_of and _STRAIGHT.search(clause) and not _PASS.search(clause) else None


def _turn(clause: str) -> str | None:
    if _AROUND.search(clause) or in_order(clause, _BEHIND, _WALK, apart="\n"):
        return "rear"
    turn = _TURN.search(clause)
    if turn is None or in_order(clause, _SEEN, _ON_A_SIDE, apart="."):
        return None
    said = turn[0]
    if _BEAR.search(said):
        return f"front {turn['side']}"
    return f"rear {turn['side']}" if _SHARP.search(said) else turn["side"]


def _is_imperative(clause: str) -> bool:
    return bool(re.search(r"\b(?:turn|bear|take|go|make|hang|swing)\b", clause))


def _stop_names(text: str, named: Sequence[str]) -> list[str]:
    """The names in a sentence that tell where to stop: not those that are only passed."""
    left_out = {text[: match.end()].count(_NAME) - 1 for match in _WAYPOINT.finditer(text)}
    return [name for index, name in enumerate(named) if index not in left_out]


def _masked(sentence: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """A sentence in lower case with each landmark's name replaced by a mark, and the names in their order."""
    if not names:
        return sentence.lower(), []
    by_length = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, by_length))})(?!\w)", re.IGNORECASE)
    spelt = {name.casefold(): name for name in names}
    found = [spelt.get(match[0].casefold(), match[0]) for match in pattern.finditer(sentence)]
    masked = pattern.sub(_NAME, sentence)
    return re.sub(
        r"[\"\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}]", "", masked
    ).lower(), found
