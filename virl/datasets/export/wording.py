"""Puts clauses into words. The templates stand in `phrases.yaml`; a seed chooses among them."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random

from pydantic import Field

from virl.datasets.export.clauses import Clause, Face, Mention, Pass, See, Share, Stop, Turn, Unit
from virl.settings.model import Settings, load_settings

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
                sentence = self._face(clause)
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

    def _face(self, clause: Face) -> str:
        """Return the sentence on the direction to face."""
        if clause.landmark:
            return self._fill(phrases().face_landmark, **self._mention(clause.landmark))
        return self._fill(phrases().face_with_traffic if clause.along else phrases().face_against_traffic)

    def _turn(self, clause: Turn) -> str:
        """Return the sentence on a turn."""
        words = {
            "turn": self._rng.choice(phrases().turns[clause.way]) + self._join_street(clause),
            "corner": self._corner(clause.landmark) if clause.landmark else "",
        }
        if clause.at == "end":
            return self._fill(phrases().end_turn, **words)
        templates = phrases().nth_turn if clause.count > 1 else phrases().next_turn
        return self._fill(templates, **words, **self._count_words(clause.count, clause.at))

    def _join_street(self, clause: Turn) -> str:
        """Return the words for the street turned into; empty without a name."""
        return self._fill(phrases().onto, street=clause.street) if clause.street else ""

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
