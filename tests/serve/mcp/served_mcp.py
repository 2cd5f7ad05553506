"""An MCP server in the process of a test, and what its answers say."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mcp.client.client import Client
from mcp.types import CallToolResult, TextContent

from virl.serve.gate import GateOptions
from virl.serve.mcp.server import http_app, make_server
from virl.serve.mcp.sessions import SessionDefaults, Sessions
from virl.serve.running import Address, serve_in_thread

T = TypeVar("T")


@asynccontextmanager
async def connected(
    runs: Path, defaults: dict[str, Any] | None = None, **client: Any
) -> AsyncIterator[Client]:
    """The SDK's client of a server that keeps its runs in a folder."""
    sessions = Sessions(SessionDefaults(runs=runs, **(defaults or {})))
    try:
        async with Client(make_server(sessions), **client) as opened:
            yield opened
    finally:
        await asyncio.to_thread(sessions.close)


def with_client(
    runs: Path, work: Callable[[Client], Awaitable[T]], defaults: dict[str, Any] | None = None, **client: Any
) -> T:
    """What comes of some work with a client."""

    async def do() -> T:
        async with connected(runs, defaults, **client) as opened:
            return await work(opened)

    return asyncio.run(do())


async def call(client: Client, name: str, **given: Any) -> CallToolResult:
    return await client.call_tool(name, given)


def text(result: CallToolResult) -> str:
    """The text of a result."""
    [said] = [block.text for block in result.content if isinstance(block, TextContent)]
    return said


@contextmanager
def over_http(runs: Path, key: str | None = None) -> Iterator[str]:
    """The address of a server in this process."""
    sessions, options = Sessions(SessionDefaults(runs=runs)), GateOptions(key)
    with serve_in_thread(http_app(sessions, options), Address(key=key), lifespan="on") as url:
        yield f"{url}/mcp"
    sessions.close()
