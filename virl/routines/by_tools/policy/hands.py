"""What a plan is: it asks for calls of tools, is sent what they say, and ends with an answer."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from virl.agent.character import Character
from virl.agent.tool import ToolData
from virl.mind.lexicon import Lexicon
from virl.routines.by_tools.policy.goals import ToolGoal
from virl.tools.base import Listing
from virl.tools.moving import Moved, Surroundings, Whereabouts

T = TypeVar("T")
DataT = TypeVar("DataT", bound=ToolData)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool to be called, what it is given, and why."""

    tool: str
    args: Mapping[str, object] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A tool's reply."""

    text: str
    data: ToolData | None = None
    """`None` where the call failed, and where a run goes on whose journal has no data."""
    failed: bool = False

    def read(self, kind: type[DataT]) -> DataT | None:
        """Return the data; `None` where they are of another kind."""
        return self.data if isinstance(self.data, kind) else None

    def items(self, kind: type[DataT]) -> list[DataT]:
        """Return the items of a list; none where the reply is no list of this kind."""
        listed = self.data.items if isinstance(self.data, Listing) else ()
        return [one for one in listed if isinstance(one, kind)]

    @property
    def surroundings(self) -> Surroundings | None:
        """The place where the agent stands; `None` where the reply does not say."""
        if isinstance(self.data, Moved | Whereabouts):
            return self.data.surroundings
        return self.read(Surroundings)

    @property
    def gone_m(self) -> float:
        """Metres of a move; 0 if nothing came of it."""
        return self.data.distance_m if isinstance(self.data, Moved) else 0.0


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
