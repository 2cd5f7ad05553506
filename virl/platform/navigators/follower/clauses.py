"""The clauses that the grammar finds in an instruction, and the plan of turns and a stop that they make."""

from dataclasses import dataclass
from typing import Literal

Side = Literal["left", "right", "around", "front"]
"""Ways to turn; `front` is straight on."""
Kind = Literal[
    "light",
    "double",
    "intersection",
    "three",
    "four",
    "many",
    "tee",
    "fork",
    "side",
    "street",
    "corner",
    "block",
    "end",
]
"""Kinds of crossing: `double` has two lights; `three`, `four` and `many` so many ways; `tee` has
no way ahead; `side` is a side street; `end` is where the street ends."""
Gap = Literal["near", "far"]
"""The distance of a crossing from the one before: "the light immediately after", "down the long block"."""


@dataclass(frozen=True, slots=True)
class NamedCrossing:
    """A crossing that the text names: "the 2nd light", "the next intersection", "the end of the block"."""

    kind: Kind
    ordinal: int | None = None
    """The number of the crossing: 2 in "the second light"."""
    following: bool = False
    """True if it is the next one after those named before: "next", "following", "another"."""
    earlier: bool = False
    """True if it is one that was named before: "it", "this light"."""
    near: bool = False
    """True if it is the nearest one: "the closest intersection"."""
    soon: bool = False
    """True if it comes right after the one before it: "the light immediately after"."""


@dataclass(frozen=True, slots=True)
class OrientClause:
    """The direction to face at the start, by the traffic or by the nearest crossing."""

    traffic: bool | None = None
    """True for with the flow of traffic, `False` for against it; `None` if it is not said."""
    crossing: bool | None = None
    """True for towards the nearest crossing, `False` for away from it; `None` if it is not said."""


@dataclass(frozen=True, slots=True)
class TurnClause:
    """A turn at a place, or at one that other clauses name."""

    side: Side
    place: NamedCrossing | None = None
    """The crossing of the turn; `None` where other clauses name it."""
    slight: bool = False
    """True for "slight left" and the like."""
    sharp: bool = False
    """True for "sharp left" and the like."""
    nth: int | None = None
    """2 in "take the second left"."""
    soon: bool = False
    """True if right after what the text says first: "cross the street and turn left right away"."""
    quick: bool = False
    """True if right after the last crossing or turn: "take the immediate left"."""
    times: int = 1
    """Number of turns the same way: 2 in "turn right at the next two lights"."""
    looks: bool = False
    """True if the text may only mean to look that way, as in "turn to your left"."""


@dataclass(frozen=True, slots=True)
class PassClause:
    """A number of crossings to go through: "go through the next two lights", "cross the street"."""

    count: int = 1
    """Number of crossings."""
    place: NamedCrossing = NamedCrossing("intersection")
    vague: bool = False
    """True if the number is not said, as in "a few blocks"."""
    again: bool = False
    """True if it may be the crossing just passed: "as you cross the intersection", "on the next block"."""
    thing: bool = False
    """True if it may be no crossing at all: "go past it"."""
    then: bool = False
    """True if it follows what the text says first: "pass the bank before going through the light"."""


@dataclass(frozen=True, slots=True)
class ReachClause:
    """A crossing to walk up to, or a remark on one: "at the next light", "to the end of the block"."""

    place: NamedCrossing
    before: bool = False
    """True if the text only goes up to it: "before the light"."""
    told: bool = False
    """True if the crossing may be one passed already: "the third light may have had a bank"."""


@dataclass(frozen=True, slots=True)
class BlocksClause:
    """A number of blocks to walk."""

    count: int
    vague: bool = False
    """True if the number is not said, as in "a few blocks"."""


@dataclass(frozen=True, slots=True)
class LandmarkClause:
    """A thing other than a crossing that is passed or seen, such as a shop."""

    passed: bool = False
    """True if the text says that the walk goes past it."""
    corner: bool = False
    """True if it is at a crossing, not along a block."""
    place: NamedCrossing | None = None
    """The crossing that the text only remarks on: "it is before the next light"."""
    name: int | None = None
    """The number of its name, where names are masked."""


@dataclass(frozen=True, slots=True)
class CloseClause:
    """A remark that a crossing is close to the one before: "two lights in quick succession"."""

    ahead: bool = False
    """True if the crossing is yet to be named: "almost immediately there will be a street"."""


@dataclass(frozen=True, slots=True)
class GoClause:
    """An order to walk on that says nothing about how far."""

    straight: bool = False
    """True if the text says "straight"."""
    long: bool = False
    """True if the way leads down a long block."""


Relation = Literal["at", "in", "before", "after", "beyond"]
"""Relations of a place to a crossing or a thing."""


@dataclass(frozen=True, slots=True)
class StopClause:
    """An order to stop, or a remark on where the walk ends."""

    bare: bool = False
    """True if nothing says where: "stop.", "stop here"."""
    here: bool = False
    """True if the walk ends where it is: "you are there already"."""


@dataclass(frozen=True, slots=True)
class WhereClause:
    """A place along the street, said of the stop or of a thing.

    Args:
        relation: to the crossing or thing.
        place: the crossing, `None` where a landmark or nothing is named.
        steps: "a couple of steps" is 2; `None` if not said.
        fraction: of the block, in (0, 1]: "halfway down the block" is 0.5.
        building: 2 in "the second building".
        turned: whether it is counted from the turn: "just after turning".
    """

    relation: Relation = "at"
    place: NamedCrossing | None = None
    steps: float | None = None
    """Steps from the crossing or thing: 2 in "a couple of steps"; `None` if not said."""
    fraction: float | None = None
    """Share of the block, 0 to 1; `None` if not said."""
    building: int | None = None
    """Number of the building on the block; `None` if not said."""
    turned: bool = False
    """True if the place is counted from the last turn."""


@dataclass(frozen=True, slots=True)
class PauseClause:
    """The end of a sentence, or a comma."""

    sentence: bool


Clause = (
    OrientClause
    | TurnClause
    | PassClause
    | ReachClause
    | BlocksClause
    | LandmarkClause
    | CloseClause
    | GoClause
    | StopClause
    | WhereClause
    | PauseClause
)
"""Any clause that the grammar finds in a text."""


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
