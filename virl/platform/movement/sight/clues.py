"""What signs tell of a city beside their places: streets, house numbers and their run, kinds that cluster."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from virl import resources
from virl.geo import LatLng, bearing, compass_word, distance
from virl.platform.movement.sight.looking import KnownSign
from virl.platform.movement.sight.rules import QUOTED
from virl.platform.streetview import Panorama
from virl.settings.model import Settings, load_settings

MOST_TOLD = 8
"""Signs, streets and numbers told of at most, each, the latest first. Chosen: a question stays within 2,000
tokens."""
MOST_LETTERS = 40
MOST_WORDS = 4  # of a plate: more are a sentence; chosen
TELLING_M = 25.0
"""Metres that the lowest and the highest number are apart before they tell a direction. Chosen."""

_NUMBER = re.compile(r"(\d{1,4})\s?[A-Da-d]?")
_SPAN = re.compile(r"\b(\d{1,4})\s?[-\u2013]\s?(\d{1,4})\b")
_TOLD_NUMBER = re.compile(r"(?<![\d:.])\d{1,4}(?![\d:.]\d)\b")


class StreetWords(Settings):
    """`platform/rules/street_words.yaml`: how names of streets are known."""

    before: frozenset[str]
    """Words before a name, such as `rue`."""
    after: frozenset[str]
    """Words after one, such as `street`."""
    endings: tuple[str, ...]
    """What a name ends in, such as `straße`."""
    centre: frozenset[str]
    """What signposts call the middle of a town."""


@dataclass(frozen=True, slots=True)
class Clue:
    """Words of a sign, and where they were read."""

    text: str
    kinds: tuple[str, ...]
    position: LatLng
    """Of the walker."""
    height: float
    """Of the letters, pixels: of two readings, the larger one is from nearer."""


class Clues:
    """Signs that a walker has read, and where."""

    def __init__(self) -> None:
        self._read: dict[str, Clue] = {}

    def read(self, panorama: Panorama, signs: Iterable[KnownSign]) -> None:
        """Write down the signs that were read at a panorama."""
        for one in signs:
            key, height = one.sign.text.casefold(), one.sign.box[3] - one.sign.box[1]
            known = self._read.pop(key, None)  # what was read last stands last
            if known and known.height >= height:
                self._read[key] = known
            else:
                self._read[key] = Clue(one.sign.text, one.kinds, panorama.position, height)

    @property
    def latest(self) -> Sequence[Clue]:
        """All clues, the one read last first."""
        return list(reversed(self._read.values()))

    def in_words(self, here: LatLng) -> list[str]:
        """Lines on places, streets, house numbers and kinds; none of what was not read.

        Args:
            here: where the walker stands.
        """
        streets = [one for one in self.latest if _is_plate(one)]
        numbers = [one for one in self.latest if _number(one.text) is not None]
        others = [one for one in self.latest if one not in streets and one not in numbers]
        lines = []
        if others:
            lines.append("Signs read: " + _told(others, here))
        if streets:
            lines.append("Streets by their signs: " + _told(streets, here))
        if numbers:
            lines.append("House numbers: " + _told(numbers, here) + _run(numbers))
        if kinds := _clusters(others, here):
            lines.append("Kinds of place seen more than once: " + kinds)
        return lines


def names_of_streets(text: str) -> tuple[str, ...]:
    """The names of streets in a text of a few words or a task, in lower case.

    A name is a word with a street's ending, a word before `street` and the like, or a word that begins with a
    capital after `rue` and the like.
    """
    known = load_street_words()
    written = [word.strip(".,;:!?\"'\u201c\u201d()") for word in text.split()]
    words = [word.casefold() for word in written]
    found = []
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        is_name = word.isalpha() and written[index][0].isupper()
        if (word in known.after and before.isalpha()) or (before in known.before and is_name):
            found.append(f"{before} {word}")
        elif any(word.endswith(ending) and len(word) > len(ending) + 1 for ending in known.endings):
            found.append(word)
    return tuple(dict.fromkeys(found))


def leads_to_centre(signs: Iterable[KnownSign]) -> bool:
    """Whether one of the signs is a signpost to the middle of the town."""
    known = load_street_words().centre
    return any(one.points_to is not None and one.points_to.name.casefold() in known for one in signs)


@dataclass(frozen=True, slots=True)
class ToldAddress:
    """The streets that a task names, and the house number."""

    streets: frozenset[str]
    number: int | None

    def seen_on(self, signs: Sequence[KnownSign]) -> KnownSign | None:
        """The largest sign that names one of the streets; `None` if none does."""
        own = [one for one in signs if self.streets.intersection(names_of_streets(one.sign.text))]
        return max(own, key=lambda one: one.sign.box[3] - one.sign.box[1], default=None)

    def numbers_away(self, sign: KnownSign) -> int | None:
        """How far the house number is from the numbers on a plate; `None` if either is not known."""
        span = _SPAN.search(sign.sign.text)
        if span is None or self.number is None:
            return None
        low, high = sorted((int(span[1]), int(span[2])))
        return max(low - self.number, self.number - high, 0)


def told_address(task: str) -> ToldAddress:
    """The address in a task; where there is none, the streets in the name that it tells."""
    beside = QUOTED.sub(" ", task)
    number = _TOLD_NUMBER.search(beside) if names_of_streets(beside) else None
    streets = names_of_streets(beside) or names_of_streets(task)
    return ToldAddress(frozenset(streets), int(number[0]) if number else None)


@cache
def load_street_words() -> StreetWords:
    """The words that come with virl.

    Raises:
        BadInput: the file is broken; names file, line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "street_words.yaml", StreetWords)


def _is_plate(one: Clue) -> bool:
    return not one.kinds and len(one.text.split()) <= MOST_WORDS and bool(names_of_streets(one.text))


def _number(text: str) -> int | None:
    found = _NUMBER.fullmatch(text.strip())
    return int(found[1]) if found else None


def _told(clues: Iterable[Clue], here: LatLng) -> str:
    return "; ".join(
        f"{one.text[:MOST_LETTERS]!r}{_kind(one)} {_where(one.position, here)}"
        for one in islice(clues, MOST_TOLD)
    )


def _kind(one: Clue) -> str:
    return f" ({one.kinds[0].replace('_', ' ')})" if one.kinds else ""


def _where(position: LatLng, here: LatLng) -> str:
    away = distance(here, position)
    return "here" if away < 1 else f"{away:.0f} m {compass_word(bearing(here, position))}"


def _run(numbers: Sequence[Clue]) -> str:
    """Which way house numbers rise; empty if those read tell nothing."""
    low, high = (pick(numbers, key=lambda one: _number(one.text) or 0) for pick in (min, max))
    if low.text == high.text or distance(low.position, high.position) < TELLING_M:
        return ""
    return f"; they rise towards the {compass_word(bearing(low.position, high.position))}"


def _clusters(clues: Sequence[Clue], here: LatLng) -> str:
    """The kinds that were seen more than once, and where their middle is."""
    counted = Counter(one.kinds[0] for one in clues if one.kinds)
    told = []
    for kind, count in counted.most_common(3):
        if count > 1:
            own = [one.position for one in clues if one.kinds and one.kinds[0] == kind]
            middle = LatLng(sum(at.lat for at in own) / count, sum(at.lng for at in own) / count)
            told.append(f"{count} of {kind.replace('_', ' ')}, around {_where(middle, here)}")
    return "; ".join(told)
