"""The rules for where to go: which sort of place, and which road."""

from dataclasses import dataclass

from pydantic import BaseModel

from virl.errors import MindFailed
from virl.mind.kinds import kinds_wanted
from virl.mind.lexicon import Lexicon, phrase_pattern, words_of
from virl.mind.replies import PlaceType, RoadChoice

# Weights of the words seen down a road (chosen): one sign of the wanted sort outweighs any liveliness.
WANTED, RELATED, SHOPPING, LIVELY, EMPTY = 4.0, 1.5, 2.0, 0.5, -0.75
MOST_COUNTED = 3  # words of one kind that count (chosen)


class TypeQuestion(BaseModel):
    """Inputs of `hiro-place-type`."""

    intention: str
    place_types: tuple[str, ...]


class Road(BaseModel):
    """A road as it is described."""

    index: int
    description: str


class RoadQuestion(BaseModel):
    """Inputs of `hiro-road`."""

    intention: str
    place_type: str
    roads: tuple[Road, ...]
    came_from: int | None


@dataclass(frozen=True, slots=True)
class _Prospect:
    index: int
    score: float
    seen: tuple[str, ...]


def choose_place_type(question: TypeQuestion, lexicon: Lexicon, aside: tuple[str, ...] = ()) -> PlaceType:
    """The kind that the intention speaks for most; where it is not offered, the first related one that is.

    Args:
        question: what is wanted, and the types to choose from.
        lexicon: the words.
        aside: phrases that speak of something else than a type.

    Raises:
        MindFailed: the intention has no word of any type offered.
    """
    for best in kinds_wanted(question.intention, question.place_types, lexicon, aside):
        for place_type in (best, *lexicon.related.get(best, ())):
            if place_type in question.place_types:
                return PlaceType(place_type=place_type)
    raise MindFailed(
        "the rules find no place type in the intention: name it in plain words, such as 'a restaurant', "
        "or choose a model with --mind"
    )


def choose_road(question: RoadQuestion, lexicon: Lexicon) -> RoadChoice:
    """The road with the best score, the lowest number among equals; never back unless it is the only one.

    Raises:
        MindFailed: there is no road.
    """
    onward = [road for road in question.roads if road.index != question.came_from] or list(question.roads)
    if not onward:
        raise MindFailed("no road to choose from: a crossing needs at least one")
    prospects = [_prospect(road, question.place_type, lexicon) for road in onward]
    best = max(prospects, key=lambda prospect: (prospect.score, -prospect.index))
    return RoadChoice(index=best.index, reason=_reason(best, prospects))


def _prospect(road: Road, place_type: str, lexicon: Lexicon) -> _Prospect:
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
