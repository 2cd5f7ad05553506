"""Who may ask: the checks of Host, Origin and key that every server of virl passes its requests through.

app = gated(app, GateOptions(key=key))
"""

import hmac
import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from virl.errors import BadInput
from virl.serve.limits import RequestBounds, RequestLimits, refusal

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
            headers, address = Headers(scope=scope), _address(scope)
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
    try:
        parts = urlsplit(url)
        own = parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""
    return f"{parts.scheme}://{own}".lower() if parts.scheme in {"http", "https"} and own else ""


def _address(scope: Scope) -> str:
    """Return the address of this machine that a request came in at; empty if it came in otherwise."""
    server = scope.get("server")
    return str(server[0]).lower() if server else ""


def _is_address(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False
