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
from virl.plain_text import capitalize
from virl.settings.model import Settings, load_settings

Side = Literal["left", "right"]
"""A side of a walker, "left" or "right"."""
Unit = Literal["intersection", "light"]
"""A thing that an instruction counts: all crossings, or only those with traffic lights."""

Share = Literal["1/4", "1/3", "1/2", "2/3", "3/4"]
"""A share of a block that an instruction may name, such as "1/3"."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A landmark as an instruction names it, with the side on which the walker sees it."""

    name: str
    type: str
    """Google's place type, such as `"bakery"`."""
    side: Side
    depth: Literal["near", "far"] | None = None
    """Corner: before (`near`) or beyond (`far`) the crossing; `None` for a landmark beside the street."""


@dataclass(frozen=True, slots=True)
class Face:
    """A clause on the direction to face at the start, which fits only one link."""

    by: Literal["traffic", "landmark"]
    along: bool | None = None
    """True if the camera car drove this way, False if against it; `None` if a landmark tells the way."""
    landmark: Mention | None = None
    """Landmark that tells the way, with the side it is on; `None` if the traffic tells it."""


@dataclass(frozen=True, slots=True)
class See:
    """A clause on a landmark that is passed before the next turn or the end."""

    landmark: Mention


@dataclass(frozen=True, slots=True)
class Pass:
    """A clause on a number of crossings to go straight through."""

    count: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Turn:
    """A clause on a turn at a crossing."""

    way: Way
    at: Unit | Literal["end"]
    """Unit in which crossings are counted; `"end"` for a street's end in a T, which needs no count."""
    count: int = 1
    """Number of the crossing at which to turn, 1 for the next."""
    landmark: Mention | None = None
    """Landmark on a corner of the crossing; `None` if none is named."""
    street: str | None = None
    """Name of the street to take; `None` if it has none, or is the same as before."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A clause on where to stop, counted from the last crossing that was mentioned, or from the start.

    - `after`: `count` steps beyond it.
    - `before`: `count` steps short of the next crossing, which is of the unit.
    - `crossing`: in the `count`-th crossing of the unit.
    - `share`: at the panorama nearest to this share of the block: the way to the next crossing.
    - `landmark`: at the panorama of the block that is nearest to the landmark.
    - `dead end`: where the street ends.
    """

    at: Literal["after", "before", "crossing", "share", "landmark", "dead end"]
    count: int | None = None
    """Number of steps, or for `crossing` the number of the crossing, from 1; `None` where `at` needs none."""
    unit: Unit | None = None
    share: Share | None = None
    landmark: Mention | None = None
    """Landmark beside the last panorama; `None` if none is named."""


Clause = Face | See | Pass | Turn | Stop
"""A clause of an instruction, of any kind."""


def mentions(clauses: tuple[Clause, ...]) -> list[Mention]:
    """Return the landmarks that clauses name, in order."""
    named = [clause.landmark for clause in clauses if not isinstance(clause, Pass)]
    return [mention for mention in named if mention is not None]


Templates = tuple[str, ...]
"""Templates with the same meaning, of which one is drawn."""
SAY_DEPTH = 0.75
"""Probability with which a corner is called near or far. Chosen."""


class _Corners(Settings):
    """The templates for landmarks at corners: near ones, far ones, and either."""

    near: Templates
    far: Templates
    either: Templates


class Phrases(Settings):
    """The templates of `phrases.yaml`, whose comments describe their slots."""

    turns: dict[str, Templates]
    units: dict[Unit, Templates]
    counts: dict[int, Templates]
    ordinals: dict[int, Templates]
    next_turn: Templates
    nth_turn: Templates
    end_turn: Templates
    onto: Templates
    pass_one: Templates
    pass_many: Templates
    corner: _Corners
    see: Templates
    face_with_traffic: Templates
    face_against_traffic: Templates
    face_landmark: Templates
    stop_after: Templates
    stop_after_turn: Templates
    stop_just_before: Templates
    stop_before: Templates
    stop_next_crossing: Templates
    stop_nth_crossing: Templates
    stop_share: Templates
    stop_landmark: Templates
    stop_dead_end: Templates
    beside: Templates
    shares: dict[Share, Templates]
    place: Templates
    kinds: dict[str, str] = Field(default_factory=dict)


@cache
def phrases() -> Phrases:
    """Return the templates of `phrases.yaml`, read once a process."""
    return load_settings(Path(__file__).with_name("phrases.yaml"), Phrases)


def word(clauses: Iterable[Clause], rng: Random) -> str:
    """Return the instruction that clauses make, a sentence or two for each, in words drawn by `rng`."""
    wording = _Wording(rng)
    return " ".join(wording.clause(clause) for clause in clauses)


class _Wording:
    """A writer of one instruction, which uses the same word for a unit throughout."""

    def __init__(self, rng: Random) -> None:
        """Draw the instruction's words for units with `rng`."""
        self._rng = rng
        self._units = {unit: rng.choice(words) for unit, words in phrases().units.items()}
        self._last: Clause | None = None
        """Last clause that turned at or passed a crossing; `None` at the start."""

    def clause(self, clause: Clause) -> str:
        """Return the sentence or sentences for one clause."""
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
        return capitalize(sentence)

    def _turn(self, clause: Turn) -> str:
        """Return the sentence for a turn."""
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
        """Return the sentence on where to stop."""
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
        told, is_one, has_passed = phrases(), clause.count == 1, isinstance(self._last, Pass)
        templates = {
            "after": told.stop_after if has_passed else told.stop_after_turn,
            "before": told.stop_just_before if is_one else told.stop_before,
            "crossing": told.stop_next_crossing if is_one else told.stop_nth_crossing,
            "share": told.stop_share,
            "landmark": told.stop_landmark,
            "dead end": told.stop_dead_end,
        }
        return self._fill(templates[clause.at], **words)

    def _count_words(self, count: int, unit: Unit) -> dict[str, str]:
        """Return the words for a count of a unit, by slot of the templates."""
        number = self._rng.choice(phrases().counts[count])
        return {
            "unit": self._units[unit],
            "units": self._units[unit] + "s",
            "count": number,
            "nth": self._rng.choice(phrases().ordinals[count]),
            "steps": f"{number} step{'s' if count > 1 else ''}",
        }

    def _corner(self, mention: Mention) -> str:
        """Return the words for a landmark at a corner; by chance, they say near or far."""
        corners = phrases().corner
        exact = corners.near if mention.depth == "near" else corners.far
        templates = exact if self._rng.random() < SAY_DEPTH else corners.either
        return self._fill(templates, **self._mention(mention))

    def _mention(self, mention: Mention) -> dict[str, str]:
        """Return the words for a landmark and its side, by slot of the templates."""
        kind = phrases().kinds.get(mention.type, mention.type.replace("_", " "))
        told = kind.casefold() in mention.name.casefold()  # so is what has no kind
        templates = ("{name}",) if told else phrases().place
        place = self._fill(templates, name=mention.name, kind=kind)
        return {"place": place, "side": mention.side}

    def _fill(self, templates: Templates, **words: str) -> str:
        """Return one of the templates, drawn at random, with its slots filled."""
        return self._rng.choice(templates).format(**words)
