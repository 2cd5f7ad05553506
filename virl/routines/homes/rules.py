"""The rules for a home, and their replies: which places should be near it, and how well it suits."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from virl.mind.lexicon import Lexicon, found_in, phrase_pattern, stretches_in
from virl.mind.replies import Reply, name_list, number_range
from virl.mind.sentences import asked_for
from virl.pages.numbers import count_noun
from virl.plain_text import capitalize
from virl.routines.client import ClientTexts, check_offered, walk_in_words

MUST, WANTED, NICE = 3, 2, 1
MOST_WANTS = 10
LISTED = 8  # most words of a member of a list (chosen)
FADING_MIN = 8.0  # minutes of a walk after which nearness is worth a third (chosen)
PRICE_WEIGHT, THRIFTY_WEIGHT = 1.0, 3.0  # a must weighs 3 (chosen)
SIZE_WEIGHT, ROOMS_WEIGHT, AGE_WEIGHT = 2.0, 2.0, 2.0
SMALL_M2, LARGE_M2 = 25.0, 120.0  # a small studio, a family's home (chosen)
OLD_YEAR, NEW_YEAR = 1900, 2020
UNKNOWN = 0.5  # what a fact that nobody knows is worth (chosen: neither good nor bad)

_ROOMS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "single": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
}
_BEDROOMS = re.compile(
    rf"\b(\d|{'|'.join(_ROOMS)}) (?:\w+ )?"
    r"(?:bed ?rooms?|bed|sleeping rooms?|rooms? (?:to sleep in|for sleeping))\b"
)
_CLAUSE_END = re.compile(r" , |\b(?:but|while|whereas|though|although|whilst)\b")
_VERB = re.compile(
    r"\b(?:want|like|love|look|wish|hope|prefer)\w*|\b(?:is|are|be|has|have|should|would|there)\b"
)
_REFUSAL = re.compile(r"\b(?:not|no|never|forget|useless|pointless|\w+n't)\b")
_MOST_RENT = re.compile(
    r"\b(?:for )?(?:at most|up to|no more than|not more than|not over|under|below|less than|at the most) "
    r"(?P<usd>\d{1,3}(?: , \d{3})+|\d{3,})\b(?! (?:m|met|km|min|sq|feet|foot|ft|yards?|miles?|steps))"
    r"(?: (?:usd|dollars?|bucks))?(?: (?:a|per) month)?"
)
_STUDIO = re.compile(r"\bstudio\b")


class HomeRating(Reply):
    """A rating of how well one of several homes suits a client."""

    home: int = Field(ge=0, description="The number of the home, as given with it.")
    rating: float = Field(ge=0, le=10, description="0: not at all, 10: as if made for them.")
    explanation: str = Field(description="Why, in at most 50 words that name the facts used.")


class HomeRatings(Reply):
    """The ratings of how well several homes suit a client."""

    ratings: tuple[HomeRating, ...] = Field(
        description="Every home once, in the order in which they were given."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the allowed values of reply fields, by field path, for the inputs of a prompt."""
        return {"ratings.home": number_range(inputs, "homes")}

    @field_validator("ratings")
    @classmethod
    def _are_all_there(cls, ratings: tuple[HomeRating, ...], info: ValidationInfo) -> tuple[HomeRating, ...]:
        """Return ratings in the order of the homes; raise `ValueError` unless each has one."""
        homes = (info.context or {}).get("homes")
        if isinstance(homes, list | tuple) and sorted(one.home for one in ratings) != [*range(len(homes))]:
            raise ValueError(f"rate each of the homes 0 to {len(homes) - 1} once")
        return tuple(sorted(ratings, key=lambda one: one.home))


class HomeWant(Reply):
    """A sort of place that a client wants near their home, or far from it."""

    place_type: str = Field(description="One of the place types offered, spelt the same.")
    importance: int = Field(ge=1, le=3, description="1: nice to have, 2: wanted, 3: a must.")
    near: bool = Field(description="True if it should be near, false if it should be far away.")


class HomeWants(Reply):
    """The sorts of places that matter to a client who looks for a home."""

    wants: tuple[HomeWant, ...] = Field(max_length=10, description="Each place type once; may be empty.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the allowed values of reply fields, by field path, for the inputs of a prompt."""
        return {"wants.place_type": name_list(inputs, "place_types")}

    @field_validator("wants")
    @classmethod
    def _are_offered(cls, wants: tuple[HomeWant, ...], info: ValidationInfo) -> tuple[HomeWant, ...]:
        """Return wants unchanged; raise `ValueError` if a type was not offered or appears twice."""
        names = check_offered(tuple(want.place_type for want in wants), info)
        if len(set(names)) < len(names):
            raise ValueError("a place type stands twice")
        return wants


class WantsQuestion(ClientTexts):
    """Inputs of the prompt `homes/wants`, as its rule reads them."""

    place_types: tuple[str, ...]


class HomeFacts(BaseModel):
    """Known facts of a home in a prompt's inputs, as rules read them; `None` for unknown ones."""

    rent: float
    """Rent in US dollars a month."""
    area_m2: float | None
    bedrooms: int | None
    year_built: int | None


class NearFacts(BaseModel):
    """The nearest place of a type to a home in a prompt's inputs, as rules read it."""

    place_type: str
    name: str
    walk_minutes: float | None
    count: int


class HomeAndAround(BaseModel):
    """A home and the places near it in a prompt's inputs, as rules read them."""

    home: HomeFacts
    nearby: tuple[NearFacts, ...]


class HomesQuestion(ClientTexts):
    """Inputs of the prompt `homes/rating`, as its rule reads them."""

    price: tuple[float, float]
    """Lowest and highest rent that the client pays, in US dollars a month."""
    wants: tuple[HomeWant, ...]
    homes: tuple[HomeAndAround, ...]


@dataclass(frozen=True, slots=True)
class _Criterion:
    """A criterion of a rating: its weight, how well it is met in [0, 1], and the fact in words."""

    weight: float
    worth: float
    fact: str


def list_wants(question: WantsQuestion, lexicon: Lexicon) -> HomeWants:
    """Return the place types that the client's words name, each with the importance of its clause."""
    wants: dict[str, HomeWant] = {}
    # "can't do without" and "in no time" hold words of distance, and do not say that something be far off.
    not_away = phrase_pattern(lexicon.homes.not_away)
    for clause, importance in _weighty_clauses(question, lexicon):
        words = phrase_pattern(lexicon.homes.inside).sub(" ", clause)
        for place_type in question.place_types:
            if _names_found(place_type, words, lexicon):
                wants[place_type] = HomeWant(
                    place_type=place_type,
                    importance=importance,
                    near=not found_in(not_away.sub(" ", clause), lexicon.homes.away),
                )
    return HomeWants(wants=tuple(wants.values())[:MOST_WANTS])


def words_of_wants(intention: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words of a client's wish on which `list_wants`, `rate_homes` and `highest_rent` act."""
    homes = lexicon.homes
    qualities = (*homes.thrifty, *homes.spacious, *homes.modern, *homes.old, *homes.unmeant)
    weights = (*homes.must, *homes.nice, *homes.careless, *homes.away, *homes.not_away)
    for sentence in lexicon.sentences(asked_for(intention)):
        names = [
            name for place_type in lexicon.near_home for name in _names_found(place_type, sentence, lexicon)
        ]
        yield from names
        for word in stretches_in(sentence, qualities):
            if not any(f" {name}" in word or f"{word} {name}" in sentence for name in names):
                yield word  # a big park makes no big home
        yield from found_in(sentence, (*weights, *homes.not_modern, *homes.not_old))
        for rooms in (_BEDROOMS, _STUDIO, _MOST_RENT):
            yield from (found[0] for found in rooms.finditer(sentence))


def highest_rent(intention: str, lexicon: Lexicon) -> float | None:
    """Return the highest rent that a wish allows, in US dollars a month; `None` without a limit."""
    found = (
        one for sentence in lexicon.sentences(asked_for(intention)) for one in _MOST_RENT.finditer(sentence)
    )
    return min((float(one["usd"].replace(" , ", "")) for one in found), default=None)


def rate_homes(question: HomesQuestion, lexicon: Lexicon) -> HomeRatings:
    """Return a rating, 0 to 10, of each home, independent of the others."""
    return HomeRatings(ratings=tuple(_rate_home(question, at, lexicon) for at in range(len(question.homes))))


def _rate_home(question: HomesQuestion, number: int, lexicon: Lexicon) -> HomeRating:
    """Return the rating of the home with a number, from 0: the weighted mean of its criteria, times ten."""
    points, asked = [], question.homes[number]
    near = {place.place_type: place for place in asked.nearby}
    for want in question.wants:
        place = near.get(want.place_type)
        kind = want.place_type.replace("_", " ")
        if place is None or place.walk_minutes is None:
            points.append(_Criterion(want.importance, float(not want.near), f"no {kind} within reach"))
            continue
        closeness = exp(-place.walk_minutes / FADING_MIN)
        fact = f"{kind} in {walk_in_words(place.walk_minutes)}"
        points.append(_Criterion(want.importance, closeness if want.near else 1 - closeness, fact))
    points += _home_points(question, asked.home, lexicon)
    total = sum(point.weight for point in points)
    rating = 10 * sum(point.weight * point.worth for point in points) / total
    # The explanation names the facts that moved the rating most.
    telling = sorted(points, key=lambda point: -point.weight * abs(point.worth - UNKNOWN))
    text = "; ".join(point.fact for point in telling[:5])
    return HomeRating(home=number, rating=round(rating, 1), explanation=f"{capitalize(text)}.")


def _home_points(question: HomesQuestion, home: HomeFacts, lexicon: Lexicon) -> Iterator[_Criterion]:
    """Yield a criterion for a home's rent, and one for each of the client's wishes on size, rooms and age."""
    homes = lexicon.homes
    told = " ".join(lexicon.sentences(asked_for(question.intention)))
    words = phrase_pattern(homes.unmeant).sub(" ", told)
    low, high = question.price
    if not found_in(words, homes.careless):
        weight = THRIFTY_WEIGHT if found_in(words, homes.thrifty) else PRICE_WEIGHT
        worth = _share_of_span(home.rent, high, low)
        yield _Criterion(weight, worth, f"{home.rent:.0f} of {high:.0f} dollars")
    if found_in(words, homes.spacious):
        size = "unknown size" if home.area_m2 is None else f"{home.area_m2:.0f} square metres"
        yield _Criterion(SIZE_WEIGHT, _share_of_span(home.area_m2, SMALL_M2, LARGE_M2), size)
    listed = _BEDROOMS.search(words)
    if listed or _STUDIO.search(words):
        rooms = int(_ROOMS.get(listed[1], 0) or listed[1]) if listed else 0
        worth = UNKNOWN if home.bedrooms is None else max(0.0, 1 - abs(home.bedrooms - rooms) / 2)
        wanted = "as wanted" if home.bedrooms == rooms else f"{bedrooms_in_words(rooms)} wanted"
        yield _Criterion(ROOMS_WEIGHT, worth, f"{bedrooms_in_words(home.bedrooms)}, {wanted}")
    newness = _share_of_span(home.year_built, OLD_YEAR, NEW_YEAR)
    built = f"built in {home.year_built or 'nobody knows when'}"
    if _wishes(words, homes.modern, homes.not_modern, homes.not_old):
        yield _Criterion(AGE_WEIGHT, newness, built)
    elif _wishes(words, homes.old, homes.not_old, homes.not_modern):
        yield _Criterion(AGE_WEIGHT, 1 - newness, built)


def _wishes(words: str, wish: tuple[str, ...], denied: tuple[str, ...], contrary: tuple[str, ...]) -> bool:
    """Return whether words hold a phrase of `wish` outside those of `denied`, or a phrase of `contrary`."""
    return bool(found_in(phrase_pattern(denied).sub(" ", words), wish) or found_in(words, contrary))


def _weighty_clauses(question: WantsQuestion, lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    """Yield (clause, importance from 1 to 3) for each clause of a client's wish.

    A few words without a verb and a verdict of their own are members of a list: they share the verdict of
    the clause before them in the sentence, or else after them. Other clauses share that of one that names no
    place, as "though it is not vital" does.
    """
    for sentence in lexicon.sentences(asked_for(question.intention)):
        clauses = [part.strip() for part in _CLAUSE_END.split(sentence) if part.strip()]
        told = [
            NICE
            if found_in(clause, lexicon.homes.nice)
            else MUST
            if found_in(clause, lexicon.homes.must)
            else None
            for clause in clauses
        ]
        names = [any(_names_found(kind, one, lexicon) for kind in question.place_types) for one in clauses]
        for index, clause in enumerate(clauses):
            others = [*reversed(range(index)), *range(index + 1, len(clauses))]
            listed = len(clause.split()) <= LISTED and not _VERB.search(clause)
            shared = next((told[one] for one in others if told[one] and (listed or not names[one])), None)
            missing = clause.startswith("without ") and any(_REFUSAL.search(clauses[one]) for one in others)
            yield clause.removeprefix("without ") if missing else clause, told[index] or shared or WANTED


def _names_found(place_type: str, words: str, lexicon: Lexicon) -> list[str]:
    """Return the names of a place type that occur in words; empty if it is not named."""
    plain = place_type.replace("_", " ")
    plural = f"{plain[:-1]}ies" if plain.endswith("y") else f"{plain}s"
    return found_in(words, (plain, plural, *lexicon.near_home.get(place_type, ())))


def _share_of_span(value: float | None, worst: float, best: float) -> float:
    """Return how good a value is, from 0 at `worst` to 1 at `best` and beyond; `UNKNOWN` for `None`."""
    if value is None:
        return UNKNOWN
    return min(1.0, max(0.0, (value - worst) / (best - worst))) if best != worst else 1.0


def bedrooms_in_words(count: int | None) -> str:
    """Return a number of bedrooms as text, such as "2 bedrooms"; 0 is a studio, `None` unknown."""
    if count is None:
        return "bedrooms unknown"
    return count_noun(count, "bedroom") if count else "studio"
