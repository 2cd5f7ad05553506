"""The rules of an explorer: which sort of place to look for."""

from pydantic import BaseModel

from virl.errors import MindFailed
from virl.mind.lexicon import Lexicon
from virl.mind.wishes import kinds_wanted
from virl.routines.explore.replies import PlaceType


class TypeQuestion(BaseModel):
    """Inputs of `explore/place-type`."""

    intention: str
    place_types: tuple[str, ...]


def choose_place_type(question: TypeQuestion, lexicon: Lexicon, aside: tuple[str, ...] = ()) -> PlaceType:
    """Choose the kind that the intention speaks for most.

    Where it is not offered, the first related one that is.

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
        "the rules find no place type in the intention: name it in plain English, the only language they "
        "know, such as 'a restaurant', or choose a model with --mind"
    )
