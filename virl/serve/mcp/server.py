"""The MCP server, over stdio or streamable HTTP: its tools, its prompts, and the calls of its clients.

Of a call the arguments are checked, the work is followed, and its questions are passed on to the client.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Self, TypeVar

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from virl.agent.roster import roster
from virl.agent.tool import TOOLS, Arguments
from virl.errors import UnknownName, VirlError
from virl.files.json_reading import whole_escapes
from virl.journal.records import ViewRecord
from virl.mind.prompt import load_prompt, render
from virl.mind.replies import Reply
from virl.plain_text import plain_tree, whole_text
from virl.serve.gate import GateOptions, add_gate
from virl.serve.mcp.resources import listed_resources, listed_templates, read_resource
from virl.serve.mcp.session import Acting, Call, CitySession, Progress, UserQuestion
from virl.serve.mcp.sessions import OpenCity, Sessions
from virl.serve.mcp.tools import OPEN_CITY, Answer, answer_of, arguments, as_result, fault, listed_tools
from virl.serve.running import run
from virl.settings.faults import faults_of
from virl.tools.base import ToolResult
from virl.tools.moving import where_am_i
from virl.version import __version__

_LONGEST = 1000
"""Characters of an argument; chosen."""
_MOST_WAITING, _PAUSE_S = 100, 0.02
"""The number of answers that may wait for a client, and the seconds between looks at it; chosen."""
_ARGUMENTS = {
    "city": "The city, a name of the resource virl://cities; by default the character's own.",
    "request": "What to do; by default what the character wants by itself.",
}
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "say": {"type": "string", "title": "Your answer", "description": "In words; empty to say nothing."}
    },
}
_BUG = "this is a bug in virl: the log of the server has the details"
Context = ServerRequestContext[Any, Any]
Answered = CallToolResult | InputRequiredResult
Done = tuple[Answer, list[Path]]
T = TypeVar("T")
_log = logging.getLogger(__name__)
PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"


def make_server(sessions: Sessions) -> Server[Any]:
    """Return a server whose tools act in these sessions."""

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
        return await asyncio.to_thread(_listed_prompts)

    async def prompt(_: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return await asyncio.to_thread(_given_prompt, params)

    return Server(
        "virl",
        version=__version__,
        title="A city to act in",
        instructions=render(load_prompt("mcp/instructions", Reply), {}).strip(),
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=resources,
        on_list_resource_templates=templates,
        on_read_resource=read,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
    )


def serve_stdio(sessions: Sessions) -> None:
    """Serve the client at the other end of stdin and stdout, until it closes either.

    While it serves, whatever else is printed goes to stderr.
    """
    server = make_server(sessions)

    async def serve() -> None:
        # The answers that wait hold back the reading: a client that takes none cannot fill the memory.
        stdin = _whole_stdin()
        async with stdio_server(stdin=stdin) as (incoming, outgoing):
            stdin.answers = _Answers(outgoing)
            await server.run(incoming, stdin.answers, server.create_initialization_options())

    try:
        asyncio.run(serve())
    except* BrokenPipeError:
        _log.warning("the client has closed its end: sessions that are open can be resumed")
    finally:
        sessions.close()


class _WholeLines(TextIOWrapper):
    """Lines of JSON whose halves of surrogate pairs are U+FFFD: the SDK answers no others."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # as in its base
        return whole_escapes(super().readline(size).encode()).decode()


class _Answers:
    """The way of answers to a client, with the number of those that it has not taken yet."""

    def __init__(self, wire: Any) -> None:
        self._wire = wire
        self.waiting = 0

    async def send(self, item: SessionMessage, /) -> None:
        self.waiting += 1
        try:
            await self._wire.send(item)
        finally:
            self.waiting -= 1

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Stdin(anyio.AsyncFile[str]):
    """Lines of a client; the next is not read while many answers wait, for a client that takes none."""

    answers: _Answers | None = None

    async def readline(self) -> str:
        while self.answers and self.answers.waiting > _MOST_WAITING:
            await anyio.sleep(_PAUSE_S)
        return await super().readline()


def _whole_stdin() -> _Stdin:
    """Return what comes in on stdin; as with the SDK's own reader, nobody else reads from it any more."""
    wire = os.fdopen(os.dup(0), "rb", closefd=False)
    # What a child process or a prompt would read is empty from here on, and no line of the protocol.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return _Stdin(_WholeLines(wire, encoding="utf-8", errors="replace"))


def _with_whole_bodies(app: ASGIApp) -> ASGIApp:
    """Return an application that gets bodies as `_WholeLines` gives lines; each comes in one message."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def give() -> Message:
            message = await receive()
            return {**message, "body": whole_escapes(message["body"])} if "body" in message else message

        await app(scope, give, send)

    return answer


def http_app(sessions: Sessions, options: GateOptions) -> ASGIApp:
    """Return the server behind all checks of who asks; it answers at `/mcp`, and needs ASGI's lifespan."""
    app = make_server(sessions).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),  # the gate checks
    )
    return add_gate(_with_whole_bodies(app), options, exposed=[SESSION_HEADER])


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


async def call_tool(sessions: Sessions, ctx: Context, params: CallToolRequestParams) -> Answered:
    """Return the answer of a tool, or the question that its user is asked first.

    Args:
        sessions: of the server.
        ctx: of the request.
        params: name and arguments.
    """
    try:
        return await _call_tool(sessions, ctx, params)
    except VirlError as wrong:
        return fault(str(wrong))
    except Exception:  # noqa: BLE001 - what it says is for the log, not for the client
        _log.exception("the tool %r", params.name)
        return fault(_BUG)


async def _call_tool(sessions: Sessions, ctx: Context, params: CallToolRequestParams) -> Answered:
    """Check the arguments of a call, and follow it in its session."""
    if params.name not in arguments():
        raise UnknownName("tool", params.name[:100], arguments())
    given: Any = plain_tree(params.arguments or {}, whole_text)
    try:
        asked = arguments()[params.name].model_validate(given)
    except ValidationError as wrong:
        return fault(_plain(wrong, params.name, given))
    if isinstance(asked, OpenCity):
        session = await asyncio.to_thread(sessions.open, asked)
        opened = session.submit(lambda acting: _welcome(session, acting))
        return await _follow_call(session, opened, ctx, OPEN_CITY)
    session = sessions.find(str(getattr(asked, "session", "")))
    # A client without elicitation comes back with the same call and its user's answer.
    if call := _answered_call(session, params):
        return await _follow_call(session, call, ctx, params.name)
    if waiting := session.current:
        waiting.dismiss()  # whoever was asked has gone on to something else
    tool = TOOLS.find(params.name).arguments
    own = tool.model_validate(asked.model_dump(exclude={"session"}, exclude_unset=True))
    capabilities = ctx.session.client_capabilities
    call = session.submit(
        lambda acting: _use_tool(session, acting, params.name, own),
        can_ask=bool(capabilities and capabilities.elicitation),
    )
    return await _follow_call(session, call, ctx, params.name)


def _use_tool(session: CitySession, acting: Acting, name: str, asked: Arguments) -> Done:
    """Use a tool; in the session's thread."""
    # A begun call cannot be taken back: the client hears of it with the next answer.
    unheard, session.unheard = session.unheard, []
    told = acting.hand(name, asked)
    if unheard:
        begun = f"Cancelled after they had begun, and done all the same: {', '.join(unheard)}."
        told = replace(told, text=f"{begun}\n{told.text}")
    return answer_of(session, acting, name, told), _pictures(acting, told.views if told.shown else ())


def _welcome(session: CitySession, acting: Acting) -> Done:
    """Tell a client that opens a session who it is, what its task is, and where it stands."""
    agent = acting.agent
    character, run = agent.character, agent.run
    notes = len(run.notes("tool"))
    went = f" It goes on after {notes} uses of tools and {acting.body.standing.moves} moves." if notes else ""
    here = where_am_i.act(acting.body, where_am_i.arguments())
    text = (
        f"Session {session.id}.{went} You are {character.name}. {character.background}\n"
        f"Your task: {character.intention}\n{here.text}\n{agent.city.notice}"
    )
    return answer_of(session, acting, OPEN_CITY, ToolResult(text.strip(), here.data)), []


async def _follow_call(session: CitySession, call: Call[Done], ctx: Context, tool: str) -> Answered:
    """Pass progress on until the work is done, or until the client has to ask its user."""
    try:
        while not call.result.done() or not call.events.empty():
            event = await call.events.get()
            if isinstance(event, Progress):
                await ctx.session.report_progress(event.number, None, event.message)
            elif isinstance(event, UserQuestion):
                if not ctx.session.can_send_request:
                    return _ask_client(session, event)
                _answer(event, await ctx.session.elicit_form(event.text, _FORM, ctx.request_id))
    except BaseException:
        if not call.cancel():
            session.unheard.append(tool)
        raise
    answer, pictures = call.result.result()
    if answer.status != "open":
        await asyncio.to_thread(session.wait)  # until its report is written
    return await asyncio.to_thread(as_result, answer, pictures)


def _answered_call(session: CitySession, params: CallToolRequestParams) -> Call[Any] | None:
    """Return the call that a client comes back to with the answer to its question."""
    call = session.current
    question = call.waiting if call else None
    responses = params.input_responses or {}
    if not call or not question or params.request_state != f"{session.id}/{question.key}":
        return None
    answer = responses.get(question.key)
    _answer(question, answer if isinstance(answer, ElicitResult) else ElicitResult(action="cancel"))
    return call


def _ask_client(session: CitySession, question: UserQuestion) -> InputRequiredResult:
    """Return the answer of a client that cannot be asked meanwhile: it comes back with its user's reply."""
    request = ElicitRequest(params=ElicitRequestFormParams(message=question.text, requested_schema=_FORM))
    return InputRequiredResult(
        input_requests={question.key: request}, request_state=f"{session.id}/{question.key}"
    )


def _answer(question: UserQuestion, given: ElicitResult) -> None:
    """Hand an answer on: declining says nothing now, cancelling nothing any more."""
    if question.answer.done():
        return
    said = str((given.content or {}).get("say") or "") if given.action == "accept" else ""
    question.answer.set_result(None if given.action == "cancel" else said[:2000])


def _pictures(acting: Acting, views: tuple[ViewRecord, ...]) -> list[Path]:
    """Return the files of some views of the run."""
    return [acting.agent.run.folder / view.file for view in views]


def _plain(wrong: ValidationError, name: str, given: Mapping[str, object]) -> str:
    """Return a line on the faults of the arguments."""
    return f"{name}: " + "; ".join(map(str, faults_of(wrong, arguments()[name], dict(given))))


def _listed_prompts() -> ListPromptsResult:
    """Return the agents."""
    return ListPromptsResult(
        prompts=[
            Prompt(
                name=entry.name,
                title=entry.character.name,
                description=entry.about,
                arguments=[
                    PromptArgument(name=name, description=about, required=False)
                    for name, about in _ARGUMENTS.items()
                ],
            )
            for entry in roster()[0]
        ]
    )


def _given_prompt(params: GetPromptRequestParams) -> GetPromptResult:
    """Return the prompt that says what an agent is and wants.

    Raises:
        MCPError: there is no such agent, or an argument that is not taken.
    """
    known = {entry.name: entry for entry in roster()[0]}
    if params.name not in known:
        raise MCPError(INVALID_PARAMS, str(UnknownName("agent", params.name[:100], known)))
    asked = params.arguments or {}
    if unknown := next((name for name in asked if name not in _ARGUMENTS), None):
        raise MCPError(INVALID_PARAMS, str(UnknownName("argument", unknown[:100], _ARGUMENTS)))
    entry = known[params.name]
    character = entry.character
    text = render(
        load_prompt("mcp/character", Reply),
        {
            "agent": entry.name,
            "name": character.name,
            "age": character.age,
            "background": character.background,
            "intention": asked.get("request", "")[:_LONGEST].strip() or character.intention,
            "city": asked.get("city", "")[:100].strip() or character.city,
            "clock": character.clock,
        },
    )
    return GetPromptResult(
        description=entry.about, messages=[PromptMessage(role="user", content=TextContent(text=text.strip()))]
    )
