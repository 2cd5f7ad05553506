"""What an instruction asks for: legs that end in turns, and where on the last street to stop."""

from dataclasses import dataclass
from typing import Literal

from virl.platform.navigators.follower.clauses import Gap, Kind, OrientClause, Side

Sureness = Literal["said", "implied", "open"]
"""Certainty of the crossing of a turn: counted in the text, only named, or neither."""
StopKind = Literal["in", "before", "after", "turned", "fraction", "building", "corner", "landmark", "open"]
"""Kinds of stop: in, before or after a crossing; just after the last turn; at a fraction of a block, a
building of it, a landmark at its corner or anywhere on it; `open` where the text just ends."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A remark of the text on a crossing, besides its number."""

    gap: Gap | None = None
    """Distance from the crossing before, near or far; `None` if not said."""
    kind: Kind | None = None
    """Kind of the crossing that gives its shape; `None` if not said."""
    is_pair: bool = False
    """True if it has two lights that people count as one: "go through the double lights"."""


Hints = tuple[tuple[int, Hint], ...]
"""Hints to the crossings of a street, each with the crossing's ordinal."""


@dataclass(frozen=True, slots=True)
class PlannedLeg:
    """A part of a walk that ends in a turn at a crossing."""

    side: Side
    """Direction of the turn."""
    ordinal: int
    """The number of the crossing of the leg that the text means, from 1."""
    sureness: Sureness
    kind: Kind = "intersection"
    slight: bool = False
    remarks: int = 0
    """Landmarks named on the way, twice those passed, each time it walks on, and 2 for a street's end."""
    hints: Hints = ()


@dataclass(frozen=True, slots=True)
class End:
    """The place to stop after the last turn."""

    kind: StopKind
    passed: int
    """Crossings that the text passes on the last street before the end."""
    sureness: Sureness = "said"
    steps: float | None = None
    """Steps from the crossing or turn; `None` if not said."""
    fraction: float | None = None
    """Share of the block, 0 to 1, for the kind `fraction`."""
    building: int | None = None
    """Number of the building on the block, for the kind `building`."""
    remarks: int = 0
    """Landmarks named on the last block, twice those passed, and each time the text walks on."""
    hints: Hints = ()


@dataclass(frozen=True, slots=True)
class FollowerPlan:
    """The plan read from an instruction: where to face, legs that end in turns, and where to stop."""

    orient: OrientClause
    legs: tuple[PlannedLeg, ...]
    end: End
