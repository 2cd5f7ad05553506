"""Clauses to a plan: counts the crossings that the text passes between its turns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from virl.platform.movement.instruction.follower.clauses import (
    BlocksClause,
    Clause,
    CloseClause,
    GoClause,
    LandmarkClause,
    NamedCrossing,
    OrientClause,
    PassClause,
    PauseClause,
    ReachClause,
    StopClause,
    TurnClause,
    WhereClause,
)
from virl.platform.movement.instruction.follower.ending import Street, end_on
from virl.platform.movement.instruction.follower.parts import Rule
from virl.platform.movement.instruction.follower.place_rules import ENDS, PLACES
from virl.platform.movement.instruction.follower.plan import FollowerPlan, PlannedLeg, Sureness
from virl.platform.movement.instruction.follower.remark_rules import REMARKS, START
from virl.platform.movement.instruction.follower.route_rules import PASSES, TURNS
from virl.platform.movement.instruction.follower.words import normalise

FAR_END = 2
"""A street's end may be as far as a turn with this many landmarks on the way; counted on gold paths."""
MAX_LEGS = 24  # chosen: more turns than 55 actions can hold
RULES = REMARKS + START + TURNS + ENDS + PASSES + PLACES


def understand(text: str) -> FollowerPlan:
    """The plan of an instruction. Any text has one; one without sense ends anywhere ahead."""
    return plan_of(parse(text))


def plan_of(clauses: Sequence[Clause]) -> FollowerPlan:
    """The plan that clauses make."""
    reader = _Reader()
    for clause in clauses:
        reader.read(clause)
    return FollowerPlan(
        reader.orient, tuple(reader.legs), end_on(reader.street, has_turned=bool(reader.legs))
    )


@dataclass
class _Reader:
    orient: OrientClause = field(default_factory=OrientClause)
    legs: list[PlannedLeg] = field(default_factory=list)
    street: Street = field(default_factory=Street)
    has_moved: bool = False
    pending: TurnClause | None = None
    """A turn that was only a look to the side unless the text walks on."""

    def read(self, clause: Clause) -> None:
        """Takes in the next clause."""
        if self.pending is not None and isinstance(clause, GoClause | PassClause | BlocksClause | TurnClause):
            turn, self.pending = self.pending, None
            self._take(turn)
        street = self.street
        match clause:
            case PauseClause(sentence=True):
                street.sentence += 1
            case OrientClause() if not self.has_moved:
                self.orient = _merged(self.orient, clause)
            case TurnClause():
                self._turn(clause)
            case PassClause():
                self._pass(clause)
            case ReachClause():
                self._reach(clause.place, clause.before, clause.told)
            case BlocksClause():
                self._walk_on()
                sureness: Sureness = "implied" if clause.vague else "said"
                street.point_to(street.passed + clause.count, sureness, is_vague=clause.vague)
            case LandmarkClause() | StopClause() | CloseClause():
                street.hear(clause)
            case WhereClause():
                self.has_moved = True
                street.wheres.append((street.sentence, clause))
            case GoClause():
                self._go(clause)
            case _:
                pass

    def _go(self, clause: GoClause) -> None:
        street = self.street
        if clause.long and (self.legs or self.has_moved):
            ahead = street.passed if street.pointed is None else street.pointed
            begun = street.pointed is None or street.pointed_in < street.sentence
            street.note_gap(ahead + begun, "far")
        self.has_moved = True
        street.remarks += 1
        if clause.straight and street.pointed is not None and street.pointed_in == street.sentence:
            street.passed = street.pointed
            street.after_passing("said")
        if street.stopped is not None and street.stopped < street.sentence:
            self._walk_on()

    def _walk_on(self) -> None:
        """A stop before was not the last one."""
        self.has_moved = True
        self.street.stopped = None

    def _reach(self, place: NamedCrossing, before: bool = False, told: bool = False) -> None:
        street = self.street
        if before or place.earlier or (told and street.is_behind(place)):
            return
        self._look_for(place)
        number = street.resolve(place)
        street.note(place, number)
        street.point_to(number, "said")
        if place.kind in ("tee", "end", "fork") or street.kind == "intersection":
            street.kind = place.kind
        self.has_moved = True

    def _look_for(self, place: NamedCrossing) -> None:
        """A walk that begins with the nearest crossing sets out towards it."""
        if place.near and not self.legs and self.street.passed == 0 and self.orient.crossing is None:
            self.orient = OrientClause(self.orient.traffic, crossing=True)

    def _pass(self, clause: PassClause) -> None:
        street, place = self.street, clause.place
        if clause.again and street.has_just_begun:
            return
        if clause.thing and (street.pointed is None or street.remarked_in >= street.pointed_in):
            street.remark(LandmarkClause(passed=True))
            return
        if clause.then and street.stopped == street.sentence:
            street.wheres.append((street.sentence, WhereClause("before", place)))
            return
        self._walk_on()
        self._look_for(place)
        half = street.half(place)
        if place.earlier:
            street.passed = street.pointed or street.passed + 1
        elif half is not None:
            street.passed = half
        elif place.ordinal is not None and clause.count == 1:
            street.passed = max(place.ordinal, street.passed + 1)
        elif street.pointed is not None and place.following:
            street.passed = clause.count + (
                street.pointed if street.pointed_in < street.sentence else street.passed
            )
        elif street.pointed is not None and clause.count == 1 and street.pointed > street.passed:
            street.passed = street.pointed
        else:
            street.passed += 1 if place.kind == "double" else clause.count
        street.note(place, street.passed)
        street.double = half if place.ordinal == 1 else None
        street.after_passing("implied" if clause.vague else "said")
        if place.kind == "street":
            street.crossed_in = street.sentence

    def _turn(self, clause: TurnClause) -> None:
        street = self.street
        if clause.side == "around":
            return
        is_last = street.stopped == street.sentence and clause.place is None
        if is_last or (clause.looks and street.pointed_in != street.sentence):
            self.pending = clause
        else:
            self._take(clause)

    def _take(self, clause: TurnClause) -> None:
        street = self.street
        self._walk_on()
        if clause.place is not None:
            self._reach(clause.place)
        if street.pointed is not None:
            ordinal = street.pointed
        elif clause.soon and street.crossed_in == street.sentence:
            ordinal = street.passed
        else:
            ordinal = street.passed + (clause.nth or 1)
            if clause.quick:
                street.note_gap(ordinal, "near")
        slight = clause.slight or street.kind == "fork"
        sureness = _sureness(street)
        remarks = street.remarks + FAR_END * (street.kind == "end")
        legs = [
            PlannedLeg(
                clause.side, ordinal, sureness, street.kind, slight, remarks, tuple(street.hints.items())
            )
        ]
        legs += [PlannedLeg(clause.side, 1, "said")] * (clause.times - 1)
        self.legs = [*self.legs, *legs][:MAX_LEGS]
        self.street = Street(sentence=street.sentence, turned_in=street.sentence)


def _sureness(street: Street) -> Sureness:
    if street.kind == "end" and street.passed == 0 and street.pointed == 1:
        return "open"
    if street.pointed is None or street.is_vague:
        return "said" if street.passed and not street.is_vague else "open"
    return "implied" if street.passed == 0 and street.pointed == 1 else "said"


def _merged(first: OrientClause, then: OrientClause) -> OrientClause:
    return OrientClause(
        first.traffic if then.traffic is None else then.traffic,
        first.crossing if then.crossing is None else then.crossing,
    )


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
