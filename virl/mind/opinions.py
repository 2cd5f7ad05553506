"""What texts say about a place: opinions in reviews, wishes in intentions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from virl.mind.lexicon import NEGATION_REACH, Attribute, Lexicon, phrase_pattern


@dataclass(frozen=True, slots=True)
class Mention:
    """One phrase about an attribute."""

    attribute: str
    holds: bool
    """Whether it says that the attribute is so."""
    words: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many texts say that an attribute is so, and how many that it is not."""

    yes: int = 0
    no: int = 0

    @property
    def holds(self) -> bool | None:
        """What most say; `None` where they are split or nobody says anything."""
        return None if self.yes == self.no else self.yes > self.no


def opinions(text: str, lexicon: Lexicon) -> list[Mention]:
    """What a text says about the attributes of a place, negations taken into account."""
    found: list[Mention] = []
    for sentence in lexicon.sentences(text):
        for name, attribute in lexicon.attributes.items():
            groups = {True: attribute.so, False: attribute.not_so, None: attribute.neutral}
            found += _mentions(name, sentence, groups, lexicon.negations, lexicon.breaks)
    return found


def wishes(text: str, lexicon: Lexicon) -> dict[str, Mention]:
    """What a text wants of a place: the last word on each attribute."""
    turning = lexicon.negations + lexicon.aversions
    found: dict[str, Mention] = {}
    for sentence in lexicon.sentences(text):
        for name, attribute in lexicon.attributes.items():
            groups = {True: attribute.wanted, False: attribute.unwanted, None: ()}
            for mention in _mentions(name, sentence, groups, turning, lexicon.breaks):
                found[name] = mention
    return found


def vote(texts: Iterable[str], lexicon: Lexicon) -> dict[str, Verdict]:
    """The verdict on each attribute that any text mentions; each text has one voice."""
    ballots = [_leaning(opinions(text, lexicon)) for text in texts]
    names = sorted({name for ballot in ballots for name in ballot})
    return {
        name: Verdict(
            yes=sum(ballot.get(name, 0) > 0 for ballot in ballots),
            no=sum(ballot.get(name, 0) < 0 for ballot in ballots),
        )
        for name in names
    }


def describe(verdict: Verdict, attribute: Attribute) -> str:
    """A verdict in words, such as `not spicy (3 of 4)`."""
    if verdict.holds is None:
        return f"{attribute.say.split} ({verdict.yes} to {verdict.no})"
    saying, voices = (attribute.say.so, verdict.yes) if verdict.holds else (attribute.say.not_so, verdict.no)
    return f"{saying} ({voices} of {verdict.yes + verdict.no})"


def _leaning(mentions: Iterable[Mention]) -> Mapping[str, int]:
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
    """Mentions of one attribute in a sentence: where phrases overlap, the longest counts."""
    spans = [
        (match.start(), match.end(), holds)
        for holds, phrases in groups.items()
        for match in phrase_pattern(phrases).finditer(sentence)
    ]
    taken: list[tuple[int, int]] = []
    for start, end, holds in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if any(start < other_end and other_start < end for other_start, other_end in taken):
            continue
        taken.append((start, end))
        if holds is not None:
            before = phrase_pattern(breaks).split(sentence[:start])[-1].rpartition(",")[2]
            near = " ".join(before.split()[-NEGATION_REACH:])
            yield Mention(name, holds ^ _is_negated(near, negations), sentence[start:end])


def _is_negated(words: str, negations: tuple[str, ...]) -> bool:
    plain = phrase_pattern(negations).findall(words)
    contracted = [word for word in words.split() if word.endswith("n't")]
    return (len(plain) + len(contracted)) % 2 == 1
