"""What somebody says about themself and their day, as the rules read it."""

import re
from collections.abc import Iterator, Mapping

from virl.mind.lexicon import GAP, Lexicon, found_in, phrase_pattern, words_of
from virl.mind.sentences import asked_for
from virl.routines.day.pastimes import day_book
from virl.routines.day.replies import Told

MOST_WORDS = 3  # of one pastime that count in a clause; chosen
_IN_ANY_DAY = (
    *("walk*", "stroll*", "on foot"),
    *("food", "eat*", "meal*", "breakfast", "lunch", "dinner", "cafe*", "coffee*", "restaurant*"),
)
"""Words of what every day has."""
_CLAUSE_ENDS = re.compile(
    r"[.,;:!?\n()]+|\b(?:but|and then|however|although|though)\b|\b(?=(?:without|instead of|rather than) \w)"
    r"|\band (?=(?:no|not|never|without|with|wants?|needs?|likes?|loves?|enjoys?|hates?|dislikes?|avoids?)\b)"
)


def clauses(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the clauses of a text as plain words, each with whether it denies something."""
    for part in _CLAUSE_ENDS.split(text.lower()):
        words = words_of(part).replace("tired of", "enough of")  # is about the thing, and no feeling
        if words:
            yield words, _denies(words)


def likes(text: str, lexicon: Lexicon) -> dict[str, int]:
    """Return how far a text speaks for (above 0) or against (below 0) each pastime; others are left out."""
    found: dict[str, int] = {}
    for words, denied in clauses(asked_for(text)):
        for sort in day_book().pastimes:
            count = min(len(found_in(words, _words_for(sort, lexicon))), MOST_WORDS)
            if count:
                found[sort] = found.get(sort, 0) + (-MOST_WORDS if denied else count)
    return found


def kinds_asked_for(text: str) -> list[str]:
    """Return the kinds of places that a text names for a pastime, and does not deny."""
    found = (
        sort
        for words, denied in clauses(asked_for(text))
        for sort in day_book().pastimes
        if not denied and found_in(words, _singular_and_plural(sort))
    )
    return list(dict.fromkeys(found))


def words_of_likes(text: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the words of a text that speak for or against pastimes, or for spending little.

    Not what no day can keep to: meals and ways on foot that are denied, and pastimes wanted and denied.
    """
    told = list(clauses(asked_for(text)))
    torn = {
        (not denied, sort)
        for words, denied in told
        for sort in day_book().pastimes
        if found_in(words, _words_for(sort, lexicon))
    }
    for words, denied in told:
        denials = [match[0] for match in phrase_pattern(day_book().denials).finditer(words)] if denied else []
        for sort in day_book().pastimes:
            for liked in found_in(words, _words_for(sort, lexicon)):
                if (denied, sort) in torn or (denied and phrase_pattern(_IN_ANY_DAY).search(liked)):
                    continue
                yield GAP.join([*denials[:1], liked])
    yield from found_in(text, day_book().thrift)


def is_thrifty(text: str) -> bool:
    """Return whether a text asks to spend little."""
    return bool(phrase_pattern(day_book().thrift).search(words_of(text)))


def listen(said: str, state: Mapping[str, float], lexicon: Lexicon) -> Told:
    """Return the feelings that a text tells, and the text itself as a wish if it is about what to do.

    Args:
        said: by the client.
        state: feelings so far.
        lexicon: of the language.
    """
    values: dict[str, float] = {}
    for words, _ in clauses(said):
        for told in day_book().feelings:
            if found := phrase_pattern(told.words).search(words):
                by = -told.by if _denies(words[: found.start()]) else told.by
                before = values.get(told.feeling, state[told.feeling])
                values[told.feeling] = min(max(before + by, 0.0), 100.0)
    feelings = {name: round(values[name]) if name in values else None for name in state}
    wishes = (" ".join(said.split()),) if likes(said, lexicon) or is_thrifty(said) else ()
    return Told.model_validate(feelings | {"wishes": wishes})


def _denies(words: str) -> bool:
    """Return whether the words deny a wish."""
    return bool(phrase_pattern(day_book().denials).search(words))


def _words_for(sort: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the words for a sort of pastime: those of the book, its names, and those of the lexicon."""
    return (*day_book().pastimes[sort].words, *_singular_and_plural(sort), *lexicon.place_types.get(sort, ()))


def _singular_and_plural(sort: str) -> tuple[str, str]:
    """Return the name of a sort in singular and plural."""
    name = words_of(sort)
    return name, f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
