"""The rules that make questions about places, from a table of what people go to each type of place for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

from pydantic import BaseModel

from virl.datasets.collect.replies import PlaceChoices, Served, leaks
from virl.errors import MindFailed
from virl.mind.lexicon import Lexicon
from virl.platform.city.place_types import by_type


@dataclass(frozen=True, slots=True)
class Intentions:
    """Sentences on why people go to places, by place type."""

    groups: Mapping[str, Mapping[str, str]]
    """Sentences by place type, in groups of types that serve similar ends."""

    def group_of(self, place_type: str) -> str | None:
        """Return the group of a place type; `None` without one."""
        return next((group for group, types in self.groups.items() if place_type in types), None)

    def sentence(self, place_type: str) -> str:
        """Return the purpose for which people go to a place of this type, as a sentence.

        Raises:
            KeyError: the table does not know the type.
        """
        return {kind: text for types in self.groups.values() for kind, text in types.items()}[place_type]


class ChoicesQuestion(BaseModel):
    """Inputs of `vqa/choices`."""

    name: str
    types: tuple[str, ...]
    question: str
    faults: str


class CheckQuestion(BaseModel):
    """Inputs of `vqa/check`."""

    types: tuple[str, ...]
    options: tuple[str, ...]


@cache
def load_intentions() -> Intentions:
    """Return the sentences in the table of place types."""
    groups: dict[str, dict[str, str]] = {}
    for place_type, wish in by_type("wish").items():
        for group, sentence in wish.items():
            groups.setdefault(group, {})[place_type] = sentence
    return Intentions(groups)


def choose_wishes(question: ChoicesQuestion, lexicon: Lexicon) -> PlaceChoices:
    """Choose the sentence of the first known type, and three of groups that the place is not in.

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
    """Return the wishes whose sentence the table gives to a type of a group that the place belongs to."""
    del lexicon
    known = load_intentions()
    own = {known.group_of(kind) for kind in question.types} - {"other"} or {"other"}
    sentences = {sentence for group in own if group for sentence in known.groups[group].values()}
    return Served(served=tuple(n for n, option in enumerate(question.options) if option in sentences))
