"""The words of lexicons, as `platform/models/*.yaml` holds them."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from virl.platform.perception.model_settings import ModelSettings
from virl.settings import Settings


def _split(words: object) -> object:
    return tuple(word.strip() for word in words.split(",")) if isinstance(words, str) else words


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]


class TypeWords(Settings):
    """The words for one place type, by ISO 639-1 code of their language."""

    weight: float = Field(default=1.0, gt=0, le=1)
    """Factor on its words; below 1 for types whose words also serve as names of streets and quarters."""
    names: dict[str, Words]
    """Words that say outright what the place is."""
    hints: dict[str, Words] = Field(default_factory=dict)
    """What it sells or does."""


class LexiconSettings(ModelSettings):
    """A lexicon as `platform/models/*.yaml` holds it."""

    kind: Literal["sign-lexicon"]
    name_weight: float = Field(gt=0, lt=1)
    """Score of a sign that bears one of a type's names, (0, 1)."""
    hint_weight: float = Field(gt=0, lt=1)
    """Score of a sign that bears one of a type's hints, (0, 1)."""
    more: str | None = None
    """A file of `MoreWords`: a name in `platform/words`."""
    more_weight: float = Field(default=1.0, gt=0, le=1)
    """Factor on its words."""
    types: dict[str, TypeWords]


class MoreWords(Settings):
    """Words that supplement a lexicon; where it has one of them itself, what it says counts alone."""

    compounding: tuple[str, ...] = ()
    """Languages whose words also count as the end of a longer one."""
    types: dict[str, TypeWords]


def words_of(types: Mapping[str, TypeWords]) -> Iterator[tuple[str, str, str, bool]]:
    """Type, language, word, and whether it is a name, of all words: hints before names."""
    for place_type, words in types.items():
        for group, are_names in ((words.hints, False), (words.names, True)):
            for language, of_language in group.items():
                for word in of_language:
                    yield place_type, language, word, are_names
