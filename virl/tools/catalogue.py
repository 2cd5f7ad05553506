"""Tools in use, traced, and those of one agent as LangChain takes them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import ValidationError

from virl.agent.tool import FINISH, TOOLS, Arguments, Tool
from virl.errors import UnknownName
from virl.settings.faults import faults_of
from virl.tools.base import ToolResult
from virl.tools.body import Body
from virl.traces.spans import Attributes, clean_text, content_wanted, span


def _trace_tool(name: str, asked: Arguments, act: Callable[[], ToolResult[Any]]) -> ToolResult[Any]:
    """Return the result of a tool, and trace its use: its arguments and its text where content is wanted.

    Args:
        name: of the tool.
        asked: its arguments.
        act: calls it.
    """
    with span(f"execute_tool {name}", _identity(name, asked)) as told:
        is_wanted = told.is_on and content_wanted()
        if is_wanted:
            told.tell({"gen_ai.tool.call.arguments": clean_text(asked.model_dump_json(exclude_none=True))})
        result = act()
        told.tell({"virl.views": len(result.views)})
        if is_wanted:
            told.tell({"gen_ai.tool.call.result": clean_text(result.text)})
    return result


def tell_replayed(name: str) -> None:
    """Trace a call whose result a run has from its journal: the tool was not used again."""
    with span(f"execute_tool {name}", {**_identity(name), "virl.replayed": True}):
        pass


def _identity(name: str, asked: Arguments | None = None) -> Attributes:
    described = asked and " ".join((asked.__doc__ or "").split())
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": described or None,
    }


Use = Callable[[str, Arguments], ToolResult[Any]]
"""A function that uses a tool, given by its name."""


def use(body: Body, name: str, asked: Arguments) -> ToolResult[Any]:
    """Use a tool.

    Args:
        body: of the agent.
        name: of the tool.
        asked: checked already.

    Raises:
        VirlError: what was asked cannot be done.
    """
    return _trace_tool(name, asked, lambda: TOOLS.find(name).act(body, asked))


def tools_for(body: Body, names: Sequence[str], using: Use | None = None) -> list[BaseTool]:
    """Return the tools in the hands of one agent. Calls that come at the same time wait for one another.

    Each gives its text back as content and all that came of it, a `ToolResult`, as artifact. What cannot be
    done is raised as `VirlError`.

    Args:
        body: what they move.
        names: of the tools; `finish` comes with them.
        using: what uses a tool when it is called; by default nothing but `use`.

    Raises:
        UnknownName: there is no such tool.
        ModelUnavailable: another package's tool cannot be imported.
    """
    using = using or partial(use, body)
    lock = body.agent.run.lock
    return [_tool(name, TOOLS.find(name), using, lock) for name in dict.fromkeys([*names, FINISH])]


def _tool(name: str, tool: Tool, using: Use, lock: AbstractContextManager[object]) -> BaseTool:
    def call(**given: object) -> tuple[str, ToolResult[Any]]:
        with lock:
            result = using(name, tool.arguments.model_validate(given))
        return result.text, result

    return StructuredTool.from_function(
        call,
        name=name,
        description=tool.description,
        args_schema=tool.arguments,
        response_format="content_and_artifact",
        handle_validation_error=lambda fault: _plain(fault, name, tool.arguments),
    )


def _plain(fault: object, name: str, arguments: type[Arguments]) -> str:
    """Return what is wrong with a call's arguments, for the model."""
    if not isinstance(fault, ValidationError):
        return f"{name}: {fault}"
    wrong = {str(one["loc"][0]): one["input"] for one in fault.errors() if len(one["loc"]) == 1}
    return f"{name}: " + "; ".join(map(str, faults_of(fault, arguments, wrong))) + form_of(name)


def form_of(name: str) -> str:
    """Return which arguments a tool takes, as the end of a sentence; empty if there is no such tool."""
    try:
        schema = TOOLS.find(name).arguments.model_json_schema()
    except UnknownName:
        return ""
    needed = schema.get("required", ())
    fields = [
        f"{field}{'' if field in needed else '?'}: "
        + "|".join(one.get("type", "any") for one in about.get("anyOf", [about]))
        for field, about in schema.get("properties", {}).items()
    ]
    return f" ({name} takes {{{', '.join(fields)}}})"
