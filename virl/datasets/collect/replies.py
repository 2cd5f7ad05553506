"""The typed replies of the prompts that make questions about places."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator, model_validator

from virl.mind.replies import Reply, number_range

FEWEST_WORDS, MOST_WORDS = 15, 40  # V-IRL: an option has 15 to 40 words
TELLING_LETTERS = 4  # chosen: shorter words of a name, such as "The", tell nothing

Option = Annotated[str, Field(description="One sentence of 20 to 35 words: a person and what they want.")]


class PlaceChoices(Reply):
    """The wishes of somebody that a place fulfils, and those that it does not."""

    right: Option = Field(description="The wish that the place fulfils.")
    wrong: tuple[Option, Option, Option] = Field(description="Wishes that need quite another sort of place.")

    @property
    def options(self) -> tuple[str, str, str, str]:
        """All four, the right one first."""
        return (self.right, *self.wrong)

    @model_validator(mode="after")
    def _are_fair(self, info: ValidationInfo) -> "PlaceChoices":
        if len({option.casefold() for option in self.options}) < 4:
            raise ValueError("two of the four are the same")
        for option in self.options:
            words = len(option.split())
            if not FEWEST_WORDS <= words <= MOST_WORDS:
                raise ValueError(f"{option!r} has {words} words, not {FEWEST_WORDS} to {MOST_WORDS}")
        context = info.context or {}
        leaked = leaks(str(context.get("name", "")), context.get("types", ()), self.options)
        if leaked:
            raise ValueError(f"{leaked!r} is part of the place's name")
        return self


class Served(Reply):
    """The wishes offered that a place can fulfil."""

    served: tuple[int, ...] = Field(description="The numbers of those wishes; empty if there is none.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that fields of the reply may take, as `Reply.offers` does."""
        return {"served": number_range(inputs, "options")}

    @field_validator("served")
    @classmethod
    def _were_offered(cls, served: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        offered = (info.context or {}).get("options")
        wrong = [number for number in served if offered is not None and not 0 <= number < len(offered)]
        if wrong:
            raise ValueError(f"{wrong[0]} is not the number of a wish")
        return tuple(dict.fromkeys(served))


def leaks(name: str, types: tuple[str, ...], options: tuple[str, ...]) -> str:
    """Return the name of a place, or a word of it, that an option gives away; empty if none does.

    Words that name its kind, such as `bakery`, and words of fewer than four letters tell nothing by
    themselves; the whole name does, however short.

    Args:
        name: of the place.
        types: of the place.
        options: texts that should not give it away.
    """
    # scripts without spaces have no ends of words
    before, after = (r"(?<!\w)", r"(?!\w)") if name.isascii() else ("", "")
    whole = re.compile(before + re.escape(name.strip()) + after, re.IGNORECASE)
    if name.strip() and any(whole.search(option) for option in options):
        return name.strip()
    kinds = set(re.findall(r"\w+", " ".join(types).replace("_", " ").casefold()))
    telling = {
        word
        for word in re.findall(r"\w+", name.casefold())
        if len(word) >= TELLING_LETTERS and word not in kinds
    }
    said = set(re.findall(r"\w+", " ".join(options).casefold()))
    return next(iter(sorted(telling & said)), "")
