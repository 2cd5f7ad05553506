"""What a server lets in: who may ask, how large a request may be, and how long it may take to come in.

Every server of virl passes its requests through these checks of Host, Origin, key and size:

    app = add_gate(app, GateOptions(key=key))
"""

import asyncio
import hmac
import ipaddress
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from virl.errors import BadInput


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits on requests and connections; each is chosen, far above what a real request needs."""

    body_bytes: int = 1_000_000
    headers: int = 100
    head_bytes: int = 32_768
    """Most bytes of a request's first line and all its headers."""
    head_s: float = 10.0
    """Most seconds from the start of a connection, or its next request, until the headers are there."""
    body_s: float = 20.0
    """Most seconds from the end of the headers until the whole body is there."""
    reading_s: float = 30.0
    """Most seconds that a client may leave an answer unread before its connection is closed."""
    connections: int = 500
    """Most connections at once; one more gets status 503, unless an idle one makes room.

    Below the 1,024 files that a process may have open by default."""


class RequestBounds:
    """ASGI middleware that passes on only requests within the limits, each with its whole body.

    Args:
        app: what answers them.
        limits: of each request.
    """

    def __init__(self, app: ASGIApp, limits: RequestLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an ASGI request on with its whole body, or refuse it if it is too large or too slow."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = _oversize(scope, self._limits)
        body = bytearray()
        if not refused:
            try:
                async with asyncio.timeout(self._limits.body_s):
                    async for piece in _body_parts(receive):
                        body += piece
                        if len(body) > self._limits.body_bytes:
                            refused = _too_large(self._limits)
                            break
            except TimeoutError:
                refused = refusal(408, f"The body did not come within {self._limits.body_s:g} seconds.")
            except _ClientGone:
                return
        await (refused or self._app)(scope, _replay_body(bytes(body), receive), send)


class _ClientGone(Exception):
    """The end of a request whose client left before its body was whole."""


async def _body_parts(receive: Receive) -> AsyncIterator[bytes]:
    """Yield the parts of a request's body as they come in; raise `_ClientGone` if the client leaves first."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _ClientGone
        yield message.get("body", b"")
        more = message.get("more_body", False)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that gives a body read before, and then whatever else `receive` gives.

    That the client left.
    """
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        """Return the stored body as an ASGI message; from the second call on, the client's next message."""
        return left.pop() if left else await receive()

    return give


def _oversize(scope: Scope, limits: RequestLimits) -> JSONResponse | None:
    """Return the refusal of a request whose headers or declared body are too large; `None` if it may pass."""
    headers = scope["headers"]
    head = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    head += sum(len(name) + len(value) for name, value in headers)
    if len(headers) > limits.headers or head > limits.head_bytes:
        return refusal(431, f"At most {limits.headers} headers, and {limits.head_bytes} bytes with the URL.")
    named = Headers(scope=scope)
    if "content-length" in named and "transfer-encoding" in named:
        return refusal(400, "Give Content-Length or Transfer-Encoding, not both.")  # RFC 9112, section 6.1
    # Longer numbers are over any limit, and `int` refuses those of thousands of digits.
    declared = named.get("content-length", "0")
    few = len(declared) < 16 and declared.isdecimal()
    return None if few and int(declared) <= limits.body_bytes else _too_large(limits)


def _too_large(limits: RequestLimits) -> JSONResponse:
    """Return the refusal, HTTP 413, of a body over the limit of bytes."""
    return refusal(413, f"The body is larger than {limits.body_bytes} bytes.")


def refusal(code: int, message: str) -> JSONResponse:
    """Return a refusal as JSON with this HTTP status and message, after which the connection is closed."""
    error = {"code": code, "message": message, "status": _STATUS.get(code, "INVALID_ARGUMENT")}
    return JSONResponse({"error": error}, code, headers={"Connection": "close"})


_STATUS = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 408: "DEADLINE_EXCEEDED"}
"""Statuses of `google.rpc` by HTTP status, for refusals at the gate; others are `INVALID_ARGUMENT`."""


KEY_VARIABLE = "VIRL_SERVE_KEY"

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._\-]{1,253})(?::\d{1,5})?")
_NAME = re.compile(r"[a-z0-9._\-]{1,253}")
_LOOPBACK_ORIGIN = r"https?://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?"
_FOREIGN_HOST = (
    "The Host header does not name this server: use the address that the server prints, or start it with "
    "--allow-host NAME."
)
_FOREIGN_ORIGIN = (
    "Pages of this origin may not use this server: start it with --allow-origin URL to let them."
)
_NO_KEY = f"This server needs its key, from {KEY_VARIABLE}, as X-Goog-Api-Key, Authorization: Bearer or key=."


@dataclass(frozen=True, slots=True)
class GateOptions:
    """The rules on which requests a server takes: key, hosts, origins and limits.

    Raises:
        BadInput: a host or an origin is not written as one.
    """

    key: str | None = field(default=None, repr=False)
    """Key that each request has to show; `None` if no key is needed."""
    hosts: tuple[str, ...] = ()
    """Names that the Host header may give, besides `localhost` and the address that a request came in at."""
    origins: tuple[str, ...] = ()
    """Origins whose pages may send requests, such as `https://example.org`; loopback ones may on loopback."""
    limits: RequestLimits = field(default_factory=RequestLimits)

    def __post_init__(self) -> None:
        for host in self.hosts:
            if not _NAME.fullmatch(host.lower()) and not _is_address(host):
                raise BadInput(
                    f"--allow-host {host!r}: give a name without scheme and port, such as maps.lan"
                )
        for origin in self.origins:
            if _origin_of(origin) != origin:
                raise BadInput(
                    f"--allow-origin {origin!r}: give a scheme and a host in small letters, such as "
                    "https://example.org"
                )


def add_gate(
    app: ASGIApp,
    options: GateOptions,
    *,
    own_check: Callable[[str], bool] = lambda _: False,
    exposed: Sequence[str] = (),
) -> ASGIApp:
    """Return an application behind all checks of a request: its size, Host, Origin and key.

    Args:
        app: what answers requests that pass.
        options: who may ask.
        own_check: whether the application itself checks the key of requests to a path.
        exposed: headers of answers that pages may read.
    """
    keyed = app if options.key is None else _KeyCheck(app, options.key, own_check)
    shared = CORSMiddleware(
        keyed,
        allow_origins=options.origins,
        allow_origin_regex=_LOOPBACK_ORIGIN,  # `_SenderCheck` stops them where they are not of this machine
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=exposed,
    )
    return _SenderCheck(RequestBounds(shared, options.limits), options)


def shows_key(scope: Scope, key: str) -> bool:
    """Return whether a request shows this key, compared in the same time for each wrong one."""
    return any(hmac.compare_digest(given.encode(), key.encode()) for given in given_keys(scope))


def given_keys(scope: Scope) -> list[str]:
    """Return the keys in a request's `X-Goog-Api-Key`, `Authorization: Bearer` and parameter `key`."""
    headers = Headers(scope=scope)
    scheme, _, token = headers.get("authorization", "").partition(" ")
    given = [
        headers.get("x-goog-api-key", ""),
        token.strip() if scheme.lower() == "bearer" else "",
        QueryParams(scope["query_string"]).get("key", ""),
    ]
    return [one for one in given if one]


def is_loopback(address: str) -> bool:
    """Return whether a text is an IP address of the loopback interface."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


class _SenderCheck:
    """ASGI middleware that refuses requests for another host, and those made by pages of foreign origins."""

    def __init__(self, app: ASGIApp, options: GateOptions) -> None:
        self._app = app
        self._hosts = {host.lower() for host in options.hosts}
        self._origins = set(options.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an ASGI request on, or refuse a foreign Host with 421 and a foreign Origin with 403."""
        app = self._app
        if scope["type"] in {"http", "websocket"}:
            server = scope.get("server")
            headers, address = Headers(scope=scope), (str(server[0]).lower() if server else "")
            if not self._is_own_host(headers.get("host", ""), address):
                app = refusal(421, _FOREIGN_HOST)
            elif not all(self._allows_origin(origin, headers, address) for origin in _origins(headers)):
                app = refusal(403, _FOREIGN_ORIGIN)
        await app(scope, receive, send)

    def _is_own_host(self, host: str, address: str) -> bool:
        """Return whether a Host header names this server, by name, address or loopback.

        An address or `localhost`, which no page can rebind.
        """
        found = _HOST.fullmatch(host)
        name = found["name"].strip("[]").lower() if found else ""
        return bool(name) and (name in {"localhost", address, *self._hosts} or is_loopback(name))

    def _allows_origin(self, origin: str, headers: Headers, address: str) -> bool:
        """Return whether pages of an origin may send requests to this server."""
        if origin in self._origins or origin.partition("://")[2] == headers.get("host"):
            return True
        return is_loopback(address) and re.fullmatch(_LOOPBACK_ORIGIN, origin) is not None


class _KeyCheck:
    """ASGI middleware that refuses requests without the server's key."""

    def __init__(self, app: ASGIApp, key: str, own_check: Callable[[str], bool]) -> None:
        self._app = app
        self._key = key
        self._own_check = own_check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if it shows the key or its path checks keys itself; else refuse it with 401."""
        app = self._app
        if scope["type"] in {"http", "websocket"} and not self._own_check(scope["path"]):
            app = app if shows_key(scope, self._key) else refusal(401, _NO_KEY)
        await app(scope, receive, send)


def _origins(headers: Headers) -> Iterator[str]:
    """Yield the origins of the pages that made a request; none if no page of another site made it.

    A picture or a script is fetched without an Origin: then Sec-Fetch-Site tells that it is for another site,
    and the Referer for which.
    """
    given = headers.getlist("origin")
    yield from given
    if not given and headers.get("sec-fetch-site") == "cross-site":
        yield _origin_of(headers.get("referer", ""))


def _origin_of(url: str) -> str:
    """Return a URL's scheme, host and port, such as `https://example.org`; empty if it is no http(s) URL."""
    try:
        parts = urlsplit(url)
        own = parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""
    return f"{parts.scheme}://{own}".lower() if parts.scheme in {"http", "https"} and own else ""


def _is_address(text: str) -> bool:
    """Return whether a text is an IP address."""
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False
