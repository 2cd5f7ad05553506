"""What types of places are called in many languages, for those who search for one."""

from collections.abc import Mapping
from functools import cache

from virl.platform.city.place_types import TypeWords, by_type, more_words, words_of
from virl.towns.addresses import plain

WORDS = "sign-words"
"""Name of the word list in `platform/words`."""


def types_called(text: str, nothing_found: bool) -> frozenset[str]:
    """Return the place types that a text names in any language; empty if it names none.

    Args:
        text: what is searched for.
        nothing_found: whether no place holds a word of it. Only then the words of signs count too, because a
            search for one chain shall not find the others.
    """
    named = _types().get(plain(text), frozenset())
    return named or (_types_by_sign().get(plain(text), frozenset()) if nothing_found else named)


@cache
def _types() -> dict[str, frozenset[str]]:
    """Return the place types of each word for a sort of place."""
    return _by_word(more_words(WORDS).types)


@cache
def _types_by_sign() -> dict[str, frozenset[str]]:
    """Return the place types of each word on signs."""
    # Words chosen by hand, some of which are names of chains.
    return _by_word(by_type("signs"))


def _by_word(types: Mapping[str, TypeWords]) -> dict[str, frozenset[str]]:
    """Return the place types by each name that words give them."""
    found: dict[str, frozenset[str]] = {}
    for place_type, _, word, is_name in words_of(types):
        if is_name:
            found[plain(word)] = found.get(plain(word), frozenset()) | {place_type}
    return found
