"""The goals of walking directions: where to turn, at which crossing, and where to stop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from virl.platform.navigators.follower.clauses import (
    BlocksClause,
    Clause,
    GoClause,
    LandmarkClause,
    NamedCrossing,
    PassClause,
    PauseClause,
    ReachClause,
    StopClause,
    TurnClause,
    WhereClause,
)
from virl.platform.navigators.follower.ending import Street
from virl.platform.navigators.follower.reading import mask_names, parse


@dataclass(frozen=True, slots=True)
class WalkGoal:
    """A start, turn or stop that directions ask for."""

    kind: Literal["start", "turn", "stop"]
    sentence: int
    """Number of the sentence with the goal, from 1."""
    direction: str = ""
    """Direction of a start or a turn: `left`, `front left`, `rear` ...; empty for a stop."""
    crossing: int | None = None
    """Number, from 1, of the crossing at which to turn; for a stop, number of crossings to pass before it.

    `None` if the directions do not count them."""
    ends: bool = False
    """True if the turn or stop is at the street's end."""
    at_crossing: bool = False
    """True if the directions stop at the next crossing after those passed, whether names are seen or not."""
    part: float | None = None
    """Share of the way to the next crossing or street's end at which to stop, (0, 1); `None` if not said."""
    here: bool = False
    """True if the stop is where the directions begin."""
    names: tuple[str, ...] = ()
    """Names of landmarks that are seen beside the stop."""


# Rules are asked at each step, with the same sentences each time.
@lru_cache(maxsize=64)
def read_goals(sentences: tuple[str, ...], names: tuple[str, ...]) -> tuple[WalkGoal, ...]:
    """Return the starts, turns and stop that directions ask for, in order; the last is always a stop.

    The names of landmarks in them are not read as words.
    """
    reader = _GoalReader(names)
    for number, sentence in enumerate(sentences, 1):
        reader.read(number, parse(mask_names(sentence, names)), is_last=number == len(sentences))
    return (*reader.goals, reader.stop(len(sentences)))


@dataclass
class _Leg(Street):
    """A leg of a walk since its last turn, as the directions describe it."""

    is_counted: bool = False
    """True if the directions say how many crossings away the leg's end is."""
    ends: bool = False
    """True if the leg goes to the end of the street."""
    stops: bool = False
    """True if the stop is at the crossing or street's end that the leg comes to."""
    part: float | None = None
    """Share of the way to the next crossing at which the stop is, (0, 1); `None` if not said."""
    names: list[str] = field(default_factory=list)

    def add_destination(self, clause: ReachClause | LandmarkClause | WhereClause) -> bool:
        """Return whether a clause says where the leg leads, and record it if so."""
        part = clause.fraction if isinstance(clause, WhereClause) else None
        self.part = part or self.part
        if clause.place is not None:
            self.come_to(clause.place)
        return bool(clause.place or part)

    def come_to(self, place: NamedCrossing) -> None:
        """Record a crossing or a street's end that the leg leads to."""
        self.ends |= place.kind in ("tee", "end")
        self.is_counted |= place.following or place.ordinal is not None
        if place.kind != "end" and not place.earlier:
            self.point_to(self.resolve(place), "said")


@dataclass(slots=True)
class _GoalReader:
    """A reader of goals from the clauses of directions, sentence by sentence."""

    names: Sequence[str]
    goals: list[WalkGoal] = field(default_factory=lambda: [WalkGoal("start", 1, "front")])
    leg: _Leg = field(default_factory=_Leg)
    turned: int = 0
    """Number of the sentence with the last turn, from 1; 0 before any."""
    is_here: bool = False
    """True if the directions say that the walker is at the destination already."""

    def read(self, number: int, clauses: Sequence[Clause], *, is_last: bool) -> None:
        """Add the goals of a sentence, given by its number from 1 and whether it is the last."""
        seen: list[str] = []
        is_placed = is_stop = False
        self.leg.sentence = number
        for clause in clauses:
            match clause:
                case PauseClause():
                    is_stop = False
                case PassClause():
                    self.leg.go_through(clause)
                    self.leg.is_counted |= not clause.vague
                case BlocksClause():
                    self.leg.point_to(self.leg.passed + clause.count, "said")
                case LandmarkClause(passed=False, name=int(name)) if name < len(self.names):
                    seen.append(self.names[name])
                case ReachClause(told=False) | LandmarkClause() | WhereClause():
                    is_placed |= self.leg.add_destination(clause)
                case GoClause(straight=True) if self.leg.pointed_in == number:
                    self._turn(TurnClause("front"), number)
                case TurnClause():
                    self._turn(clause, number)
                case StopClause():
                    is_stop = True
                    self.is_here |= clause.here
            self.leg.stops |= is_placed and is_stop
        if self.turned != number or is_last:
            self.leg.names += seen

    def _turn(self, clause: TurnClause, number: int) -> None:
        """Add the goal of a turn in a sentence, given by its number from 1."""
        leg = self.leg
        told = (leg.is_counted, leg.ends, leg.pointed, clause.place, clause.nth, clause.times > 1)
        if clause.place is not None:
            leg.come_to(clause.place)
        direction: str = "rear" if clause.side == "around" else clause.side
        if clause.slight or clause.sharp:
            direction = f"{'front' if clause.slight else 'rear'} {direction}"
        # A turn that opens the directions, with no crossing told, says where to set off.
        if number == 1 and not self.turned and not any(told):
            self.goals = [WalkGoal("start", number, direction)]
        else:
            crossing = leg.pointed or leg.passed + (clause.nth or 1)
            self.goals.append(WalkGoal("turn", number, direction, crossing, leg.ends))
            self.goals += [WalkGoal("turn", number, direction, 1)] * (clause.times - 1)
        self.leg, self.turned = _Leg(number), number

    def stop(self, sentences: int) -> WalkGoal:
        """Return the stop that the directions ask for, given how many sentences they have."""
        leg = self.leg
        passed = leg.passed if leg.pointed is None else leg.pointed - 1
        return WalkGoal(
            "stop",
            min(self.turned + 1, sentences),
            crossing=passed if leg.is_counted or leg.part is not None else None,
            ends=leg.stops and leg.ends and leg.part is None,
            at_crossing=leg.stops and not leg.ends and leg.part is None,
            part=leg.part if leg.stops else None,
            here=self.is_here and not self.turned,
            names=tuple(dict.fromkeys(leg.names)),
        )
