"""The gate of the Google and MCP servers: who may send requests, how large they are, and how slow.

They pass each request through checks of Host, Origin, key and size:

    app = add_gate(app, GateOptions(key=key))
"""

import asyncio
import hmac
import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
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
    """Most bytes of a request's body."""
    headers: int = 100
    """Most headers of a request."""
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


@dataclass(frozen=True, slots=True)
class RequestBounds:
    """ASGI middleware that passes requests within the limits on to `app`, each with its whole body."""

    app: ASGIApp
    limits: RequestLimits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an ASGI request on with its whole body, or refuse it if it is too large or too slow."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = _oversize(scope, self.limits)
        body = bytearray()
        if not refused:
            # Read before the application starts: a slow client then holds none of its threads.
            try:
                async with asyncio.timeout(self.limits.body_s):
                    more = True
                    while more and not refused:
                        message = await receive()
                        if message["type"] == "http.disconnect":
                            return
                        body += message.get("body", b"")
                        more = message.get("more_body", False)
                        if len(body) > self.limits.body_bytes:
                            refused = _too_large(self.limits)
            except TimeoutError:
                refused = refusal(408, f"The body did not come within {self.limits.body_s:g} seconds.")
        unread: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def give() -> Message:
            """Return the whole body as an ASGI message; from the second call on, the client's next one."""
            return unread.pop() if unread else await receive()

        await (refused or self.app)(scope, give, send)


def _oversize(scope: Scope, limits: RequestLimits) -> JSONResponse | None:
    """Return the refusal of too large headers or body, or a body's length told twice; `None` for others."""
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
    """Return a refusal as JSON with HTTP status `code` and a message; the connection is closed after it."""
    error = {"code": code, "message": message, "status": _STATUS.get(code, "INVALID_ARGUMENT")}
    return JSONResponse({"error": error}, code, headers={"Connection": "close"})


_STATUS = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 408: "DEADLINE_EXCEEDED"}
"""Statuses of `google.rpc` by HTTP status, for refusals at the gate; others are `INVALID_ARGUMENT`."""


KEY_VARIABLE = "VIRL_SERVE_KEY"
"""Name of the environment variable with the key that clients of a server have to show."""

# 45 characters: the longest IPv6 address; 253: the longest name in the DNS.
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
    """Rules on the requests that a server accepts: key, hosts, origins and limits.

    Raises:
        BadInput: a host or an origin is not written as one.
    """

    key: str | None = field(default=None, repr=False)
    """Key that each request has to show; `None` if no key is needed."""
    hosts: tuple[str, ...] = ()
    """Names that the Host header may give, besides `localhost` and the address that a request came in at."""
    origins: tuple[str, ...] = ()
    """Other origins whose pages may send requests; on a loopback address all pages of this machine may."""
    limits: RequestLimits = field(default_factory=RequestLimits)

    def __post_init__(self) -> None:
        """Raise `BadInput` for hosts that are no names, and origins that are no origins."""
        for host in self.hosts:
            if not _NAME.fullmatch(host.lower()) and not _to_address(host):
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
    """Return an app behind checks of size, Host, Origin, and key, which `own_check(path)` leaves to the app.

    Args:
        app: the application that answers requests that pass.
        options: rules on the requests that pass.
        own_check: returns whether the application itself checks the key of requests to a path.
        exposed: names of response headers that web pages may read.
    """

    async def keyed(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that shows the key, or whose path needs none here; refuse others with 401."""
        needs_key = scope["type"] in {"http", "websocket"} and not own_check(scope["path"])
        is_shut = needs_key and options.key is not None and not shows_key(scope, options.key)
        await (refusal(401, _NO_KEY) if is_shut else app)(scope, receive, send)

    # The key is checked behind CORS: browsers send their preflight requests without it.
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
    """Return whether a request shows this key; every wrong key takes the same time to compare."""
    return any(hmac.compare_digest(shown.encode(), key.encode()) for shown in keys_shown(scope))


def keys_shown(scope: Scope) -> list[str]:
    """Return the keys in a request's `X-Goog-Api-Key`, `Authorization: Bearer` and parameter `key`."""
    headers = Headers(scope=scope)
    scheme, _, token = headers.get("authorization", "").partition(" ")
    keys = (
        headers.get("x-goog-api-key", ""),
        token.strip() if scheme.lower() == "bearer" else "",
        QueryParams(scope["query_string"]).get("key", ""),
    )
    return list(filter(None, keys))


def is_loopback(address: str) -> bool:
    """Return whether a text is an IP address of the loopback interface."""
    found = _to_address(address)
    return found is not None and found.is_loopback


@dataclass(frozen=True, slots=True)
class _SenderCheck:
    """ASGI middleware that refuses requests for another host, and those made by pages of foreign origins."""

    app: ASGIApp
    options: GateOptions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an ASGI request on, or refuse a foreign Host with 421 and a foreign Origin with 403."""
        app = self.app
        if scope["type"] in {"http", "websocket"}:
            server = scope.get("server")
            headers, address = Headers(scope=scope), (str(server[0]).lower() if server else "")
            found = _HOST.fullmatch(headers.get("host", ""))
            name = found["name"].strip("[]").lower() if found else ""
            # An address or `localhost` cannot be bound to this server by the owner of another site's name.
            own_names = {"localhost", address, *(host.lower() for host in self.options.hosts)}
            if not name or not (name in own_names or is_loopback(name)):
                app = refusal(421, _FOREIGN_HOST)
            elif not all(self._allows_origin(origin, headers, address) for origin in _origins(headers)):
                app = refusal(403, _FOREIGN_ORIGIN)
        await app(scope, receive, send)

    def _allows_origin(self, origin: str, headers: Headers, address: str) -> bool:
        """Return whether pages of an origin may send requests with `headers` to the server at `address`."""
        if origin in self.options.origins or origin.partition("://")[2] == headers.get("host"):
            return True
        return is_loopback(address) and re.fullmatch(_LOOPBACK_ORIGIN, origin) is not None


def _origins(headers: Headers) -> Iterator[str]:
    """Yield the origins of the pages that made a request; none if no page of another site made it.

    A picture or a script is fetched without an Origin: then Sec-Fetch-Site tells that it is for another site,
    and the Referer for which.
    """
    origins = headers.getlist("origin")
    yield from origins
    if not origins and headers.get("sec-fetch-site") == "cross-site":
        yield _origin_of(headers.get("referer", ""))


def _origin_of(url: str) -> str:
    """Return a URL's scheme, host and port, such as `https://example.org`; empty if it is no http(s) URL."""
    try:
        parts = urlsplit(url)
        own = parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""
    return f"{parts.scheme}://{own}".lower() if parts.scheme in {"http", "https"} and own else ""


def _to_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the IP address that a text is; `None` if it is none."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
