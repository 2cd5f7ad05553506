"""The client of an agent: the section `client:` of a character file, and what several routines ask of it.

That is the longest walk that their words allow, and a rating of how well something suits them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, Field, ValidationInfo
from text_to_num import alpha2digit

from virl.agent.character import MOST_WORDING, Character, CharacterField, Point
from virl.mind.lexicon import check_english, words_of
from virl.mind.replies import Reply
from virl.pages.numbers import count_noun
from virl.settings.model import Settings

METRES_A_MINUTE = 80.0  # a usual walk, rounded (chosen)

_BLOCK_M = 100.0  # chosen: between the short and the long side of a block
_LOOSE = {
    "a couple of": 2.0,
    "a few": 4.0,
    "half an": 0.5,
    "half a": 0.5,
    "quarter of an": 0.25,
    "an": 1.0,
    "a": 1.0,
}
_NUMBER = rf"(?P<number>\d+(?:\.\d+)?|{'|'.join(_LOOSE)})"
_METRES = {
    r"(?<=[\d ])(?<!a )m|met(?:re|er)s?": 1.0,
    "km|kilomet(?:re|er)s?": 1000.0,
    "miles?": 1609.344,
    "yards?": 0.9144,
    r"(?:city )?blocks?(?! of\b)": _BLOCK_M,
}
_DISTANCES = tuple(
    (re.compile(rf"\b{_NUMBER} ?(?:{unit})\b"), metres / METRES_A_MINUTE) for unit, metres in _METRES.items()
)
_TIMES = (
    (re.compile(rf"\b{_NUMBER} (?:min|mins|minute|minutes|minute's|minutes')\b"), 1.0),
    (re.compile(rf"\b{_NUMBER} (?:hour|hours|hour's|hours')\b"), 60.0),
)
_WALKING = re.compile(
    r"\b(?:walk\w*|foot|feet|legs?|stroll\w*|hike|trek|hop|away|far|farther|further|distance|reach\w*|"
    r"from here|from me|nearby|close by|within|radius|get there|go|going|steps?|door|beyond|most|max|maximum|"
    r"limit|no more|no longer|not more|not over|under|less than)\b"
)
_STAYING = re.compile(
    r"\b(?:break|train|bus|meeting|appointment|to spare|free|before|until|back|wait\w*|queue\w*|late|early|"
    r"ago|stay\w*|sit|rest|for (?:an? |the )?(?:breakfast|lunch|dinner|coffee|drink|meal|snack))\b"
)
_LIMIT = re.compile(
    r"(?:\b(?:no|not) (?:more|longer|farther|further) than "
    r"|\b(?:at most|up to|within|less than|under|over|max|maximum) ){0,2}"
    r"(?<![\w.])(?:about |around )?(?!(?:least|than|beyond)\b)[\w.]+(?: [\w.]+)? "
    r"(?:min|mins|minutes?'?|minute's|hours?'?|m|met(?:re|er)s?|km|miles?|yards?|blocks?)\b"
    r"(?: (?:walk|walking|on foot|away|from here|from me|by foot|of here))*"
)
_SENTENCE = re.compile(r"[.!?;]\s+|[.!?;]$|\n|, (?:and|but|so|though) ")


class Client(Settings):
    """The person for whom an agent works, whose wishes count instead of the agent's own."""

    name: str = Field(min_length=1)
    age: int | None = Field(default=None, ge=0, le=150)
    background: str
    intention: str = Field(min_length=1, max_length=MOST_WORDING)
    """The client's wish, in their own words."""
    where: str | Point | None = None
    """Address or position of the client; `None` for the agent's start."""

    @property
    def texts(self) -> dict[str, Any]:
        """Name, background and intention, by these names, as inputs of prompts."""
        return self.model_dump(include=set(ClientTexts.model_fields))


class ClientTexts(BaseModel):
    """The client's name, background and intention in a prompt's inputs, as rules read them."""

    name: str
    background: str
    intention: str

    @property
    def words(self) -> str:
        """Background and intention, joined by a line break."""
        return f"{self.background}\n{self.intention}"


CLIENT: CharacterField[Client | None] = CharacterField(
    "client", Client | None, None, "For whom the character works, if not for themself."
)


def client_of(character: Character) -> Client:
    """Return the person for whom a character works: its client, else the character itself."""
    return CLIENT.of(character) or Client.model_validate(
        character.model_dump(include={"name", "age", "background", "intention"})
    )


def check_language(character: Character) -> None:
    """Raise `MindFailed` unless most letters of the client's intention are English ones."""
    client = client_of(character)
    check_english(client.intention, f"the intention of {client.name}")


class Rating(Reply):
    """A rating of how well something suits a client."""

    rating: float = Field(ge=0, le=10, description="0: not at all, 10: as if made for them.")
    explanation: str = Field(description="Why, in at most 50 words that name the facts used.")


def check_offered(place_types: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Return place types unchanged; raise `ValueError` if the prompt did not offer one of them.

    Raises:
        ValueError: one is not.
    """
    known = (info.context or {}).get("place_types")
    unknown = [] if known is None else [name for name in place_types if name not in known]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: not among the place types offered")
    return place_types


def walk_minutes(text: str) -> float | None:
    """Return the shortest limit on a walk in a text, in minutes; `None` without a limit.

    A distance counts wherever it is named; a time only where its clause speaks of walking or of a limit, and
    not of a train or a break.
    """
    found: list[float] = []
    for part in _SENTENCE.split(text.lower()):
        words = alpha2digit(words_of(part), "en", 0)
        found += _minutes_in(words, _DISTANCES)
        if _WALKING.search(words) and not _STAYING.search(words):
            found += _minutes_in(words, _TIMES)
    return min((minutes for minutes in found if minutes > 0), default=None)


def walks_in(text: str) -> Iterator[str]:
    """Yield the phrases on time or distance in a text; none where `walk_minutes` finds no limit."""
    if walk_minutes(text) is not None:
        yield from (found[0] for found in _LIMIT.finditer(words_of(text)))


def walk_in_words(minutes: float) -> str:
    """Return minutes, rounded to at least 1, as text such as "1 minute" or "12 minutes"."""
    return count_noun(max(1, round(minutes)), "minute")


def _minutes_in(words: str, units: Iterable[tuple[re.Pattern[str], float]]) -> Iterator[float]:
    """Yield the minutes of every quantity in a text; `units` pairs patterns with minutes per unit."""
    for pattern, minutes in units:
        for match in pattern.finditer(words):
            number = match["number"]
            yield minutes * (_LOOSE[number] if number in _LOOSE else float(number))
