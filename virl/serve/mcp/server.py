"""The MCP server, over stdio or streamable HTTP: its tools, prompts and resources.

For each call of a tool it checks the arguments, reports progress, and passes questions to the client's user.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
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
    ListToolsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from virl.agent.roster import roster
from virl.agent.tool import TOOLS, Arguments
from virl.errors import UnknownName, VirlError
from virl.files.json_reading import whole_escapes
from virl.mind.prompt import load_prompt, render
from virl.mind.replies import Reply
from virl.plain_text import plain_tree, whole_text
from virl.serve.gate import GateOptions, add_gate
from virl.serve.mcp.resources import listed_resources, listed_templates, read_resource
from virl.serve.mcp.session import ActingAgent, Call, CitySession, Progress, UserQuestion
from virl.serve.mcp.sessions import OpenCity, Sessions
from virl.serve.mcp.tools import (
    OPEN_CITY,
    Answer,
    arguments,
    failed_result,
    listed_tools,
    to_answer,
    to_call_result,
)
from virl.serve.running import Address, run
from virl.settings.faults import faults_of
from virl.tools.base import ToolResult
from virl.tools.moving import where_am_i
from virl.version import __version__

_MAX_TEXT = 1000
"""Most characters of a prompt's argument `request`; further ones are cut off; chosen."""
_MOST_WAITING, _PAUSE_S = 100, 0.02
"""Number of waiting answers above which no further line is read, and seconds between checks; chosen."""
_PROMPT_ARGUMENTS = {  # descriptions, by name
    "city": "The city, a name of the resource virl://cities; by default the character's own.",
    "request": "What to do; by default what the character wants by itself.",
}
_ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "say": {"type": "string", "title": "Your answer", "description": "In words; empty to say nothing."}
    },
}
_BUG = "this is a bug in virl: the log of the server has the details"
Context = ServerRequestContext[Any, Any]
CallOutcome = CallToolResult | InputRequiredResult
AnswerAndPictures = tuple[Answer, list[Path]]
T = TypeVar("T")
_log = logging.getLogger(__name__)
PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"


def make_server(sessions: Sessions) -> Server[Any]:
    """Return an MCP server whose tools act in these sessions."""
    return Server(
        "virl",
        version=__version__,
        title="A city to act in",
        instructions=render(load_prompt("mcp/instructions", Reply), {}).strip(),
        on_list_tools=_in_thread(lambda _: ListToolsResult(tools=listed_tools())),
        on_call_tool=partial(call_tool, sessions),
        on_list_resources=_in_thread(lambda _: listed_resources(sessions)),
        on_list_resource_templates=_in_thread(lambda _: listed_templates()),
        on_read_resource=lambda _, params: read_resource(sessions, params.uri),
        on_list_prompts=_in_thread(lambda _: _list_prompts()),
        on_get_prompt=_in_thread(_agent_prompt),
    )


def _in_thread(answer: Callable[[Any], T]) -> Callable[[Context, Any], Awaitable[T]]:
    """Return a handler of the protocol that calls `answer` with a request's parameters, in a thread."""
    return lambda _, params: asyncio.to_thread(answer, params)


def serve_stdio(sessions: Sessions) -> None:
    """Serve a client over stdin and stdout until it closes either; then leave all sessions to be resumed.

    While it serves, whatever else is printed goes to stderr.
    """
    server = make_server(sessions)

    async def serve() -> None:
        """Serve the client's messages until stdin ends."""
        # The answers that wait hold back the reading: a client that takes none cannot fill the memory.
        wire = os.fdopen(os.dup(0), "rb", closefd=False)
        # What a child process or a prompt would read is empty from here on, and no line of the protocol.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        stdin = _Stdin(_WholeLines(wire, encoding="utf-8", errors="replace"))
        async with stdio_server(stdin=stdin) as (incoming, outgoing):
            stdin.answers = _AnswerSender(outgoing)
            await server.run(incoming, stdin.answers, server.create_initialization_options())

    try:
        asyncio.run(serve())
    except* BrokenPipeError:
        _log.warning("the client has closed its end: sessions that are open can be resumed")
    finally:
        sessions.close()


class _WholeLines(TextIOWrapper):
    """A reader of text lines that replaces halves of surrogate pairs in JSON, which the SDK rejects."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # as in its base
        """Return the next line, at most `size` characters, with halves of surrogate pairs replaced."""
        return whole_escapes(super().readline(size).encode()).decode()


class _AnswerSender:
    """A sender of answers to a client, which counts those that the client has not taken yet."""

    def __init__(self, wire: Any) -> None:
        """Keep the stream on which answers are sent to the client."""
        self._wire = wire
        self.waiting = 0

    async def send(self, item: SessionMessage, /) -> None:
        """Send an answer, counted as waiting until the client has taken it."""
        self.waiting += 1
        try:
            await self._wire.send(item)
        finally:
            self.waiting -= 1

    async def aclose(self) -> None:
        """Close the stream to the client."""
        await self._wire.aclose()

    async def __aenter__(self) -> Self:
        """Return the sender; the end of the block closes its stream."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the stream to the client."""
        await self.aclose()


class _Stdin(anyio.AsyncFile[str]):
    """A client's lines from stdin; while too many answers wait for the client, no line is read."""

    answers: _AnswerSender | None = None

    async def readline(self) -> str:
        """Return the next line, once few enough answers wait."""
        while self.answers and self.answers.waiting > _MOST_WAITING:
            await anyio.sleep(_PAUSE_S)
        return await super().readline()


def _with_whole_bodies(app: ASGIApp) -> ASGIApp:
    """Return an ASGI app that replaces halves of surrogate pairs in bodies before `app` reads them."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request through the application, with its body changed."""

        async def give() -> Message:
            """Return the next message with its body changed."""
            message = await receive()
            return {**message, "body": whole_escapes(message["body"])} if "body" in message else message

        await app(scope, give, send)

    return answer


def http_app(sessions: Sessions, options: GateOptions) -> ASGIApp:
    """Return the MCP server of these sessions as an ASGI app at `/mcp` behind its gate; needs a lifespan."""
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
    """Serve MCP over streamable HTTP until the process is interrupted; call `tell` with the URL.

    Args:
        sessions: the sessions in which the tools act.
        options: rules on the requests that pass.
        host: the address to listen at.
        port: the port; 0 takes a free one.
        tell: called with the server's URL.

    Raises:
        BadInput: the port is taken, or other machines can connect and there is no key.
    """
    try:
        address = Address(host, port, options.key, options.limits)
        run(http_app(sessions, options), address, lambda url: tell(f"{url}{PATH}"), lifespan="on")
    finally:
        sessions.close()


async def call_tool(sessions: Sessions, ctx: Context, params: CallToolRequestParams) -> CallOutcome:
    """Return the result of a tool, or the question that the client's user has to answer first.

    Args:
        sessions: the server's sessions.
        ctx: the context of the request.
        params: the tool's name and arguments.
    """
    try:
        return await _call_tool(sessions, ctx, params)
    except VirlError as wrong:
        return failed_result(str(wrong))
    except Exception:  # noqa: BLE001 - its text is for the log, not for the client
        _log.exception("the tool %r", params.name)
        return failed_result(_BUG)


async def _call_tool(sessions: Sessions, ctx: Context, params: CallToolRequestParams) -> CallOutcome:
    """Check the arguments of a call, run it in its session, and return its result or a question."""
    if params.name not in arguments():
        raise UnknownName("tool", params.name[:100], arguments())
    raw: Any = plain_tree(params.arguments or {}, whole_text)
    try:
        checked = arguments()[params.name].model_validate(raw)
    except ValidationError as wrong:
        faults = faults_of(wrong, arguments()[params.name], dict(raw))
        return failed_result(f"{params.name}: {'; '.join(map(str, faults))}")
    if isinstance(checked, OpenCity):
        session = await asyncio.to_thread(sessions.open, checked)
        opened = session.submit(lambda acting: _welcome(session, acting))
        return await _await_call(session, opened, ctx, OPEN_CITY)
    session = sessions.find(str(getattr(checked, "session", "")))
    # A client without elicitation comes back with the same call and its user's answer.
    if call := _resume_call(session, params):
        return await _await_call(session, call, ctx, params.name)
    if waiting := session.current:
        waiting.dismiss()  # whoever was asked has gone on to something else
    tool = TOOLS.find(params.name).arguments
    own = tool.model_validate(checked.model_dump(exclude={"session"}, exclude_unset=True))
    capabilities = ctx.session.client_capabilities
    call = session.submit(
        lambda acting: _use_tool(session, acting, params.name, own),
        can_ask=bool(capabilities and capabilities.elicitation),
    )
    return await _await_call(session, call, ctx, params.name)


def _use_tool(
    session: CitySession, acting: ActingAgent, name: str, arguments_: Arguments
) -> AnswerAndPictures:
    """Return a tool's answer and the paths of its pictures; called in the session's thread."""
    # A begun call cannot be taken back: the client hears of it with the next answer.
    unheard, session.unheard = session.unheard, []
    result = acting.executor(name, arguments_)
    if unheard:
        begun = f"Cancelled after they had begun, and done all the same: {', '.join(unheard)}."
        result = replace(result, text=f"{begun}\n{result.text}")
    folder = acting.agent.run.folder
    pictures = [folder / view.file for view in result.views] if result.shown else []
    return to_answer(session, acting, name, result), pictures


def _welcome(session: CitySession, acting: ActingAgent) -> AnswerAndPictures:
    """Return the first answer of a session, without pictures: name, background, task and position."""
    agent = acting.agent
    character, run = agent.character, agent.run
    notes = len(run.notes("tool"))
    went = f" It goes on after {notes} uses of tools and {acting.body.standing.moves} moves." if notes else ""
    here = where_am_i.act(acting.body, where_am_i.arguments())
    text = (
        f"Session {session.id}.{went} You are {character.name}. {character.background}\n"
        f"Your task: {character.intention}\n{here.text}\n{agent.city.notice}"
    )
    return to_answer(session, acting, OPEN_CITY, ToolResult(text.strip(), here.data)), []


async def _await_call(
    session: CitySession, call: Call[AnswerAndPictures], ctx: Context, tool: str
) -> CallOutcome:
    """Report a call's progress until it is done; return its result, or a question for the client's user."""
    try:
        while not call.result.done() or not call.events.empty():
            event = await call.events.get()
            if isinstance(event, Progress):
                await ctx.session.report_progress(event.number, None, event.message)
            elif isinstance(event, UserQuestion):
                if not ctx.session.can_send_request:
                    # Such a client answers the question with a further call.
                    form = ElicitRequestFormParams(message=event.text, requested_schema=_ANSWER_SCHEMA)
                    return InputRequiredResult(
                        input_requests={event.key: ElicitRequest(params=form)},
                        request_state=f"{session.id}/{event.key}",
                    )
                _settle_question(
                    event, await ctx.session.elicit_form(event.text, _ANSWER_SCHEMA, ctx.request_id)
                )
    except BaseException:
        if not call.cancel():
            session.unheard.append(tool)
        raise
    answer, pictures = call.result.result()
    if answer.status != "open":
        await asyncio.to_thread(session.wait)  # until its report is written
    return await asyncio.to_thread(to_call_result, answer, pictures)


def _resume_call(session: CitySession, params: CallToolRequestParams) -> Call[Any] | None:
    """Give the answer in `params` to the question that a call waits with; return that call, or `None`."""
    call = session.current
    question = call.waiting if call else None
    responses = params.input_responses or {}
    if not call or not question or params.request_state != f"{session.id}/{question.key}":
        return None
    answer = responses.get(question.key)
    _settle_question(question, answer if isinstance(answer, ElicitResult) else ElicitResult(action="cancel"))
    return call


def _settle_question(question: UserQuestion, answer: ElicitResult) -> None:
    """Give a question the client's answer, at most 2,000 characters: "" if declined, `None` if cancelled."""
    if question.answer.done():
        return
    text = str((answer.content or {}).get("say") or "") if answer.action == "accept" else ""
    question.answer.set_result(None if answer.action == "cancel" else text[:2000])


def _list_prompts() -> ListPromptsResult:
    """Return the list of prompts: one for each agent."""
    return ListPromptsResult(
        prompts=[
            Prompt(
                name=entry.name,
                title=entry.character.name,
                description=entry.about,
                arguments=[
                    PromptArgument(name=name, description=about, required=False)
                    for name, about in _PROMPT_ARGUMENTS.items()
                ],
            )
            for entry in roster()[0]
        ]
    )


def _agent_prompt(params: GetPromptRequestParams) -> GetPromptResult:
    """Return the prompt that describes an agent and its task; raise `MCPError` if there is no such agent."""
    known = {entry.name: entry for entry in roster()[0]}
    if params.name not in known:
        raise MCPError(INVALID_PARAMS, str(UnknownName("agent", params.name[:100], known)))
    values = params.arguments or {}
    if unknown := next((name for name in values if name not in _PROMPT_ARGUMENTS), None):
        raise MCPError(INVALID_PARAMS, str(UnknownName("argument", unknown[:100], _PROMPT_ARGUMENTS)))
    entry = known[params.name]
    character = entry.character
    text = render(
        load_prompt("mcp/character", Reply),
        {
            "agent": entry.name,
            "name": character.name,
            "age": character.age,
            "background": character.background,
            "intention": values.get("request", "")[:_MAX_TEXT].strip() or character.intention,
            "city": values.get("city", "")[:100].strip() or character.city,
            "clock": character.clock,
        },
    )
    return GetPromptResult(
        description=entry.about, messages=[PromptMessage(role="user", content=TextContent(text=text.strip()))]
    )
