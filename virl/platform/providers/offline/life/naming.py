"""What places are called, and what stands on their signs beside the name."""

import re
import string
from dataclasses import dataclass
from functools import cache
from random import Random
from unicodedata import east_asian_width

from virl.platform.providers.offline.life.trades import Trade, trades_table
from virl.platform.providers.offline.tables import read_table
from virl.settings.model import Settings

TELLING = 0.85  # share of names that hold a word for the trade; chosen
TAGLINED = 0.5  # share of the others whose sign says it in a second line; chosen
NATIVE = 10  # how much likelier a kitchen is to be named in its own language; chosen
ATTEMPTS = 80  # names tried before one that is too long is taken; chosen
BLADE_UNITS = 9  # longest text on a blade, in Latin letters
_ARTICLES = frozenset({"The", "Chez", "Bà", "Zum", "Zur", "Dr.", "St.", "New", "Old", "Bar", "San", "Little"})


class _Names(Settings):
    weights: dict[str, float]
    pools: dict[str, dict[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Lettering:
    """The texts of a place's signs."""

    name: str
    tagline: str
    """Empty where the name says enough."""
    blade: str
    """A word or two at most."""


class Namer:
    """A source of names, none of them twice."""

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
        weights = _names().weights
        languages = list(places.patterns)
        chances = [weights[language] for language in languages]
        if languages[0] != "en":
            chances[0] *= NATIVE
        return self._rng.choices(languages, chances)[0]

    def _fill(self, pattern: str, language: str, street: str) -> str:
        pools = {"r": (street.partition(" ")[0],), **_names().pools[language]}
        used: set[str] = set()

        def word(slot: re.Match[str]) -> str:
            free = [text for text in pools[slot[1]] if text not in used]
            used.add(chosen := self._rng.choice(free))
            return chosen

        return re.sub(r"\{(\w)\d?\}", word, pattern)

    def _add_number(self, word: str) -> str:
        number = next(number for number in range(1, 10_000) if f"{word} {number}" not in self._taken)
        return f"{word} {number}"

    def _blade(self, name: str, trade_word: str) -> str:
        first = name.partition(" ")[0].rstrip(",").removesuffix("'s")
        usable = 2 < units(first) <= BLADE_UNITS and first not in _ARTICLES
        english = trade_word in name
        return first if usable and not english and self._rng.random() < 0.6 else trade_word


def units(text: str) -> int:
    """Return the length of a text on a sign in widths of a Latin letter: East Asian glyphs count twice."""
    return sum(2 if east_asian_width(glyph) in "WF" else 1 for glyph in text)


def all_sign_characters() -> str:
    """Return every character that can stand on a sign, in either case, sorted: what a font must draw."""
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
    return read_table("names", _Names)
