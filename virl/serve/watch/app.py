"""The endpoints of the page, behind its door."""

from collections.abc import Mapping
from threading import Event
from typing import Annotated

from fastapi import FastAPI, Header
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.types import ASGIApp

from virl.serve.limits import RequestBounds, RequestLimits
from virl.serve.watch.door import Door, Secrets
from virl.serve.watch.feed import RunFeed
from virl.serve.watch.pages import served_files
from virl.serve.watch.stream import events

LIMITS = RequestLimits(body_bytes=10_000, connections=100)
"""A page sends short commands only."""
_PICTURE = {"Cache-Control": "private, max-age=3600, immutable"}


def make_app(feeds: Mapping[int, RunFeed], own: Secrets, closing: Event) -> ASGIApp:
    """The server of the page, as an ASGI application behind its door.

    Args:
        feeds: the runs that are shown, by number.
        own: what it lets people in by.
        closing: set when the server stops.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    base = own.base

    for name, (media_type, content) in served_files().items():
        app.add_api_route(f"{base}/{name}", _file(content, media_type), methods=["GET"])

    @app.get(f"{base}/index")
    def index() -> Response:
        return JSONResponse({"runs": [{"run": run} for run in feeds]})

    @app.get(f"{base}/events")
    async def stream(runs: str, last_event_id: Annotated[str, Header()] = "") -> Response:
        wanted = {number for number in runs.split(",") if number.isdecimal()}
        chosen = {run: feed for run, feed in feeds.items() if str(run) in wanted}
        return StreamingResponse(events(chosen, last_event_id, closing), media_type="text/event-stream")

    @app.get(f"{base}/runs/{{run}}/views/{{seq}}/{{number}}")
    def view(run: int, seq: int, number: int) -> Response:
        data = feeds[run].picture(seq, number) if run in feeds else None
        if data is None:
            return PlainTextResponse("There is no such view.", 404)
        return Response(data, media_type="image/jpeg", headers=_PICTURE)

    return RequestBounds(Door(app, own), LIMITS)


def _file(content: str, media_type: str):  # type: ignore[no-untyped-def]
    def file() -> Response:
        return Response(content, media_type=media_type)

    return file
