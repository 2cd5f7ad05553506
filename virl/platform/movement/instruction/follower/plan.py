"""What an instruction asks for: legs that end in turns, and where on the last street to stop."""

from dataclasses import dataclass
from typing import Literal

from virl.platform.movement.instruction.follower.clauses import Gap, Kind, OrientClause, Side

Sureness = Literal["said", "implied", "open"]
"""Whether the crossing of a turn was counted out, only named, or neither ("turn left at the bank")."""
StopKind = Literal["in", "before", "after", "turned", "fraction", "building", "corner", "landmark", "open"]
"""In, before or after a crossing; just after the last turn; at a fraction of a block, a building of it, a
landmark at its corner or anywhere on it; `open` where the text just ends."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What the text tells of a crossing besides its number."""

    gap: Gap | None = None
    """How far it is from the one before."""
    kind: Kind | None = None
    is_pair: bool = False
    """Whether it has two lights that people count as one: "go through the double lights"."""


Hints = tuple[tuple[int, Hint], ...]
"""Of the crossings of a street, by their ordinals."""


@dataclass(frozen=True, slots=True)
class PlannedLeg:
    """Walk to a crossing and turn."""

    side: Side
    ordinal: int
    """Which crossing of the leg the text means, from 1."""
    sureness: Sureness
    kind: Kind = "intersection"
    slight: bool = False
    remarks: int = 0
    """Landmarks that the text names on the way, those it passes twice, and each time it walks on."""
    hints: Hints = ()


@dataclass(frozen=True, slots=True)
class End:
    """Where to stop after the last turn."""

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
    """An instruction, understood."""

    orient: OrientClause
    legs: tuple[PlannedLeg, ...]
    end: End
