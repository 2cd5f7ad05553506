"""Clauses: what an instruction says, before it is put into words.

Their meaning, for one who walks the panoramas of a town: a walker follows the street; at a crossing (three
or more ways meet at a panorama) that no clause tells to turn at, it takes the way straight ahead. One step
is one panorama. Sides and corners are as seen in the direction of travel.
"""

from dataclasses import dataclass
from typing import Literal

from virl.datasets.export.ways import Way

Side = Literal["left", "right"]
Unit = Literal["intersection", "light"]
"""Things that are counted: every crossing, or those with traffic lights."""

Share = Literal["1/4", "1/3", "1/2", "2/3", "3/4"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A landmark, and where it is."""

    name: str
    type: str
    """Google's place type, such as `"bakery"`."""
    side: Side
    depth: Literal["near", "far"] | None = None
    """Place of a landmark on a corner: before the crossing or beyond it. `None` for one beside the way."""


@dataclass(frozen=True, slots=True)
class Face:
    """The direction to face at the start: along the only link for which what it says is true."""

    by: Literal["traffic", "landmark"]
    along: bool | None = None
    """True for the way the camera car drove, by the panorama's yaw, false against it; by traffic only."""
    landmark: Mention | None = None
    """Landmark and its side; by a landmark only."""


@dataclass(frozen=True, slots=True)
class See:
    """A landmark that is passed on the way to the next turn, or to the end if there is none."""

    landmark: Mention


@dataclass(frozen=True, slots=True)
class Pass:
    """Go straight through as many crossings of the unit."""

    count: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Turn:
    """Go to a crossing and leave it by a way."""

    way: Way
    at: Unit | Literal["end"]
    """The unit counted; or `"end"`: where the street ends in a T, however many crossings lie before it."""
    count: int = 1
    """1 is the next one."""
    landmark: Mention | None = None
    """Landmark on a corner of the crossing."""
    street: str | None = None
    """The name of the way, where it is not that of the street walked so far."""


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
    unit: Unit | None = None
    share: Share | None = None
    landmark: Mention | None = None
    """Beside the last panorama; for `landmark` it is what the stop goes by."""


Clause = Face | See | Pass | Turn | Stop


def mentions(clauses: tuple[Clause, ...]) -> list[Mention]:
    """Return the landmarks that clauses name, in their order."""
    named = [clause.landmark for clause in clauses if not isinstance(clause, Pass)]
    return [mention for mention in named if mention is not None]
