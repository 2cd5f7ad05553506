"""Dispatch of requests to a stand-in: their count, and faults on purpose."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http.client import responses
from typing import Protocol

from fastapi import FastAPI, Request, Response
from pydantic_core import to_json
from starlette.types import ASGIApp

from virl.errors import NoImagery, NoStreetView
from virl.serve.city_server import ClientLeft, Pools, Stats, while_waited_for
from virl.serve.faults import GARBAGE, HALF, TIMEOUT, Faults, chance_of, hang, hints
from virl.serve.gate import GateOptions, add_gate

_CLIENT_LEFT = 499  # as nginx counts them; nobody gets it
_PRIVATE = frozenset({"access_token"})


class Refusal(Exception):
    """A request that is answered with an error.

    Args:
        status: of HTTP.
        message: what the client is told.
        code: the service's own.
    """

    def __init__(self, status: int, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """One request."""

    query: Mapping[str, str]
    path: Mapping[str, str]
    headers: Mapping[str, str]
    base_url: str
    """Scheme, host and port under which the client knows the server."""
    body: bytes = b""


class Behaviour(Protocol):
    """Slowness and faults of a server; see `servers.options`."""

    @property
    def seed(self) -> int:
        """Random seed of which requests meet a fault."""
        ...

    @property
    def faults(self) -> Faults:
        """Faults on purpose."""
        ...

    @property
    def retry_after_s(self) -> int | None:
        """Seconds told in a `Retry-After` header."""
        ...

    @property
    def latency_ms(self) -> float:
        """Milliseconds added to every reply."""
        ...

    @property
    def hang_s(self) -> float:
        """Seconds that a `timeout` fault keeps a client waiting."""
        ...


@dataclass(frozen=True, slots=True)
class OpenEndpoint:
    """One path of the server and what answers it."""

    name: str
    path: str
    handler: Callable[[OpenRequest], Response]
    draws: bool = False
    """True where it may take long, since pictures are drawn."""
    methods: tuple[str, ...] = ("GET",)


def answer(content: object, code: int = 200, media_type: str = "application/json") -> Response:
    """Return a JSON answer."""
    return Response(to_json(content), code, media_type=media_type)


def make_server(
    title: str,
    endpoints: list[OpenEndpoint],
    refused: Callable[[Refusal], Response],
    options: Behaviour,
    stats: Stats,
    pools: Pools,
) -> ASGIApp:
    """Return a server as an ASGI application behind its gate.

    Args:
        title: of the server.
        endpoints: what it answers.
        refused: a refusal in the manners of the service.
        options: how it behaves.
        stats: where requests are counted.
        pools: where its work is done.
    """
    app = FastAPI(title=title, docs_url=None, redoc_url=None, openapi_url=None)
    for endpoint in endpoints:
        guarded = _guarded(endpoint, refused, options, stats, pools)
        app.add_api_route(
            endpoint.path,
            guarded,
            methods=list(endpoint.methods),
            response_class=Response,
            response_model=None,
        )

    async def tell(_: Request) -> Response:
        return answer(stats.snapshot())

    async def unknown(_: Request, __: Exception) -> Response:
        return refused(Refusal(404, "not found"))

    app.add_route("/stats", tell, methods=["GET"])
    for code in (404, 405):
        app.add_exception_handler(code, unknown)
    return add_gate(app, GateOptions())


class CutOff(Response):
    """An answer of status 200 that was broken off: no client can use it."""


def _guarded(
    endpoint: OpenEndpoint,
    refused: Callable[[Refusal], Response],
    options: Behaviour,
    stats: Stats,
    pools: Pools,
) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        content = await request.body()
        digest = _digest(endpoint.name, request, content)
        before, _ = stats.count_request(endpoint.name, digest, counts=True)
        kind = options.faults.choose_fault(chance_of(options.seed, digest, before))
        await asyncio.sleep(options.latency_ms / 1000)
        if kind is not None:
            stats.count_fault(kind)
        if kind == TIMEOUT:
            await hang(request, options.hang_s)
        if kind in {None, GARBAGE, HALF}:
            response, good = await _answered(endpoint, request, content, refused, pools)
        else:
            status = 504 if kind == TIMEOUT else int(str(kind))
            response, good = refused(Refusal(status, responses.get(status, "Error"))), False
        if kind in {GARBAGE, HALF}:
            body = bytes(response.body)
            spoilt = b"\xff\x00\xfe" * (len(body) // 3 + 1) if kind == GARBAGE else body[: len(body) // 2]
            response, good = Response(spoilt, response.status_code, media_type=response.media_type), False
        response.headers.update(hints(response.status_code, options.retry_after_s))
        stats.count_answer(endpoint.name, digest, response.status_code, good=good)
        return response

    return respond


async def _answered(
    endpoint: OpenEndpoint,
    request: Request,
    content: bytes,
    refused: Callable[[Refusal], Response],
    pools: Pools,
) -> tuple[Response, bool]:
    asked = OpenRequest(
        dict(request.query_params),
        request.path_params,
        request.headers,
        str(request.base_url).rstrip("/"),
        content,
    )
    pool = pools.draw if endpoint.draws else pools.look_up
    try:
        response = await while_waited_for(request.receive, pool, lambda: endpoint.handler(asked))
        return response, not isinstance(response, CutOff)
    except ClientLeft:
        return Response(status_code=_CLIENT_LEFT), False
    except Refusal as refusal:
        return refused(refusal), False
    except (NoStreetView, NoImagery) as fault:
        return refused(Refusal(404, str(fault))), False


def _digest(name: str, request: Request, content: bytes) -> str:
    """Stands for what a request asks; its token does not count."""
    query = sorted(pair for pair in request.query_params.multi_items() if pair[0] not in _PRIVATE)
    text = json.dumps([name, request.url.path, query])
    return hashlib.blake2b(text.encode() + content, digest_size=16).hexdigest()
