"""Full-text search over short texts: words in any order, in any number, slightly misspelt."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from unicodedata import combining, east_asian_width, normalize

import numpy as np
from rapidfuzz import fuzz, process

from virl.errors import BadInput
from virl.geo import Floats

MISSPELT = 84.0  # least similarity of a misspelt word to one that is known, of 100; chosen
NOISE = frozenset({"a", "an", "and", "at", "by", "for", "in", "me", "my", "near", "of", "on", "the", "to"})


class WordIndex:
    """Scores documents by the words of a query.

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
        """How well each document answers a query.

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
            holding = self._holding(word)
            rarity = np.log1p(self._count / max(len(holding), 1))
            for number, weight in holding.items():
                held[number] += rarity
                weighted[number] += rarity * weight
        useless = held * 2 < held.max(initial=0.0)
        held[useless] = weighted[useless] = 0.0
        return held, weighted

    def _holding(self, word: str) -> Mapping[int, float]:
        """The documents that hold a word, or else one that it is part of or resembles."""
        if word in self._found:
            return self._found[word]
        if _is_wide(word):
            alike = [known for known in self._found if word in known]
        else:
            close = process.extract(
                word, self._found.keys(), scorer=fuzz.ratio, score_cutoff=MISSPELT, limit=3
            )
            alike = [known for known, _, _ in close]
        merged: dict[int, float] = {}
        for known in alike:
            for number, weight in self._found[known].items():
                merged[number] = max(weight, merged.get(number, 0.0))
        return merged


def _words(text: str) -> list[str]:
    """Words in small letters, without accents and English plural endings."""
    plain = "".join(glyph for glyph in normalize("NFKD", text.casefold()) if not combining(glyph))
    plain = normalize("NFC", plain).replace("'s", "").replace("\u2019s", "")
    return [_singular(word) for word in re.findall(r"\w+", plain)]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_wide(word: str) -> bool:
    return any(east_asian_width(glyph) in "WF" for glyph in word)
