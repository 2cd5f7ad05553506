"""The typed replies of the prompts that make questions about places, and the rules that stand in for a model.

The rules know from a table what people go to each type of place for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Annotated

from pydantic import BaseModel, Field, ValidationInfo, field_validator, model_validator

from virl.errors import MindFailed
from virl.mind.lexicon import Lexicon
from virl.mind.replies import Reply, number_range
from virl.platform.city.place_types import by_type

FEWEST_WORDS, MOST_WORDS = 15, 40  # V-IRL: an option has 15 to 40 words
TELLING_LETTERS = 4  # chosen: shorter words of a name, such as "The", tell nothing

Option = Annotated[str, Field(description="One sentence of 20 to 35 words: a person and what they want.")]


class PlaceChoices(Reply):
    """The wishes of somebody that a place fulfils, and those that it does not."""

    right: Option = Field(description="The wish that the place fulfils.")
    wrong: tuple[Option, Option, Option] = Field(description="Wishes that need quite another sort of place.")

    @property
    def options(self) -> tuple[str, str, str, str]:
        """All four options, the right one first."""
        return (self.right, *self.wrong)

    @model_validator(mode="after")
    def _are_fair(self, info: ValidationInfo) -> "PlaceChoices":
        """Return the reply; raise ValueError if options are equal, too short or long, or name the place."""
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
        """Return the allowed values by reply field: for `served` the numbers of the input `options`."""
        return {"served": number_range(inputs, "options")}

    @field_validator("served")
    @classmethod
    def _were_offered(cls, served: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        """Return the reply's numbers, each once; raise ValueError for one that was not offered."""
        offered = (info.context or {}).get("options")
        wrong = [number for number in served if offered is not None and not 0 <= number < len(offered)]
        if wrong:
            raise ValueError(f"{wrong[0]} is not the number of a wish")
        return tuple(dict.fromkeys(served))


def leaks(name: str, types: tuple[str, ...], options: tuple[str, ...]) -> str:
    """Return the place's name, or a telling word of the name, if an option contains it; "" if none does.

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


@dataclass(frozen=True, slots=True)
class Intentions:
    """The sentences on what people go to a place for, by place type."""

    groups: Mapping[str, Mapping[str, str]]
    """Sentences by group of similar types, then by place type."""

    def group_of(self, place_type: str) -> str | None:
        """Return the name of the group of similar types that a place type is in; `None` if in none."""
        return next((group for group, types in self.groups.items() if place_type in types), None)

    def sentence(self, place_type: str) -> str:
        """Return the sentence on what people go to a place of this type for; raise KeyError if unknown.

        Raises:
            KeyError: the table does not know the type.
        """
        return {kind: text for types in self.groups.values() for kind, text in types.items()}[place_type]


class ChoicesQuestion(BaseModel):
    """The inputs of the prompt `vqa/choices`: a place, the question and faults of earlier replies."""

    name: str
    types: tuple[str, ...]
    question: str
    faults: str


class CheckQuestion(BaseModel):
    """The inputs of the prompt `vqa/check`: a place's types and the four options."""

    types: tuple[str, ...]
    options: tuple[str, ...]


@cache
def load_intentions() -> Intentions:
    """Return the sentences on what people go to each place type for, by its table; read once a process."""
    groups: dict[str, dict[str, str]] = {}
    for place_type, wish in by_type("wish").items():
        for group, sentence in wish.items():
            groups.setdefault(group, {})[place_type] = sentence
    return Intentions(groups)


def choose_wishes(question: ChoicesQuestion, lexicon: Lexicon) -> PlaceChoices:
    """Return the table's sentence for a type of the place, and three wrong ones for types of other groups.

    The same place always gets the same three. A sentence that happens to hold a word of its name is left out.

    Raises:
        MindFailed: no sentence of its types is known, or each holds a word of its name.
    """
    del lexicon
    known = load_intentions()
    kinds = sorted(filter(known.group_of, question.types), key=lambda one: known.group_of(one) == "other")
    fair = [kind for kind in kinds if not leaks(question.name, question.types, (known.sentence(kind),))]
    if not fair:
        reason = "hold words of its name" if kinds else "are missing"
        raise MindFailed(f"the rules' sentences on {', '.join(question.types)} {reason}: use a model")
    kind = fair[0]
    # What is of no group may serve this place too, so that none of it is offered as wrong.
    own = {known.group_of(one) for one in question.types} | {"other"}
    right = known.sentence(kind)
    others = [
        sentence
        for group, types in known.groups.items()
        if group not in own
        for sentence in types.values()
        if not leaks(question.name, question.types, (sentence,))
    ]
    first, second, third = Random(f"{question.name} {kind}").sample(others, 3)
    return PlaceChoices(right=right, wrong=(first, second, third))


def judge_wishes(question: CheckQuestion, lexicon: Lexicon) -> Served:
    """Return the numbers, from 0, of options that the table has for the place's groups of similar types."""
    del lexicon
    known = load_intentions()
    own = {known.group_of(kind) for kind in question.types} - {"other"} or {"other"}
    sentences = {sentence for group in own if group for sentence in known.groups[group].values()}
    return Served(served=tuple(n for n, option in enumerate(question.options) if option in sentences))
