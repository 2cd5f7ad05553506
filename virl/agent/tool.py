"""Declarations of tools: functions that a model may call, with all that users and programs are told of each.

The functions stand in `virl.tools` and in other packages. A module is imported when one of its tools is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict

from virl.registry import Registry, scan_functions

FINISH = "finish"
"""The tool that ends a run; every agent has it."""


class Arguments(BaseModel):
    """Base of what tools take; the text of a subclass is the tool's description for the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolData(BaseModel):
    """Base of what tools return; `str` gives the text for models, made from nothing but the fields."""

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that a model may do."""

    act: Callable[[Any, Any], Any]
    """Takes a body and an object of `arguments`, returns a `ToolResult` with data of `returns`; raises
    `VirlError` with what the model should know."""
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
) -> Callable[[Callable[[Any, Any], Any]], Tool]:
    """Declare a function a tool; its type hints say what it takes and returns, `Tool` what the rest means.

    Raises:
        TypeError: the function lacks type hints, or has others.
    """

    def declare(act: Callable[[Any, Any], Any]) -> Tool:
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
