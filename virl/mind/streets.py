"""The rules for where to go: which sort of place, and which road."""

from dataclasses import dataclass

from pydantic import BaseModel

from virl.errors import MindFailed
from virl.mind.lexicon import Lexicon, found_in, phrase_pattern, words_of
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


def choose_place_type(question: TypeQuestion, lexicon: Lexicon) -> PlaceType:
    """The type of which the intention has most words; its own name counts as three words.

    Among equals, the one whose word comes first; where it is not offered, the first related type that is.

    Raises:
        MindFailed: the intention has no word of any type offered.
    """
    text = words_of(question.intention)
    scored = []
    for place_type in _known_types(question.place_types, lexicon):
        found = found_in(text, lexicon.place_types.get(place_type, ()))
        named = found_in(text, (words_of(place_type), f"{words_of(place_type)}s"))
        score = len(found) + 3 * bool(named)
        if score:
            scored.append((-score, min(text.find(word) for word in [*found, *named]), place_type))
    for _, _, best in sorted(scored):
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


def _known_types(offered: tuple[str, ...], lexicon: Lexicon) -> list[str]:
    return list(dict.fromkeys([*offered, *lexicon.place_types]))


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
