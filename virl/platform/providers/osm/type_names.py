"""What types of places are called in many languages, for those who search for one."""

from functools import cache

from virl.platform.providers.offline.addresses import plain
from virl.platform.type_words import more_words, words_of

WORDS = "sign-words"
"""In `platform/words`."""


def types_called(text: str) -> frozenset[str]:
    """The place types that a text names in any language, such as `ravintola`; empty if it names none."""
    return _types().get(plain(text), frozenset())


@cache
def _types() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for place_type, _, word, is_name in words_of(more_words(WORDS).types):
        if is_name:
            found[plain(word)] = found.get(plain(word), frozenset()) | {place_type}
    return found
