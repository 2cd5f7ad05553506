"""The settings of lexicons, as `platform/models/*.yaml` holds them."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from virl.platform.perception.model_settings import ModelSettings
from virl.platform.place_types import by_type
from virl.platform.type_words import TypeWords


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
    types: dict[str, TypeWords] = Field(default_factory=dict)
    """Words by place type, instead of those of the table of place types."""

    @property
    def words(self) -> Mapping[str, TypeWords]:
        """The words by place type: the file's own, else those of the table."""
        return self.types or by_type("signs")
