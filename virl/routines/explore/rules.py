"""The rules of an explorer, and their replies: which kind of place to look for, and whether to enter one.

A place is entered by what it is and is said to be, against what is wished for.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from virl.errors import MindFailed
from virl.mind.lexicon import Attribute, Lexicon, found_in
from virl.mind.replies import Reply, name_list
from virl.mind.wishes import (
    Mention,
    Verdict,
    describe,
    kinds_wanted,
    particulars_wanted,
    refused_kinds,
    vote,
    wishes,
)
from virl.plain_text import capitalize
from virl.platform.city.place_types import types_marked

MIN_RATING = 2.5  # of 5: below this, most visitors were unhappy (chosen)
CHEAP_LEVEL, DEAR_LEVEL = 1, 3  # Google's price levels: 0 free, 1 inexpensive, 3 expensive, 4 very expensive
MAX_WORDS = 80
SPICY_KITCHENS = frozenset({
    "bangladeshi", "cajun", "curry", "eritrean", "ethiopian", "indian", "indonesian", "jamaican", "korean",
    "malaysian", "mexican", "nepalese", "nepali", "pakistani", "sichuan", "sri_lankan", "szechuan", "thai",
})  # fmt: skip
"""Values of OpenStreetMap's `cuisine` with usually hot dishes; chosen."""
SPICY = "spicy"
UNREVIEWED = "Nobody has written a review"


class PlaceType(Reply):
    """The sort of place that would fulfil an intention."""

    place_type: str = Field(description="One of the place types offered, spelt the same.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the allowed values of reply fields, by field path, for the inputs of a prompt."""
        return {"place_type": name_list(inputs, "place_types")}

    @field_validator("place_type")
    @classmethod
    def _is_offered(cls, place_type: str, info: ValidationInfo) -> str:
        """Return the place type unchanged; raise `ValueError` if the prompt did not offer it."""
        offered = (info.context or {}).get("place_types")
        if offered is not None and place_type not in offered:
            raise ValueError(f"{place_type!r} is not among the place types offered")
        return place_type


class PlaceSummary(Reply):
    """A summary of what visitors say of a place."""

    summary: str = Field(
        description="What visitors say, in at most 80 words; that there are no reviews, if so."
    )


class PlaceDecision(Reply):
    """A decision to enter a place or go on."""

    action: Literal["enter", "continue"] = Field(description="Enter this place, or continue to explore.")
    reason: str = Field(description="Why, in one or two sentences that name the facts used.")


class TypeQuestion(BaseModel):
    """Inputs of the prompt `explore/place-type`, as its rule reads them."""

    intention: str
    place_types: tuple[str, ...]


def choose_place_type(question: TypeQuestion, lexicon: Lexicon, aside: tuple[str, ...] = ()) -> PlaceType:
    """Return the place type mentioned most, but for phrases `aside`; if not offered, a related one that is.

    Args:
        question: the intention, and the types offered.
        lexicon: phrases for place types.
        aside: phrases that speak of something else than a place type.

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


class PlaceFacts(BaseModel):
    """Known facts of a place in a prompt's inputs, as rules read them; `None` for unknown ones."""

    name: str
    types: tuple[str, ...] = ()
    rating: float | None = None
    price_level: int | None = None
    closed_for_good: bool | None = None
    open_now: bool | None = None
    cuisine: str = ""
    """Values of OpenStreetMap's `cuisine`, separated by `;`; empty if unknown."""

    @property
    def spicy_kitchen(self) -> str:
        """Cuisines of the place as text if all are usually spicy; empty if not, or if none is known."""
        told = [one.strip() for one in self.cuisine.casefold().split(";") if one.strip()]
        fine = [one.removesuffix("_restaurant") for one in self.types if one.endswith("_restaurant")]
        kitchens = told or fine
        return ", ".join(kitchens).replace("_", " ") if {*kitchens} <= SPICY_KITCHENS else ""


class ReviewText(BaseModel):
    """One review in a prompt's inputs: its text, and its rating in stars of 5."""

    rating: float
    text: str


class PlaceQuestion(BaseModel):
    """Inputs of the prompt `explore/decision`, as its rule reads them."""

    name: str
    background: str
    intention: str
    place: PlaceFacts
    reviewed: bool = True
    """True if places of this city can have reviews."""
    reviews: tuple[ReviewText, ...] = ()
    """Reviews of the place, given to rules beside the prompt's inputs."""


def decide(question: PlaceQuestion, lexicon: Lexicon) -> PlaceDecision:
    """Decide to enter a place unless a fact is against it, or wishes lack reviews in a city with some."""
    wanted = wishes(question.background, lexicon) | wishes(question.intention, lexicon)
    said = vote((review.text for review in question.reviews), lexicon)
    leaning = _majority_views(said, question.place.price_level, lexicon)
    against = [*_plain_facts(question, lexicon), *_clashes(leaning, wanted, lexicon)]
    kitchen = "" if SPICY in leaning or SPICY not in wanted else question.place.spicy_kitchen
    if kitchen and not wanted[SPICY].holds:
        against.append(f"its kitchen is {kitchen}, usually spicy, and nothing else is known of that")
    sought = ", ".join(_wish_words(mention, lexicon) for mention in wanted.values())
    if not against and wanted and not question.reviews and question.reviewed:
        against = [f"nobody has written a review, so nothing is known of what is wished for ({sought})"]
    if against:
        return PlaceDecision(action="continue", reason=_join_reasons(against))
    if wanted and not question.reviewed:
        unknown = f"this city has no reviews, so it is not known whether it is as wished ({sought})"
        usual = [f"its kitchen is {kitchen}, usually spicy"] if kitchen else []
        return _enter(question, ["nothing known speaks against it", *usual, unknown])
    return _enter(question, _reasons_for(question.place.rating, leaning, wanted, lexicon))


def _enter(question: PlaceQuestion, reasons: list[str]) -> PlaceDecision:
    """Return the decision to enter, with reasons; unknown opening hours are added to them."""
    place = question.place
    is_unsure = "open_now" in place.model_fields_set and place.open_now is None
    is_indoors = types_marked("outdoors").isdisjoint(place.types)
    hours = ["its opening hours are not known"] if is_unsure and is_indoors else []
    return PlaceDecision(action="enter", reason=_join_reasons([*reasons, *hours]))


def _plain_facts(question: PlaceQuestion, lexicon: Lexicon) -> Iterator[str]:
    """Yield reasons against a place by its facts: closed, of another type, rated low, lacking a detail."""
    place = question.place
    if place.closed_for_good:
        yield "it has closed for good"
    elif place.open_now is False:
        yield "it is closed now"
    sought = None  # where the intention names no type, any will do
    with suppress(MindFailed):
        known = TypeQuestion(intention=question.intention, place_types=tuple(lexicon.place_types))
        sought = choose_place_type(known, lexicon).place_type
    same = {sought, *lexicon.also_counts.get(sought or "", ())}
    if sought and place.types and not any(one in same or one.endswith(f"_{sought}") for one in place.types):
        yield f"it is no {sought.replace('_', ' ')} but a {place.types[0].replace('_', ' ')}"
    facts = " ; ".join([place.name, place.cuisine, *place.types, *(one.text for one in question.reviews)])
    wanted = particulars_wanted(question.intention, lexicon)
    lacking = found_in(question.intention, [one for one in wanted if not found_in(facts, (one,))])
    if lacking:
        yield f"nothing that is known of it speaks of {', '.join(lacking)}"
    for kind in sorted(refused_kinds(question.intention, lexicon).intersection(place.types)):
        yield f"it is a {kind.replace('_', ' ')} too, which is not wanted"
    if place.rating is not None and place.rating < MIN_RATING:
        yield f"it is rated only {place.rating:.1f} of 5"


def _clashes(
    leaning: Mapping[str, bool | None], wanted: Mapping[str, Mention], lexicon: Lexicon
) -> Iterator[str]:
    """Yield reasons against a place: wishes that reviews, summed up by attribute in `leaning`, contradict."""
    for name, mention in wanted.items():
        if name not in leaning:
            continue
        attribute, wish, holds = lexicon.attributes[name], _wish_words(mention, lexicon), leaning[name]
        if holds is None and not mention.holds:
            yield f"{attribute.say.split}, and the wish is for {wish}"
        elif holds is not None and holds != mention.holds:
            yield f"it is {attribute_words(attribute, holds)}, and the wish is for {wish}"


def _reasons_for(
    rating: float | None,
    leaning: Mapping[str, bool | None],
    wanted: Mapping[str, Mention],
    lexicon: Lexicon,
) -> list[str]:
    """Return reasons for a place: wishes met (in `leaning`), its rating, wishes that nothing contradicts."""
    words = {name: _wish_words(mention, lexicon) for name, mention in wanted.items()}
    met = [wish for name, wish in words.items() if leaning.get(name) is not None]
    open_points = [wish for name, wish in words.items() if leaning.get(name) is None]
    reasons = [f"it is said to be {', '.join(met)}, as wished"] if met else []
    if rating is not None:
        reasons.append(f"it is rated {rating:.1f} of 5")
    if open_points:
        reasons.append(f"nothing speaks against its being {', '.join(open_points)}")
    return reasons or ["nothing speaks against it"]


def _majority_views(
    verdicts: Mapping[str, Verdict], price_level: int | None, lexicon: Lexicon
) -> dict[str, bool | None]:
    """Return by attribute whether reviews, or the price level, say that it holds; `None` if split."""
    leaning = {name: verdict.holds for name, verdict in verdicts.items()}
    for name, attribute in lexicon.attributes.items():
        holds, contrary = leaning.get(name), attribute.contrary
        if contrary and holds is not None:
            agrees = leaning.get(contrary, not holds) == (not holds)
            leaning[contrary] = not holds if agrees else None
    if price_level is not None and "cheap" not in leaning and not CHEAP_LEVEL < price_level < DEAR_LEVEL:
        leaning["cheap"] = price_level <= CHEAP_LEVEL
    return leaning


def _wish_words(mention: Mention, lexicon: Lexicon) -> str:
    """Return a wish as words, such as "quiet", or for a refused attribute "not quiet"."""
    return attribute_words(lexicon.attributes[mention.attribute], mention.holds)


def attribute_words(attribute: Attribute, holds: bool) -> str:
    """Return the words for having an attribute, such as "quiet"; for lacking it unless `holds`."""
    return attribute.say.so if holds else attribute.say.not_so


def _join_reasons(reasons: list[str]) -> str:
    """Return reasons joined into a sentence, with a capital first letter."""
    return f"{_capitalize('; '.join(reasons))}."


class ReviewQuestion(BaseModel):
    """Inputs of the prompt `explore/summary`, as its rule reads them."""

    name: str
    rating: float | None
    reviews: tuple[ReviewText, ...]


def summarize(question: ReviewQuestion, lexicon: Lexicon) -> PlaceSummary:
    """Return a summary, in at most 80 words, of what reviews say of the attributes.

    The name is left out: it may hold words that read like an opinion.
    """
    rated = "" if question.rating is None else f", rated {question.rating:.1f} of 5"
    if not question.reviews:
        return PlaceSummary(summary=f"{UNREVIEWED}{rated}.")
    verdicts = vote((review.text for review in question.reviews), lexicon)
    count = len(question.reviews)
    sentences = [f"{count} review{'s' if count > 1 else ''}{rated}."]
    sentences += [
        f"{_capitalize(describe(verdicts[name], attribute))}."
        for name, attribute in lexicon.attributes.items()
        if name in verdicts
    ]
    if len(sentences) == 1:
        sentences.append("Nothing in them that the rules understand.")
    while len(" ".join(sentences).split()) > MAX_WORDS:
        sentences.pop()
    return PlaceSummary(summary=" ".join(sentences))


def _capitalize(text: str) -> str:
    """Return a text with a capital first letter."""
    return capitalize(text)
