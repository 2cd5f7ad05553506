"""The rules for giving directions: where to, which of several places, and the words; with their replies."""

import re
from collections.abc import Mapping, Sequence
from random import Random

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from virl.agent.character import Character
from virl.errors import MindFailed
from virl.mind.lexicon import Lexicon, words_of
from virl.mind.replies import Reply, number_range
from virl.mind.understanding import Reading
from virl.mind.wishes import words_for_kinds
from virl.plain_text import capitalize
from virl.platform.city.locate import begins_with_house
from virl.platform.city.names import spelt
from virl.routines.explore.rules import TypeQuestion, choose_place_type

MAX_DIRECTIONS = 2000
"""Most characters of written directions. Chosen: about two minutes of talking."""

_NUMBER = (
    r"(?:\d+(?:[.,]\d+)?|(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
    r"(?:a|one|two|three|four|five|six) hundred)(?:[ -]\w+)?)"
)
_UNIT = r"(?:m|meters?|metres?|km|kilomet(?:er|re)s?|ft|feet|foot|yards?|yd|miles?|mi)"
_MEASURES = (
    (re.compile(r"[°º]|\bdegrees?\b", re.IGNORECASE), "degrees"),
    (re.compile(rf"\b{_NUMBER}[ -]?{_UNIT}\b", re.IGNORECASE), "a distance"),
    (
        re.compile(rf"\b{_NUMBER}[ -]?(?:min|minutes?|seconds?|steps?|paces?)\b", re.IGNORECASE),
        "a count of time or steps",
    ),
    (re.compile(r"-?\d{1,3}\.\d{3,}"), "coordinates"),
)
NEAR_M = 400.0
"""Metres of a walk that count against a place like one star of rating less. Chosen."""
UNRATED = 3.0
"""Stars assumed for a place without ratings. Chosen: a little below the usual."""

_SMALL_WORDS = re.compile(
    r"(?:an?|and|at|by|de|de[lmrs]|di|du|el|i[mn]|l[aeo]s?|o[fn]|the|to|und|van|von|y|zu[mr]?)", re.IGNORECASE
)
"""Pattern of words that stay in lower case within a name, such as "of" or "the"."""
_NTH = ("next", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_WHERE = {
    "front": "straight ahead",
    "front left": "ahead on your left",
    "front right": "ahead on your right",
    "left": "on your left",
    "right": "on your right",
    "rear left": "behind you on your left",
    "rear right": "behind you on your right",
    "rear": "behind you",
}
_TURN = {
    "left": ("turn left", "take the street on the left", "go left"),
    "right": ("turn right", "take the street on the right", "go right"),
    "front left": ("bear left",),
    "front right": ("bear right",),
    "rear left": ("take the sharp left",),
    "rear right": ("take the sharp right",),
    "rear": ("turn around",),
    "front": ("keep straight on",),
}
_SET_OFF = {
    "front": ("Walk straight ahead.", "Set off straight ahead, the way you are facing."),
    "rear": ("Turn around and set off.", "Turn around first, and walk that way."),
    "left": ("Turn left and set off.", "To begin with, turn left."),
    "right": ("Turn right and set off.", "To begin with, turn right."),
    "front left": ("Bear left and set off.",),
    "front right": ("Bear right and set off.",),
    "rear left": ("Take the sharp left and set off.",),
    "rear right": ("Take the sharp right and set off.",),
}
_TURN_AT = (
    "At the {nth} crossing{seen}, {turn}.",
    "Walk on to the {nth} crossing{seen}, and {turn}.",
    "When you come to the {nth} crossing{seen}, {turn}.",
)
_TURN_AFTER = (
    "Go straight over {count}, and at the next crossing{seen}, {turn}.",
    "Walk past {count}; at the crossing after that{seen}, {turn}.",
)
_TURN_AT_END = (
    "Walk on until the street ends{seen}, and {turn} there.",
    "Where the street ends{seen}, {turn}.",
)
_PASSING = ("You will pass {name} {where}.", "On the way you pass {name} {where}.")
_LAST_CROSSINGS = ("Go straight over {count}.", "Walk straight over {count}, and keep on.")
_NO_CROSSING = ("Walk on, but not as far as the next crossing.", "It is before the next crossing.")
_END = (
    "Stop when you see {name} {where}: that is your destination.",
    "{name} will be {where}. Stop there.",
    "Your destination, {name}, is {where}. Stop there.",
)
_END_BESIDE = (
    "Stop when you see {beside} {where}: {name} is {there}, and its own name is hard to see.",
    "Look for {beside} {where}, and stop there: {name}, with a name that is hard to see, is {there}.",
)
_END_AT_CROSSING = (
    "Stop at the {nth} crossing: {name} is {where}, and its name is hard to see.",
    "Walk on to the {nth} crossing, and stop there: {name}, with a name that is hard to see, is {where}.",
)
_END_AT_END = (
    "Walk on until the street ends, and stop there: {name} is {where}, and its name is hard to see.",
    "Stop where the street ends: {name}, with a name that is hard to see, is {where}.",
)
_END_PART = (
    "Stop {part} to {next}: {name} is {where}, and its name is hard to see.",
    "Walk on about {part} to {next}, and stop there: {name}, with a name that is hard to see, is {where}.",
)
_PART_OF = {"crossing": "the next crossing", "end": "the end of the street"}
_HERE = ("You are there already: {name} is {where}. Stop here.",)


class PlaceQuery(Reply):
    """The search that answers a question."""

    search: str = Field(
        min_length=1,
        max_length=120,
        description="The name of a place as the visitor wrote it, else one of the kinds, else a word or two.",
    )


class PlacePick(Reply):
    """The one of some places that is meant."""

    index: int = Field(ge=0, description="The index of the place chosen, as given with it.")
    reason: str = Field(description="Why this one, in one sentence.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the allowed values of reply fields, by field path, for the inputs of a prompt."""
        return {"index": number_range(inputs, "places")}

    @field_validator("index")
    @classmethod
    def _is_offered(cls, index: int, info: ValidationInfo) -> int:
        """Return the index unchanged; raise `ValueError` if no place of this index was offered."""
        offered = (info.context or {}).get("places")
        if offered is not None and index >= len(offered):
            raise ValueError(f"{index} is not the number of a place: they run to {len(offered) - 1}")
        return index


class WrittenDirections(Reply):
    """Directions in words."""

    directions: str = Field(
        min_length=1,
        max_length=MAX_DIRECTIONS,
        description="Plain sentences that name the destination; no degrees, distances, times or coordinates.",
    )

    @field_validator("directions")
    @classmethod
    def _could_be_said(cls, directions: str, info: ValidationInfo) -> str:
        """Return directions unchanged; raise `ValueError` for figures, or without the place's name."""
        context = info.context or {}
        names = context.get("names", ())
        names = tuple(map(str, names)) if isinstance(names, list | tuple) else ()
        if fault := unsayable(directions, names):
            raise ValueError(f"the directions give {fault}: say it by crossings and landmarks instead")
        name = context.get("destination")
        if isinstance(name, str) and name.casefold() not in directions.casefold():
            plain = spelt(name)  # the name may be there in another spelling
            if not plain or f" {plain} " not in f" {spelt(directions)} ":
                raise ValueError(f"the directions do not name {name!r}")
        return directions


def unsayable(text: str, names: tuple[str, ...] = ()) -> str | None:
    """Return the kind of measure that a text states outside `names`, such as "a distance"; `None` if none.

    Numbers in the `names` of places, such as `"7 Miles Diner"`, do not count.
    """
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return next((kind for pattern, kind in _MEASURES if pattern.search(text)), None)


class DestinationQuestion(BaseModel):
    """Inputs of the prompt `directions/destination`, as its rule reads them."""

    question: str
    place_types: tuple[str, ...]


class Candidate(BaseModel):
    """A place to which a visitor could be sent, in a prompt's inputs, as rules read it."""

    name: str
    types: tuple[str, ...]
    rating: float | None
    review_count: int
    metres: float


class ChoiceQuestion(BaseModel):
    """Inputs of the prompt `directions/choice`, as its rule reads them."""

    question: str
    background: str
    places: tuple[Candidate, ...]


class LandmarkInView(BaseModel):
    """A landmark in a prompt's inputs: name, and direction in words such as `front left`."""

    name: str
    where: str


class Point(BaseModel):
    """A point of the walk in a prompt's inputs; the fields are those of `Milestone`."""

    kind: str
    turn: str = ""
    crossings: int | None = None
    crossing: bool = False
    ends: bool = False
    where: str = ""
    unseen: bool = False
    part: str = ""
    part_of: str = ""
    landmark: LandmarkInView | None = None
    passed: LandmarkInView | None = None


class DirectionsQuestion(BaseModel):
    """Inputs of the prompt `directions/instructions`, as its rule reads them."""

    destination: str
    names: tuple[str, ...]
    milestones: tuple[Point, ...]


def find_query(question: DestinationQuestion, lexicon: Lexicon) -> PlaceQuery:
    """Return the search for the place type that a question asks for.

    Raises:
        MindFailed: the question has no word of any type.
    """
    asked = TypeQuestion(intention=question.question, place_types=question.place_types)
    return PlaceQuery(search=choose_place_type(asked, lexicon).place_type.replace("_", " "))


def kind_named(text: str, lexicon: Lexicon) -> str:
    """Return the place type that a text names or asks for; empty if it names none."""
    if text in lexicon.kinds:
        return text
    try:
        kind = find_query(DestinationQuestion(question=text, place_types=lexicon.kinds), lexicon).search
    except MindFailed:
        return ""
    return kind if kind in lexicon.kinds else ""


def read_question(to: str, character: Character, lexicon: Lexicon, routine: str) -> Reading | None:
    """Return a question for a place type with its words that rules act on; `None` for a name or address.

    Args:
        to: a name, an address, or a question; empty takes the character's intention as the question.
        character: character who asks.
        lexicon: phrases for place types.
        routine: name of the routine, for the reading.

    Raises:
        MindFailed: the question has no word of any type.
    """
    if to.strip() and is_named(to):
        return None
    text = to.strip() or character.intention
    found = find_query(DestinationQuestion(question=text, place_types=lexicon.kinds), lexicon).search
    used = words_for_kinds(text, [found.replace(" ", "_")], lexicon)
    used = (one for one in used if not one.startswith("avoid"))  # a way past it is not looked for
    return Reading(
        text, tuple(used), (character.name,), routine, ("and back", "every", "each", "all", "both")
    )


def is_named(text: str) -> bool:
    """Return whether a text is a name, address or position: no sentence, no word in small letters."""
    words = [word for word in text.split() if word[:1].isalpha() and not _SMALL_WORDS.fullmatch(word)]
    ends = text.rstrip().endswith((".", "?", "!"))
    return not ends and (begins_with_house(text) or all(not word[0].islower() for word in words))


def pick_place(question: ChoiceQuestion, lexicon: Lexicon) -> PlacePick:
    """Return the place of best rating less distance; one that the background mentions gains a star.

    Raises:
        MindFailed: there is no place.
    """
    del lexicon
    if not question.places:
        raise MindFailed("no place to choose from: ask for a place that exists there")
    known = set(words_of(question.background).split())

    def score(place: Candidate) -> float:
        """Return a place's score: its rating, less its distance, and 1 more if the background mentions it."""
        familiar = known & {word for name in (place.name, *place.types) for word in words_of(name).split()}
        return (place.rating or UNRATED) - place.metres / NEAR_M + bool(familiar)

    best = max(range(len(question.places)), key=lambda index: (score(question.places[index]), -index))
    place = question.places[best]
    rated = "that nobody has rated" if place.rating is None else f"rated {place.rating:g}"
    return PlacePick(index=best, reason=f"{place.name}, {rated}, is the best for so short a walk.")


def write_directions(question: DirectionsQuestion, lexicon: Lexicon) -> WrittenDirections:
    """Return directions filled into templates, varied between walks but equal for equal walks."""
    del lexicon
    rng = Random("\n".join((question.destination, *question.names)))
    end = question.milestones[-1]
    if len(question.milestones) == 1:
        sentences = [_fill(rng, _HERE, name=_quote(question.destination), where=_WHERE[end.where])]
    else:
        sentences = [
            sentence
            for point in question.milestones
            for sentence in _sentences_about(point, question.destination, rng)
        ]
    text = " ".join(capitalize(sentence) for sentence in sentences)
    return WrittenDirections.model_validate({"directions": text}, context={"names": question.names})


def _sentences_about(point: Point, destination: str, rng: Random) -> list[str]:
    """Return the sentences on one point of the walk, in order."""
    passing = []
    if point.passed:
        words = {"name": _quote(point.passed.name), "where": _WHERE[point.passed.where]}
        passing = [_fill(rng, _PASSING, **words)]
    match point.kind:
        case "start":
            return [rng.choice(_SET_OFF[point.turn])]
        case "turn":
            return [*passing, _turn_sentence(point, rng)]
        case _:
            return [*_last_stretch(point, rng), *passing, _end_sentence(point, destination, rng)]


def _turn_sentence(point: Point, rng: Random) -> str:
    """Return the sentence on a turn: its crossing, its landmark, and where to turn."""
    seen = f", with {_quote(point.landmark.name)} {_WHERE[point.landmark.where]}" if point.landmark else ""
    words = {"turn": rng.choice(_TURN[point.turn]), "seen": seen}
    if point.ends and point.crossings in (None, 1):
        return _fill(rng, _TURN_AT_END, **words)
    number = point.crossings or 1
    if 1 < number < len(_COUNTS) and rng.random() < 0.4:  # chosen
        return _fill(rng, _TURN_AFTER, count=_crossings_in_words(number - 1), **words)
    return _fill(rng, _TURN_AT, nth=_ordinal(number), **words)


def _last_stretch(point: Point, rng: Random) -> list[str]:
    """Return one sentence on the crossings before the destination, or an empty list."""
    cue = _stop_cue(point)
    if point.crossings is None or cue == "crossing":
        return []
    passed = point.crossings - (cue == "end" and point.crossing)
    if passed:
        return [_fill(rng, _LAST_CROSSINGS, count=_crossings_in_words(passed))]
    return [] if cue in ("end", "part") else [_fill(rng, _NO_CROSSING)]


def _stop_cue(point: Point) -> str:
    """Return the cue to stop: if no name can be read, `end`, `crossing` or `part` of a block; else `name`."""
    cues = {"end": point.ends, "crossing": point.crossing, "part": bool(point.part)} if point.unseen else {}
    return next((cue for cue, is_there in cues.items() if is_there), "name")


def _end_sentence(point: Point, destination: str, rng: Random) -> str:
    """Return the sentence on where to stop, and where the destination is then."""
    words = {"name": _quote(destination), "where": _WHERE[point.where]}
    match _stop_cue(point):
        case "end":
            return _fill(rng, _END_AT_END, **words)
        case "crossing":
            return _fill(rng, _END_AT_CROSSING, nth=_ordinal(point.crossings or 1), **words)
        case "part":
            return _fill(rng, _END_PART, part=point.part, next=_PART_OF[point.part_of], **words)
    if point.landmark:
        landmark = {"beside": _quote(point.landmark.name), "where": _WHERE[point.landmark.where]}
        return _fill(rng, _END_BESIDE, name=words["name"], there=words["where"], **landmark)
    return _fill(rng, _END, **words)


def _ordinal(number: int) -> str:
    """Return an ordinal in words; from 11 on, in digits."""
    if number <= len(_NTH):
        return _NTH[number - 1]
    teens = 10 < number % 100 < 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _crossings_in_words(count: int) -> str:
    """Return a number of crossings as text, such as "two crossings"."""
    number = _COUNTS[count] if count < len(_COUNTS) else str(count)
    return f"{number} crossing{'' if count == 1 else 's'}"


def _quote(name: str) -> str:
    """Return a name in quotation marks."""
    return f'"{name}"'


def _fill(rng: Random, templates: Sequence[str], **words: str) -> str:
    """Return one of some templates, chosen at random, with its fields filled in."""
    return rng.choice(templates).format(**words)
