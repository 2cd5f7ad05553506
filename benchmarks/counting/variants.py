"""The ways of counting that are compared: rules on and off, with and without active detection."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virl.platform.perception.memory import Rules

from .noise import PoseNoise
from .trip import Eyes

RULES = ("same_panorama", "geometry", "box_range", "features", "merge")
"""Names of the rules of visual memory that can be switched off, the fields of `Rules`."""

WORDS = {
    "same_panorama": "directions from one panorama",
    "box_range": "distance by the box's size",
    "geometry": "positions",
    "features": "pictures that look alike",
    "merge": "merging at the end",
}
"""The rules in words."""

RuleSet = frozenset[str]

DEFAULT: RuleSet = frozenset(name for name, on in Rules() if on)


@dataclass(frozen=True, slots=True)
class Variant:
    """A named set of rules of visual memory."""

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
"""Variants with one rule; `box_range` and `merge` are never alone, as they only extend `geometry`."""
VIRL = Variant("V-IRL's", frozenset({"same_panorama", "features"}))
"""V-IRL's rules: near headings from one panorama, else matched features."""
NO_RULES = Variant("no rules", frozenset())

VARIANTS = (EVERYTHING, *LEAVE_ONE_OUT, *ONE_MORE, *LEAVE_ONE_IN, VIRL, NO_RULES)


@dataclass(frozen=True, slots=True)
class Condition:
    """The noise of poses in a count, and the settings of the memory that counts."""

    noise: PoseNoise
    memory: str
    """Name of the memory's settings in `platform/memory`."""

    def __str__(self) -> str:
        """Return the condition in words."""
        return f"pose noise: {self.noise}; memory: {self.memory}"


@dataclass(frozen=True, slots=True)
class CountingCase:
    """One way of counting a walk: condition, kind of seeing and rules."""

    title: str
    """Difference from the default rules with active detection under the same condition."""
    eyes: Eyes
    condition: Condition
    variant: Variant

    @property
    def words(self) -> str:
        """The difference from the default rules, with the rules in words."""
        title = re.sub("^and ", "with ", self.title)
        for name, words in WORDS.items():
            title = title.replace(name, words)
        return title

    @property
    def key(self) -> str:
        """The way's name in the records."""
        return f"{self.eyes}; {self.condition}; {self.variant.name}"


def reference(condition: Condition) -> CountingCase:
    """Return the default rules with active detection, with which the other ways are compared."""
    return CountingCase(EVERYTHING.name, "active", condition, EVERYTHING)


def without_active(condition: Condition) -> CountingCase:
    """Return the default rules without active detection, where the first look is believed."""
    return CountingCase("no active detection", "first look", condition, EVERYTHING)


def cases_of(conditions: Sequence[Condition]) -> list[CountingCase]:
    """Return all ways of counting under each condition, the reference of each condition first."""
    return [case for condition in conditions for case in cases_under(condition, conditions)]


def cases_under(condition: Condition, conditions: Sequence[Condition]) -> Iterator[CountingCase]:
    """Yield the ways of counting under `condition`, the reference first; `conditions` are all of the run."""
    for variant in VARIANTS:
        yield CountingCase(variant.name, "active", condition, variant)
    yield without_active(condition)
    for memory in dict.fromkeys(other.memory for other in conditions):
        if memory != condition.memory:
            yield CountingCase(f"memory {memory}", "active", Condition(condition.noise, memory), EVERYTHING)


def rules_of(on: RuleSet) -> Rules:
    """Return the rules of visual memory with only those in `on` switched on."""
    return Rules(**{name: name in on for name in RULES})
