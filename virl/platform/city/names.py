"""How alike two names are: of places, streets, and what signs say of them.

"Fifth Avenue" is "5th Ave.", "J. P. Morgan" is "JP Morgan" and "Saint Anne" is "St. Anne", but "Platform 3"
is not "Platform 13".
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from rapidfuzz import fuzz, utils

from virl.settings.model import Settings, load_settings

__all__ = ["is_numbered_otherwise", "is_shortened", "name_ratio", "numbers_differ", "score_names", "spelt"]

SAME_BUT_NUMBER = 80.0
"""Likeness, 0 to 100, from which two names differ in no more than a number; chosen as in `matching`."""
SHARED_WORDS = 2
"""Least number of words of a shortened name; chosen: one word is within many longer names by chance."""

_WRITTEN = re.compile(r"[^\W_]+")
"""Pattern of a word: letters and digits."""
_SILENT = re.compile("['\u2019`\u0300-\u036f]")
"""Pattern of apostrophes and accents, which are ignored when names are compared."""
_ORDINAL = re.compile(r"(\d{1,9})(?:st|nd|rd|th)")
"""Pattern of an ordinal number in digits, such as "5th"."""
_NUMBER = re.compile(r"(\d{1,9}[a-z]?)(?:st|nd|rd|th)?")
"""Pattern of a number, with a letter or an ordinal ending, such as "3b" or "5th"."""


class _Writings(Settings):
    """The tables of `names.yaml`: abbreviations and numbers in words."""

    same_words: dict[str, tuple[str, ...]]
    endings: dict[str, tuple[str, ...]]
    ordinals: tuple[str, ...]
    cardinals: tuple[str, ...]
    small: frozenset[str]


def name_ratio(one: str, other: str) -> float:
    """Return how alike two whole names are, [0, 100]; 0 if they differ in a number."""
    return score_names(fuzz.ratio, one, other)


def score_names(scorer: Callable[[str, str], float], one: str, other: str) -> float:
    """Return the score of two names, [0, 100]: the higher one of their own and their normalized spelling.

    Args:
        scorer: [0, 100] for two texts in small letters without punctuation.
        one: a name, or the words of a sign.
        other: a name.

    Returns:
        0 if the two differ in a number.
    """
    if numbers_differ(one, other):
        return 0.0
    plain = scorer(utils.default_process(one), utils.default_process(other))
    return max(plain, scorer(spelt(one), spelt(other)))


def numbers_differ(one: str, other: str) -> bool:
    """Return whether two names have numbers, and each has one that the other lacks."""
    mine, theirs = _numbers(one), _numbers(other)
    return not (mine <= theirs or theirs <= mine)


def is_numbered_otherwise(text: str, name: str) -> bool:
    """Return whether a text names the same with another number: "Platform 3" for "Platform 13"."""
    if not numbers_differ(text, name):
        return False
    said, known = (
        " ".join(word for word in spelt(one).split() if not _NUMBER.fullmatch(word)) for one in (text, name)
    )
    return bool(said and known) and fuzz.partial_ratio(said, known) >= SAME_BUT_NUMBER


def is_shortened(listed: str, name: str) -> bool:
    """Return whether a listed name is the longer name without some words, such as "The" or "& Café"."""
    kept, words = (set(spelt(text).split()) - _writings().small for text in (listed, name))
    return len(kept) >= SHARED_WORDS and kept <= words and not numbers_differ(listed, name)


@lru_cache(maxsize=16_384)
def spelt(name: str) -> str:
    """Return a name as names are compared: in small letters, without accents, numbers in one form."""
    folded = unicodedata.normalize("NFKD", name.casefold().replace("&", " and ").replace("\u00f8", "o"))
    words = _initials_joined(_WRITTEN.findall(_SILENT.sub("", folded)))
    forms = _forms()
    if len(words) > 1:
        words = [_cardinals().get(word, word) for word in words]
    return " ".join(forms.get(word) or _with_ending(_normalize_number(word)) for word in words)


def _initials_joined(words: list[str]) -> list[str]:
    """Return words with single letters in a row joined to one word: "j", "p", "morgan" as "jp", "morgan"."""
    joined: list[str] = []
    is_open = False
    for word in words:
        is_initial = len(word) == 1 and word.isalpha()
        if is_initial and is_open:
            joined[-1] += word
        else:
            joined.append(word)
        is_open = is_initial
    return joined


def _normalize_number(word: str) -> str:
    """Return an ordinal or padded number in one form: "1st" as "1th", "03" as "3"."""
    found = _ORDINAL.fullmatch(word)
    if found:
        return f"{int(found[1])}th"
    return word.lstrip("0") or "0" if word.isascii() and word.isdigit() else word


def _with_ending(word: str) -> str:
    """Return a word with the common form of its ending: "hauptstr" as "hauptstrasse"."""
    for ending, others in _writings().endings.items():
        for other in others:
            if word.endswith(other) and len(word) > len(other) + 2:
                return f"{word.removesuffix(other)}{ending}"
    return word


@lru_cache(maxsize=16_384)
def _numbers(name: str) -> frozenset[str]:
    """Return the numbers in a name, as spelt in one form."""
    found = (_NUMBER.fullmatch(word) for word in spelt(name).split())
    return frozenset(one[1] for one in found if one)


@cache
def _writings() -> _Writings:
    """Return the tables of `names.yaml`."""
    return load_settings(Path(__file__).with_name("names.yaml"), _Writings)


@cache
def _forms() -> dict[str, str]:
    """Return the common form of each abbreviation and written ordinal, for comparison."""
    told = _writings()
    forms = {other: one for one, others in told.same_words.items() for other in others}
    return forms | {word: f"{number}th" for number, word in enumerate(told.ordinals, start=1)}


@cache
def _cardinals() -> dict[str, str]:
    """Return the digits of each written cardinal number."""
    return {word: str(number) for number, word in enumerate(_writings().cardinals, start=1)}
