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

SAME_BUT_NUMBER = 80.0
"""Likeness of two names without their numbers, 0 to 100, from which only the numbers differ; chosen."""
SHARED_WORDS = 2
"""Least number of words that a shortened name keeps; chosen: one word is in many names by chance."""

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
    """Other writings of a word, such as its full forms, by the form that is compared."""
    endings: dict[str, tuple[str, ...]]
    """Short forms of word endings, such as "str", by the full ending that is compared."""
    ordinals: tuple[str, ...]
    """Ordinal numbers in words, from "first"."""
    cardinals: tuple[str, ...]
    """Cardinal numbers in words, from "one"."""
    small: frozenset[str]
    """Small words, such as "the", that do not make one name longer than another."""


def name_ratio(one: str, other: str) -> float:
    """Return the likeness of two whole names, [0, 100], 100 for equal ones; 0 if they differ in a number."""
    return score_names(fuzz.ratio, one, other)


def score_names(scorer: Callable[[str, str], float], one: str, other: str) -> float:
    """Return the higher `scorer` value, [0, 100], of two names as written or `spelt`; 0 if numbers differ.

    Args:
        scorer: function from two texts in small letters without punctuation to their likeness, [0, 100].
        one: a name, or the words of a sign.
        other: a name.
    """
    if numbers_differ(one, other):
        return 0.0
    plain = scorer(utils.default_process(one), utils.default_process(other))
    return max(plain, scorer(spelt(one), spelt(other)))


def numbers_differ(one: str, other: str) -> bool:
    """Return whether each of two names has a number that the other lacks: "Platform 3", "Platform 13"."""
    mine, theirs = _numbers(one), _numbers(other)
    return not (mine <= theirs or theirs <= mine)


def is_numbered_otherwise(text: str, name: str) -> bool:
    """Return whether a text equals a name, or a part of it, but for a number: "Platform 3", "Platform 13"."""
    if not numbers_differ(text, name):
        return False
    words, known = (
        " ".join(word for word in spelt(one).split() if not _NUMBER.fullmatch(word)) for one in (text, name)
    )
    return bool(words and known) and fuzz.partial_ratio(words, known) >= SAME_BUT_NUMBER


def is_shortened(listed: str, name: str) -> bool:
    """Return whether `listed` is `name` without some of its words, such as "The" or "& Café"."""
    kept, words = (set(spelt(text).split()) - _writings().small for text in (listed, name))
    return len(kept) >= SHARED_WORDS and kept <= words and not numbers_differ(listed, name)


@lru_cache(maxsize=16_384)
def spelt(name: str) -> str:
    """Return a name for comparison: small letters, no accents, most numbers and abbreviations in one form."""
    folded = unicodedata.normalize("NFKD", name.casefold().replace("&", " and ").replace("\u00f8", "o"))
    words = _join_initials(_WRITTEN.findall(_SILENT.sub("", folded)))
    forms, cardinals = _forms()
    if len(words) > 1:  # a number in words that stands alone is a whole name
        words = [cardinals.get(word, word) for word in words]
    return " ".join(forms.get(word) or _spell_out(_normalize_number(word)) for word in words)


def _join_initials(words: list[str]) -> list[str]:
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


def _spell_out(word: str) -> str:
    """Return a word with its ending spelt out: "hauptstr" as "hauptstrasse"."""
    for ending, others in _writings().endings.items():
        for other in others:
            if word.endswith(other) and len(word) > len(other) + 2:
                return f"{word.removesuffix(other)}{ending}"
    return word


@lru_cache(maxsize=16_384)
def _numbers(name: str) -> frozenset[str]:
    """Return the numbers in a name in digits, without ordinal endings."""
    found = (_NUMBER.fullmatch(word) for word in spelt(name).split())
    return frozenset(one[1] for one in found if one)


@cache
def _writings() -> _Writings:
    """Return the tables of `names.yaml`."""
    return load_settings(Path(__file__).with_name("names.yaml"), _Writings)


@cache
def _forms() -> tuple[dict[str, str], dict[str, str]]:
    """Return (common form of each abbreviation and written ordinal, digits of each written cardinal)."""
    tables = _writings()
    forms = {other: one for one, others in tables.same_words.items() for other in others}
    forms |= {word: f"{number}th" for number, word in enumerate(tables.ordinals, start=1)}
    return forms, {word: str(number) for number, word in enumerate(tables.cardinals, start=1)}
