"""The ways of counting that are compared: rules on and off, with and without active detection."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.counting.noise import PoseNoise
from benchmarks.counting.trip import Eyes
from virl.platform.perception.memory import Rules

RULES = ("same_panorama", "geometry", "box_range", "features", "merge")
"""The switches of `Rules`."""

RuleSet = frozenset[str]

ALL: RuleSet = frozenset(RULES)


@dataclass(frozen=True, slots=True)
class Variant:
    """A set of rules that is tried."""

    name: str
    rules: RuleSet


EVERYTHING = Variant("all rules", ALL)
LEAVE_ONE_OUT = tuple(Variant(f"no {name}", ALL - {name}) for name in RULES)
LEAVE_ONE_IN = (
    Variant("only same_panorama", frozenset({"same_panorama"})),
    Variant("only geometry", frozenset({"geometry"})),
    Variant("only geometry, box_range", frozenset({"geometry", "box_range"})),
    Variant("only features", frozenset({"features"})),
)
"""`box_range` and `merge` are not there alone: they only tell `geometry` more, and join by it."""
VIRL = Variant("V-IRL's", frozenset({"same_panorama", "features"}))
"""Near headings from one panorama, else matched features."""
NO_RULES = Variant("no rules", frozenset())

VARIANTS = (EVERYTHING, *LEAVE_ONE_OUT, *LEAVE_ONE_IN, VIRL, NO_RULES)


@dataclass(frozen=True, slots=True)
class Case:
    """One way of counting a walk."""

    eyes: Eyes
    noise: PoseNoise
    variant: Variant
    told: bool = True
    """Whether the memory is told how far off poses are."""

    @property
    def title(self) -> str:
        """What sets it apart from all rules with active detection."""
        if self.eyes == "first look":
            return "no active detection"
        return self.variant.name if self.told else "poses trusted"

    @property
    def key(self) -> str:
        """Its name in the records."""
        told = "" if self.told else "; not told"
        return f"{self.eyes}; pose noise: {self.noise}; {self.variant.name}{told}"


def cases_of(noises: Sequence[PoseNoise]) -> list[Case]:
    """All variants with active detection, and all rules without it or not told, for each noise."""
    return [
        case
        for noise in noises
        for case in (
            *(Case("active", noise, variant) for variant in VARIANTS),
            Case("first look", noise, EVERYTHING),
            *([] if noise == PoseNoise() else [Case("active", noise, EVERYTHING, told=False)]),
        )
    ]


def rules_of(on: RuleSet) -> Rules:
    """The switches with only these on."""
    return Rules(**{name: name in on for name in RULES})
