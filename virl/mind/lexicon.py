"""The lexicon of the rules: word lists of `platform/rules/lexicon.yaml`, and the matching of its phrases."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from pydantic import model_validator

from virl import resources
from virl.errors import MindFailed
from virl.platform.city.place_types import by_type
from virl.settings.model import Settings, load_settings

NEGATION_REACH = 5  # words after a negation that it still turns (chosen)
GAP = " \N{HORIZONTAL ELLIPSIS} "
"""Ellipsis, between blanks, that stands in a quoted stretch of a text for words left out of it."""
GAP_WORDS = 4  # words that a `…` may stand for (chosen)

PATTERNS = (
    4096  # regular expressions kept; chosen: an agent that reads reviews for an hour needs some hundreds
)

_NOT_A_WORD = re.compile(r"[^\w', ]+")
_SENTENCE_END = re.compile(r"[.;:!?()\[\]\n\N{EM DASH}\N{EN DASH}]+")
_GAP_SOURCE = rf"(?:(?!(?:not|no|never|hardly|\w+n't) )(?:[\w']+|,) ){{0,{GAP_WORDS}}}"
_CLASS_NAME = re.compile(r"<(\w+)>")
_APOSTROPHES = str.maketrans({"\N{RIGHT SINGLE QUOTATION MARK}": "'", "-": " ", "_": " "})


class Saying(Settings):
    """Words for an attribute in a summary of opinions: where it holds, does not, or opinions are split."""

    so: str
    not_so: str
    split: str


class Attribute(Settings):
    """A quality of a place that people wish for or write about, such as `spicy`, with its phrases."""

    say: Saying
    wanted: tuple[str, ...]
    """Phrases of a wish for the quality."""
    unwanted: tuple[str, ...]
    """Phrases of a wish for its contrary, such as "not spicy"."""
    no_wish: tuple[str, ...] = ()
    """Phrases that contain wish words for the quality but are no wish."""
    so: tuple[str, ...]
    """Phrases of an opinion that a place has the quality."""
    not_so: tuple[str, ...]
    """Phrases of an opinion that a place lacks the quality."""
    neutral: tuple[str, ...] = ()
    """Phrases that contain opinion words for the quality but are no opinion."""
    contrary: str = ""
    """Name of another attribute that is this one's exact contrary; empty if there is none."""


class HomeWords(Settings):
    """The phrases by which wishes of people who look for a home are read."""

    inside: tuple[str, ...]
    """Words for equipment inside a home (such as a kitchen), though some may name a place outside as well."""
    away: tuple[str, ...]
    """Phrases of a wish to live far from something."""
    not_away: tuple[str, ...]
    """Phrases that look like a wish to live far from something but are none."""
    must: tuple[str, ...]
    nice: tuple[str, ...]
    thrifty: tuple[str, ...]
    """Phrases of people to whom a low rent matters much."""
    careless: tuple[str, ...]
    """Phrases of people to whom the rent does not matter."""
    spacious: tuple[str, ...]
    modern: tuple[str, ...]
    old: tuple[str, ...]
    not_modern: tuple[str, ...]
    """Phrases with a word for a new house that wish for an old one."""
    not_old: tuple[str, ...]
    """Phrases with a word for an old house that wish for a new one."""
    unmeant: tuple[str, ...]
    """Phrases that look as if they described the home itself but do not."""


class Lexicon(Settings):
    """All word lists by which rules read wishes and reviews; those of place types come from their table."""

    classes: dict[str, str]
    """Alternatives of words, such as `a|b*`, by the class name that phrases quote in angle brackets."""
    place_types: dict[str, tuple[str, ...]]
    """Words in a wish or on a sign that stand for a place type, beyond its name; by place type."""
    needs: dict[str, tuple[str, ...]]
    """Phrases in a wish that imply a place type by goods, troubles or idioms; by place type."""
    not_meant: tuple[str, ...]
    """Phrases that contain words of a place type but do not mean it."""
    passed_over: tuple[str, ...]
    """Phrases before a place type that somebody refuses or comes from."""
    longings: tuple[str, ...]
    """Phrases that introduce what somebody wants, such as "longs for"."""
    particulars: tuple[str, ...]
    """Phrases of dishes and other details that imply a place type and narrow the choice."""
    related: dict[str, tuple[str, ...]]
    """Related place types by place type; words for a related one, except its name, suggest the type too."""
    also_counts: dict[str, tuple[str, ...]]
    """Other place types that count as a given one; by the given place type."""
    shop_streets: tuple[str, ...]
    """Phrases for a street with many shops."""
    shop_life: tuple[str, ...]
    emptiness: tuple[str, ...]
    negations: tuple[str, ...]
    aversions: tuple[str, ...]
    spoilers: tuple[str, ...]
    """Verbs of displeasure that follow what somebody does not want."""
    mere_emphasis: tuple[str, ...]
    breaks: tuple[str, ...]
    attributes: dict[str, Attribute]
    homes: HomeWords
    near_home: dict[str, tuple[str, ...]]
    """Words for a place that somebody wants near a home, beyond its type's name; by place type."""

    @model_validator(mode="before")
    @classmethod
    def _spell_out_classes(cls, data: Any) -> Any:
        """Return the file's data with the place types' words added, and `<class>` names replaced by words."""
        if not isinstance(data, dict):
            return data
        fields = {
            "place_types": by_type("words"),
            "needs": by_type("needs"),
            "related": by_type("related"),
            "also_counts": by_type("counts"),
            "near_home": by_type("near_home"),
        }
        in_table = {name: {kind: list(words) for kind, words in by.items()} for name, by in fields.items()}
        data = in_table | data
        classes = data.get("classes")
        return _replace_classes(data, classes) if isinstance(classes, dict) else data

    @property
    def kinds(self) -> tuple[str, ...]:
        """Place types for which the lexicon has words."""
        return tuple(dict.fromkeys([*self.place_types, *self.needs]))

    def sentences(self, text: str) -> Iterator[str]:
        """Yield each sentence of a text as lower-case words and commas, separated by single blanks."""
        for part in _SENTENCE_END.split(text.lower().translate(_APOSTROPHES)):
            words = " ".join(_NOT_A_WORD.sub(" ", part.replace(",", " , ")).split())
            yield from filter(None, [" ".join(phrase_pattern(self.mere_emphasis).sub("", words).split())])


def check_english(text: str, what: str) -> None:
    """Check that most letters of a text are ASCII, since rules read English alone; errors call it `what`.

    Raises:
        MindFailed: most of its letters are others.
    """
    letters = [letter for letter in text if letter.isalpha()]
    if sum(letter.isascii() for letter in letters) <= len(letters) / 2:
        raise MindFailed(
            f"{what} is not written in English, the only language that the rules know: "
            "write it in English, or choose a model with --mind"
        )


def words_of(text: str) -> str:
    """Return a text as lower-case words separated by single blanks, without punctuation."""
    return " ".join(_NOT_A_WORD.sub(" ", text.lower().translate(_APOSTROPHES)).replace(",", " ").split())


@lru_cache(maxsize=PATTERNS)
def phrase_pattern(phrases: tuple[str, ...], *, with_gaps: bool = False) -> re.Pattern[str]:
    """Return a pattern that matches any of the phrases in words, with a group for each `…` if `with_gaps`."""
    if not phrases:
        return re.compile(r"(?!)")
    # Longer phrases first: of alternatives the first that matches is taken.
    alternatives = "|".join(_phrase_source(phrase) for phrase in sorted(phrases, key=len, reverse=True))
    if with_gaps:
        alternatives = alternatives.replace(_GAP_SOURCE, f"({_GAP_SOURCE})")
    return re.compile(rf"(?<![\w'])(?:{alternatives})(?![\w'])")


def matches_of(phrases: tuple[str, ...], words: str) -> Iterator[re.Match[str]]:
    """Yield the matches of phrases in words as `words_of` gives them, in text order and without overlap.

    Only those phrases are compiled whose beginning occurs in the words; for most place types none is.
    """
    begun = f" {words}"
    likely = tuple(
        phrase for phrase, openings in _openings(phrases) if any(opening in begun for opening in openings)
    )
    if likely:
        yield from phrase_pattern(likely, with_gaps=True).finditer(words)


def stretch_of(match: re.Match[str]) -> str:
    """Return the words that a match covers, with `GAP` in place of those that a `…` of its phrase covers."""
    gaps = [span for span in match.regs[1:] if span[0] < span[1]]
    begun, ended = [match.start(), *(end for _, end in gaps)], [*(start for start, _ in gaps), match.end()]
    pieces = (match.string[start:end].strip() for start, end in zip(begun, ended, strict=True))
    return GAP.join(filter(None, pieces))


@cache
def _openings(phrases: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return for each phrase (phrase, the possible beginnings of its first word, each after a blank)."""
    openings = []
    for phrase in phrases:
        word = next(iter(phrase.translate(_APOSTROPHES).split()), "")
        choices = ("" if word == "\N{HORIZONTAL ELLIPSIS}" else word).split("|")
        openings.append((phrase, tuple(f" {choice.partition('*')[0]}" for choice in choices)))
    return tuple(openings)


def found_in(text: str, phrases: Iterable[str]) -> list[str]:
    """Return the stretches of a text that match any of the phrases, in text order, without duplicates."""
    matches = matches_of(tuple(phrases), words_of(text))
    return list(dict.fromkeys(match[0] for match in matches))


def stretches_in(text: str, phrases: Iterable[str]) -> list[str]:
    """Return the stretches as `found_in`, with `GAP` in place of words that a `…` of the phrase covers."""
    matches = matches_of(tuple(phrases), words_of(text))
    return list(dict.fromkeys(stretch_of(match) for match in matches))


@cache
def load_lexicon() -> Lexicon:
    """Return the lexicon that comes with virl.

    Raises:
        BadInput: the file is broken; names file, line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "lexicon.yaml", Lexicon)


def _replace_classes(data: Any, classes: Mapping[str, str]) -> Any:
    """Return data with each `<class>` name in its texts replaced by the words of the class."""
    if isinstance(data, dict):
        return {key: _replace_classes(value, classes) for key, value in data.items()}
    if isinstance(data, list):
        return [_replace_classes(value, classes) for value in data]
    if not isinstance(data, str):
        return data
    unknown = [name for name in _CLASS_NAME.findall(data) if name not in classes]
    if unknown:
        raise ValueError(f"{data!r} names the unknown class {unknown[0]!r}")
    return _CLASS_NAME.sub(lambda name: str(classes[name[1]]), data)


def _phrase_source(phrase: str) -> str:
    """Return the source of the regular expression that matches a phrase of the lexicon in words."""
    source = ""
    for word in phrase.translate(_APOSTROPHES).split():
        if word == "\N{HORIZONTAL ELLIPSIS}":
            source += _GAP_SOURCE
        else:
            choices = "|".join(re.escape(choice).replace(r"\*", r"[\w']*") for choice in word.split("|"))
            source += rf"(?:{choices}) "
    return source.removesuffix(" ")


def in_order(text: str, first: re.Pattern[str], then: re.Pattern[str], *, apart: str) -> bool:
    """Return whether `then` matches after `first` in a text, with no character of `apart` between them.

    Args:
        text: that is searched.
        first: pattern of what comes first.
        then: pattern of what comes after it.
        apart: characters that may not stand between.
    """
    for part in re.split(f"[{re.escape(apart)}]", text):
        begun = first.search(part)
        if begun and then.search(part, begun.end()):
            return True
    return False
