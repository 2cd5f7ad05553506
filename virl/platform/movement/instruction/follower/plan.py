"""What an instruction asks for: legs that end in turns, and where on the last street to stop."""

from dataclasses import dataclass
from typing import Literal

from virl.platform.movement.instruction.follower.clauses import Gap, Kind, OrientClause, Side

Sureness = Literal["said", "implied", "open"]
"""The certainty of a turn's crossing: counted out, only named, or neither ("turn left at the bank")."""
StopKind = Literal["in", "before", "after", "turned", "fraction", "building", "corner", "landmark", "open"]
"""Kinds of stop: in, before or after a crossing; just after the last turn; at a fraction of a block, a
building of it, a landmark at its corner or anywhere on it; `open` where the text just ends."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A remark of the text on a crossing, besides its number."""

    gap: Gap | None = None
    """The distance from the crossing before."""
    kind: Kind | None = None
    is_pair: bool = False
    """True if it has two lights that people count as one: "go through the double lights"."""


Hints = tuple[tuple[int, Hint], ...]
"""Hints to the crossings of a street, each with the crossing's ordinal."""


@dataclass(frozen=True, slots=True)
class PlannedLeg:
    """A leg of a walk: to a crossing, with a turn there."""

    side: Side
    ordinal: int
    """The number of the crossing of the leg that the text means, from 1."""
    sureness: Sureness
    kind: Kind = "intersection"
    slight: bool = False
    remarks: int = 0
    """Landmarks that the text names on the way, those it passes twice, and each time it walks on."""
    hints: Hints = ()


@dataclass(frozen=True, slots=True)
class End:
    """The place to stop after the last turn."""

    kind: StopKind
    passed: int
    """Crossings that the text passes on the last street before the end."""
    sureness: Sureness = "said"
    steps: float | None = None
    fraction: float | None = None
    building: int | None = None
    remarks: int = 0
    """Landmarks that the text names on the last block, those it passes twice, and each time it walks on."""
    hints: Hints = ()


@dataclass(frozen=True, slots=True)
class FollowerPlan:
    """The plan that an instruction tells."""

    orient: OrientClause
    legs: tuple[PlannedLeg, ...]
    end: End
