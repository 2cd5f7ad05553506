"""The names of places, and the size, place and lettering of their signs."""

import re
import string
from dataclasses import dataclass, field
from functools import cache
from math import dist
from random import Random
from unicodedata import east_asian_width

from virl.settings.model import Settings
from virl.towns.life.trades import Trade, fill_slots, trades_table
from virl.towns.plan.town_plan import Point, Sign
from virl.towns.storage import read_table

TELLING = 0.85
"""Share of names that have a word for the trade; chosen."""
TAGLINED = 0.5
"""Chance, [0, 1], that a sign tells the trade in a second line if the name does not; chosen."""
NATIVE = 10
"""Factor on the chance that a place's name is in the language of its kitchen; chosen."""
ATTEMPTS = 80
"""Number of names that are drawn before one too long for its front is taken; chosen."""
BLADE_UNITS = 9
"""Largest length of the text on a blade, in widths of a Latin letter."""
_SLOT = re.compile(r"\{(\w)\d?\}")
"""Pattern of a slot in a name's pattern, such as `{n}` or `{n2}`."""
_ARTICLES = frozenset({"The", "Chez", "Bà", "Zum", "Zur", "Dr.", "St.", "New", "Old", "Bar", "San", "Little"})
"""First words of names that cannot stand alone on a blade."""


class _Names(Settings):
    """The table of words for names: weights of languages, and words by language and slot."""

    weights: dict[str, float]
    pools: dict[str, dict[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Lettering:
    """The texts on the signs of one place."""

    name: str
    tagline: str
    """Second line of the sign; empty where the name says enough."""
    blade: str
    """Text of a sign that juts out over the pavement: a word or two."""


@dataclass
class Namer:
    """A source of random names for places, none of them given twice."""

    rng: Random
    _taken: set[str] = field(default_factory=set)

    def letter(self, trade: str, street: str, room: int) -> Lettering:
        """Return a new random name for a place, with its signs' texts; `room`: letters that fit its front.

        Args:
            trade: name of the place's trade.
            street: name of the street it is on.
            room: length of the longest name that the front bears, in `units`; a longer one only if all are.
        """
        places = trades_table().trades[trade]
        best = ""
        telling = True
        for _ in range(ATTEMPTS):
            wanted = self.rng.random() < TELLING
            language = self._language(places)
            patterns = [text for text in places.patterns[language] if text.startswith("~") != wanted]
            if not patterns:
                continue
            pools = {"r": (street.partition(" ")[0],), **_names().pools[language]}
            name = fill_slots(self.rng.choice(patterns).removeprefix("~"), _SLOT, pools, self.rng)
            # Until a name fits, the shortest of those that do not is kept.
            if name not in self._taken and (not best or units(name) < units(best)):
                best, telling = name, wanted
                if units(name) <= room:
                    break
        if not best:
            numbered = (f"{places.blade} {number}" for number in range(1, 10_000))
            best = next(name for name in numbered if name not in self._taken)
        self._taken.add(best)
        tagline = ""
        if not telling and places.taglines and self.rng.random() < TAGLINED:
            tagline = self.rng.choice(places.taglines)
        return Lettering(best, tagline, self._blade(best, places.blade))

    def _language(self, places: Trade) -> str:
        """Return a random language for a name of a trade, likely that of its kitchen."""
        weights = _names().weights
        languages = list(places.patterns)
        chances = [weights[language] for language in languages]
        if languages[0] != "en":
            chances[0] *= NATIVE
        return self.rng.choices(languages, chances)[0]

    def _blade(self, name: str, trade_word: str) -> str:
        """Return the text for a place's blade: the first word of its name, or the word for its trade."""
        first = name.partition(" ")[0].rstrip(",").removesuffix("'s")
        usable = 2 < units(first) <= BLADE_UNITS and first not in _ARTICLES
        english = trade_word in name
        return first if usable and not english and self.rng.random() < 0.6 else trade_word


def units(text: str) -> int:
    """Return the length of a text in widths of a Latin letter: East Asian characters count 2."""
    return sum(2 if east_asian_width(glyph) in "WF" else 1 for glyph in text)


def all_sign_characters() -> str:
    """Return all characters that signs of made towns can show, in both cases, sorted, to check fonts with."""
    table = _names()
    texts = [string.ascii_letters, string.digits, string.punctuation, " "]
    texts += [word for pools in table.pools.values() for pool in pools.values() for word in pool]
    for places in trades_table().trades.values():
        texts += [places.blade, *places.taglines]
        texts += [pattern for patterns in places.patterns.values() for pattern in patterns]
    both = (case for glyph in "".join(texts) for case in (glyph, glyph.upper(), glyph.lower()))
    return "".join(sorted({glyph for glyph in both if len(glyph) == 1}))


@cache
def _names() -> _Names:
    """Return the table of words for names, `data/names.yaml`."""
    return read_table("names", _Names)


LETTER_M = 0.30
"""Width in metres that each Latin letter takes on a board, readable across a street; chosen."""
MARGIN_M = 0.4
"""Width in metres of a board beyond its letters, both sides together; chosen."""
TAGLINE_LETTER_M = 0.16
"""Width in metres that each letter of a tagline takes on a board."""
FASCIA_BOTTOM_M, FASCIA_HEIGHT_M = (2.9, 3.1), (0.75, 0.95)
PROUD_M = 0.12
"""Metres from a facade to the front of a fascia."""
BLADES = 0.75
"""Share of shops whose front has a blade, [0, 1]; chosen."""
BLADE_WIDTH_M, BLADE_HEIGHT_M = (0.9, 2.0), (0.7, 1.0)
BLADE_LETTER_M = 0.24
"""Width in metres that each letter takes on a blade, to be read from up the street; chosen."""
BLADE_BOTTOM_M = 3.6
"""Height in metres of a blade's lower edge above the ground."""
BOARD_BOTTOM_M, BOARD_HEIGHT_M = 1.2, 0.7
POSTS_M = 0.6
"""Width in metres of a board that its two posts may hide from view."""
END_M = 0.3
"""Width in metres that is kept free of signs at each end of a frontage."""


def room_for_name(width: float) -> int:
    """Return the length in `units` of the longest name that a frontage of `width` metres bears."""
    return int((width - 2 * END_M - MARGIN_M) / LETTER_M)


def hang_signs(
    place_id: str, lettering: Lettering, left: Point, right: Point, rng: Random
) -> tuple[Sign, ...]:
    """Return the signs of a shop: a fascia over its front, and sometimes a blade at the right end.

    Args:
        place_id: id of the shop.
        lettering: texts of the signs.
        left: left end of the front, seen from the street, (east, north) in metres.
        right: right end of the front.
        rng: source of chance.
    """
    variant = rng.randrange(1 << 16)
    length = dist(left, right)
    low, high = (0.9, FASCIA_HEIGHT_M[1]) if lettering.tagline else FASCIA_HEIGHT_M
    width = min(board_width(lettering), length - 2 * END_M)
    slack = (length - width) / 2 - END_M
    start = END_M + slack * rng.choice((1.0, 1.0, 1.0, 0.4))
    bottom = round(rng.uniform(*FASCIA_BOTTOM_M), 2)
    top = round(bottom + rng.uniform(low, high), 2)
    ends = along_front(left, right, start, PROUD_M), along_front(left, right, start + width, PROUD_M)
    text, tagline = lettering.name, lettering.tagline
    fascia = Sign(f"{place_id}-fascia", place_id, text, tagline, "fascia", *ends, bottom, top, variant)
    if rng.random() >= BLADES:
        return (fascia,)
    # read by who walks from left to right, whose near end is at the wall
    reach = units(lettering.blade) * BLADE_LETTER_M + MARGIN_M / 2
    reach = min(max(reach, BLADE_WIDTH_M[0]), BLADE_WIDTH_M[1])
    foot = length - END_M
    ends = along_front(left, right, foot, PROUD_M), along_front(left, right, foot, PROUD_M + reach)
    bottom = round(max(BLADE_BOTTOM_M, top + 0.1), 2)
    top = round(bottom + rng.uniform(*BLADE_HEIGHT_M), 2)
    blade = Sign(f"{place_id}-blade", place_id, lettering.blade, "", "blade", *ends, bottom, top, variant)
    return fascia, blade


def plant_board(
    sign_id: str, place_id: str, lettering: Lettering, left: Point, right: Point, variant: int
) -> Sign:
    """Return a board on posts, lettered for a place, midway from `left` to `right`, facing the street.

    Args:
        sign_id: id of the board.
        place_id: id of the place.
        lettering: texts of the board.
        left: left end of the edge, seen from the street, (east, north) in metres.
        right: right end of the edge.
        variant: number from which font and colours follow.
    """
    length = dist(left, right)
    width = min(board_width(lettering) + POSTS_M, length)
    start = (length - width) / 2
    ends = along_front(left, right, start, 0.0), along_front(left, right, start + width, 0.0)
    top = round(BOARD_BOTTOM_M + BOARD_HEIGHT_M + (0.2 if lettering.tagline else 0.0), 2)
    text, tagline = lettering.name, lettering.tagline
    return Sign(sign_id, place_id, text, tagline, "board", *ends, BOARD_BOTTOM_M, top, variant)


def board_width(lettering: Lettering) -> float:
    """Return the width in metres of the board that a lettering needs."""
    text = max(units(lettering.name) * LETTER_M, units(lettering.tagline) * TAGLINE_LETTER_M)
    return text + MARGIN_M


def along_front(left: Point, right: Point, along: float, out: float) -> Point:
    """Return the point `along` metres from the left end and `out` metres before a front.

    Args:
        left: left end of the front, seen from the street, (east, north) in metres.
        right: right end of the front.
        along: metres from the left end to the right.
        out: metres from the front towards the street.
    """
    length = dist(left, right)
    dx, dy = (right[0] - left[0]) / length, (right[1] - left[1]) / length
    return round(left[0] + along * dx + out * dy, 3), round(left[1] + along * dy - out * dx, 3)
