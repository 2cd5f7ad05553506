"""The server, over stdio or streamable HTTP."""

import asyncio
from collections.abc import Callable
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    CallToolRequestParams,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)
from starlette.types import ASGIApp

from virl.serve.gate import GateOptions, gated
from virl.serve.mcp.calling import Answered, Context, call_tool
from virl.serve.mcp.characters import given_prompt, instructions, listed_prompts
from virl.serve.mcp.listing import listed_tools
from virl.serve.mcp.resources import listed_resources, listed_templates, read_resource
from virl.serve.mcp.sessions import Sessions
from virl.serve.running import run
from virl.version import __version__

PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"


def make_server(sessions: Sessions) -> Server[Any]:
    """A server whose tools act in these sessions."""

    async def tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=await asyncio.to_thread(listed_tools))

    async def call(ctx: Context, params: CallToolRequestParams) -> Answered:
        return await call_tool(sessions, ctx, params)

    async def resources(_: Context, __: PaginatedRequestParams | None) -> ListResourcesResult:
        return listed_resources(sessions)

    async def templates(_: Context, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        return listed_templates()

    async def read(_: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await read_resource(sessions, params.uri)

    async def prompts(_: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        return await asyncio.to_thread(listed_prompts)

    async def prompt(_: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return await asyncio.to_thread(given_prompt, params)

    return Server(
        "virl",
        version=__version__,
        title="A city to act in",
        instructions=instructions(),
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=resources,
        on_list_resource_templates=templates,
        on_read_resource=read,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
    )


def serve_stdio(sessions: Sessions) -> None:
    """Serve the client at the other end of stdin and stdout, until it closes them.

    While it serves, whatever else is printed goes to stderr.
    """
    server = make_server(sessions)

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        asyncio.run(serve())
    finally:
        sessions.close()


def http_app(sessions: Sessions, options: GateOptions) -> ASGIApp:
    """The server behind all checks of who asks; it answers at `/mcp`, and needs ASGI's lifespan."""
    app = make_server(sessions).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),  # the gate checks
    )
    return gated(app, options, exposed=[SESSION_HEADER])


def serve_http(
    sessions: Sessions, options: GateOptions, host: str, port: int, tell: Callable[[str], None]
) -> None:
    """Serve over streamable HTTP until the process is interrupted.

    Args:
        sessions: in which the tools act.
        options: who may ask.
        host: the address to listen at.
        port: the port; 0 takes a free one.
        tell: gets the server's URL when it is known.

    Raises:
        BadInput: the port is taken, or other machines can connect and there is no key.
    """
    try:
        run(
            http_app(sessions, options),
            host,
            port,
            options.key,
            options.limits,
            lambda url: tell(f"{url}{PATH}"),
            lifespan="on",
        )
    finally:
        sessions.close()
