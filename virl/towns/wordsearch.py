"""Full-text search over short texts: words in any order, in any number, slightly misspelt."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from unicodedata import combining, east_asian_width, normalize

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from virl.errors import BadInput
from virl.geo.globe import Floats

MISSPELT = 84.0
"""Least similarity, of 100, of a misspelt word to a known one; chosen."""
LONG = 5
"""Letters from which a word may differ in any one letter from a known one."""
NOISE = frozenset({"a", "an", "and", "at", "by", "for", "in", "me", "my", "near", "of", "on", "the", "to"})
"""Words of a query that are not searched."""
_NO_ACCENT = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
"""Plain letters for letters with a stroke and joined letters, which Unicode does not decompose."""


class WordIndex:
    """An index that scores documents by the words of a query.

    Args:
        documents: for each document its texts, with what a word found in each counts.
    """

    def __init__(self, documents: Sequence[Mapping[str, float]]) -> None:
        self._count = len(documents)
        self._found: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for number, texts in enumerate(documents):
            for text, weight in texts.items():
                for word in _words(text):
                    known = self._found[word]
                    known[number] = max(weight, known.get(number, 0.0))

    def answers(self, query: str) -> tuple[Floats, Floats]:
        """Return (share of the query in each document, the same weighted by text), shape (documents,).

        A word counts the more the fewer documents hold it. Documents that answer less than half of what the
        best one does count as not answering.

        Returns:
            How much of the query each document holds, and that weighted by the texts it stands in; both of
            shape (documents,), 0 where it does not answer.

        Raises:
            BadInput: the query holds no word.
        """
        words = _words(query)
        if not words:
            raise BadInput(f"query {query!r}: name what to look for, such as 'noodles'")
        held, weighted = np.zeros(self._count), np.zeros(self._count)
        for word in dict.fromkeys([word for word in words if word not in NOISE] or words):
            holding = self._documents_with(word)
            rarity = np.log1p(self._count / max(len(holding), 1))
            for number, weight in holding.items():
                held[number] += rarity
                weighted[number] += rarity * weight
        useless = held * 2 < held.max(initial=0.0)
        held[useless] = weighted[useless] = 0.0
        return held, weighted

    def _documents_with(self, word: str) -> Mapping[int, float]:
        """Return the weight, by document, of a word, or else of known ones that contain or resemble it."""
        if word in self._found:
            return self._found[word]
        alike = [known for known in self._found if word in known] if _is_wide(word) else self._close(word)
        merged: dict[int, float] = {}
        for known in alike:
            for number, weight in self._found[known].items():
                merged[number] = max(weight, merged.get(number, 0.0))
        return merged

    def _close(self, word: str) -> list[str]:
        """Return the known words that a word may be a misspelling of."""
        known = list(self._found)
        if len(word) >= LONG and (near := process.extract(word, known, scorer=OSA.distance, score_cutoff=1)):
            return [each for each, _, _ in near]
        alike = process.extract(word, known, scorer=fuzz.ratio, score_cutoff=MISSPELT, limit=3)
        return [each for each, _, _ in alike]


def _words(text: str) -> list[str]:
    """Return the words in small letters, without accents and English plural endings."""
    plain = normalize("NFC", without_accents(text)).replace("'s", "").replace("\u2019s", "")
    return [_singular(word) for word in re.findall(r"\w+", plain)]


def without_accents(text: str) -> str:
    """Return a text in small letters without accents, decomposed (NFKD): `Łódź Ærø` gives `lodz aero`."""
    letters = normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not combining(letter)).translate(_NO_ACCENT)


def _singular(word: str) -> str:
    """Return a word without an English plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_wide(word: str) -> bool:
    """Return whether a word has East Asian characters of full width."""
    return any(east_asian_width(glyph) in "WF" for glyph in word)
