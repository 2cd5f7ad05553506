"""The ways of counting that are compared: rules on and off, with and without active detection."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virl.platform.perception.memory import Rules

from .noise import PoseNoise
from .trip import Eyes

RULES = ("same_panorama", "geometry", "box_range", "features", "merge")
"""The switches of `Rules`."""

RuleSet = frozenset[str]

DEFAULT: RuleSet = frozenset(name for name, on in Rules() if on)


@dataclass(frozen=True, slots=True)
class Variant:
    """A set of rules that is tried."""

    name: str
    rules: RuleSet


EVERYTHING = Variant("default rules", DEFAULT)
LEAVE_ONE_OUT = tuple(Variant(f"no {name}", DEFAULT - {name}) for name in RULES if name in DEFAULT)
ONE_MORE = tuple(Variant(f"and {name}", DEFAULT | {name}) for name in RULES if name not in DEFAULT)
LEAVE_ONE_IN = (
    Variant("only same_panorama", frozenset({"same_panorama"})),
    Variant("only geometry", frozenset({"geometry"})),
    Variant("only geometry, box_range", frozenset({"geometry", "box_range"})),
)
"""`box_range` and `merge` are not there alone: they only tell `geometry` more, and join by it."""
VIRL = Variant("V-IRL's", frozenset({"same_panorama", "features"}))
"""Near headings from one panorama, else matched features."""
NO_RULES = Variant("no rules", frozenset())

VARIANTS = (EVERYTHING, *LEAVE_ONE_OUT, *ONE_MORE, *LEAVE_ONE_IN, VIRL, NO_RULES)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition: what is known of poses, and what the memory takes for granted of them."""

    noise: PoseNoise
    memory: str
    """Settings in `platform/memory`."""

    def __str__(self) -> str:
        return f"pose noise: {self.noise}; memory: {self.memory}"


@dataclass(frozen=True, slots=True)
class CountingCase:
    """One way of counting a walk."""

    title: str
    """Difference from the default rules with active detection under its condition."""
    eyes: Eyes
    condition: Condition
    variant: Variant

    @property
    def key(self) -> str:
        """Its name in the records."""
        return f"{self.eyes}; {self.condition}; {self.variant.name}"


def reference(condition: Condition) -> CountingCase:
    """Return the default rules with active detection, which the others are held against."""
    return CountingCase(EVERYTHING.name, "active", condition, EVERYTHING)


def without_active(condition: Condition) -> CountingCase:
    """Return the default rules, where the first look is believed."""
    return CountingCase("no active detection", "first look", condition, EVERYTHING)


def cases_of(conditions: Sequence[Condition]) -> list[CountingCase]:
    """Return for each condition the reference, then all that is compared with it, the other memories too."""
    return [case for condition in conditions for case in cases_under(condition, conditions)]


def cases_under(condition: Condition, conditions: Sequence[Condition]) -> Iterator[CountingCase]:
    """Yield the cases of one of all conditions, the reference first."""
    for variant in VARIANTS:
        yield CountingCase(variant.name, "active", condition, variant)
    yield without_active(condition)
    for memory in dict.fromkeys(other.memory for other in conditions):
        if memory != condition.memory:
            yield CountingCase(f"memory {memory}", "active", Condition(condition.noise, memory), EVERYTHING)


def rules_of(on: RuleSet) -> Rules:
    """Return the switches with only these on."""
    return Rules(**{name: name in on for name in RULES})
