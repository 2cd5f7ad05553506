"""The rule for which road to take at a crossing."""

from dataclasses import dataclass

from pydantic import BaseModel

from virl.errors import MindFailed
from virl.mind.lexicon import Lexicon, phrase_pattern, words_of
from virl.platform.movement.intention.replies import RoadChoice

# Weights of the words seen down a road (chosen): one sign of the wanted sort outweighs any liveliness.
WANTED, RELATED, SHOPPING, LIVELY, EMPTY = 4.0, 1.5, 2.0, 0.5, -0.75
MOST_COUNTED = 3  # words of one kind that count (chosen)


class DescribedRoad(BaseModel):
    """A road as it is described."""

    index: int
    description: str


class RoadQuestion(BaseModel):
    """Inputs of `movement/intention-road`."""

    intention: str
    place_type: str
    roads: tuple[DescribedRoad, ...]


@dataclass(frozen=True, slots=True)
class _Prospect:
    index: int
    score: float
    seen: tuple[str, ...]


def choose_road(question: RoadQuestion, lexicon: Lexicon) -> RoadChoice:
    """The road with the best score, the lowest number among equals; never back unless it is the only one.

    Raises:
        MindFailed: there is no road.
    """
    if not question.roads:
        raise MindFailed("no road to choose from: a crossing needs at least one")
    prospects = [_prospect(road, question.place_type, lexicon) for road in question.roads]
    best = max(prospects, key=lambda prospect: (prospect.score, -prospect.index))
    return RoadChoice(index=best.index, reason=_reason(best, prospects))


def _prospect(road: DescribedRoad, place_type: str, lexicon: Lexicon) -> _Prospect:
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
    text, score = words_of(road.description), 0.0
    seen: list[str] = []
    for weight, phrases in kinds:
        words = phrase_pattern(phrases).findall(text)
        text = phrase_pattern(phrases).sub(" ", text)  # each word counts once
        score += weight * min(len(words), MOST_COUNTED)
        if weight > 0:
            seen += list(dict.fromkeys(words))[:MOST_COUNTED]
    return _Prospect(road.index, score, tuple(seen))


def _reason(best: _Prospect, prospects: list[_Prospect]) -> str:
    seen = ", ".join(best.seen) or "nothing of note"
    if len(prospects) == 1:
        return f"Road {best.index} is the only way; seen there: {seen}."
    if all(prospect.score == best.score for prospect in prospects):
        return f"All roads look the same to the rules, so the first one: road {best.index}."
    return f"Road {best.index} looks most promising; seen there: {seen}."
