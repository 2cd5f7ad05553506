"""Declarations of tools: functions that a model may call, with all that users and programs are told of each.

The functions stand in `virl.tools` and in other packages. A module is imported when one of its tools is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc, signature
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from virl.registry import Registry, scan_functions

FINISH = "finish"
"""Name of the tool that ends a run; every agent has it."""


class Arguments(BaseModel):
    """Base class of tools' arguments; a subclass is made of each tool's signature and docstring."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolData(BaseModel):
    """Base class of tools' results; `str` of one is the text for models, made of its fields alone."""

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """An action that a model can call, with its arguments, title and effects."""

    act: Callable[[Any, Any], Any]
    """Function from (the agent's body, an `arguments` object) to a `ToolResult` with a `returns` object.

    It raises `VirlError` with what the model should know."""
    arguments: type[Arguments]
    returns: type[ToolData]
    title: str
    """Title of the tool for users, a few words."""
    changes: bool
    """True if the tool changes the agent's position or possessions; false if it only looks."""
    once: bool
    """True if a second call with the same arguments has no further effect."""
    asks_model: bool
    """True if the tool may ask the agent's language model."""
    asks_services: bool
    """True if the tool may send requests for which the city's services charge."""

    @property
    def description(self) -> str:
        """Description of the tool for models, on one line."""
        return " ".join(cleandoc(self.arguments.__doc__ or "").split())


def tool(
    title: str,
    *,
    changes: bool = False,
    once: bool = False,
    asks_model: bool = False,
    asks_services: bool = True,
    schema: str = "",
) -> Callable[[Callable[..., Any]], Tool]:
    """Return a decorator that makes a tool of a function; `schema` titles the JSON schema of its input.

    The function takes the body, then what the model fills in: each parameter has a type hint, and a pydantic
    `Field` with a description for its default.

    Args:
        title: for users, in a word or a few.
        changes: as `Tool.changes`.
        once: as `Tool.once`.
        asks_model: as `Tool.asks_model`.
        asks_services: as `Tool.asks_services`.
        schema: title of the schema of its arguments; empty for the function's name, such as `WhereAmI`.

    Raises:
        TypeError: the function lacks type hints, or returns no data.
    """

    def declare(function: Callable[..., Any]) -> Tool:
        """Return the tool made of a function; raise `TypeError` if it lacks type hints or returns no data."""
        name, hints = function.__name__, get_type_hints(function, include_extras=True)
        returns = [one for one in get_args(hints.get("return")) if issubclass(one, ToolData)]
        _, *takes = signature(function).parameters.values()
        if len(returns) != 1 or any(one.name not in hints for one in takes):
            raise TypeError(
                f"{name} is no tool: declare it as def {name}(body: Body, ...) -> ToolResult[D], with a type "
                "hint for each parameter and D a subclass of ToolData"
            )
        fields: dict[str, Any] = {
            one.name: (hints[one.name], ... if one.default is one.empty else one.default) for one in takes
        }
        title_of = schema or name.title().replace("_", "")
        arguments = create_model(title_of, __base__=Arguments, __doc__=function.__doc__, **fields)

        def act(body: object, asked: Arguments) -> object:
            """Return what the function returns for a body and an object of the tool's arguments."""
            return function(body, **dict(asked))

        return Tool(act, arguments, returns[0], title, changes, once, asks_model, asks_services)

    return declare


TOOLS: Registry[Tool] = Registry("tool", "virl.tools", Tool, lambda: scan_functions("virl.tools", "tool"))
"""Registry of all tools, virl's own and those of other packages."""


def tool_names() -> tuple[str, ...]:
    """Return the names of the tools that a character may list, virl's own first; `finish` is not one."""
    ours = TOOLS.builtin()
    others = [name for name in TOOLS.names() if name not in ours]
    return tuple(name for name in (*ours, *others) if name != FINISH)
