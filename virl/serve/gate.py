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
    """Yield a body as it comes in; raise `_Gone` if the client leaves first."""
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
    """Return the refusal of a request with too large a head or declared body; None if it may pass."""
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
    """Return the refusal of a body over the limit."""
    return refusal(413, f"The body is larger than {limits.body_bytes} bytes.")


def refusal(code: int, message: str) -> JSONResponse:
    """Return the answer to a request that does not pass: one line, after which the connection is closed."""
    error = {"code": code, "message": message, "status": _STATUS.get(code, "INVALID_ARGUMENT")}
    return JSONResponse({"error": error}, code, headers={"Connection": "close"})


_STATUS = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 408: "DEADLINE_EXCEEDED"}
"""Names of `google.rpc` for HTTP statuses."""


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
    """The rules on who may ask a server.

    Raises:
        BadInput: a host or an origin is not written as one.
    """

    key: str | None = field(default=None, repr=False)
    """Key that each request has to show; `None` asks for no key."""
    hosts: tuple[str, ...] = ()
    """Names that the Host header may give, beside `localhost` and the address that a request came in at."""
    origins: tuple[str, ...] = ()
    """Origins whose pages may ask, such as `https://example.org`; this machine's own may, over loopback."""
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
    """Return an application behind all checks: the size of a request, its Host, its Origin, its key.

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
    """Return whether a request shows a key; takes the same time for each wrong one."""
    return any(hmac.compare_digest(given.encode(), key.encode()) for given in given_keys(scope))


def given_keys(scope: Scope) -> list[str]:
    """Return the keys of a request, in `X-Goog-Api-Key`, `Authorization: Bearer` and the parameter `key`."""
    headers = Headers(scope=scope)
    scheme, _, token = headers.get("authorization", "").partition(" ")
    given = [
        headers.get("x-goog-api-key", ""),
        token.strip() if scheme.lower() == "bearer" else "",
        QueryParams(scope["query_string"]).get("key", ""),
    ]
    return [one for one in given if one]


def is_loopback(address: str) -> bool:
    """Return whether an IP address is one of this machine only."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


class _SenderCheck:
    """A guard that refuses requests that a page of somebody else made, and those for another host."""

    def __init__(self, app: ASGIApp, options: GateOptions) -> None:
        self._app = app
        self._hosts = {host.lower() for host in options.hosts}
        self._origins = set(options.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] in {"http", "websocket"}:
            server = scope.get("server")
            headers, address = Headers(scope=scope), (str(server[0]).lower() if server else "")
            if not self._is_own_host(headers.get("host", ""), address):
                app = refusal(421, _FOREIGN_HOST)
            elif not all(self._may(origin, headers, address) for origin in _origins(headers)):
                app = refusal(403, _FOREIGN_ORIGIN)
        await app(scope, receive, send)

    def _is_own_host(self, host: str, address: str) -> bool:
        """Return whether a host is this machine's own.

        An address or `localhost`, which no page can rebind.
        """
        found = _HOST.fullmatch(host)
        name = found["name"].strip("[]").lower() if found else ""
        return bool(name) and (name in {"localhost", address, *self._hosts} or is_loopback(name))

    def _may(self, origin: str, headers: Headers, address: str) -> bool:
        """Return whether pages of an origin may use this server."""
        if origin in self._origins or origin.partition("://")[2] == headers.get("host"):
            return True
        return is_loopback(address) and re.fullmatch(_LOOPBACK_ORIGIN, origin) is not None


class _KeyCheck:
    """A guard that refuses requests without the key."""

    def __init__(self, app: ASGIApp, key: str, own_check: Callable[[str], bool]) -> None:
        self._app = app
        self._key = key
        self._own_check = own_check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] in {"http", "websocket"} and not self._own_check(scope["path"]):
            app = app if shows_key(scope, self._key) else refusal(401, _NO_KEY)
        await app(scope, receive, send)


def _origins(headers: Headers) -> Iterator[str]:
    """Yield the origins of the pages that made a request; none if it was no page of another site.

    A picture or a script is fetched without an Origin: then Sec-Fetch-Site tells that it is for another site,
    and the Referer for which.
    """
    given = headers.getlist("origin")
    yield from given
    if not given and headers.get("sec-fetch-site") == "cross-site":
        yield _origin_of(headers.get("referer", ""))


def _origin_of(url: str) -> str:
    """Return the scheme, host and port of a page; empty for what is no page on the web."""
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
