"""The rules for a recommendation, and their replies: what to look for, and how well a place suits a wish."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from virl.errors import MindFailed
from virl.mind.lexicon import Lexicon
from virl.mind.replies import Reply, name_list
from virl.mind.sentences import asked_for
from virl.mind.wishes import Mention, vote, wishes
from virl.plain_text import capitalize
from virl.routines.client import ClientTexts, Rating, check_offered, walk_in_words, walk_minutes
from virl.routines.explore.rules import ReviewText, TypeQuestion, attribute_words, choose_place_type

NOBODY_SAYS = "nobody says whether it is"
"""Beginning of the reason that lists wishes of which nothing is known."""
CHEAP_LEVEL = 1  # Google's price levels: 1 is inexpensive
LEVEL_VOICES = 3.0  # reviewers that a price level counts for (chosen)
DOUBT = 0.5  # voices on either side before anybody has spoken (chosen: Jeffreys' prior)
FIT, STARS, NEARNESS = 7.5, 1.5, 1.0  # points out of ten (chosen: the wish counts most)
HALF_WAY_MIN = 10.0  # a walk that halves the points for nearness (chosen)
USUAL_STARS = 3.8  # of 5: what most places have (chosen)
USUAL_COUNT = 20.0  # ratings that the usual one weighs as many as (chosen)


class PlaceSearch(Reply):
    """The search on a client's behalf, and how far away the place is at most."""

    place_types: tuple[str, ...] = Field(
        min_length=1, max_length=3, description="One to three of the place types offered, the best first."
    )
    walk_minutes: float | None = Field(
        gt=0,
        description="The longest walk that the wish allows, in minutes: 80 metres are one. Null if it does "
        "not say.",
    )
    max_price_level: int | None = Field(
        ge=0,
        le=4,
        description="The highest price level that suits: 1 inexpensive, 2 moderate, 3 expensive, 4 very "
        "expensive. Null if the wish does not say.",
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the allowed values of reply fields, by field path, for the inputs of a prompt."""
        return {"place_types": name_list(inputs, "place_types")}

    @field_validator("place_types")
    @classmethod
    def _are_offered(cls, place_types: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        """Return place types unchanged; raise `ValueError` if the prompt did not offer one."""
        return check_offered(place_types, info)


class SearchQuestion(ClientTexts):
    """Inputs of the prompt `recommend/search`, as its rule reads them."""

    place_types: tuple[str, ...]


def plan_search(question: SearchQuestion, lexicon: Lexicon) -> PlaceSearch:
    """Return the search for the place type that an intention mentions most, with its limits.

    Words that tell how a place should be, such as "little money", do not speak for a type.

    Raises:
        MindFailed: the intention has no word of any type offered.
    """
    cheap = _wanted_attributes(question.background, question.intention, lexicon).get("cheap")
    asked = TypeQuestion(intention=question.intention, place_types=question.place_types)
    qualities = tuple(
        phrase for one in lexicon.attributes.values() for phrase in (*one.wanted, *one.unwanted)
    )
    try:
        sought = choose_place_type(asked, lexicon, qualities)
    except MindFailed:  # there are no words but those for qualities
        sought = choose_place_type(asked, lexicon)
    return PlaceSearch(
        place_types=(sought.place_type,),
        walk_minutes=walk_minutes(asked_for(question.intention)),
        max_price_level=CHEAP_LEVEL if cheap and cheap.holds else None,
    )


class SuitFacts(BaseModel):
    """Known facts of a place in a prompt's inputs, as rules read them; `None` for unknown ones."""

    name: str
    walk_minutes: float
    rating: float | None = None
    review_count: int = 0
    price_level: int | None = None


class SuitQuestion(ClientTexts):
    """Inputs of the prompt `recommend/rating`, as its rule reads them."""

    place: SuitFacts
    reviews: tuple[ReviewText, ...] = ()
    """Reviews of the place, given to rules beside the prompt's inputs."""


def rate_place(question: SuitQuestion, lexicon: Lexicon) -> Rating:
    """Return a place's rating, 0 to 10, by reviews on the wishes, public rating and walk."""
    wanted = _wanted_attributes(question.background, question.intention, lexicon)
    place, verdicts = question.place, vote((review.text for review in question.reviews), lexicon)
    voices: dict[str, tuple[float, float]] = {
        name: (verdict.yes, verdict.no) for name, verdict in verdicts.items()
    }
    if place.price_level is not None:  # counts as some reviewers, on prices
        is_cheap, (yes, no) = place.price_level <= CHEAP_LEVEL, voices.get("cheap", (0, 0))
        voices["cheap"] = (yes + LEVEL_VOICES * is_cheap, no + LEVEL_VOICES * (not is_cheap))
    chances = {}
    for name, mention in wanted.items():
        yes, no = voices.get(name, (0, 0))
        chances[name] = ((yes if mention.holds else no) + DOUBT) / (yes + no + 2 * DOUBT)
    fit = prod(chances.values())
    nearness = 1 / (1 + place.walk_minutes / HALF_WAY_MIN)
    points = (
        FIT * fit + STARS * (steady_stars(place.rating, place.review_count) - 1) / 4 + NEARNESS * nearness
    )
    reasons = [*_wish_by_wish(wanted, chances, voices.keys(), lexicon)]
    if place.rating is not None:
        reasons.append(f"rated {place.rating:.1f} of 5 by {place.review_count}")
    if place.price_level is not None:
        reasons.append(f"price level {place.price_level} of 4")
    text = "; ".join([*reasons, f"{walk_in_words(place.walk_minutes)} on foot"])
    return Rating(rating=round(points, 1), explanation=f"{capitalize(text)}.")


def _wanted_attributes(background: str, intention: str, lexicon: Lexicon) -> dict[str, Mention]:
    """Return the wishes by attribute; those of the intention override those of the background."""
    return wishes(background, lexicon) | wishes(intention, lexicon, loosely=True)


def _wish_by_wish(
    wanted: Mapping[str, Mention],
    chances: Mapping[str, float],
    spoken_of: Collection[str],
    lexicon: Lexicon,
) -> Iterator[str]:
    """Yield reasons on the wished attributes: met, missed, disputed, or not spoken of by reviews."""
    says = {name: lexicon.attributes[name] for name in wanted}
    met = [attribute_words(says[name], one.holds) for name, one in wanted.items() if chances[name] > 0.5]
    missed = [
        attribute_words(says[name], not one.holds) for name, one in wanted.items() if chances[name] < 0.5
    ]
    unknown = [
        attribute_words(says[name], one.holds) for name, one in wanted.items() if name not in spoken_of
    ]
    split = [says[name].say.split for name in wanted if name in spoken_of and chances[name] == 0.5]
    if met:
        yield f"visitors find it {', '.join(met)}, as wished"
    if missed:
        yield f"visitors find it {', '.join(missed)}, against the wish"
    yield from split
    if unknown:
        yield f"{NOBODY_SAYS} {', '.join(unknown)}"


def steady_stars(stars: float | None, count: int) -> float:
    """Return the mean of `count` ratings, 1 to 5 stars, pulled toward the usual 3.8 the fewer they are."""
    if stars is None:
        return USUAL_STARS
    return (stars * count + USUAL_STARS * USUAL_COUNT) / (count + USUAL_COUNT)
