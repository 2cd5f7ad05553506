"""Words for place types in many languages."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from virl.resources import data_folder
from virl.settings.model import Settings, load_settings


def _split(words: object) -> object:
    """Return a text split at its commas; other values as they are."""
    return tuple(word.strip() for word in words.split(",")) if isinstance(words, str) else words


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]


class TypeWords(Settings):
    """The words for one place type, by ISO 639-1 code of their language."""

    weight: float = Field(default=1.0, gt=0, le=1)
    """Factor on its words; below 1 for types whose words also serve as names of streets and quarters."""
    names: dict[str, Words]
    """Words that say outright what the place is."""
    hints: dict[str, Words] = Field(default_factory=dict)
    """Words for what it sells or does."""


class MoreWords(Settings):
    """Words that supplement a lexicon; where it has one of them itself, what it says counts alone."""

    compounding: tuple[str, ...] = ()
    """Languages whose words also count as the end of a longer one."""
    types: dict[str, TypeWords]


def words_of(types: Mapping[str, TypeWords]) -> Iterator[tuple[str, str, str, bool]]:
    """Yield (type, language, word, whether it is a name) of all words, hints before names."""
    for place_type, words in types.items():
        for group, are_names in ((words.hints, False), (words.names, True)):
            for language, of_language in group.items():
                for word in of_language:
                    yield place_type, language, word, are_names


@cache
def more_words(name: str) -> MoreWords:
    """Return the words of a file in `platform/words`.

    Raises:
        BadInput: there is no such file, or it does not fit.
    """
    return load_settings(data_folder("platform/words") / f"{name}.yaml", MoreWords)
