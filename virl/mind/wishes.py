"""Reading of wishes and reviews by rules: the kind of place that is wanted, and opinions of places."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from virl.mind.lexicon import (
    GAP,
    NEGATION_REACH,
    Attribute,
    Lexicon,
    load_lexicon,
    matches_of,
    phrase_pattern,
    stretch_of,
    words_of,
)
from virl.mind.sentences import asked_for

# Weights of what a wish says of a kind of place (chosen, and tried on sentences of our own).
NAMED = 3.0  # its own name
MOST_WORDS = 3  # any other phrase weighs as much as it has words, at most so many
LONGED_FOR = 1.0  # on top, after such words as "would like"
FIRST_SENTENCE = 1.0  # on top, in the first sentence that speaks of any kind
LONGING_REACH, REFUSAL_REACH = 7, 4  # words after such words that they still bear on (chosen)

_BESIDE = ("next to", "opposite", "beside", "near", "far from", "past", "before", "until")
"""Words before a place type, such as "next to", that locate something by that place and do not refuse it."""


@dataclass(frozen=True, slots=True)
class _KindMention:
    """A stretch of a sentence that suggests a kind of place, or only looks as if it did."""

    kind: str | None
    """Place type; `None` for a stretch that only looks like one."""
    start: int
    """Index of the stretch's first character in the sentence."""
    end: int
    """Index behind its last character."""
    weight: float
    """Weight of the mention, at most `NAMED`; 0 for a stretch that only looks like one."""
    stretch: str = ""
    """The words of the stretch, without those that a `…` of their phrase covers."""

    def is_named(self, words: str, lexicon: Lexicon) -> bool:
        """Return whether words name the mention's place type, not what such a place offers."""
        name = words_of(self.kind or "")
        names = (name, f"{name}s", *lexicon.place_types.get(self.kind or "", ()))
        return bool(phrase_pattern(names).fullmatch(words))


def kinds_wanted(
    text: str, offered: tuple[str, ...], lexicon: Lexicon, aside: tuple[str, ...] = ()
) -> list[str]:
    """Return wished-for place types, known or `offered`, most wished first; `aside`: phrases to disregard.

    Where phrases overlap, the longest counts. What is refused, as in "no bar, please", does not.

    Args:
        text: what somebody says of what they want.
        offered: place types that count by their names, beside those that the lexicon knows.
        lexicon: the words.
        aside: phrases that speak of something else than a kind of place.
    """
    aside = (*lexicon.not_meant, *aside)
    longing = phrase_pattern(lexicon.longings)
    scores: dict[str, float] = {}
    for sentence in lexicon.sentences(asked_for(text)):
        first = 0.0 if scores else FIRST_SENTENCE
        for mention in _kind_mentions(sentence, offered, lexicon, aside):
            before = sentence[: mention.start]
            if mention.kind and _refusal(before, sentence[mention.end :], lexicon) is None:
                longed_for = LONGED_FOR * bool(longing.search(" ".join(before.split()[-LONGING_REACH:])))
                scores[mention.kind] = scores.get(mention.kind, first) + mention.weight + longed_for
    return sorted(scores, key=lambda kind: -scores[kind])


def words_for_kinds(
    text: str, kinds: Collection[str], lexicon: Lexicon, aside: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the stretches of a wish that suggest one of `kinds`, and those that refuse another place type.

    What speaks for a related kind without naming it counts, as "lunch" does where a cafe is looked for.

    Args:
        text: what somebody says of what they want.
        kinds: the place types that are looked for.
        lexicon: the words.
        aside: phrases that speak of something else than a kind of place.
    """
    aside = (*lexicon.not_meant, *aside)
    counted = {*kinds, *(other for kind in kinds for other in lexicon.also_counts.get(kind, ()))}
    related = {other for kind in kinds for other in lexicon.related.get(kind, ())}
    for sentence in lexicon.sentences(asked_for(text)):
        for mention in _kind_mentions(sentence, tuple(kinds), lexicon, aside):
            before, words = sentence[: mention.start], mention.stretch
            refusing = _refusal(before, sentence[mention.end :], lexicon) if mention.kind else None
            if refusing is not None:
                refuses = mention.kind not in counted and mention.is_named(words, lexicon)
                if refuses and not phrase_pattern(_BESIDE).search(refusing):
                    yield f"{refusing}{GAP}{words}" if refusing else words
            elif mention.kind in counted or (mention.kind in related and mention.weight != NAMED):
                yield words


def refused_kinds(text: str, lexicon: Lexicon) -> set[str]:
    """Return the place types that a wish refuses, as in "no bar, please"."""
    return {
        mention.kind
        for sentence in lexicon.sentences(asked_for(text))
        for mention in _kind_mentions(sentence, (), lexicon, lexicon.not_meant)
        if mention.kind and _refusal(sentence[: mention.start], sentence[mention.end :], lexicon) is not None
    }


def particulars_wanted(text: str, lexicon: Lexicon) -> list[str]:
    """Return the phrases of dishes and other details that a wish has and nowhere refuses."""
    refusals = phrase_pattern((*lexicon.passed_over, *lexicon.negations, *lexicon.aversions))
    wanted: dict[str, bool] = {}
    for sentence in lexicon.sentences(asked_for(text)):
        for phrase in lexicon.particulars:
            for match in matches_of((phrase,), sentence):
                near = sentence[: match.start()].rpartition(",")[2].split()[-REFUSAL_REACH:]
                wanted[phrase] = wanted.get(phrase, True) and not refusals.search(" ".join(near))
    return [phrase for phrase, is_wanted in wanted.items() if is_wanted]


def _kind_mentions(
    sentence: str, offered: tuple[str, ...], lexicon: Lexicon, aside: tuple[str, ...]
) -> list[_KindMention]:
    """Return stretches that suggest a place type or, as in `aside`, only seem to; of overlaps the longest."""
    kept: list[_KindMention] = []
    misleading = [_KindMention(None, *match.span(), 0.0) for match in matches_of(aside, sentence)]
    found = sorted(
        [*misleading, *_find_mentions(sentence, offered, lexicon)], key=lambda one: one.start - one.end
    )
    for one in found:
        if all(
            ((one.start, one.end) == (other.start, other.end) and other.kind not in {None, one.kind})
            or one.end <= other.start
            or other.end <= one.start
            for other in kept
        ):
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def _find_mentions(sentence: str, offered: tuple[str, ...], lexicon: Lexicon) -> Iterator[_KindMention]:
    """Yield the mentions of place types, of the lexicon or `offered`, in a sentence, each with its weight."""
    for kind in dict.fromkeys([*offered, *lexicon.place_types, *lexicon.needs]):
        name = words_of(kind)
        for match in matches_of((name, f"{name}s"), sentence):
            yield _KindMention(kind, *match.span(), NAMED, match[0])
        words = (*lexicon.place_types.get(kind, ()), *lexicon.needs.get(kind, ()))
        for match in matches_of(words, sentence):
            weight = min(len(match[0].replace(",", "").split()), MOST_WORDS)
            yield _KindMention(kind, *match.span(), weight, stretch_of(match))


def _refusal(before: str, after: str, lexicon: Lexicon) -> str | None:
    """Return the words by which the text `before` or `after` a place type refuses it; `None` if none do."""
    clause = before.rpartition(",")[2]
    if clause.split()[-1:] == ["no"] and after.replace(",", " ").split()[:1] == ["please"]:
        return "no"
    found = phrase_pattern(lexicon.passed_over).search(" ".join(clause.split()[-REFUSAL_REACH:]))
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase of a wish or an opinion about an attribute of a place."""

    attribute: str
    """Name of the attribute in the lexicon, such as `spicy`."""
    holds: bool
    """True if the phrase says that the attribute holds, false if it says the contrary."""
    words: str
    stretch: str = field(default="", compare=False)
    """The words of the phrase with any negation; an ellipsis stands for words in between."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Numbers of texts, such as reviews, that say that an attribute holds, and that it does not."""

    yes: int = 0
    no: int = 0

    @property
    def holds(self) -> bool | None:
        """Opinion of the majority: true if the attribute holds; `None` if the texts are split or silent."""
        return None if self.yes == self.no else self.yes > self.no


def opinions(text: str, lexicon: Lexicon) -> list[Mention]:
    """Return the opinions of a text on attributes of a place, reversed where they are negated."""
    found: list[Mention] = []
    for sentence in lexicon.sentences(text):
        for name, attribute in lexicon.attributes.items():
            groups = {True: attribute.so, False: attribute.not_so, None: attribute.neutral}
            found += _mentions(name, sentence, groups, lexicon.negations, lexicon.breaks)
    return found


def wishes(text: str, lexicon: Lexicon, *, loosely: bool = False) -> dict[str, Mention]:
    """Return the last wish on each attribute of a place, by its name; `loosely` also reads opinion words.

    Args:
        text: what somebody says of what they want.
        lexicon: the words.
        loosely: as of `wishes_in`.
    """
    return {mention.attribute: mention for mention in wishes_in(text, lexicon, loosely=loosely)}


def wishes_in(text: str, lexicon: Lexicon, *, loosely: bool = False) -> list[Mention]:
    """Return the wishes in a text for attributes of a place; `loosely` adds, first, those in opinion words.

    Args:
        text: what somebody says of what they want.
        lexicon: the words.
        loosely: whether the words of opinions count too, for attributes that no word of a wish names; not in
            a sentence that names another wish, nor in the first that names a kind of place.
    """
    found: list[Mention] = []
    hinted: list[Mention] = []
    kinds = tuple(word for words in lexicon.place_types.values() for word in words)
    kind_is_named = False
    for sentence in lexicon.sentences(asked_for(text)):
        told = _wishes_by(sentence, lexicon, lambda one: (one.wanted, one.unwanted, one.no_wish))
        found += told
        names_kind = not kind_is_named and bool(phrase_pattern(kinds).search(sentence))
        kind_is_named = kind_is_named or names_kind
        if loosely and not told and not names_kind:
            hinted += _wishes_by(
                sentence, lexicon, lambda one: (one.so, one.not_so, one.neutral + one.no_wish)
            )
    return hinted + found


def requested_attributes(*texts: str) -> dict[str, bool]:
    """Return, by attribute name, true if the wishes `texts` say that a place must have it, false if not."""
    return {name: one.holds for text in texts for name, one in wishes(text, load_lexicon()).items()}


def _wishes_by(
    sentence: str, lexicon: Lexicon, phrases: Callable[[Attribute], tuple[tuple[str, ...], ...]]
) -> list[Mention]:
    """Return a sentence's wishes; `phrases` gives an attribute's (phrases for it, against it, of no wish)."""
    turning = lexicon.negations + lexicon.aversions
    found: list[Mention] = []
    for name, attribute in lexicon.attributes.items():
        groups = dict(zip((True, False, None), phrases(attribute), strict=True))
        mentions = _mentions(name, sentence, groups, turning, lexicon.breaks)
        found += [_apply_spoilers(mention, sentence, lexicon) for mention in mentions]
    return found


def _apply_spoilers(mention: Mention, sentence: str, lexicon: Lexicon) -> Mention:
    """Return a wish, reversed if words of displeasure follow it in its clause ("loud places hurt her")."""
    _, _, after = sentence.partition(mention.words)
    clause = phrase_pattern(lexicon.breaks).split(after)[0].partition(",")[0]
    spoilt = phrase_pattern(lexicon.spoilers).search(clause)
    if spoilt is None:
        return mention
    return replace(mention, holds=not mention.holds, stretch=f"{mention.stretch}{GAP}{spoilt[0]}")


def vote(texts: Iterable[str], lexicon: Lexicon) -> dict[str, Verdict]:
    """Return the verdict on each attribute that texts give opinions on, by name; each text has one vote."""
    ballots: list[Counter[str]] = []
    for text in texts:
        ballots.append(Counter())
        for mention in opinions(text, lexicon):
            ballots[-1][mention.attribute] += 1 if mention.holds else -1
    names = sorted({name for ballot in ballots for name in ballot})
    return {
        name: Verdict(
            yes=sum(ballot[name] > 0 for ballot in ballots), no=sum(ballot[name] < 0 for ballot in ballots)
        )
        for name in names
    }


def describe(verdict: Verdict, attribute: Attribute) -> str:
    """Return a verdict on an attribute in words, such as `not spicy (3 of 4)`."""
    if verdict.holds is None:
        return f"{attribute.say.split} ({verdict.yes} to {verdict.no})"
    saying, voices = (attribute.say.so, verdict.yes) if verdict.holds else (attribute.say.not_so, verdict.no)
    return f"{saying} ({voices} of {verdict.yes + verdict.no})"


def _mentions(
    name: str,
    sentence: str,
    groups: Mapping[bool | None, tuple[str, ...]],
    negations: tuple[str, ...],
    breaks: tuple[str, ...],
) -> Iterator[Mention]:
    """Yield a sentence's mentions of attribute `name`; `groups`: phrases for it, against it, to pass over.

    Phrases of `negations` reverse a mention soon after them, unless one of `breaks` is in between.
    """
    spans = [
        (match.start(), match.end(), holds)
        for holds, phrases in groups.items()
        for match in matches_of(phrases, sentence)
    ]
    taken: list[tuple[int, int]] = []
    # Where phrases overlap, the longest counts.
    for start, end, holds in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if any(start < other_end and other_start < end for other_start, other_end in taken):
            continue
        taken.append((start, end))
        if holds is not None:
            before = phrase_pattern(breaks).split(sentence[:start])[-1].rpartition(",")[2]
            near = " ".join(before.split()[-NEGATION_REACH:])
            turning = phrase_pattern(negations).findall(near)
            turning += [word for word in near.split() if word.endswith("n't")]
            words = sentence[start:end]
            # two words that turn it cancel each other: "not without a terrace"
            yield Mention(name, holds ^ (len(turning) % 2 == 1), words, GAP.join([*turning, words]))
