"""The rules for which kind of place somebody wants."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from virl.mind.lexicon import GAP, Lexicon, matches_of, phrase_pattern, stretch_of, words_of
from virl.mind.understanding.background import asked_for

# Weights of what a wish says of a kind of place (chosen, and tried on sentences of our own).
NAMED = 3.0  # its own name
MOST_WORDS = 3  # any other phrase weighs as much as it has words, at most so many
LONGED_FOR = 1.0  # on top, after such words as "would like"
FIRST_SENTENCE = 1.0  # on top, in the first sentence that speaks of any kind
LONGING_REACH, REFUSAL_REACH = 7, 4  # words after such words that they still bear on (chosen)

_BESIDE = ("next to", "opposite", "beside", "near", "far from", "past", "before", "until")
"""Words before a kind that say where another place is, and do not refuse the kind."""


@dataclass(frozen=True, slots=True)
class _Mention:
    """A stretch of a sentence that speaks for a kind of place; for none if it only looks like it."""

    kind: str | None
    start: int
    end: int
    weight: float
    stretch: str = ""
    """The words, without those that a `…` of their phrase stands for."""

    def is_named(self, words: str, lexicon: Lexicon) -> bool:
        """Return whether words call the kind by a name, and not by what is found in such a place."""
        name = words_of(self.kind or "")
        names = (name, f"{name}s", *lexicon.place_types.get(self.kind or "", ()))
        return bool(phrase_pattern(names).fullmatch(words))


def kinds_wanted(
    text: str, offered: tuple[str, ...], lexicon: Lexicon, aside: tuple[str, ...] = ()
) -> list[str]:
    """Return the kinds that a wish has words of, the likeliest first; among equals, the one named first.

    Where phrases overlap, the longest counts. What is refused, as in "no bar, please", does not.

    Args:
        text: what somebody says of what they want.
        offered: kinds that count by their names too, beside those that the lexicon knows.
        lexicon: the words.
        aside: phrases that speak of something else than a kind of place.
    """
    aside = (*lexicon.not_meant, *aside)
    scores: dict[str, float] = {}
    for sentence in lexicon.sentences(asked_for(text)):
        first = 0.0 if scores else FIRST_SENTENCE
        for mention in _mentions(sentence, offered, lexicon, aside):
            before = sentence[: mention.start]
            if mention.kind and not _is_refused(before, sentence[mention.end :], lexicon):
                longed_for = LONGED_FOR * _follows(lexicon.longings, before, LONGING_REACH)
                scores[mention.kind] = scores.get(mention.kind, first) + mention.weight + longed_for
    return sorted(scores, key=lambda kind: -scores[kind])


def words_for_kinds(
    text: str, kinds: Collection[str], lexicon: Lexicon, aside: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the stretches of a wish that speak for some kinds, and those that refuse others.

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
        for mention in _mentions(sentence, tuple(kinds), lexicon, aside):
            before, words = sentence[: mention.start], mention.stretch
            refusing = _refusal(before, sentence[mention.end :], lexicon) if mention.kind else None
            if refusing is not None:
                refuses = mention.kind not in counted and mention.is_named(words, lexicon)
                if refuses and not phrase_pattern(_BESIDE).search(refusing):
                    yield f"{refusing}{GAP}{words}" if refusing else words
            elif mention.kind in counted or (mention.kind in related and mention.weight != NAMED):
                yield words


def refused_kinds(text: str, lexicon: Lexicon) -> set[str]:
    """Return the kinds that a wish refuses, as in "no bar, please"."""
    return {
        mention.kind
        for sentence in lexicon.sentences(asked_for(text))
        for mention in _mentions(sentence, (), lexicon, lexicon.not_meant)
        if mention.kind and _is_refused(sentence[: mention.start], sentence[mention.end :], lexicon)
    }


def particulars_wanted(text: str, lexicon: Lexicon) -> list[str]:
    """Return the phrases of dishes and the like that a wish has and nowhere refuses."""
    refusals = phrase_pattern((*lexicon.passed_over, *lexicon.negations, *lexicon.aversions))
    wanted: dict[str, bool] = {}
    for sentence in lexicon.sentences(asked_for(text)):
        for phrase in lexicon.particulars:
            for match in matches_of((phrase,), sentence):
                near = sentence[: match.start()].rpartition(",")[2].split()[-REFUSAL_REACH:]
                wanted[phrase] = wanted.get(phrase, True) and not refusals.search(" ".join(near))
    return [phrase for phrase, is_wanted in wanted.items() if is_wanted]


def _mentions(
    sentence: str, offered: tuple[str, ...], lexicon: Lexicon, aside: tuple[str, ...]
) -> list[_Mention]:
    """Return the mentions of kinds in their order, overlapping only where two kinds share the same words."""
    kept: list[_Mention] = []
    misleading = [_Mention(None, *match.span(), 0.0) for match in matches_of(aside, sentence)]
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


def _find_mentions(sentence: str, offered: tuple[str, ...], lexicon: Lexicon) -> Iterator[_Mention]:
    for kind in dict.fromkeys([*offered, *lexicon.place_types, *lexicon.needs]):
        name = words_of(kind)
        for match in matches_of((name, f"{name}s"), sentence):
            yield _Mention(kind, *match.span(), NAMED, match[0])
        words = (*lexicon.place_types.get(kind, ()), *lexicon.needs.get(kind, ()))
        for match in matches_of(words, sentence):
            weight = min(len(match[0].replace(",", "").split()), MOST_WORDS)
            yield _Mention(kind, *match.span(), weight, stretch_of(match))


def _is_refused(before: str, after: str, lexicon: Lexicon) -> bool:
    return _refusal(before, after, lexicon) is not None


def _refusal(before: str, after: str, lexicon: Lexicon) -> str | None:
    """Return the words before a kind that refuse it; `None` if none do."""
    clause = before.rpartition(",")[2]
    if clause.split()[-1:] == ["no"] and after.replace(",", " ").split()[:1] == ["please"]:
        return "no"
    found = phrase_pattern(lexicon.passed_over).search(" ".join(clause.split()[-REFUSAL_REACH:]))
    return found[0] if found else None


def _follows(phrases: tuple[str, ...], before: str, reach: int) -> bool:
    return bool(phrase_pattern(phrases).search(" ".join(before.split()[-reach:])))
