"""Clauses: what an instruction says, before it is put into words.

Their meaning, for one who walks the panoramas of a town: a walker follows the street; at a crossing (three
or more ways meet at a panorama) that no clause tells to turn at, it takes the way straight ahead. One step
is one panorama. Sides and corners are as seen in the direction of travel.
"""

from dataclasses import dataclass
from typing import Literal

from virl.datasets.export.ways import Way

Side = Literal["left", "right"]
"""Sides of a walker."""
Unit = Literal["intersection", "light"]
"""Things that are counted: all crossings, or those with traffic lights."""

Share = Literal["1/4", "1/3", "1/2", "2/3", "3/4"]
"""Shares of a block."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A landmark as an instruction names it, with its side."""

    name: str
    type: str
    """Google's place type, such as `"bakery"`."""
    side: Side
    depth: Literal["near", "far"] | None = None
    """Place on a corner: before the crossing or beyond it; `None` for a landmark beside the way."""


@dataclass(frozen=True, slots=True)
class Face:
    """A clause on the direction to face at the start, which is true for one link only."""

    by: Literal["traffic", "landmark"]
    along: bool | None = None
    """True for the way the camera car drove, false against it; `None` if a landmark says it."""
    landmark: Mention | None = None
    """Landmark on a side; `None` if the traffic says it."""


@dataclass(frozen=True, slots=True)
class See:
    """A clause on a landmark passed before the next turn or the end."""

    landmark: Mention


@dataclass(frozen=True, slots=True)
class Pass:
    """A clause on going straight through a number of crossings."""

    count: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Turn:
    """A clause on a turn at a crossing."""

    way: Way
    at: Unit | Literal["end"]
    """Unit that is counted; `"end"` for a street's end in a T, which needs no count."""
    count: int = 1
    """Number of the crossing, from 1 for the next."""
    landmark: Mention | None = None
    """Landmark on a corner of the crossing."""
    street: str | None = None
    """Name of the way taken; `None` if it has none, or that of the street before."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The place to stop, counted from the last crossing that the clauses so far speak of, or from the start.

    - `after`: `count` steps beyond it.
    - `before`: `count` steps short of the next crossing, which is of the unit.
    - `crossing`: in the `count`-th crossing of the unit.
    - `share`: at the panorama nearest to this share of the block: the way to the next crossing.
    - `landmark`: at the panorama of the block that is nearest to the landmark.
    - `dead end`: where the street ends.
    """

    at: Literal["after", "before", "crossing", "share", "landmark", "dead end"]
    count: int | None = None
    """Steps, or number of the crossing, by `at`; `None` where it needs none."""
    unit: Unit | None = None
    share: Share | None = None
    landmark: Mention | None = None
    """Landmark beside the last panorama, by which `landmark` finds the stop; `None` without one."""


Clause = Face | See | Pass | Turn | Stop
"""Any clause of an instruction."""


def mentions(clauses: tuple[Clause, ...]) -> list[Mention]:
    """Return the landmarks named in clauses, in order."""
    named = [clause.landmark for clause in clauses if not isinstance(clause, Pass)]
    return [mention for mention in named if mention is not None]
