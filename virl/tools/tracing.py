"""What traces tell of a tool: a span `execute_tool NAME`."""

from collections.abc import Callable
from typing import Any

from virl.agent.tool import Arguments
from virl.tools.base import ToolResult
from virl.traces.spans import Attributes, clean_text, content_wanted, span


def trace_tool(name: str, asked: Arguments, act: Callable[[], ToolResult[Any]]) -> ToolResult[Any]:
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
