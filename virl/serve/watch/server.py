"""The server of the page that shows runs: its endpoints, for good or as long as a `with` block lasts."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import Annotated, Any, Literal

import PIL.Image
from fastapi import FastAPI, Header
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from virl.agent.control import Control
from virl.errors import VirlError
from virl.journal.journal import JPEG_QUALITY
from virl.plain_text import plain_lines
from virl.platform.city.streetview import Image
from virl.serve.limits import RequestBounds, RequestLimits
from virl.serve.running import LOOPBACK, run, serve_in_thread
from virl.serve.watch.door import Door, Secrets
from virl.serve.watch.feed import Feed, Index, cards_of, media_type
from virl.serve.watch.pages import served_files

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
        return Response(_jpeg(seen.pixels), media_type="image/jpeg")

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
    return JSONResponse({"error": plain_lines(error)}, status)


def _jpeg(pixels: Image) -> bytes:
    jpeg = io.BytesIO()
    PIL.Image.fromarray(pixels).save(jpeg, "JPEG", quality=JPEG_QUALITY)
    return jpeg.getvalue()


def _file(content: str, media_type: str) -> Callable[[], Response]:
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
    yield "retry: 1000\n\n"
    while not closing.is_set():
        for number, feed in feeds.items():
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
            yield ": alive\n\n"
        await asyncio.sleep(_POLL_S)
        quiet += _POLL_S


def _batches(told: Sequence[dict[str, Any]]) -> list[Sequence[dict[str, Any]]]:
    return [told[start : start + _BATCH] for start in range(0, len(told), _BATCH)]


def _event(name: str, data: object, identity: str) -> str:
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
