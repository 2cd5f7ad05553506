"""What signs tell of a city beside their places: streets, house numbers, neighbours, kinds that cluster."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from math import radians, tan

from virl import resources
from virl.geo.globe import LatLng, bearing, compass_word, destination, distance, signed_turn
from virl.platform.city.place_types import types_marked
from virl.platform.city.streetview import Panorama
from virl.platform.navigators.sight.goal import SightGoal
from virl.platform.navigators.sight.looking import KnownSign
from virl.platform.navigators.sight.rules import QUOTED
from virl.platform.perception.fronts import WALL_M
from virl.settings.model import Settings, load_settings

MOST_TOLD = 8
"""Most signs, most streets and most house numbers that a question tells, the latest first.
Chosen: a question stays within 2,000 tokens."""
MOST_LETTERS = 40
"""Largest number of letters of a sign that are quoted."""
MOST_WORDS = 4  # of a plate: more are a sentence; chosen
"""Largest number of words of a street's name plate."""
TELLING_M = 25.0
"""Least distance in metres between the lowest and highest house number to tell where they rise. Chosen."""
_NUMBER = re.compile(r"(\d{1,4})\s?[A-Da-d]?")
_SPAN = re.compile(r"\b(\d{1,4})\s?[-\u2013]\s?(\d{1,4})\b")
_TOLD_NUMBER = re.compile(r"(?<![\d:.])\d{1,4}(?![\d:.]\d)\b")

_SIDE_DEG = 25.0
"""Least angle in degrees between a street and a shop front at its side. Chosen.
Of a front farther down, a small error of the heading is a large one of the distance."""
_LEAST_DEG = 12.0
"""Least angle in degrees by which a wall is taken aside of its street. Chosen: it is at most 36 m away."""
_BESIDE_M = 14.0
"""Largest distance in metres between the signs of neighbours. Chosen: a shop front is 6 to 12 m wide."""
_STILL_M = 20.0
"""Largest distance in metres to a place that counts as seen from here. Chosen: as far as signs are read."""
_LAST_READ = 60
"""Largest number of shop fronts remembered, the latest ones. Chosen: those of the last few panoramas."""


class StreetWords(Settings):
    """The words of `platform/rules/street_words.yaml`, by which names of streets are known."""

    before: frozenset[str]
    """Words that stand before a street's name, such as `rue`."""
    after: frozenset[str]
    """Words that stand after a street's name, such as `street`."""
    endings: tuple[str, ...]
    """Endings of street names, such as `straße`."""
    centre: frozenset[str]
    """Names of the middle of a town, as on signposts."""


@dataclass(frozen=True, slots=True)
class Clue:
    """The words of a sign with their place types, and where the walker read them."""

    text: str
    """Words of the sign."""
    kinds: tuple[str, ...]
    """Place types that the words stand for."""
    position: LatLng
    """Position of the walker when the sign was read."""
    height: float
    """Height of the letters in pixels: of two readings, the larger one is from nearer."""


@dataclass
class Clues:
    """The signs that a walker has read, each once, with the positions where they were read."""

    _read: dict[str, Clue] = field(default_factory=dict)
    """Clues by the sign's words in lower case, the one read last at the end."""

    def read(self, panorama: Panorama, signs: Iterable[KnownSign]) -> None:
        """Record signs read at a panorama; of two readings of a sign the one with larger letters stays."""
        for one in signs:
            key, height = one.sign.text.casefold(), one.sign.box[3] - one.sign.box[1]
            known = self._read.pop(key, None)  # what was read last stands last
            if known and known.height >= height:
                self._read[key] = known
            else:
                self._read[key] = Clue(one.sign.text, one.kinds, panorama.position, height)

    @property
    def latest(self) -> Sequence[Clue]:
        """Clues read so far, the last one first."""
        return list(reversed(self._read.values()))

    def in_words(self, here: LatLng) -> list[str]:
        """Return lines, told from `here`, on the places, streets, house numbers and types of place read."""
        # A street's name plate has few words and no place type, and they are a street's name.
        streets = [
            one
            for one in self.latest
            if not one.kinds and len(one.text.split()) <= MOST_WORDS and names_of_streets(one.text)
        ]
        numbers = [one for one in self.latest if _number(one.text) is not None]
        others = [one for one in self.latest if one not in streets and one not in numbers]
        lines = []
        if others:
            lines.append("Signs read: " + _describe_clues(others, here))
        if streets:
            lines.append("Streets by their signs: " + _describe_clues(streets, here))
        if numbers:
            lines.append("House numbers: " + _describe_clues(numbers, here) + _numbers_rise(numbers))
        if kinds := _clusters(others, here):
            lines.append("Kinds of place seen more than once: " + kinds)
        return lines


def names_of_streets(text: str) -> tuple[str, ...]:
    """Return the names of streets in a text of a few words or a task, in lower case.

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
        # At least two letters come before an ending: alone it is a word like others.
        elif any(word.endswith(ending) and len(word) > len(ending) + 1 for ending in known.endings):
            found.append(word)
    return tuple(dict.fromkeys(found))


def leads_to_centre(signs: Iterable[KnownSign]) -> bool:
    """Return whether one of the signs is a signpost to the middle of the town."""
    known = load_street_words().centre
    return any(one.points_to is not None and one.points_to.name.casefold() in known for one in signs)


@dataclass(frozen=True, slots=True)
class TaskAddress:
    """The streets, in lower case, and the house number that a task names; empty and `None` without any."""

    streets: frozenset[str]
    number: int | None

    def seen_on(self, signs: Sequence[KnownSign]) -> KnownSign | None:
        """Return the sign, of the largest letters, that names one of the streets; `None` if none does."""
        own = [one for one in signs if self.streets.intersection(names_of_streets(one.sign.text))]
        return max(own, key=lambda one: one.sign.box[3] - one.sign.box[1], default=None)

    def numbers_away(self, sign: KnownSign) -> int | None:
        """Return how far a street sign's numbers are from the address, 0 within; `None` if unknown."""
        span = _SPAN.search(sign.sign.text)
        if span is None or self.number is None:
            return None
        low, high = sorted((int(span[1]), int(span[2])))
        return max(low - self.number, self.number - high, 0)


def address_in_task(task: str) -> TaskAddress:
    """Return the streets and house number in a task; quoted text is read only if the rest has no street."""
    beside = QUOTED.sub(" ", task)
    number = _TOLD_NUMBER.search(beside) if names_of_streets(beside) else None
    streets = names_of_streets(beside) or names_of_streets(task)
    return TaskAddress(frozenset(streets), int(number[0]) if number else None)


@cache
def load_street_words() -> StreetWords:
    """Return the words for streets that come with virl.

    Raises:
        BadInput: the file is broken; names file, line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "street_words.yaml", StreetWords)


def _number(text: str) -> int | None:
    """Return the house number that a clue's text is; `None` for other texts."""
    found = _NUMBER.fullmatch(text.strip())
    return int(found[1]) if found else None


def _describe_clues(clues: Iterable[Clue], here: LatLng) -> str:
    """Return the first `MOST_TOLD` clues in words, each with its place type, distance and direction."""
    return "; ".join(
        f"{one.text[:MOST_LETTERS]!r}"
        + (f" ({one.kinds[0].replace('_', ' ')}) " if one.kinds else " ")
        + _direction_text(one.position, here)
        for one in islice(clues, MOST_TOLD)
    )


def _direction_text(position: LatLng, here: LatLng) -> str:
    """Return the metres and compass direction from here to a position, in words."""
    away = distance(here, position)
    return "here" if away < 1 else f"{away:.0f} m {compass_word(bearing(here, position))}"


def _numbers_rise(numbers: Sequence[Clue]) -> str:
    """Return a clause on the direction in which house numbers rise; empty if those read do not show it."""
    low, high = (pick(numbers, key=lambda one: _number(one.text) or 0) for pick in (min, max))
    if low.text == high.text or distance(low.position, high.position) < TELLING_M:
        return ""
    return f"; they rise towards the {compass_word(bearing(low.position, high.position))}"


def _clusters(clues: Sequence[Clue], here: LatLng) -> str:
    """Return a text on the three place types read most, and where; empty if none was read twice."""
    counted = Counter(one.kinds[0] for one in clues if one.kinds)
    told = []
    for kind, count in counted.most_common(3):
        if count > 1:
            own = [one.position for one in clues if one.kinds and one.kinds[0] == kind]
            middle = LatLng(sum(at.lat for at in own) / count, sum(at.lng for at in own) / count)
            told.append(f"{count} of {kind.replace('_', ' ')}, around {_direction_text(middle, here)}")
    return "; ".join(told)


@dataclass(frozen=True, slots=True)
class Front:
    """A shop front known by its sign at the side of a street, with its estimated position."""

    pano_id: str
    """Id of the panorama where the front's sign was read."""
    known: KnownSign
    """Sign of the front, with its place types."""
    position: LatLng


@dataclass
class Neighbours:
    """The shop fronts that a walker has read last, by which a goal is known from its neighbours."""

    goal: SightGoal
    """Place that is looked for, which has neighbours."""
    _fronts: deque[Front] = field(default_factory=lambda: deque(maxlen=_LAST_READ))

    def read(self, panorama: Panorama, signs: Sequence[KnownSign]) -> None:
        """Record the fronts read at a panorama, except at junctions, where their street is uncertain."""
        if not panorama.is_crossing:
            self._fronts.extend(_fronts(panorama, signs))

    def fronts_near(self, here: LatLng) -> list[Front]:
        """Return the fronts within `_STILL_M` of a position that have a place type of the goal."""
        return [
            one
            for one in self._fronts
            if set(one.known.kinds) & set(self.goal.kinds) and distance(one.position, here) < _STILL_M
        ]

    def hints(self, here: LatLng) -> list[Front]:
        """Return the fronts near a position that may be the goal, by the neighbours' signs beside them.

        All its neighbours were read beside it; or one of a kind that is not common, as not every sign tells
        what it stands for. Of 24 places in Virlstead and Virlham this knew 22, and it took 5 of 68 others of
        their kinds for one.
        """
        common = types_marked("common")
        return [
            one
            for one in self.fronts_near(here)
            if not (unseen := self.unseen(one)) or set(self.goal.beside) - unseen - common
        ]

    def unseen(self, own: Front) -> set[str]:
        """Return the place types of the goal's neighbours that no sign near a front shows."""
        beside = [
            one.known
            for one in self._fronts
            if distance(one.position, own.position) < _BESIDE_M
            and not set(one.known.kinds) & set(own.known.kinds)
        ]
        shown = {told for one in beside for told in one.kinds}
        return {
            kind
            for kind in self.goal.beside
            # A sign may show a wider type than the goal's description names.
            if not any(kind == told or kind.endswith(f"_{told}") for told in shown)
        }


def _fronts(panorama: Panorama, signs: Sequence[KnownSign]) -> Iterator[Front]:
    """Yield the signs at the side of a panorama's street as fronts `WALL_M` from its middle."""
    street = panorama.links[0].heading if panorama.links else 0.0
    for one in signs:
        side = signed_turn(street, one.sign.heading)
        if one.points_to is None and _SIDE_DEG < abs(side) < 180.0 - _SIDE_DEG:
            yield Front(panorama.id, one, front_position(panorama.position, street, one.sign.heading))


def front_position(here: LatLng, street: float, heading: float) -> LatLng:
    """Return where a line of sight meets the wall of a street, `WALL_M` from its middle.

    Args:
        here: in the middle of the street.
        street: heading of the street in degrees.
        heading: of the line of sight in degrees; along the street, the wall is taken as `_LEAST_DEG` aside.
    """
    side = signed_turn(street, heading)
    along = destination(here, street, WALL_M / tan(radians(max(abs(side), _LEAST_DEG))))
    return destination(along, street + (90.0 if side > 0 else -90.0), WALL_M)
