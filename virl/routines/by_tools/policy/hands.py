"""What a plan is: it asks for calls of tools, is sent what they say, and ends with an answer."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from virl.agent.character import Character
from virl.agent.tool import ToolData
from virl.mind.lexicon import Lexicon
from virl.routines.by_tools.policy.goals import ToolGoal
from virl.tools.base import Listing, ToolResult
from virl.tools.looking import Find
from virl.tools.moving import Surroundings, Whereabouts

T = TypeVar("T")
DataT = TypeVar("DataT", bound=ToolData)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool to be called, what it is given, and why."""

    tool: str
    args: Mapping[str, object] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, slots=True)
class PlanEnd:
    """The end of a plan: its answer, and whether it succeeded."""

    answer: str
    succeeded: bool
    place_id: str | None = None


Plan = Generator[PlannedCall, ToolResult[Any], PlanEnd]
"""A plan is sent the result of each call; its data are `None` where a run goes on whose journal has none."""
Part = Generator[PlannedCall, ToolResult[Any], T]
"""A part of a plan, which gives something back to the plan."""


@dataclass(slots=True)
class Situation:
    """The planner's situation: the character, its goal and tools, and the turns left."""

    character: Character
    goal: ToolGoal
    lexicon: Lexicon
    agents: Mapping[str, str]
    """The agents that can be consulted by name, with a description of each."""
    turns_left: int
    known: str = ""
    """The answer that could be given now, if there were no turn left."""

    def has(self, *tools: str) -> bool:
        """Return whether the character has all of these tools."""
        return set(tools) <= set(self.character.tools)


def read(kind: type[DataT], tool: str, args: Mapping[str, object], says: str) -> Part[DataT | None]:
    """Call a tool and return its data; `None` where they are of another kind.

    Args:
        kind: of the data.
        tool: name.
        args: of the call.
        says: why, in a sentence.
    """
    data = (yield PlannedCall(tool, args, says)).data
    return data if isinstance(data, kind) else None


def read_items(kind: type[DataT], tool: str, args: Mapping[str, object], says: str) -> Part[list[DataT]]:
    """Call a tool and return the items of its list; none where it gives no list of this kind.

    Args:
        kind: of the items.
        tool: name.
        args: of the call.
        says: why, in a sentence.
    """
    data = (yield PlannedCall(tool, args, says)).data
    return [one for one in data.items if isinstance(one, kind)] if isinstance(data, Listing) else []


def look_where(situation: Situation, says: str) -> Part[Surroundings | None]:
    """Return the place where the character stands; `None` where no tool tells."""
    if not situation.has("where_am_i"):
        return None
    found = yield from read(Whereabouts, "where_am_i", {}, says)
    return found.surroundings if found else None


def detect_wanted(situation: Situation, says: str) -> Part[list[Find]]:
    """Return the things all around of which the intention speaks, as the detector finds them."""
    args = {"labels": list(situation.goal.things), "direction": "around"}
    return (yield from read_items(Find, "detect", args, says))
