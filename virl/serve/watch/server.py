"""The server of the page that shows runs: access to it, its endpoints, and a run watched from its start.

The page's address is exchanged for a cookie. A cookie is sent to every port of a machine, but only below its
path: that is drawn anew for each server, so that other servers on this machine do not get it.
"""

import asyncio
import hmac
import io
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs

import PIL.Image
from fastapi import FastAPI, Header, Query
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
from virl.pages.fonts import font_styles
from virl.pages.shell import SERVED_POLICY
from virl.plain_text import plain_line, plain_lines
from virl.redaction import Redaction
from virl.serve.gate import RequestBounds, RequestLimits
from virl.serve.running import Address, run, serve_in_thread
from virl.serve.watch.feed import Feed, Index, RunFeed, cards_of, media_type, picture_of
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
"""Headers of every response, unless the response sets them itself."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The random secrets of one server: token, cookie and path."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """Token in the printed address, which a browser exchanges for the cookie."""
    session: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """Value of the cookie that each request needs."""
    base: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(9)}")
    """Path, hard to guess, below which all resources of the server lie."""


@dataclass(frozen=True, slots=True)
class PageGuard:
    """ASGI middleware that refuses requests without the cookie, to another host, or from foreign pages."""

    app: ASGIApp
    own: Secrets
    """Secrets of the server."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an ASGI request on, or refuse it."""
        if scope["type"] == "http":

            async def send_with_headers(message: Message) -> None:
                """Send a message, with `HEADERS` added to the start of a response."""
                if message["type"] == "http.response.start":
                    headers = MutableHeaders(scope=message)
                    for name, value in HEADERS.items():
                        headers.setdefault(name, value)
                await send(message)

            await self._app_for(scope)(scope, receive, send_with_headers)

    def _app_for(self, scope: Scope) -> ASGIApp:
        """Return the application that answers a request: the page's, or a refusal."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        address, port = scope["server"]
        shown = f"[{address}]" if ":" in address else address
        if host not in {f"{shown}:{port}", f"localhost:{port}"}:
            return PlainTextResponse("Not the address of this server.", 421)
        is_entry = scope["method"] == "GET" and scope["path"] == "/"
        if refused := _refusal_reason(headers, scope["method"], f"http://{host}", is_entry=is_entry):
            return PlainTextResponse(refused, 403)
        if is_entry:
            return self._entry(scope)
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if not hmac.compare_digest(cookie.encode(), self.own.session.encode()):
            return PlainTextResponse(_OPEN, 403)
        return self.app

    def _entry(self, scope: Scope) -> ASGIApp:
        """Return a page that sets the cookie and leads on to `Secrets.base`; a refusal for a wrong token."""
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not hmac.compare_digest(token.encode(), self.own.token.encode()):
            return PlainTextResponse(_OPEN, 403)
        base = self.own.base
        # No redirect: a browser that came from another site would not send the cookie along with it.
        page = HTMLResponse(
            f'<!doctype html><title>virl watch</title><link rel="icon" href="data:,">'
            f'<meta http-equiv="refresh" content="0; url={base}/">'
        )
        page.set_cookie(COOKIE, self.own.session, path=base, httponly=True, samesite="strict")
        return page


def _refusal_reason(headers: Headers, method: str, own: str, *, is_entry: bool) -> str:
    """Return why to refuse a request that may not come from a page of origin `own`; "" if it may pass."""
    origins = headers.getlist("origin")
    if any(origin != own for origin in origins):
        return "Pages of other sites may not use this server."
    if method != "GET" and not origins:
        return "Commands need the header Origin."
    # The printed address may be opened from another site, such as a chat: that is a navigation.
    site = headers.get("sec-fetch-site", "none")
    if site not in {"none", "same-origin"} and not (is_entry and headers.get("sec-fetch-mode") == "navigate"):
        return "Pages of other sites may not use this server."
    return ""


_LIMITS = RequestLimits(body_bytes=10_000, connections=100)
"""Limits on requests: the page sends short commands only."""
_POLL_S = 0.2  # seconds between two looks at journals; chosen
_HEARTBEAT_S = 15.0  # seconds without events after which a comment keeps the connection; chosen
_BATCH = 50  # most records in one event; chosen


def watch(feeds: Mapping[int, Feed], index: Index, port: int, tell: Callable[[str], None]) -> None:
    """Serve the page of runs until the process is interrupted; call `tell` with its address.

    Args:
        feeds: the runs that are shown, by number; may grow.
        index: returns a card for each.
        port: the port at loopback; 0 takes a free one.
        tell: called with the page's address, with its token.

    Raises:
        BadInput: the port is taken.
    """
    own, closing = Secrets(), Event()
    app = _make_app(feeds, index, own, closing, Event())
    run(app, Address(port=port, limits=_LIMITS), lambda url: tell(address(url, own)), closing)


@contextmanager
def serve_page(
    feeds: Mapping[int, Feed], index: Index | None = None, port: int = 0, seen: Event | None = None
) -> Iterator[str]:
    """Serve the page of runs from a thread until the block ends; yield its address, with the token.

    Args:
        feeds: the runs that are shown, by number; may grow.
        index: returns a card for each; by default for the runs of `feeds`.
        port: the port at loopback; 0 takes a free one.
        seen: is set once a browser shows the page.

    Raises:
        BadInput: the port is taken.
        VirlError: the server did not start.
    """
    own, closing = Secrets(), Event()
    app = _make_app(feeds, index or partial(cards_of, feeds), own, closing, seen or Event())
    with serve_in_thread(app, Address(port=port, limits=_LIMITS), closing) as url:
        yield address(url, own)


def address(url: str, own: Secrets) -> str:
    """Return the address to open in a browser: the server's URL with the token."""
    return f"{url}/?token={own.token}"


class WatchCommand(BaseModel):
    """A command to a run from the page."""

    model_config = ConfigDict(extra="forbid")

    do: Literal["pause", "resume", "step", "take_over", "hand_back", "stop", "finish", "go", "say"]
    pano_id: str = ""
    """Panorama id of the link to follow, for `go`."""
    text: str = ""
    """Words for the agent, for `say`."""


_PICTURE = {"Cache-Control": "private, max-age=3600, immutable"}  # a view never changes


def _make_app(feeds: Mapping[int, Feed], index: Index, own: Secrets, closing: Event, seen: Event) -> ASGIApp:
    """Return the page's server as an ASGI application behind its checks; `feeds`, by number, may grow.

    It ends its streams at `closing`, and sets `seen` at the first of them.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    base = own.base

    for name, (media, content) in served_files().items():
        app.add_api_route(f"{base}/{name}", _text_endpoint(content, media), methods=["GET"])

    @app.get(f"{base}/index")
    def list_runs() -> Response:
        """Return the card of each run as JSON."""
        return JSONResponse({"runs": index()})

    @app.get(f"{base}/letters.css")
    def list_letters(codes: Annotated[str, Query(pattern=r"^[0-9a-f]{1,5}(\.[0-9a-f]{1,5})*$")]) -> Response:
        """Return fonts for Unicode code points, hexadecimal with dots between, as CSS."""
        text = "".join(chr(int(code, 16)) for code in codes.split("."))
        return Response(font_styles(text), media_type="text/css")

    @app.get(f"{base}/events")
    async def stream(runs: str, last_event_id: Annotated[str, Header()] = "") -> Response:
        """Return a stream of events of the runs with these numbers, after the last event received."""
        seen.set()
        numbers = {number for number in runs.split(",") if number.isdecimal()}
        chosen = {run: feed for run, feed in feeds.items() if str(run) in numbers}
        return StreamingResponse(_events(chosen, last_event_id, closing), media_type="text/event-stream")

    @app.get(f"{base}/runs/{{run}}/views/{{seq}}/{{number}}")
    def view(run: int, seq: int, number: int) -> Response:
        """Return the picture of view `number` of record `seq` of a run; 404 if there is none."""
        data = picture_of(feeds[run], f"{seq}/{number}") if run in feeds else None
        if data is None:
            return PlainTextResponse("There is no such view.", 404)
        return Response(data, media_type=media_type(data), headers=_PICTURE)

    @app.get(f"{base}/runs/{{run}}/map")
    def draw_map(run: int) -> Response:
        """Return the map of a run's card as JSON; null if it has none."""
        return JSONResponse(feeds[run].map() if run in feeds else None)

    @app.get(f"{base}/runs/{{run}}/look")
    def look(run: int, heading: float, pitch: float, fov: float) -> Response:
        """Return a JPEG of the view in a direction, degrees, from where a steered run stands."""

        def draw(control: Control) -> Response:
            """Return the view as the response."""
            jpeg = io.BytesIO()
            pixels = control.look(heading % 360, pitch, fov).pixels
            PIL.Image.fromarray(pixels).save(jpeg, "JPEG", quality=JPEG_QUALITY)
            return Response(jpeg.getvalue(), media_type="image/jpeg")

        return _steer(feeds, run, draw)

    @app.post(f"{base}/runs/{{run}}/do")
    def do(run: int, command: WatchCommand) -> Response:
        """Carry out a command for a run, and return words on it as JSON."""
        return _steer(feeds, run, lambda control: JSONResponse({"said": _execute(control, command)}))

    return RequestBounds(PageGuard(app, own), _LIMITS)


def _steer(feeds: Mapping[int, Feed], run: int, act: Callable[[Control], Response]) -> Response:
    """Return the response of `act` to a run's control; 404 if the run has none, 409 if `act` fails."""
    control = feeds[run].control if run in feeds else None
    try:
        return act(control) if control else _error_response("This run cannot be steered from here.", 404)
    except VirlError as fault:
        return _error_response(str(fault), 409)


def _execute(control: Control, command: WatchCommand) -> str:
    """Carry out a command for a run, and return words on it; empty if there is nothing to say."""
    if command.do == "say":
        return plain_lines(control.say(command.text))
    if command.do == "go":
        control.go(command.pano_id)
    else:
        getattr(control, command.do)()  # each other command is named as its method
    return ""


def _error_response(error: str, status: int) -> Response:
    """Return `{"error": ...}` as JSON with an HTTP status."""
    return JSONResponse({"error": plain_lines(error)}, status)


def _text_endpoint(content: str, media_type: str) -> Callable[[], Response]:
    """Return a function that returns a response with this text and media type."""
    # Not `partial` or a default argument: FastAPI would take its parameters for those of the request.
    return lambda: Response(content, media_type=media_type)


async def _events(feeds: Mapping[int, Feed], last_id: str, closing: Event) -> AsyncIterator[str]:
    """Yield server-sent events of runs after event `last_id`, if not empty, until `closing` is set."""
    sent = dict.fromkeys(feeds, 0)
    for part in last_id.split("-"):
        run, dot, count = part.partition(".")
        if dot and run.isdecimal() and count.isdecimal() and len(part) < 24 and int(run) in feeds:
            sent[int(run)] = int(count)
    states: dict[int, Any] = {}
    quiet = 0.0
    # A browser that loses the connection comes back after a second, with the id of its last event.
    yield "retry: 1000\n\n"
    while not closing.is_set():
        for number, feed in feeds.items():
            # Reading files would hold up all other pages.
            records = await run_in_threadpool(feed.read_records, sent[number])
            for start in range(0, len(records), _BATCH):
                batch = records[start : start + _BATCH]
                sent[number] += len(batch)
                yield _event("told", {"run": number, "told": batch}, _event_id(sent))
                quiet = 0.0
            state = feed.state()
            if state != states.get(number):
                states[number] = state
                yield _event("state", {"run": number} | state, _event_id(sent))
                quiet = 0.0
        if quiet >= _HEARTBEAT_S:
            quiet = 0.0
            # A comment, which browsers pass over: it finds out whether anybody still listens.
            yield ": alive\n\n"
        await asyncio.sleep(_POLL_S)
        quiet += _POLL_S


def _event(name: str, data: object, identity: str) -> str:
    """Return a server-sent event: its name, its data as JSON, and its id."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))  # on one line: JSON escapes breaks
    return f"event: {name}\nid: {identity}\ndata: {text}\n\n"


def _event_id(sent: Mapping[int, int]) -> str:
    """Return an event's id from the records sent by run: "0.12-3.40" for 12 of run 0 and 40 of run 3."""
    return "-".join(f"{run}.{count}" for run, count in sent.items())


@dataclass(frozen=True, slots=True)
class LivePage:
    """The page of a run that is about to start, and the objects with which to start it."""

    url: str
    """Address of the page, with its token."""
    options: RunOptions
    """Options of the run, with its folder set."""
    control: Control
    """Control with which the run has to be started."""
    feed: RunFeed
    """Feed of the run that the page shows."""
    seen: Event
    """Event that is set once a browser shows the page."""

    def fail(self, fault: Exception) -> str:
        """Show on the page why the run failed, and return that line, without secrets."""
        shown = fault if isinstance(fault, VirlError) else bug_of(fault, run=self.feed.folder)
        self.feed.read_records()  # records that were written before the fault
        self.feed.fault = Redaction.of().text(plain_line(str(shown)))
        return self.feed.fault


@contextmanager
def serve_live_page(options: RunOptions, port: int = 0) -> Iterator[LivePage]:
    """Serve the page of a run about to start, at a port (0: a free one), until the block ends; yield it.

    Raises:
        BadInput: the options name something that does not exist, or the port is taken.
        VirlError: the server did not start.
    """
    if options.out is None:
        folder = latest_run(source_of(options).stem) if options.resume else make_plan(options).folder
        options = replace(options, out=folder)
    assert options.out is not None  # noqa: S101 - for the type checker
    control = Control()
    feed, seen = RunFeed(options.out, town_ground, control), Event()
    with serve_page({0: feed}, port=port, seen=seen) as url:
        yield LivePage(url, options, control, feed, seen)


def wait_for_interrupt() -> None:
    """Wait until the user presses Ctrl+C."""
    with suppress(KeyboardInterrupt):
        Event().wait()
