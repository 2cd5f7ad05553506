"""The rule for reviews: what visitors say, by majority."""

from pydantic import BaseModel

from virl.mind.lexicon import Lexicon
from virl.mind.opinions import describe, vote
from virl.routines.explore.replies import PlaceSummary

MAX_WORDS = 80
UNREVIEWED = "Nobody has written a review"


class ReviewText(BaseModel):
    """What one visitor wrote."""

    rating: float
    text: str


class ReviewQuestion(BaseModel):
    """Inputs of `explore/summary`."""

    name: str
    rating: float | None
    reviews: tuple[ReviewText, ...]


def summarize(question: ReviewQuestion, lexicon: Lexicon) -> PlaceSummary:
    """The verdicts on what the reviews mention, in the lexicon's order, in at most 80 words.

    The name is left out: it may hold words that read like an opinion.
    """
    rated = "" if question.rating is None else f", rated {question.rating:.1f} of 5"
    if not question.reviews:
        return PlaceSummary(summary=f"{UNREVIEWED}{rated}.")
    verdicts = vote((review.text for review in question.reviews), lexicon)
    count = len(question.reviews)
    sentences = [f"{count} review{'s' if count > 1 else ''}{rated}."]
    sentences += [
        f"{_capital(describe(verdicts[name], attribute))}."
        for name, attribute in lexicon.attributes.items()
        if name in verdicts
    ]
    if len(sentences) == 1:
        sentences.append("Nothing in them that the rules understand.")
    while len(" ".join(sentences).split()) > MAX_WORDS:
        sentences.pop()
    return PlaceSummary(summary=" ".join(sentences))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
