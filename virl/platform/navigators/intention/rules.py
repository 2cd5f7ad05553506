"""The question at a crossing, which road to take: its reply and its rule."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from virl.errors import MindFailed
from virl.geo.globe import compass_word
from virl.mind.lexicon import Lexicon, phrase_pattern, words_of
from virl.mind.replies import Reply

# Weights of the words seen down a road (chosen): one sign of the wanted sort outweighs any liveliness.
WANTED, RELATED, SHOPPING, LIVELY, EMPTY = 4.0, 1.5, 2.0, 0.5, -0.75
MOST_COUNTED = 3  # words of one kind that count (chosen)
TOWN = 0.0001
"""Weight of houses in sight in a road's score, so small that it decides only between equal roads.
Chosen: 1 % of that of a road that shows no front and begins 10 m away."""


_NUMBERED = re.compile(r"\b([Rr])oad (\d+)\b")


def name_roads(text: str, headings: Sequence[float]) -> str:
    """Return a text with the roads that it numbers named by their headings: "the street to the north".

    Args:
        text: what a mind says of roads.
        headings: of the roads, in degrees, in the order in which it was asked of them.
    """

    def name_road(found: re.Match[str]) -> str:
        """Return the name of a road; its number if it is none of those."""
        number = int(found[2])
        if number >= len(headings):
            return found[0]
        return f"{'The' if found[1] == 'R' else 'the'} street to the {compass_word(headings[number])}"

    return _NUMBERED.sub(name_road, text)


class RoadChoice(Reply):
    """The road to take at a crossing."""

    index: int = Field(ge=0, description="The number of the road chosen, as given before its description.")
    reason: str = Field(description="What is seen that decided it, in one sentence.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that each field of a reply to this question may have, by field."""
        roads = inputs.get("roads")
        return {"index": [road["index"] for road in roads]} if isinstance(roads, list | tuple) else {}

    @field_validator("index")
    @classmethod
    def _is_a_road(cls, index: int, info: ValidationInfo) -> int:
        """Return the number of a road; raise an error for a number that no road has."""
        roads = (info.context or {}).get("roads")
        numbers = None if roads is None else [road["index"] for road in roads]
        if numbers is not None and index not in numbers:
            raise ValueError(f"{index} is not the number of a road: there is {', '.join(map(str, numbers))}")
        return index


class DescribedRoad(BaseModel):
    """A road at a crossing, with its number and description."""

    index: int
    description: str


class Outlook(BaseModel):
    """The promise of a road in numbers, which rules get beside the prompt's inputs."""

    promise: float
    """Number of shop fronts seen down the road, each weighed less the farther it is."""
    cost: float
    """Metres to get to the road and to begin it."""
    fronts: int = 0
    """Number of shop fronts seen down the road."""
    town: float = 0.0
    """Share of houses less that of green in the view down the road, [-1, 1]; 0 where nobody looked."""


class RoadQuestion(BaseModel):
    """The inputs of the prompt `movement/intention-road`."""

    intention: str
    place_type: str
    roads: tuple[DescribedRoad, ...]
    outlooks: tuple[Outlook, ...] = ()
    """Numbers of what each road promises, in the roads' order; empty where nobody measured."""


@dataclass(frozen=True, slots=True)
class _ScoredRoad:
    """A road with the score that the words of its description give."""

    index: int
    score: float
    sought: float
    """Part of the score that is from words for the wanted place type or a related one."""
    seen: tuple[str, ...]
    """Words of the description that raised the score."""


def choose_road(question: RoadQuestion, lexicon: Lexicon) -> RoadChoice:
    """Return the choice of the road with the best score, the lowest number among equals.

    With outlooks it is that of most worth: its promise, and signs of the wanted sort or of a related one, for
    each metre to get there. Where no front is in sight, houses and little green decide between equals.

    Raises:
        MindFailed: there is no road.
    """
    if not question.roads:
        raise MindFailed("no road to choose from: a crossing needs at least one")
    roads = [_score_road(road, question.place_type, lexicon) for road in question.roads]
    if len(question.outlooks) == len(roads):
        town = 0.0 if any(one.fronts for one in question.outlooks) else TOWN
        roads = [
            replace(one, score=(outlook.promise + one.sought) / outlook.cost + town * outlook.town)
            for one, outlook in zip(roads, question.outlooks, strict=True)
        ]
    best = max(roads, key=lambda road: (road.score, -road.index))
    return RoadChoice(index=best.index, reason=_reason(best, roads))


def _score_road(road: DescribedRoad, place_type: str, lexicon: Lexicon) -> _ScoredRoad:
    """Return a road scored by the words in its description for the wanted place type and for shops."""
    related = lexicon.related.get(place_type, ())
    kinds = (
        (
            WANTED,
            (words_of(place_type), f"{words_of(place_type)}s", *lexicon.place_types.get(place_type, ())),
        ),
        (RELATED, tuple(word for kind in related for word in (words_of(kind), f"{words_of(kind)}s"))),
        (EMPTY, lexicon.emptiness),
        (SHOPPING, lexicon.shop_streets),
        (LIVELY, lexicon.shop_life),
    )
    text, score, sought = words_of(road.description), 0.0, 0.0
    seen: list[str] = []
    for weight, phrases in kinds:
        words = phrase_pattern(phrases).findall(text)
        text = phrase_pattern(phrases).sub(" ", text)  # each word counts once
        points = weight * min(len(words), MOST_COUNTED)
        score += points
        sought += points if weight in (WANTED, RELATED) else 0.0
        if weight > 0:
            seen += list(dict.fromkeys(words))[:MOST_COUNTED]
    return _ScoredRoad(road.index, score, sought, tuple(seen))


def _reason(best: _ScoredRoad, roads: list[_ScoredRoad]) -> str:
    """Return a sentence that says why the best of the scored roads was chosen."""
    seen = ", ".join(best.seen) or "nothing of note"
    if len(roads) == 1:
        return f"Road {best.index} is the only way; seen there: {seen}."
    if all(road.score == best.score for road in roads):
        return f"All roads look the same to the rules, so the first one: road {best.index}."
    return f"Road {best.index} looks most promising; seen there: {seen}."
