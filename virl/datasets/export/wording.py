"""Clauses, what an instruction says, and the words they are put into.

Their meaning, for one who walks the panoramas of a town: a walker follows the street; at a crossing (three
or more ways meet at a panorama) that no clause tells to turn at, it takes the way straight ahead. One step
is one panorama. Sides and corners are as seen in the direction of travel. The templates stand in
`phrases.yaml`; a seed chooses among them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import Field

from virl.datasets.export.town import Way
from virl.settings.model import Settings, load_settings

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


Choice = tuple[str, ...]
"""Templates with one meaning, of which one is chosen."""
SAY_DEPTH = 0.75  # how often a corner is called near or far; chosen
"""Probability that a corner is told as near or far."""


class _Corners(Settings):
    near: Choice
    far: Choice
    either: Choice


class Phrases(Settings):
    """The file `phrases.yaml`, which says what its slots are."""

    turns: dict[str, Choice]
    units: dict[Unit, Choice]
    counts: dict[int, Choice]
    ordinals: dict[int, Choice]
    next_turn: Choice
    nth_turn: Choice
    end_turn: Choice
    onto: Choice
    pass_one: Choice
    pass_many: Choice
    corner: _Corners
    see: Choice
    face_with_traffic: Choice
    face_against_traffic: Choice
    face_landmark: Choice
    stop_after: Choice
    stop_after_turn: Choice
    stop_just_before: Choice
    stop_before: Choice
    stop_next_crossing: Choice
    stop_nth_crossing: Choice
    stop_share: Choice
    stop_landmark: Choice
    stop_dead_end: Choice
    beside: Choice
    shares: dict[Share, Choice]
    place: Choice
    kinds: dict[str, str] = Field(default_factory=dict)


@cache
def phrases() -> Phrases:
    """Return the templates that come with virl."""
    return load_settings(Path(__file__).with_name("phrases.yaml"), Phrases)


def word(clauses: Iterable[Clause], rng: Random) -> str:
    """Return the instruction of clauses, a sentence or two for each."""
    wording = _Wording(rng)
    return " ".join(wording.clause(clause) for clause in clauses)


class _Wording:
    """A writer of one instruction, with the same words for the same units throughout."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._units = {unit: rng.choice(words) for unit, words in phrases().units.items()}
        self._last: Clause | None = None
        """The last turn or crossing passed."""

    def clause(self, clause: Clause) -> str:
        """Return the sentence of a clause."""
        match clause:
            case Face():
                along = phrases().face_with_traffic if clause.along else phrases().face_against_traffic
                words = self._mention(clause.landmark) if clause.landmark else {}
                sentence = self._fill(phrases().face_landmark if words else along, **words)
            case See():
                sentence = self._fill(phrases().see, **self._mention(clause.landmark))
            case Pass():
                many = clause.count > 1
                templates = phrases().pass_many if many else phrases().pass_one
                sentence = self._fill(templates, **self._count_words(clause.count, clause.unit))
            case Turn():
                sentence = self._turn(clause)
            case Stop():
                sentence = self._stop(clause)
        if isinstance(clause, Pass | Turn):
            self._last = clause
        return sentence[0].upper() + sentence[1:]

    def _turn(self, clause: Turn) -> str:
        """Return the sentence on a turn."""
        turn = self._rng.choice(phrases().turns[clause.way])
        words = {
            "turn": turn + (self._fill(phrases().onto, street=clause.street) if clause.street else ""),
            "corner": self._corner(clause.landmark) if clause.landmark else "",
        }
        if clause.at == "end":
            return self._fill(phrases().end_turn, **words)
        templates = phrases().nth_turn if clause.count > 1 else phrases().next_turn
        return self._fill(templates, **words, **self._count_words(clause.count, clause.at))

    def _stop(self, clause: Stop) -> str:
        """Return the sentence on the stop."""
        words = {"beside": ""}
        if clause.count:
            words |= self._count_words(clause.count, clause.unit or "intersection")
        if clause.landmark:
            words |= self._mention(clause.landmark)
            words["beside"] = self._fill(phrases().beside, **words)
        if clause.share:
            words["share"] = self._rng.choice(phrases().shares[clause.share])
        if isinstance(self._last, Pass):
            words["last"] = self._units[self._last.unit]
        return self._fill(self._stop_templates(clause), **words)

    def _stop_templates(self, clause: Stop) -> Choice:
        """Return the templates for a kind of stop."""
        told = phrases()
        match clause.at:
            case "after":
                return told.stop_after if isinstance(self._last, Pass) else told.stop_after_turn
            case "before":
                return told.stop_before if clause.count != 1 else told.stop_just_before
            case "crossing":
                return told.stop_nth_crossing if clause.count != 1 else told.stop_next_crossing
            case "share":
                return told.stop_share
            case "landmark":
                return told.stop_landmark
            case "dead end":
                return told.stop_dead_end

    def _count_words(self, count: int, unit: Unit) -> dict[str, str]:
        """Return the words for a count of a unit, by slot."""
        number = self._rng.choice(phrases().counts[count])
        return {
            "unit": self._units[unit],
            "units": self._units[unit] + "s",
            "count": number,
            "nth": self._rng.choice(phrases().ordinals[count]),
            "steps": f"{number} step{'s' if count > 1 else ''}",
        }

    def _corner(self, mention: Mention) -> str:
        """Return the words for a landmark at a corner."""
        corners = phrases().corner
        exact = corners.near if mention.depth == "near" else corners.far
        templates = exact if self._rng.random() < SAY_DEPTH else corners.either
        return self._fill(templates, **self._mention(mention))

    def _mention(self, mention: Mention) -> dict[str, str]:
        """Return the words for a landmark and its side, by slot."""
        kind = phrases().kinds.get(mention.type, mention.type.replace("_", " "))
        told = kind.casefold() in mention.name.casefold()  # so is what has no kind
        templates = ("{name}",) if told else phrases().place
        place = self._fill(templates, name=mention.name, kind=kind)
        return {"place": place, "side": mention.side}

    def _fill(self, templates: Choice, **words: str) -> str:
        """Return a random template with its slots filled."""
        return self._rng.choice(templates).format(**words)
