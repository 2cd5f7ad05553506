"""A client calls a tool: the arguments are checked, the work is followed, its questions are passed on."""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from pydantic import ValidationError

from virl.agent.tool import TOOLS, Arguments
from virl.errors import UnknownName, VirlError
from virl.journal.records import ViewRecord
from virl.serve.mcp.calls import Call, Progress, UserQuestion
from virl.serve.mcp.listing import OPEN_CITY, arguments
from virl.serve.mcp.results import Answer, answer_of, as_result, fault
from virl.serve.mcp.session import Acting, CitySession
from virl.serve.mcp.sessions import OpenCity, Sessions
from virl.settings.faults import faults_of
from virl.tools.base import ToolResult
from virl.tools.moving import where_am_i

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "say": {"type": "string", "title": "Your answer", "description": "In words; empty to say nothing."}
    },
}
BUG = "this is a bug in virl: the log of the server has the details"

Context = ServerRequestContext[Any, Any]
Answered = CallToolResult | InputRequiredResult
Done = tuple[Answer, list[Path]]
T = TypeVar("T")

_log = logging.getLogger(__name__)


async def call_tool(sessions: Sessions, ctx: Context, params: CallToolRequestParams) -> Answered:
    """What a tool answers, or what its user is asked first."""
    try:
        return await _called(sessions, ctx, params)
    except VirlError as wrong:
        return fault(str(wrong))
    except Exception:  # noqa: BLE001 - what it says is for the log, not for the client
        _log.exception("the tool %r", params.name)
        return fault(BUG)


async def _called(sessions: Sessions, ctx: Context, params: CallToolRequestParams) -> Answered:
    if params.name not in arguments():
        raise UnknownName("tool", params.name[:100], arguments())
    given = params.arguments or {}
    try:
        asked = arguments()[params.name].model_validate(given)
    except ValidationError as wrong:
        return fault(_plain(wrong, params.name, given))
    if isinstance(asked, OpenCity):
        session = await asyncio.to_thread(sessions.open, asked)
        opened = session.submit(lambda acting: _welcome(session, acting))
        return await _followed(session, opened, ctx)
    session = sessions.find(str(getattr(asked, "session", "")))
    if call := _continued(session, params):
        return await _followed(session, call, ctx)
    if waiting := session.current:
        waiting.dismiss()  # whoever was asked has gone on to something else
    tool = TOOLS.find(params.name).arguments
    own = tool.model_validate(asked.model_dump(exclude={"session"}, exclude_unset=True))
    capabilities = ctx.session.client_capabilities
    call = session.submit(
        lambda acting: _used(session, acting, params.name, own),
        can_ask=bool(capabilities and capabilities.elicitation),
    )
    return await _followed(session, call, ctx)


def _used(session: CitySession, acting: Acting, name: str, asked: Arguments) -> Done:
    """Use a tool; in the session's thread."""
    told = acting.hand(name, asked)
    return answer_of(session, acting, name, told), _pictures(acting, told.views if told.shown else ())


def _welcome(session: CitySession, acting: Acting) -> Done:
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


async def _followed(session: CitySession, call: Call[Done], ctx: Context) -> Answered:
    """Pass progress on until the work is done, or until the client has to ask its user."""
    try:
        while not call.result.done() or not call.events.empty():
            event = await call.events.get()
            if isinstance(event, Progress):
                await ctx.session.report_progress(event.number, None, event.message)
            elif isinstance(event, UserQuestion):
                if not ctx.session.can_send_request:
                    return _required(session, event)
                _answer(event, await ctx.session.elicit_form(event.text, FORM, ctx.request_id))
    except BaseException:
        call.dismiss()
        raise
    answer, pictures = call.result.result()
    if answer.status != "open":
        await asyncio.to_thread(session.wait)  # until its report is written
    return await asyncio.to_thread(as_result, answer, pictures)


def _continued(session: CitySession, params: CallToolRequestParams) -> Call[Any] | None:
    """The call that a client comes back to with the answer to its question."""
    call = session.current
    question = call.waiting if call else None
    responses = params.input_responses or {}
    if not call or not question or params.request_state != f"{session.id}/{question.key}":
        return None
    answer = responses.get(question.key)
    _answer(question, answer if isinstance(answer, ElicitResult) else ElicitResult(action="cancel"))
    return call


def _required(session: CitySession, question: UserQuestion) -> InputRequiredResult:
    request = ElicitRequest(params=ElicitRequestFormParams(message=question.text, requested_schema=FORM))
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
    return [acting.agent.run.folder / view.file for view in views]


def _plain(wrong: ValidationError, name: str, given: Mapping[str, object]) -> str:
    """What is wrong with the arguments, in a line."""
    return f"{name}: " + "; ".join(map(str, faults_of(wrong, arguments()[name], dict(given))))
