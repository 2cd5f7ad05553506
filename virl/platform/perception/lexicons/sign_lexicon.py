"""Place types by the words on signs.

A lexicon holds words of many languages for each of Google's place types. A text matches a word in spite of
case, accents, missing or added spaces, look-alike letters (0 and O, Latin and Greek A) and slips of the
reader.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from virl.platform.city.place_types import MoreWords, TypeWords, by_type, more_words, words_of
from virl.platform.perception.registry import Kind, ModelSettings

Span = tuple[int, int]
"""(start, end) of a match in the joined words of a text, in characters."""

MIN_PART = 5  # chosen: a shorter word inside another is chance, as "bar" in "barber"
"""Least number of letters of a word that is recognized within a longer one."""
MIN_SLIP = 6  # chosen: one slip in five letters turns "books" into "boots"
"""Least number of letters of a word that is recognized with misread letters."""
SLIP_SIMILARITY = 0.8
"""Least similarity, [0, 1], of a misread word; chosen: one slip in 6 to 9 letters, two in 10 to 14."""
PART_STRENGTH = 0.8  # chosen: "stadtbibliothek" tells of a library a little less surely than "bibliothek"
"""Strength, [0, 1], of the match of a word within a longer one."""
HIDE_STRENGTH = 0.75
"""Least strength, [0, 1], of a match that hides the matches of shorter words within it; chosen."""

_SIGNS = {ord("'"): "", ord("\u2019"): "", ord("&"): " and "}
"""Replacements of punctuation before words are split."""
_MARKS = re.compile("[\u0300-\u036f]")  # accents; the voicing marks of kana lie elsewhere
"""Pattern of an accent."""
_WORD = re.compile(r"[^\W_]+")
"""Pattern of a word."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")  # kana, Han, Hangul
"""Pattern of a letter of a script that writes no spaces between words."""
_CYRILLIC, _GREEK = (
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0423\u041f\u0413\u0424",
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
)
_ALIKE = str.maketrans(
    "0158|$€IĐØŁ" + _CYRILLIC + _GREEK,
    "OLSBLSELDOL" + "ABEKMHOPCTXY\u03a0\u0393\u03a6" + "ABEZHLKMNOPTYX",
)
"""The letter that stands for each of some look-alike characters of several scripts."""


class LexiconSettings(ModelSettings):
    """The fields of a lexicon's file in `platform/models/`."""

    kind: Literal["sign-lexicon"]
    name_weight: float = Field(gt=0, lt=1)
    """Score of a sign that bears one of a type's names, (0, 1)."""
    hint_weight: float = Field(gt=0, lt=1)
    """Score of a sign that bears one of a type's hints, (0, 1)."""
    more: str | None = None
    """Name of a file of further words in `platform/words`; `None` for none."""
    more_weight: float = Field(default=1.0, gt=0, le=1)
    """Factor on the weight of the words in the file of `more`."""
    types: dict[str, TypeWords] = Field(default_factory=dict)
    """Words by place type; empty for those of the table of place types."""

    @property
    def words(self) -> Mapping[str, TypeWords]:
        """Words by place type: the file's own, else those of the table of place types."""
        return self.types or by_type("signs")


@dataclass(frozen=True, slots=True)
class _Match:
    """A word of a place type that was found in a text."""

    type: str
    """Place type that the word tells of."""
    span: Span
    """Part of the text where the word was found."""
    strength: float
    """Likeness of the text to the word, [0, 1]."""
    weight: float
    """Confidence, [0, 1], that a place with the word on its sign is of the type."""


class Lexicon:
    """A dictionary that tells place types by the words on a sign."""

    def __init__(self, settings: LexiconSettings, more: MoreWords | None = None) -> None:
        """Collect the settings' words, chosen by hand, and further ones, `more`, for the same place types."""
        types = settings.words
        weights: dict[str, dict[str, float]] = {}
        for kind, _, word, is_name in words_of(types):
            weight = settings.name_weight if is_name else settings.hint_weight
            weights.setdefault(key_of(word), {})[kind] = weight * types[kind].weight
        spaced = [key for key in weights if not _UNSPACED.search(key)]
        self._starts = {key for key in spaced if len(key) >= MIN_PART}
        self._ends = set(self._starts)
        own = frozenset(weights)
        for kind, language, word, is_name in words_of(more.types if more else {}):
            if kind not in types or (key := key_of(word)) in own:
                continue
            weight = settings.name_weight if is_name else settings.hint_weight
            weight *= types[kind].weight * settings.more_weight
            weights.setdefault(key, {})[kind] = weight
            if more and language in more.compounding and len(key) >= MIN_PART and is_name:
                self._ends.add(key)
        self.types = tuple(types)
        """Place types of the settings, in their order."""
        self._weights: Mapping[str, Mapping[str, float]] = weights
        self._unspaced = {key for key in weights if _UNSPACED.search(key)}
        self._longest_unspaced = max(map(len, self._unspaced), default=0)
        self._slips = [key for key in spaced if len(key) >= MIN_SLIP]
        words = [*words_of(types), *words_of(more.types if more else {})]
        self._longest = max((token_count(word) for _, _, word, _ in words), default=1)

    @property
    def place_types(self) -> tuple[str, ...]:
        """Place types that the lexicon has words for, sorted."""
        return tuple(sorted({place_type for types in self._weights.values() for place_type in types}))

    def classify(self, text: str) -> dict[str, float]:
        """Return the scores, (0, 1), of the place types that a text tells of, best first; empty for none."""
        matches = list(self._matches(_tokens(text)))
        doubt: dict[str, float] = {}
        spans: set[tuple[str, Span]] = set()
        for match in sorted(matches, key=lambda match: (-match.strength * match.weight, -match.span[0])):
            if (match.type, match.span) in spans or any(_hides(other, match) for other in matches):
                continue
            spans.add((match.type, match.span))
            doubt[match.type] = doubt.get(match.type, 1.0) * (1 - match.strength * match.weight)
        return dict(sorted(((name, 1 - rest) for name, rest in doubt.items()), key=lambda item: -item[1]))

    def _matches(self, tokens: list[str]) -> Iterator[_Match]:
        """Yield matches of known words in a text's words: whole, within others, and with misread letters."""
        starts = np.cumsum([0, *map(len, tokens)]).tolist()
        windows = [
            ("".join(tokens[first:last]), (starts[first], starts[last]))
            for first in range(len(tokens))
            for last in range(first + 1, min(first + self._longest, len(tokens)) + 1)
        ]
        found: list[_Match] = []
        for window, span in windows:
            found += self._as_types(window, span, 1.0)
        found += self._match_within(tokens)
        yield from found
        unknown = [
            (window, (start, end))
            for window, (start, end) in windows
            if len(window) >= MIN_SLIP - 1
            and not any(one.span[0] < end and start < one.span[1] for one in found)
        ]
        yield from self._match_with_slips(unknown)

    def _match_within(self, tokens: list[str]) -> Iterator[_Match]:
        """Yield matches of known words in longer ones: compounds, lost spaces, scripts that write none."""
        line = "".join(tokens)
        for key in self._unspaced_in(line):
            start = line.find(key)
            yield from self._as_types(key, (start, start + len(key)), 1.0)
        start = 0
        for token in tokens:
            end = start + len(token)
            for length in range(MIN_PART, len(token)):
                if token[:length] in self._starts:
                    yield from self._as_types(token[:length], (start, start + length), PART_STRENGTH)
                if token[-length:] in self._ends:
                    yield from self._as_types(token[-length:], (end - length, end), PART_STRENGTH)
            start = end

    def _unspaced_in(self, line: str) -> list[str]:
        """Return the known words, of scripts without spaces, that occur in a line, the leftmost first."""
        if not _UNSPACED.search(line):
            return []
        lengths = range(1, self._longest_unspaced + 1)
        parts = {line[start : start + length] for start in range(len(line)) for length in lengths}
        return sorted(parts & self._unspaced, key=lambda key: (line.find(key), key))

    def _match_with_slips(self, windows: list[tuple[str, Span]]) -> Iterator[_Match]:
        """Yield matches of known words that resemble a (text, span) window; strength: likeness squared."""
        if not windows or not self._slips:
            return
        texts = [window for window, _ in windows]
        alike = cdist(
            texts, self._slips, scorer=Levenshtein.normalized_similarity, score_cutoff=SLIP_SIMILARITY
        )
        for row, column in zip(*np.nonzero(alike), strict=True):
            similarity = float(alike[row, column])
            yield from self._as_types(self._slips[column], windows[row][1], similarity**2)

    def _as_types(self, key: str, span: Span, strength: float) -> Iterator[_Match]:
        """Yield a match at a span for each place type that has a word whose `key_of` is `key`."""
        for place_type, weight in self._weights.get(key, {}).items():
            yield _Match(place_type, span, strength, weight)


def key_of(word: str) -> str:
    """Return a word or phrase in the spelling in which words and signs are compared, without spaces."""
    return "".join(_tokens(word))


def token_count(word: str) -> int:
    """Return the number of words in a phrase."""
    return len(_tokens(word))


def _tokens(text: str) -> list[str]:
    """Return a text's words as they are compared: upper case, no accents, one letter for look-alikes."""
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).translate(_SIGNS).upper())
    alike = unicodedata.normalize("NFC", _MARKS.sub("", plain)).translate(_ALIKE)
    # Readers take either of these pairs for the one letter that it looks like.
    return _WORD.findall(alike.replace("RN", "M").replace("VV", "W"))


def _hides(longer: _Match, shorter: _Match) -> bool:
    """Return whether a strong match covers a shorter one, which then does not count."""
    (start, end), (begin, stop) = longer.span, shorter.span
    wraps = start <= begin and stop <= end and end - start > stop - begin
    return wraps and longer.strength >= HIDE_STRENGTH


def open_lexicon(settings: LexiconSettings, _: object) -> Lexicon:
    """Return the lexicon with these settings."""
    return Lexicon(settings, more_words(settings.more) if settings.more else None)


KIND = Kind("lexicon", LexiconSettings, open_lexicon)
