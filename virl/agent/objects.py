"""Objects that a program gives a run, in place of the names that a command line has for them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from virl.errors import BadInput
from virl.mind.given import Dollars, GivenMind, object_name
from virl.platform.city.city import City
from virl.platform.perception.base import Role

MEMBERS: Mapping[Role, tuple[str, ...]] = {
    "detector": ("look_scores", "detect"),
    "reader": ("read",),
    "recognizer": ("name", "embed_images", "embed_texts", "recognize"),
    "describer": ("describe",),
}
"""Members that an object of each role needs."""


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a run, used as they are: by its agent, and by the agents that it consults."""

    city: City | None = None
    mind: GivenMind | None = None
    price: Dollars | None = None
    """Dollars for a million tokens in and out of `mind`."""
    senses: Mapping[Role, object] = field(default_factory=dict)
    """Models of perception, each in place of all models of its role."""

    @property
    def names(self) -> dict[str, str]:
        """Names that stand for them in a journal, by argument."""
        given: list[tuple[str, object]] = [("city", self.city), ("mind", self.mind), *self.senses.items()]
        return {role: object_name(one) for role, one in given if one is not None}

    def check_same(self, begun: Mapping[str, str], folder: Path) -> None:
        """See that a run that goes on has the objects that it began with, by their classes.

        Raises:
            BadInput: it has not; says which it needs.
        """
        names = self.names
        for role in sorted({*begun, *names}):
            if begun.get(role) != names.get(role):
                needs = f"needs the {begun[role]}" if role in begun else f"began without {role}={names[role]}"
                how = f"with {role}=..." if role in begun else f"without {role}="
                raise BadInput(f"{folder}: this run {needs}: resume it from Python {how}")


def check_sense(role: Role, given: object) -> None:
    """See that an object has what a model of its role needs.

    Raises:
        BadInput: it lacks something; says what.
    """
    lacking = [member for member in MEMBERS[role] if not hasattr(given, member)]
    if lacking:
        name = type(given).__name__
        raise BadInput(f"{role}={name}: lacks {', '.join(lacking)}: see docs/reference/python.md")
