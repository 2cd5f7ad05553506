"""What texts say about a place: opinions in reviews, wishes in intentions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from virl.mind.lexicon import (
    GAP,
    NEGATION_REACH,
    Attribute,
    Lexicon,
    load_lexicon,
    matches_of,
    phrase_pattern,
)
from virl.mind.understanding.background import asked_for


@dataclass(frozen=True, slots=True)
class Mention:
    """One phrase about an attribute."""

    attribute: str
    holds: bool
    """True if it says that the attribute is so."""
    words: str
    stretch: str = field(default="", compare=False)
    """The phrase with what turns it; an ellipsis between blanks stands for words that are not meant."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The numbers of texts that say that an attribute is so, and that it is not."""

    yes: int = 0
    no: int = 0

    @property
    def holds(self) -> bool | None:
        """The opinion of most; `None` where they are split or nobody says anything."""
        return None if self.yes == self.no else self.yes > self.no


def opinions(text: str, lexicon: Lexicon) -> list[Mention]:
    """Return the opinions of a text on the attributes of a place, negations taken into account."""
    found: list[Mention] = []
    for sentence in lexicon.sentences(text):
        for name, attribute in lexicon.attributes.items():
            groups = {True: attribute.so, False: attribute.not_so, None: attribute.neutral}
            found += _mentions(name, sentence, groups, lexicon.negations, lexicon.breaks)
    return found


def wishes(text: str, lexicon: Lexicon, *, loosely: bool = False) -> dict[str, Mention]:
    """Return the wishes for a place in a text: the last word on each attribute, by its name.

    Args and what counts are those of `wishes_in`.

    Args:
        text: that is read.
        lexicon: of the language.
        loosely: as of `wishes_in`.
    """
    return {mention.attribute: mention for mention in wishes_in(text, lexicon, loosely=loosely)}


def wishes_in(text: str, lexicon: Lexicon, *, loosely: bool = False) -> list[Mention]:
    """Return all that a text says it wants of a place; of an attribute, the last word counts.

    Args:
        text: what somebody says of what they want.
        lexicon: the words.
        loosely: whether the words of opinions count too, for attributes that no word of a wish names; not in
            a sentence that names another wish, nor in the first that names a kind of place.
    """
    turning = lexicon.negations + lexicon.aversions
    found: list[Mention] = []
    hinted: list[Mention] = []
    kinds = tuple(word for words in lexicon.place_types.values() for word in words)
    kind_is_named = False
    for sentence in lexicon.sentences(asked_for(text)):
        told: list[Mention] = []
        for name, attribute in lexicon.attributes.items():
            groups = {True: attribute.wanted, False: attribute.unwanted, None: attribute.no_wish}
            mentions = _mentions(name, sentence, groups, turning, lexicon.breaks)
            told += [_as_felt(mention, sentence, lexicon) for mention in mentions]
        found += told
        names_kind = not kind_is_named and bool(phrase_pattern(kinds).search(sentence))
        kind_is_named = kind_is_named or names_kind
        if loosely and not told and not names_kind:
            hinted += _hints(sentence, lexicon)
    return hinted + found


def requested_attributes(*texts: str) -> dict[str, bool]:
    """Return the attributes of a place that texts ask for, and whether it has to have each."""
    return {name: one.holds for text in texts for name, one in wishes(text, load_lexicon()).items()}


def _hints(sentence: str, lexicon: Lexicon) -> list[Mention]:
    """Return the wishes that a sentence may hold, by the words that opinions are put in."""
    turning = lexicon.negations + lexicon.aversions
    hints: list[Mention] = []
    for name, attribute in lexicon.attributes.items():
        groups = {True: attribute.so, False: attribute.not_so, None: attribute.neutral + attribute.no_wish}
        mentions = _mentions(name, sentence, groups, turning, lexicon.breaks)
        hints += [_as_felt(mention, sentence, lexicon) for mention in mentions]
    return hints


def _as_felt(mention: Mention, sentence: str, lexicon: Lexicon) -> Mention:
    """Return the mention of a wish, turned if displeasure follows ("loud places hurt her")."""
    _, _, after = sentence.partition(mention.words)
    clause = phrase_pattern(lexicon.breaks).split(after)[0].partition(",")[0]
    spoilt = phrase_pattern(lexicon.spoilers).search(clause)
    if spoilt is None:
        return mention
    return replace(mention, holds=not mention.holds, stretch=f"{mention.stretch}{GAP}{spoilt[0]}")


def vote(texts: Iterable[str], lexicon: Lexicon) -> dict[str, Verdict]:
    """Return the verdict on each attribute that any text mentions; each text has one voice."""
    ballots = [_balance(opinions(text, lexicon)) for text in texts]
    names = sorted({name for ballot in ballots for name in ballot})
    return {
        name: Verdict(
            yes=sum(ballot.get(name, 0) > 0 for ballot in ballots),
            no=sum(ballot.get(name, 0) < 0 for ballot in ballots),
        )
        for name in names
    }


def describe(verdict: Verdict, attribute: Attribute) -> str:
    """Return a verdict in words, such as `not spicy (3 of 4)`."""
    if verdict.holds is None:
        return f"{attribute.say.split} ({verdict.yes} to {verdict.no})"
    saying, voices = (attribute.say.so, verdict.yes) if verdict.holds else (attribute.say.not_so, verdict.no)
    return f"{saying} ({voices} of {verdict.yes + verdict.no})"


def _balance(mentions: Iterable[Mention]) -> Mapping[str, int]:
    leaning: dict[str, int] = {}
    for mention in mentions:
        leaning[mention.attribute] = leaning.get(mention.attribute, 0) + (1 if mention.holds else -1)
    return leaning


def _mentions(
    name: str,
    sentence: str,
    groups: Mapping[bool | None, tuple[str, ...]],
    negations: tuple[str, ...],
    breaks: tuple[str, ...],
) -> Iterator[Mention]:
    """Yield the mentions of one attribute in a sentence: where phrases overlap, the longest counts."""
    spans = [
        (match.start(), match.end(), holds)
        for holds, phrases in groups.items()
        for match in matches_of(phrases, sentence)
    ]
    taken: list[tuple[int, int]] = []
    for start, end, holds in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if any(start < other_end and other_start < end for other_start, other_end in taken):
            continue
        taken.append((start, end))
        if holds is not None:
            before = phrase_pattern(breaks).split(sentence[:start])[-1].rpartition(",")[2]
            near = " ".join(before.split()[-NEGATION_REACH:])
            turning = _negating_words(near, negations)
            words = sentence[start:end]
            yield Mention(name, holds ^ (len(turning) % 2 == 1), words, GAP.join([*turning, words]))


def _negating_words(words: str, negations: tuple[str, ...]) -> list[str]:
    """Return the words that turn what follows them."""
    plain = phrase_pattern(negations).findall(words)
    return [*plain, *(word for word in words.split() if word.endswith("n't"))]
