"""The server of the page that shows runs: who may watch, its endpoints, and a run watched from its start.

The page's address is exchanged for a cookie. A cookie is sent to every port of a machine, but only below its
path: that is drawn anew for each server, so that other servers on this machine do not get it.
"""

import asyncio
import hmac
import io
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs

import PIL.Image
from fastapi import FastAPI, Header
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from virl.agent.control import Control
from virl.agent.plan import RunOptions, latest_run, make_plan, source_of
from virl.bugs import bug_of
from virl.errors import VirlError
from virl.journal.journal import JPEG_QUALITY
from virl.journal.walk_map import town_ground
from virl.pages.shell import SERVED_POLICY
from virl.plain_text import plain_line, plain_lines
from virl.redaction import Redaction
from virl.serve.gate import RequestBounds, RequestLimits
from virl.serve.running import LOOPBACK, run, serve_in_thread
from virl.serve.watch.feed import Feed, Index, RunFeed, cards_of, media_type
from virl.serve.watch.pages import served_files

COOKIE = "virl_watch"
_OPEN = "Open the address that `virl watch` printed."

HEADERS = {
    "Content-Security-Policy": SERVED_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer, but where the answer says otherwise."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of one server; drawn anew for each."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """Token in the address that is printed."""
    session: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """Secret in the cookie."""
    base: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(9)}")
    """The path below which everything is."""


class Door:
    """ASGI middleware: refuses whoever has no cookie, another host's name, and other pages' requests.

    Args:
        app: what answers the others, below `Secrets.base`.
        own: the secrets.
    """

    def __init__(self, app: ASGIApp, own: Secrets) -> None:
        self._app = app
        self._own = own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        if scope["type"] == "http":
            await self._app_for(scope)(scope, receive, _with_headers(send))

    def _app_for(self, scope: Scope) -> ASGIApp:
        """Return what answers a request: the page for one who may watch, else a refusal."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        address, port = scope["server"]
        shown = f"[{address}]" if ":" in address else address
        if host not in {f"{shown}:{port}", f"localhost:{port}"}:
            return PlainTextResponse("Not the address of this server.", 421)
        is_entry = scope["method"] == "GET" and scope["path"] == "/"
        if refused := _foreign(headers, scope["method"], f"http://{host}", is_entry=is_entry):
            return PlainTextResponse(refused, 403)
        if is_entry:
            return self._entry(scope)
        given = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if not hmac.compare_digest(given.encode(), self._own.session.encode()):
            return PlainTextResponse(_OPEN, 403)
        return self._app

    def _entry(self, scope: Scope) -> ASGIApp:
        """Exchange the token for the cookie, and the address for one that does not hold it."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self._own.token.encode()):
            return PlainTextResponse(_OPEN, 403)
        base = self._own.base
        # No redirect: a browser that came from another site would not send the cookie along with it.
        page = HTMLResponse(
            f'<!doctype html><title>virl watch</title><link rel="icon" href="data:,">'
            f'<meta http-equiv="refresh" content="0; url={base}/">'
        )
        page.set_cookie(COOKIE, self._own.session, path=base, httponly=True, samesite="strict")
        return page


def _foreign(headers: Headers, method: str, own: str, *, is_entry: bool) -> str:
    """Return the reason to refuse a request that comes from another site; empty if it may pass."""
    origins = headers.getlist("origin")
    if any(origin != own for origin in origins):
        return "Pages of other sites may not use this server."
    if method != "GET" and not origins:
        return "Commands need the header Origin."
    site = headers.get("sec-fetch-site", "none")
    if site not in {"none", "same-origin"} and not (is_entry and headers.get("sec-fetch-mode") == "navigate"):
        return "Pages of other sites may not use this server."
    return ""


def _with_headers(send: Send) -> Send:
    """Return a sender that adds the headers of a page that loads nothing from elsewhere."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


_LIMITS = RequestLimits(body_bytes=10_000, connections=100)
"""A page sends short commands only."""
_POLL_S = 0.2  # how often journals are looked at; chosen
_HEARTBEAT_S = 15.0  # a comment keeps the connection; chosen
_BATCH = 50  # records in one event; chosen


def watch(feeds: Mapping[int, Feed], index: Index, port: int, tell: Callable[[str], None]) -> None:
    """Serve the page until the process is interrupted.

    Args:
        feeds: the runs that are shown, by number; may grow.
        index: gives a card for each.
        port: at loopback; 0 takes a free one.
        tell: gets the page's address, with its token.

    Raises:
        BadInput: the port is taken.
    """
    own, closing = Secrets(), Event()
    app = _make_app(feeds, index, own, closing)
    run(app, LOOPBACK, port, None, _LIMITS, lambda url: tell(address(url, own)), closing)


@contextmanager
def serve_page(feeds: Mapping[int, Feed], index: Index | None = None, port: int = 0) -> Iterator[str]:
    """Serve the page from a thread of its own until the block ends; gives its address, with its token.

    Args:
        feeds: as `watch`.
        index: as `watch`; by default of the runs that there are.
        port: as `watch`.

    Raises:
        BadInput: the port is taken.
        VirlError: the server did not start.
    """
    own, closing = Secrets(), Event()
    app = _make_app(feeds, index or partial(cards_of, feeds), own, closing)
    with serve_in_thread(app, LOOPBACK, port, None, _LIMITS, closing) as url:
        yield address(url, own)


def address(url: str, own: Secrets) -> str:
    """Return the address to open in the browser."""
    return f"{url}/?token={own.token}"


class WatchCommand(BaseModel):
    """A command for a run from somebody at the page."""

    model_config = ConfigDict(extra="forbid")

    do: Literal["pause", "resume", "step", "take_over", "hand_back", "stop", "finish", "go", "say"]
    pano_id: str = ""
    """Panorama id of the link to `go`."""
    text: str = ""
    """Words to `say`."""


_PICTURE = {"Cache-Control": "private, max-age=3600, immutable"}


def _make_app(feeds: Mapping[int, Feed], index: Index, own: Secrets, closing: Event) -> ASGIApp:
    """Return the server of the page, as an ASGI application behind its door.

    Args:
        feeds: the runs that are shown, by number; may grow.
        index: gives a card for each.
        own: what it lets people in by.
        closing: set when the server stops.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    base = own.base

    for name, (media, content) in served_files().items():
        app.add_api_route(f"{base}/{name}", _file(content, media), methods=["GET"])

    @app.get(f"{base}/index")
    def list_runs() -> Response:
        return JSONResponse({"runs": index()})

    @app.get(f"{base}/events")
    async def stream(runs: str, last_event_id: Annotated[str, Header()] = "") -> Response:
        wanted = {number for number in runs.split(",") if number.isdecimal()}
        chosen = {run: feed for run, feed in feeds.items() if str(run) in wanted}
        return StreamingResponse(_events(chosen, last_event_id, closing), media_type="text/event-stream")

    @app.get(f"{base}/runs/{{run}}/views/{{seq}}/{{number}}")
    def view(run: int, seq: int, number: int) -> Response:
        data = feeds[run].picture(seq, number) if run in feeds else None
        if data is None:
            return PlainTextResponse("There is no such view.", 404)
        return Response(data, media_type=media_type(data), headers=_PICTURE)

    @app.get(f"{base}/runs/{{run}}/look")
    def look(run: int, heading: float, pitch: float, fov: float) -> Response:
        control = _control(feeds, run)
        if control is None:
            return _error_response("This run cannot be steered from here.", 404)
        try:
            seen = control.look(heading % 360, pitch, fov)
        except VirlError as fault:
            return _error_response(str(fault), 409)
        jpeg = io.BytesIO()
        PIL.Image.fromarray(seen.pixels).save(jpeg, "JPEG", quality=JPEG_QUALITY)
        return Response(jpeg.getvalue(), media_type="image/jpeg")

    @app.post(f"{base}/runs/{{run}}/do")
    def do(run: int, command: WatchCommand) -> Response:
        control = _control(feeds, run)
        if control is None:
            return _error_response("This run cannot be steered from here.", 404)
        try:
            return JSONResponse({"said": _execute(control, command)})
        except VirlError as fault:
            return _error_response(str(fault), 409)

    return RequestBounds(Door(app, own), _LIMITS)


def _control(feeds: Mapping[int, Feed], run: int) -> Control | None:
    """Return the hand on a run; None if it cannot be steered from here."""
    return feeds[run].control if run in feeds else None


def _execute(control: Control, command: WatchCommand) -> str:
    """Give a command, and return what is to be said about it."""
    if command.do == "go":
        control.go(command.pano_id)
    elif command.do == "say":
        return plain_lines(control.say(command.text))
    else:
        _PLAIN[command.do](control)
    return ""


_PLAIN: Mapping[str, Callable[[Control], None]] = {
    "pause": Control.pause,
    "resume": Control.resume,
    "step": Control.step,
    "take_over": Control.take_over,
    "hand_back": Control.hand_back,
    "stop": Control.stop,
    "finish": Control.finish,
}


def _error_response(error: str, status: int) -> Response:
    """Return an error as the page shows it."""
    return JSONResponse({"error": plain_lines(error)}, status)


def _file(content: str, media_type: str) -> Callable[[], Response]:
    """Return an endpoint that serves a text."""

    def file() -> Response:
        return Response(content, media_type=media_type)

    return file


async def _events(feeds: Mapping[int, Feed], last_id: str, closing: Event) -> AsyncIterator[str]:
    """Yield the events of some runs, until the server stops.

    Args:
        feeds: the runs, by number.
        last_id: the id of the last event that the browser got; empty for none.
        closing: set when the server stops.
    """
    sent = dict.fromkeys(feeds, 0) | {run: count for run, count in _counts(last_id).items() if run in feeds}
    said: dict[int, Any] = {}
    quiet = 0.0
    # A browser that loses the connection comes back after a second, with the id of its last event.
    yield "retry: 1000\n\n"
    while not closing.is_set():
        for number, feed in feeds.items():
            # Reading files would hold up all other pages.
            told = await run_in_threadpool(feed.read_records, sent[number])
            for batch in _batches(told):
                sent[number] += len(batch)
                yield _event("told", {"run": number, "told": batch}, _id(sent))
                quiet = 0.0
            state = feed.state()
            if state != said.get(number):
                said[number] = state
                yield _event("state", {"run": number} | state, _id(sent))
                quiet = 0.0
        if quiet >= _HEARTBEAT_S:
            quiet = 0.0
            # A comment, which browsers pass over: it finds out whether anybody still listens.
            yield ": alive\n\n"
        await asyncio.sleep(_POLL_S)
        quiet += _POLL_S


def _batches(told: Sequence[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    """Return records in groups of at most `_BATCH`."""
    return [told[start : start + _BATCH] for start in range(0, len(told), _BATCH)]


def _event(name: str, data: object, identity: str) -> str:
    """Return a server-sent event."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))  # on one line: JSON escapes breaks
    return f"event: {name}\nid: {identity}\ndata: {text}\n\n"


def _id(sent: Mapping[int, int]) -> str:
    """Return an id, such as `0.12-3.40`: 12 records of run 0, and 40 of run 3."""
    return "-".join(f"{run}.{count}" for run, count in sent.items())


def _counts(identity: str) -> dict[int, int]:
    """Return the counts in an id; empty for one that this server cannot have made."""
    found = {}
    for part in identity.split("-"):
        run, dot, count = part.partition(".")
        if dot and run.isdecimal() and count.isdecimal() and len(part) < 24:
            found[int(run)] = int(count)
    return found


@dataclass(frozen=True, slots=True)
class Seat:
    """The seat of somebody who watches a run."""

    url: str
    """The page's address, with its token."""
    options: RunOptions
    """The options of the run, with its folder."""
    control: Control
    """The control to start the run with."""
    feed: RunFeed
    """The feed that the page shows."""

    def fail(self, fault: Exception) -> str:
        """Show on the page why the run ended before its time, and return that line."""
        told = fault if isinstance(fault, VirlError) else bug_of(fault, run=self.feed.folder)
        self.feed.read_records()  # what was written before the fault
        self.feed.fault = Redaction.of().text(plain_line(str(told)))
        return self.feed.fault


@contextmanager
def seat_at(options: RunOptions, port: int = 0) -> Iterator[Seat]:
    """Serve the page of a run that is about to start, until the block ends.

    Args:
        options: of the run.
        port: at loopback; 0 takes a free one.

    Raises:
        BadInput: the options name something that does not exist, or the port is taken.
        VirlError: the server did not start.
    """
    if options.out is None:
        folder = latest_run(source_of(options).stem) if options.resume else make_plan(options).folder
        options = replace(options, out=folder)
    assert options.out is not None  # noqa: S101 - for the type checker
    control = Control()
    feed = RunFeed(options.out, town_ground, control)
    with serve_page({0: feed}, port=port) as url:
        yield Seat(url, options, control, feed)


def wait_for_interrupt() -> None:
    """Keep the page until the user ends it with Ctrl+C."""
    with suppress(KeyboardInterrupt):
        Event().wait()
