"""Declarations of tools: functions that a model may call, with all that users and programs are told of each.

The functions stand in `virl.tools` and in other packages. A module is imported when one of its tools is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict

from virl.journal.records import PlaceRecord, ViewRecord
from virl.registry import Registry, scan_functions

FINISH = "finish"
"""The tool that ends a run; every agent has it."""


class Arguments(BaseModel):
    """Base of what tools take; the text of a subclass is the tool's description for the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolData(BaseModel):
    """Base of what tools return; `str` gives the text for models, made from nothing but the fields."""

    model_config = ConfigDict(frozen=True)


DataT = TypeVar("DataT", bound=ToolData)
DataT_co = TypeVar("DataT_co", bound=ToolData, covariant=True)
BodyT = TypeVar("BodyT")
ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[DataT_co]):
    """Result of a call."""

    text: str
    """For the model."""
    data: DataT_co | None = None
    """The same for programs; `None` where the call failed."""
    views: tuple[ViewRecord, ...] = ()
    """The views that were looked at."""
    shown: bool = False
    """Whether the model is shown the views, if it can see."""
    place: PlaceRecord | None = None
    """The place that an answer is about."""
    failed: bool = False
    """Whether the request could not be fulfilled; the text says why."""

    @property
    def data_as_json(self) -> dict[str, Any] | None:
        """The data for journals."""
        return None if self.data is None else self.data.model_dump(mode="json")


def told(
    data: DataT, views: tuple[ViewRecord, ...] = (), *, shown: bool = False, place: PlaceRecord | None = None
) -> ToolResult[DataT]:
    """Return the result that tells a model what the data say."""
    return ToolResult(str(data), data, views, shown, place)


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that a model may do."""

    act: Callable[[Any, Any], ToolResult[ToolData]]
    """Takes a body and an object of `arguments`; raises `VirlError` with what the model should know."""
    arguments: type[Arguments]
    returns: type[ToolData]
    title: str
    """For users, in a word or a few."""
    changes: bool
    """Whether it changes where the agent stands or what it has; else it only looks."""
    once: bool
    """Whether a second equal call changes nothing more."""
    asks_model: bool
    """Whether it may ask the agent's language model."""
    asks_services: bool
    """Whether it may send requests that the city's services charge for."""

    @property
    def description(self) -> str:
        """The text of `arguments` on one line, for models."""
        return " ".join(cleandoc(self.arguments.__doc__ or "").split())


def tool(
    title: str,
    *,
    changes: bool = False,
    once: bool = False,
    asks_model: bool = False,
    asks_services: bool = True,
) -> Callable[[Callable[[BodyT, ArgumentsT], ToolResult[ToolData]]], Tool]:
    """Declare a function a tool; its type hints say what it takes and returns.

    Args:
        title: for users, in a word or a few.
        changes: whether it changes where the agent stands or what it has.
        once: whether a second equal call changes nothing more.
        asks_model: whether it may ask the agent's language model.
        asks_services: whether it may send requests that the city's services charge for.

    Raises:
        TypeError: the function lacks type hints, or has others.
    """

    def declare(act: Callable[[BodyT, ArgumentsT], ToolResult[ToolData]]) -> Tool:
        hints = get_type_hints(act)
        returns = [one for one in get_args(hints.pop("return", None)) if issubclass(one, ToolData)]
        takes = [one for one in hints.values() if isinstance(one, type) and issubclass(one, Arguments)]
        if len(takes) != 1 or len(returns) != 1:
            raise TypeError(
                f"{act.__name__} is no tool: declare it as def {act.__name__}(body: Body, asked: A) -> "
                "ToolResult[D], with A a subclass of Arguments and D of ToolData"
            )
        return Tool(act, takes[0], returns[0], title, changes, once, asks_model, asks_services)

    return declare


TOOLS: Registry[Tool] = Registry("tool", "virl.tools", Tool, lambda: scan_functions("virl.tools", "tool"))
"""All tools, virl's own and those of other packages."""


def tool_names() -> tuple[str, ...]:
    """Return the names of the tools that a character may choose among: virl's own, then other packages'.

    Imports none of them. `finish` is not among them.
    """
    ours = TOOLS.builtin()
    others = [name for name in TOOLS.names() if name not in ours]
    return tuple(name for name in (*ours, *others) if name != FINISH)
