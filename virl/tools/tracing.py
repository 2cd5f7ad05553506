"""What traces tell of a tool: a span `execute_tool NAME`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from virl.agent.tool import Arguments
from virl.tools.base import ToolResult
from virl.traces import Attributes, Told, cleaned, content_wanted, span


@contextmanager
def using(name: str, asked: Arguments) -> Iterator[Told]:
    """Trace a tool while it is used.

    Args:
        name: of the tool.
        asked: what it is given; told where content is wanted.
    """
    with span(f"execute_tool {name}", _identity(name, asked)) as told:
        if told.is_on and content_wanted():
            told.tell({"gen_ai.tool.call.arguments": cleaned(asked.model_dump_json(exclude_none=True))})
        yield told


def tell_result(told: Told, result: ToolResult[Any]) -> None:
    """Add what came of it: how many views were looked at, and the words where content is wanted."""
    told.tell({"virl.views": len(result.views)})
    if told.is_on and content_wanted():
        told.tell({"gen_ai.tool.call.result": cleaned(result.text)})


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
