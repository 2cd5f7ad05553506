"""The clauses that the grammar finds in an instruction, and the plan of turns and a stop that they make."""

from dataclasses import dataclass
from typing import Literal

Side = Literal["left", "right", "around", "front"]
"""Ways to turn at a crossing; `front` is straight on."""
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
"""Kinds of crossing: by what stands or lies there, such as `light`, or by its shape, such as `tee`.

`double` has two lights; `three`, `four` and `many` so many ways; `tee` has no way ahead; `side` is a side
street; `end` is where the street ends."""
Gap = Literal["near", "far"]
"""Distances between two crossings in a row: `near` as in "the light immediately after", else `far`."""


@dataclass(frozen=True, slots=True)
class NamedCrossing:
    """A crossing that the text names: "the 2nd light", "the next intersection", "the end of the block"."""

    kind: Kind
    ordinal: int | None = None
    """Number of the crossing, counted from 1: 2 in "the second light"; `None` if not said."""
    following: bool = False
    """True if the crossing is the next one after those named before: "next", "another"."""
    earlier: bool = False
    """True if the crossing was named before: "it", "this light"."""
    near: bool = False
    """True if the crossing is the nearest one: "the closest intersection"."""
    soon: bool = False
    """True if the crossing comes right after the one before: "the light immediately after"."""


@dataclass(frozen=True, slots=True)
class OrientClause:
    """A direction to face at the start, by the flow of traffic or by the nearest crossing, or neither."""

    traffic: bool | None = None
    """True to face with the flow of traffic, `False` against it; `None` if neither is said."""
    crossing: bool | None = None
    """True to face the nearest crossing, `False` to face away from it; `None` if neither is said."""


@dataclass(frozen=True, slots=True)
class TurnClause:
    """A turn to a side at a crossing, which the clause names itself or leaves to earlier clauses."""

    side: Side
    place: NamedCrossing | None = None
    """Crossing of the turn; `None` where other clauses name it."""
    slight: bool = False
    """True for a slight turn, as in "slight left"."""
    sharp: bool = False
    """True for a sharp turn, as in "sharp left"."""
    nth: int | None = None
    """Number of the street to turn into: 2 in "take the second left"; `None` if not said."""
    soon: bool = False
    """True if the turn comes right after a street is crossed: "cross and turn left right away"."""
    quick: bool = False
    """True if the text calls the turn immediate or quick: "take the immediate left"."""
    times: int = 1
    """Number of turns the same way: 2 in "turn right at the next two lights"."""
    looks: bool = False
    """True if the text may only mean a look to that side, as in "turn to your left"."""


@dataclass(frozen=True, slots=True)
class PassClause:
    """A number of crossings to go through: "go through the next two lights", "cross the street"."""

    count: int = 1
    """Number of crossings to go through."""
    place: NamedCrossing = NamedCrossing("intersection")
    vague: bool = False
    """True if the text gives no number, as in "a few blocks"."""
    again: bool = False
    """True if the text may mean the crossing just passed: "as you cross the intersection"."""
    thing: bool = False
    """True if the text may mean a thing, and no crossing at all: "go past it"."""
    then: bool = False
    """True if the text names another thing to pass or reach first: "pass the bank before going through"."""


@dataclass(frozen=True, slots=True)
class ReachClause:
    """A crossing to walk up to, such as "at the next light", or a remark on one."""

    place: NamedCrossing
    before: bool = False
    """True if the walk only goes up to the crossing: "before the light"."""
    told: bool = False
    """True for a remark on a crossing that may lie behind: "the third light may have had a bank"."""


@dataclass(frozen=True, slots=True)
class BlocksClause:
    """A number of blocks to walk."""

    count: int
    vague: bool = False
    """True if the text gives no number, as in "a few blocks"."""


@dataclass(frozen=True, slots=True)
class LandmarkClause:
    """A thing other than a crossing that is passed or seen, such as a shop."""

    passed: bool = False
    """True if the text says that the walk goes past the thing."""
    corner: bool = False
    """True if the thing is at a crossing, not along a block."""
    place: NamedCrossing | None = None
    """Crossing at which the thing is said to be, as in "it is before the next light"; else `None`."""
    name: int | None = None
    """Index, from 0, of the thing's name among those that `mask_names` replaced; `None` without one."""


@dataclass(frozen=True, slots=True)
class CloseClause:
    """A remark that a crossing is close to the one before: "two lights in quick succession"."""

    ahead: bool = False
    """True if the text has yet to name the crossing: "almost immediately there will be a street"."""


@dataclass(frozen=True, slots=True)
class GoClause:
    """An order to walk on, without a distance."""

    straight: bool = False
    """True if the text says "straight"."""
    long: bool = False
    """True if the way leads down a long block."""


Relation = Literal["at", "in", "before", "after", "beyond"]
"""Relations of a place to a crossing or landmark; `beyond` is some steps on from where the walker is."""


@dataclass(frozen=True, slots=True)
class StopClause:
    """An order to stop, or a remark on where the walk ends."""

    bare: bool = False
    """True if the text does not say where to stop: "stop here"."""
    here: bool = False
    """True if the walk ends where the walker already is: "you are there already"."""


@dataclass(frozen=True, slots=True)
class WhereClause:
    """A place along the street, at which the walk stops or a thing stands."""

    relation: Relation = "at"
    """Relation of the place to the crossing in `place`, or to a landmark where `place` is `None`."""
    place: NamedCrossing | None = None
    """Crossing that the place is at, before or after; `None` where the text names none."""
    steps: float | None = None
    """Number of steps from the crossing or thing: 2 in "a couple of steps"; `None` if not said."""
    fraction: float | None = None
    """Share of the block walked up to the place, 0 to 1: 0.5 in "halfway"; `None` if not said."""
    building: int | None = None
    """Number of the building on the block at which the place is, counted from 1; `None` if not said."""
    turned: bool = False
    """True if steps are counted from the last turn."""


@dataclass(frozen=True, slots=True)
class PauseClause:
    """The end of a sentence or a comma, which separates other clauses."""

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
"""Union of all classes of clause that the grammar finds in a text."""


Sureness = Literal["said", "implied", "open"]
"""Certainty of a crossing's number: `said` if counted in the text, `implied` if only named, else `open`."""
StopKind = Literal["in", "before", "after", "turned", "fraction", "building", "corner", "landmark", "open"]
"""Kinds of place to stop, such as `before` (a crossing), `building` (on a block) and `open` (not said).
In, before or after a crossing; just after the last turn; at a fraction of a block, a building of it, a
landmark at its corner or anywhere on it; `open` where the text just ends."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A remark of the text on a crossing, besides its number."""

    gap: Gap | None = None
    """Distance from the crossing before, near or far; `None` if the text gives none."""
    kind: Kind | None = None
    """Kind of crossing by its shape; `None` if the text gives none."""
    is_pair: bool = False
    """True if the crossing has two lights that people count as one: "go through the double lights"."""


Hints = tuple[tuple[int, Hint], ...]
"""(number of a crossing on the street, from 1; what the text remarks on it), for each such crossing."""


@dataclass(frozen=True, slots=True)
class PlannedLeg:
    """A street of a planned walk up to the crossing where the walk turns off it."""

    side: Side
    """Direction of the turn at the end of the leg."""
    ordinal: int
    """Number, from 1, of the crossing of the leg at which the text turns."""
    sureness: Sureness
    kind: Kind = "intersection"
    slight: bool = False
    remarks: int = 0
    """Count of landmarks named (twice if passed) and orders to walk on, plus 2 if the street ends there."""
    hints: Hints = ()


@dataclass(frozen=True, slots=True)
class End:
    """The place to stop on the street after the last turn."""

    kind: StopKind
    passed: int
    """Number of crossings that the text passes on the last street before the place to stop."""
    sureness: Sureness = "said"
    steps: float | None = None
    """Number of steps from the crossing or turn; `None` if not said."""
    fraction: float | None = None
    """Share of the last block to walk, 0 to 1, for the kind `fraction`; else `None`."""
    building: int | None = None
    """Number, from 1, of the building to stop at on the last block, for the kind `building`; else `None`."""
    remarks: int = 0
    """Count of landmarks on the last block (twice if passed) and of orders to walk on."""
    hints: Hints = ()


@dataclass(frozen=True, slots=True)
class FollowerPlan:
    """The plan read from an instruction: where to face, legs that end in turns, and where to stop."""

    orient: OrientClause
    legs: tuple[PlannedLeg, ...]
    end: End
