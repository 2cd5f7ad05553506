"""What a plan is: it asks for calls of tools, is sent what they say, and ends with an answer."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from virl.agent.character import Character
from virl.mind.lexicon import Lexicon
from virl.routines.by_tools.policy.goals import ToolGoal

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool to be called, what it is given, and why."""

    tool: str
    args: Mapping[str, object] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What a tool has said."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class PlanEnd:
    """How a plan ends."""

    answer: str
    succeeded: bool
    place_id: str | None = None


Plan = Generator[PlannedCall, ToolReply, PlanEnd]
Part = Generator[PlannedCall, ToolReply, T]
"""A part of a plan, which gives something back to the plan."""


@dataclass(slots=True)
class Situation:
    """Who plans, for what, with which tools, and how many turns are left."""

    character: Character
    goal: ToolGoal
    lexicon: Lexicon
    agents: Mapping[str, str]
    """Who can be consulted, and what each does."""
    turns_left: int
    known: str = ""
    """What could be answered now, if there were no turn left."""

    def has(self, *tools: str) -> bool:
        """Whether the character has all of these tools."""
        return set(tools) <= set(self.character.tools)
