"""The words of a text that the rules act on, leave aside on purpose, or do not understand.

Rules look for words that they know, and are silent on all others. So that no run reports a success for what
was not looked at, each word of a text that drives a run is one of these: used by a rule, a filler of
`platform/rules/understanding.yaml`, or not understood. What is not understood is an aside (manner, a reason,
small talk), or else it narrows what is wanted: the rules refuse that before a run begins.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from virl.errors import MindFailed
from virl.mind.lexicon import load_lexicon, stretches_in, words_of
from virl.mind.understanding.background import background_within
from virl.mind.understanding.references import mark_pointers, mark_references, mark_statements
from virl.mind.understanding.sentences import (
    ASIDE,
    FILLER,
    NARROWING,
    USED,
    Word,
    mark_stretches,
    sentences_of,
    understanding_words,
)

ENGLISH_SHARE = 0.34  # of the words: with fewer known ones a text is taken for another language (chosen)
SHORTEST_TEXT = 5  # words from which on a language is told (chosen)
_SHOWN = 12  # groups of each sort that a message names (chosen)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that drives a run, and the stretches of it that the rules act on."""

    text: str
    used: tuple[str, ...]
    """Stretches of words; an ellipsis between blanks stands for a few words that are not meant."""
    names: tuple[str, ...] = ()
    """Names of the people who are spoken of."""
    routine: str = ""
    """Name of the routine under `routines` of the word list; empty for none."""
    narrowing: tuple[str, ...] = ()
    """Phrases of fillers that narrow here all the same, as "every" does where one place is looked for."""
    checked: tuple[str, ...] = ()
    """Stretches that a place is held against, though others take them for words of its kind or price."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """The word groups of a text by what the rules make of them."""

    understood: tuple[str, ...]
    asides: tuple[str, ...]
    """Manner, reasons and small talk, which change nothing and are not understood."""
    narrowing: tuple[str, ...]
    """Words of what is wanted that no rule looks at."""
    is_foreign: bool = False
    """True if it is hardly English."""

    def check(self) -> None:
        """See whether all that narrows what is wanted is understood.

        Raises:
            MindFailed: it is not; names what is not, and what is.
        """
        known = f" (understood: {_quote_list(self.understood)})" if self.understood else ""
        if self.is_foreign:
            raise MindFailed(
                f"the rules speak English only and do not understand {_quote_list(self.narrowing)}{known}: "
                "write it in English, or choose a model with --mind openai:MODEL"
            )
        if self.narrowing:
            raise MindFailed(
                f"the rules do not understand {_quote_list(self.narrowing)}{known}: leave it out, say it "
                "otherwise (names of places with capital letters or in quotation marks), or choose a "
                "model with --mind openai:MODEL"
            )


def understand(reading: Reading) -> Understanding:
    """Sort the words of a text into what is understood, what is an aside, and what narrows it."""
    words = understanding_words()
    marks = list(sentences_of(reading.text))
    mark_stretches(marks, reading.used)
    for sentence in marks:
        for name in reading.names:
            sentence.mark((words_of(name), f"{words_of(name)}'s"), FILLER)
        for stretch in stretches_in(sentence.plain_text, words.routines.get(reading.routine, ())):
            sentence.mark_stretch(stretch)
        sentence.narrow((*words.cuisines, *words.superlatives, *words.familiar, *load_lexicon().particulars))
    mark_stretches(marks, reading.checked)
    told = set[Word]()
    for sentence in marks:
        sentence.mark((*words.interjections, *words.manner), ASIDE)
        sentence.mark(reading.narrowing, NARROWING)
        told |= {word for word in sentence.words if word.state == ASIDE}
        first, last = sentence.words[0].start, sentence.words[-1].end
        for start, end, is_certain in background_within(reading.text, first, last):
            sentence.mark_background(start, end, is_certain=is_certain, restrictions=words.restrictions)
        sentence.mark(words.ways, NARROWING)
        sentence.mark(words.fillers, FILLER)
        sentence.mark_name(words.demands)
        sentence.mark_asides(words)
    mark_statements(marks, words.demands)
    mark_references(marks, words.animals, told)
    mark_pointers(marks)
    known = sum(one.count(USED, FILLER, NARROWING) for one in marks)
    for sentence in marks:
        sentence.unmark(NARROWING)
    total = sum(len(one.words) for one in marks)
    narrowing = tuple(group for one in marks for group in one.groups(""))
    return Understanding(
        tuple(dict.fromkeys(group for one in marks for group in one.groups(USED))),
        tuple(group for one in marks for group in one.groups(ASIDE)),
        narrowing,
        bool(narrowing) and total >= SHORTEST_TEXT and known < ENGLISH_SHARE * total,
    )


def _quote_list(groups: Iterable[str]) -> str:
    return ", ".join(f'"{group}"' for group in list(dict.fromkeys(groups))[:_SHOWN])
