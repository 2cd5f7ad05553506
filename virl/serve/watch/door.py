"""Who may watch: the one who has the address with its token, from a page of this server.

The address is exchanged for a cookie. A cookie is sent to every port of a machine, but only below its path:
that is drawn anew for each server, so that other servers on this machine do not get it.
"""

import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from virl.pages.shell import SERVED_POLICY

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
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in _names(scope):
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


def _names(scope: Scope) -> set[str]:
    """Return the allowed values of the Host header: the address of the request's socket, or `localhost`."""
    address, port = scope["server"]
    shown = f"[{address}]" if ":" in address else address
    return {f"{shown}:{port}", f"localhost:{port}"}


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
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
