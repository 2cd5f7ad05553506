"""What rules read of wishes and reviews: the kind of place that is wanted, and opinions of places."""

from collections.abc import Collection, Iterable, Iterator, Mapping
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
"""Pattern of words before a place type that locate another place and do not refuse the type."""


@dataclass(frozen=True, slots=True)
class _KindMention:
    """A stretch of a sentence that suggests a place type; of type `None` if it only looks like one."""

    kind: str | None
    start: int
    end: int
    weight: float
    stretch: str = ""
    """The words of the stretch, without those that a `…` of their phrase covers."""

    def is_named(self, words: str, lexicon: Lexicon) -> bool:
        """Return whether words call a place type by name, not by what such a place offers."""
        name = words_of(self.kind or "")
        names = (name, f"{name}s", *lexicon.place_types.get(self.kind or "", ()))
        return bool(phrase_pattern(names).fullmatch(words))


def kinds_wanted(
    text: str, offered: tuple[str, ...], lexicon: Lexicon, aside: tuple[str, ...] = ()
) -> list[str]:
    """Return the place types that a wish mentions, most weight first; among equals in text order.

    Where phrases overlap, the longest counts. What is refused, as in "no bar, please", does not.

    Args:
        text: what somebody says of what they want.
        offered: kinds that count by their names too, beside those that the lexicon knows.
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
            if mention.kind and not _is_refused(before, sentence[mention.end :], lexicon):
                longed_for = LONGED_FOR * bool(longing.search(" ".join(before.split()[-LONGING_REACH:])))
                scores[mention.kind] = scores.get(mention.kind, first) + mention.weight + longed_for
    return sorted(scores, key=lambda kind: -scores[kind])


def words_for_kinds(
    text: str, kinds: Collection[str], lexicon: Lexicon, aside: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the stretches of a wish that suggest the given place types, and those that refuse others.

    What speaks for a related kind without naming it counts, as "lunch" does where a cafe is looked for.

    Args:
        text: what somebody says of what they want.
        kinds: those that are looked for.
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
        if mention.kind and _is_refused(sentence[: mention.start], sentence[mention.end :], lexicon)
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
    """Return the mentions of place types in text order; they overlap only where two types share words."""
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
    """Yield the mentions of place types in a sentence, each with its weight."""
    for kind in dict.fromkeys([*offered, *lexicon.place_types, *lexicon.needs]):
        name = words_of(kind)
        for match in matches_of((name, f"{name}s"), sentence):
            yield _KindMention(kind, *match.span(), NAMED, match[0])
        words = (*lexicon.place_types.get(kind, ()), *lexicon.needs.get(kind, ()))
        for match in matches_of(words, sentence):
            weight = min(len(match[0].replace(",", "").split()), MOST_WORDS)
            yield _KindMention(kind, *match.span(), weight, stretch_of(match))


def _is_refused(before: str, after: str, lexicon: Lexicon) -> bool:
    """Return whether the words before or after a place type refuse it."""
    return _refusal(before, after, lexicon) is not None


def _refusal(before: str, after: str, lexicon: Lexicon) -> str | None:
    """Return the words before or after a place type that refuse it; `None` if none do."""
    clause = before.rpartition(",")[2]
    if clause.split()[-1:] == ["no"] and after.replace(",", " ").split()[:1] == ["please"]:
        return "no"
    found = phrase_pattern(lexicon.passed_over).search(" ".join(clause.split()[-REFUSAL_REACH:]))
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase about an attribute of a place, in a wish or an opinion."""

    attribute: str
    holds: bool
    """True if the phrase says that the attribute holds, false if it says the contrary."""
    words: str
    stretch: str = field(default="", compare=False)
    """The words of the phrase with any negation; an ellipsis stands for words in between."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Counts of texts that say that an attribute holds, and that it does not."""

    yes: int = 0
    no: int = 0

    @property
    def holds(self) -> bool | None:
        """Return the majority's opinion, true or false; `None` if texts are split or say nothing."""
        return None if self.yes == self.no else self.yes > self.no


def opinions(text: str, lexicon: Lexicon) -> list[Mention]:
    """Return the opinions of a text on attributes of a place, negations considered."""
    found: list[Mention] = []
    for sentence in lexicon.sentences(text):
        for name, attribute in lexicon.attributes.items():
            groups = {True: attribute.so, False: attribute.not_so, None: attribute.neutral}
            found += _mentions(name, sentence, groups, lexicon.negations, lexicon.breaks)
    return found


def wishes(text: str, lexicon: Lexicon, *, loosely: bool = False) -> dict[str, Mention]:
    """Return the wishes in a text by attribute name; the last wish on an attribute counts.

    Args and what counts are those of `wishes_in`.

    Args:
        text: that is read.
        lexicon: of the language.
        loosely: as of `wishes_in`.
    """
    return {mention.attribute: mention for mention in wishes_in(text, lexicon, loosely=loosely)}


def wishes_in(text: str, lexicon: Lexicon, *, loosely: bool = False) -> list[Mention]:
    """Return all wishes for attributes of a place that a text expresses, in order, weak hints first.

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
    """Return the attributes that texts request: true if the place must have it, false if it must lack it."""
    return {name: one.holds for text in texts for name, one in wishes(text, load_lexicon()).items()}


def _hints(sentence: str, lexicon: Lexicon) -> list[Mention]:
    """Return the wishes that a sentence may hold by opinion words, such as "quiet", without wish words."""
    turning = lexicon.negations + lexicon.aversions
    hints: list[Mention] = []
    for name, attribute in lexicon.attributes.items():
        groups = {True: attribute.so, False: attribute.not_so, None: attribute.neutral + attribute.no_wish}
        mentions = _mentions(name, sentence, groups, turning, lexicon.breaks)
        hints += [_as_felt(mention, sentence, lexicon) for mention in mentions]
    return hints


def _as_felt(mention: Mention, sentence: str, lexicon: Lexicon) -> Mention:
    """Return a wish's mention, reversed if words of displeasure follow it ("loud places hurt her")."""
    _, _, after = sentence.partition(mention.words)
    clause = phrase_pattern(lexicon.breaks).split(after)[0].partition(",")[0]
    spoilt = phrase_pattern(lexicon.spoilers).search(clause)
    if spoilt is None:
        return mention
    return replace(mention, holds=not mention.holds, stretch=f"{mention.stretch}{GAP}{spoilt[0]}")


def vote(texts: Iterable[str], lexicon: Lexicon) -> dict[str, Verdict]:
    """Return the verdict on each attribute that texts mention; each text has one vote."""
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
    """Return the net number of opinions by attribute: above 0 if more say that it holds than not."""
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
    """Yield the mentions of one attribute in a sentence; where phrases overlap, the longest counts."""
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
            turning = phrase_pattern(negations).findall(near)
            turning += [word for word in near.split() if word.endswith("n't")]
            words = sentence[start:end]
            # two words that turn it cancel each other: "not without a terrace"
            yield Mention(name, holds ^ (len(turning) % 2 == 1), words, GAP.join([*turning, words]))
