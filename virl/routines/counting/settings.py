"""The section `count:` of a character file."""

from collections.abc import Callable, Iterable
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from virl.agent.character import Character, CharacterField
from virl.errors import BadInput
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
from virl.settings.model import Settings

Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Score = Annotated[float, Field(ge=0, le=1)]


class Counting(Settings):
    """Settings of a count: what to count, and how to look."""

    things: tuple[Label, ...] = Field(min_length=1)
    """Things to count, in the detector's words."""
    background: tuple[Label, ...] = ()
    """Things that are detected, but not counted: they give the detector something else to choose."""
    recheck: Score | dict[Label, Score] | None = None
    """Least score, [0, 1], at the closer look, for all things or by thing; `None`: as in the detector's file.
    `None`, and things that are left out, take the one in the detector's file."""
    active: bool = True
    """True to take a closer look at a find before it is counted."""
    memory: str | None = None
    """Settings of visual memory: a name in `platform/memory/`; `None` takes the city's."""
    keep: Literal["found", "all"] = "found"
    """The views that are kept as files: those in which something was found, or all."""

    @model_validator(mode="after")
    def _rechecks_things(self) -> Self:
        """Return the settings; raise `ValueError` if `recheck` names a thing that is not counted."""
        named = self.recheck if isinstance(self.recheck, dict) else {}
        if unknown := [label for label in named if label not in self.things]:
            raise ValueError(
                f"`recheck` names {unknown[0]!r}, which is not among `things`: "
                "only things that are counted have one"
            )
        return self


def _named_models(counting: Counting | None) -> Iterable[tuple[str, Callable[[], object]]]:
    """Return one (field name, check that raises if unknown) for the setting `memory`; empty if unset."""
    from virl.platform.perception.memory.settings import memory_settings  # noqa: PLC0415 - brings in models

    name = counting.memory if counting else None
    return [("memory", lambda: memory_settings(name))] if name else []


COUNT: CharacterField[Counting | None] = CharacterField(
    "count",
    Counting | None,
    None,
    "What is counted, and how it is looked for.",
    _named_models,
    labels=lambda counting: counting.things if counting else (),
)
FIELDS = (COUNT,)
ASKS_MIND = False
"""False: no mind is asked, since detectors decide what is counted."""


def read_intention(character: Character, lexicon: Lexicon) -> Reading | None:  # noqa: ARG001 - of every rule
    """Return the intention with its words for the counted things; `None` without things to count."""
    count = COUNT.of(character)
    if count is None:
        return None
    names = {name for thing in count.things for name in (thing, thing.split()[-1])}  # "bins" are trash bins
    used = tuple(word for name in sorted(names) for word in (name, f"{name}s", f"{name}es"))
    return Reading(character.intention, used, (character.name,), "counting")


def counting_of(character: Character, source: object) -> Counting:
    """Return a character's count settings; raise BadInput, with `source` (its file or name), without any.

    Raises:
        BadInput: the character does not say what to count.
    """
    count = COUNT.of(character)
    if count is None:
        raise BadInput(f"{source}: `count:` is missing: list the things to count")
    return count
