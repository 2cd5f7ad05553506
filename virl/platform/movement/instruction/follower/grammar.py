"""Instruction text to clauses, by the rules."""

import re

from virl.platform.movement.instruction.follower.clauses import Clause
from virl.platform.movement.instruction.follower.parts import Rule
from virl.platform.movement.instruction.follower.rules import RULES
from virl.platform.movement.instruction.follower.words import normalise


def parse(text: str) -> list[Clause]:
    """The clauses of an instruction, in order. Any text is read; one without sense gives no clauses."""
    return [clause for rule, match in matches(text) if (clause := rule.make(match)) is not None]


def matches(text: str) -> list[tuple[Rule, re.Match[str]]]:
    """The rules that read a text, in order; words that none reads are passed over."""
    line = normalise(text)
    found: list[tuple[Rule, re.Match[str]]] = []
    position = 0
    while position < len(line):
        first = _first(line, position)
        if first is None:
            space = line.find(" ", position)
            position = len(line) if space < 0 else space + 1
        else:
            found.append(first)
            position = first[1].end() + 1
    return found


def _first(line: str, position: int) -> tuple[Rule, re.Match[str]] | None:
    for rule in RULES:
        match = rule.pattern.match(line, position)
        if match and match.end() > position:
            return rule, match
    return None
