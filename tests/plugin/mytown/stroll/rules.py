"""What the rules answer, so that the routine runs without a language model."""

from pydantic import BaseModel

from virl.mind.lexicon import Lexicon

from .replies import Verdict


class PlaceToJudge(BaseModel):
    """Inputs of the prompt `stroll/judge`."""

    name: str
    types: tuple[str, ...]
    rating: float | None
    likes: tuple[str, ...]
    min_rating: float


def judge(question: PlaceToJudge, lexicon: Lexicon) -> Verdict:
    """Visit it if it is of a type that is liked, and rated well enough."""
    liked = [kind for kind in question.types if kind in question.likes]
    if not liked:
        return Verdict(visit=False, reason=f"A {question.types[0]} is not among the likes.")
    if question.rating is None or question.rating < question.min_rating:
        return Verdict(visit=False, reason=f"Its rating is not {question.min_rating:g} or better.")
    return Verdict(visit=True, reason=f"It is a {liked[0]}, rated {question.rating:g}.")
