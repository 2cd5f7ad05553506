"""What places are called, and what stands on their signs beside the name."""

import re
import string
from dataclasses import dataclass
from functools import cache
from random import Random
from unicodedata import east_asian_width

from virl.settings.model import Settings
from virl.towns.life.trades import Trade, trades_table
from virl.towns.tables import read_table

TELLING = 0.85
"""Share of names that hold a word for the trade; chosen."""
TAGLINED = 0.5
"""Share of the other names whose sign tells the trade in a second line; chosen."""
NATIVE = 10
"""Factor on the chance that a kitchen is named in its own language; chosen."""
ATTEMPTS = 80
"""Names tried before one that is too long is taken; chosen."""
BLADE_UNITS = 9
"""Longest text on a blade, in widths of a Latin letter."""
_ARTICLES = frozenset({"The", "Chez", "Bà", "Zum", "Zur", "Dr.", "St.", "New", "Old", "Bar", "San", "Little"})
"""First words of names that cannot stand alone on a blade."""


class _Names(Settings):
    weights: dict[str, float]
    pools: dict[str, dict[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Lettering:
    """The texts of a place's signs."""

    name: str
    tagline: str
    """Second line of the sign; empty where the name says enough."""
    blade: str
    """Text of a blade: a word or two."""


class Namer:
    """A source of random names, none of them given twice."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()

    def letter(self, trade: str, street: str, room: int) -> Lettering:
        """Draw a name and its lettering for a place.

        Args:
            trade: key of the trade.
            street: name of the street it is on.
            room: longest name that its front can bear, in `units`; exceeded only where none is short enough.
        """
        places = trades_table().trades[trade]
        best = ""
        telling = True
        for _ in range(ATTEMPTS):
            wanted = self._rng.random() < TELLING
            language = self._language(places)
            patterns = [text for text in places.patterns[language] if text.startswith("~") != wanted]
            if not patterns:
                continue
            name = self._fill(self._rng.choice(patterns).removeprefix("~"), language, street)
            if name not in self._taken and (not best or units(name) < units(best)):
                best, telling = name, wanted
                if units(name) <= room:
                    break
        best = best or self._add_number(places.blade)
        self._taken.add(best)
        tagline = ""
        if not telling and places.taglines and self._rng.random() < TAGLINED:
            tagline = self._rng.choice(places.taglines)
        return Lettering(best, tagline, self._blade(best, places.blade))

    def _language(self, places: Trade) -> str:
        """Return a random language for a name of this trade."""
        weights = _names().weights
        languages = list(places.patterns)
        chances = [weights[language] for language in languages]
        if languages[0] != "en":
            chances[0] *= NATIVE
        return self._rng.choices(languages, chances)[0]

    def _fill(self, pattern: str, language: str, street: str) -> str:
        """Return a pattern of a name with its slots filled from the language's words."""
        pools = {"r": (street.partition(" ")[0],), **_names().pools[language]}
        used: set[str] = set()

        def word(slot: re.Match[str]) -> str:
            """Return a random word for a slot that the name does not use yet."""
            free = [text for text in pools[slot[1]] if text not in used]
            used.add(chosen := self._rng.choice(free))
            return chosen

        return re.sub(r"\{(\w)\d?\}", word, pattern)

    def _add_number(self, word: str) -> str:
        """Return a name with the lowest number that makes it unused."""
        number = next(number for number in range(1, 10_000) if f"{word} {number}" not in self._taken)
        return f"{word} {number}"

    def _blade(self, name: str, trade_word: str) -> str:
        """Return the text for a blade: the first word of the name, or a word for the trade."""
        first = name.partition(" ")[0].rstrip(",").removesuffix("'s")
        usable = 2 < units(first) <= BLADE_UNITS and first not in _ARTICLES
        english = trade_word in name
        return first if usable and not english and self._rng.random() < 0.6 else trade_word


def units(text: str) -> int:
    """Return the length of a text in widths of a Latin letter; East Asian characters count 2."""
    return sum(2 if east_asian_width(glyph) in "WF" else 1 for glyph in text)


def all_sign_characters() -> str:
    """Return all characters that signs can show, in both cases, sorted, for checking fonts."""
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
    """Return the table of words for names."""
    return read_table("names", _Names)
