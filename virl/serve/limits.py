"""How large a request may be, and how long it may take to come in."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits on one client; each number is chosen, far above what a real request needs."""

    body_bytes: int = 1_000_000
    headers: int = 100
    head_bytes: int = 32_768
    """Bytes of the first line and all headers."""
    head_s: float = 10.0
    """Seconds until the head of a request is there, from the start of a connection or of the next head on."""
    body_s: float = 20.0
    """Seconds until the body is there, once the head is."""
    reading_s: float = 30.0
    """Seconds that a client may leave an answer unread."""
    connections: int = 500
    """Connections at once; one more gets status 503, unless one waiting for a request makes room. Below the
    1,024 files that a process may have open by default."""


class RequestBounds:
    """ASGI middleware: an application behind it gets whole requests within the limits, and no others.

    Args:
        app: what answers them.
        limits: of each request.
    """

    def __init__(self, app: ASGIApp, limits: RequestLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request, or refuse it if it is too large or too slow."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = _oversize(scope, self._limits)
        body = bytearray()
        if not refused:
            try:
                async with asyncio.timeout(self._limits.body_s):
                    async for piece in _pieces(receive):
                        body += piece
                        if len(body) > self._limits.body_bytes:
                            refused = _too_large(self._limits)
                            break
            except TimeoutError:
                refused = refusal(408, f"The body did not come within {self._limits.body_s:g} seconds.")
            except _Gone:
                return
        await (refused or self._app)(scope, _replay_body(bytes(body), receive), send)


class _Gone(Exception):
    """The client left before its request was whole."""


async def _pieces(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        yield message.get("body", b"")
        more = message.get("more_body", False)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a receiver of a body that is there already, and then of what else comes.

    That the client left.
    """
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return left.pop() if left else await receive()

    return give


def _oversize(scope: Scope, limits: RequestLimits) -> JSONResponse | None:
    headers = scope["headers"]
    head = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    head += sum(len(name) + len(value) for name, value in headers)
    if len(headers) > limits.headers or head > limits.head_bytes:
        return refusal(431, f"At most {limits.headers} headers, and {limits.head_bytes} bytes with the URL.")
    named = Headers(scope=scope)
    if "content-length" in named and "transfer-encoding" in named:
        return refusal(400, "Give Content-Length or Transfer-Encoding, not both.")  # RFC 9112, section 6.1
    declared = named.get("content-length", "0")
    few = len(declared) < 16 and declared.isdecimal()
    return None if few and int(declared) <= limits.body_bytes else _too_large(limits)


def _too_large(limits: RequestLimits) -> JSONResponse:
    return refusal(413, f"The body is larger than {limits.body_bytes} bytes.")


def refusal(code: int, message: str) -> JSONResponse:
    """Return the answer to a request that does not pass: one line, after which the connection is closed."""
    error = {"code": code, "message": message, "status": _STATUS.get(code, "INVALID_ARGUMENT")}
    return JSONResponse({"error": error}, code, headers={"Connection": "close"})


_STATUS = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 408: "DEADLINE_EXCEEDED"}
"""Names of `google.rpc` for HTTP statuses."""
