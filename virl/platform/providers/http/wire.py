"""Requests and their replies over HTTP, within limits of time and size."""

import ssl
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import Any, BinaryIO

import httpcore
import httpx

from virl.platform.providers.http.keys import KeyTransport, Secrets
from virl.platform.providers.http.replies import HttpFault, HttpReply
from virl.platform.providers.http.settings import Timeouts
from virl.redaction import PICTURES
from virl.traces.spans import span
from virl.version import __version__

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)
"""Moment on `time.monotonic`, in seconds, at which waits end; `None` for no end."""


@contextmanager
def deadline(at: float) -> Iterator[None]:
    """Let waits of `add_deadlines` transports within the block end at `at`, seconds on `time.monotonic`."""
    token = _DEADLINE.set(at)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def add_deadlines(transport: httpx.HTTPTransport) -> httpx.HTTPTransport:
    """Return a transport, all of whose waits now end at `deadline`; httpx itself bounds only single waits."""
    transport._pool._network_backend = _TimedBackend()  # noqa: SLF001  httpx has no option for it
    return transport


class _TimedBackend(httpcore.SyncBackend):
    """A network backend whose connections end their waits at `deadline`."""

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **more: Any
    ) -> httpcore.NetworkStream:
        """Return a connection to a host, whose waits end at `deadline`."""
        left = _seconds_left(timeout, httpcore.ConnectTimeout)
        return _TimedStream(super().connect_tcp(host, port, left, *args, **more))


class _TimedStream(httpcore.NetworkStream):
    """A connection whose every wait ends at `deadline`."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        """Make a connection that sends and receives through `inner`."""
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return up to `max_bytes` bytes received until `deadline`."""
        return self._inner.read(max_bytes, _seconds_left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes; each wait takes at most `timeout` seconds, or what is left until the deadline."""
        self._inner.write(buffer, _seconds_left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Return the connection with TLS, whose waits end at `deadline`."""
        left = _seconds_left(timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        """Return a detail of the inner connection by its name in httpcore, such as `"socket"`."""
        return self._inner.get_extra_info(info)


def _seconds_left(timeout: float | None, fault: type[httpcore.TimeoutException]) -> float | None:
    """Return the seconds that a wait may take, `None` for no limit; raise `fault` after `deadline`.

    Raises:
        TimeoutException: the deadline is over; of the class `fault`.
    """
    at = _DEADLINE.get()
    if at is None:
        return timeout
    left = at - time.monotonic()
    if left <= 0:
        raise fault
    return left if timeout is None else min(timeout, left)


MAX_REPLY_MB = 32.0
"""Largest size of a reply in megabytes, unless a service has another; chosen."""
_MOST_REDIRECTS = 3
"""Largest number of redirects that are followed; a photo takes one (chosen)."""


class Wire:
    """An HTTP client for some hosts, which alone get the key.

    Args:
        hosts: scheme and host of each server.
        secrets: key that is put on requests, and taken out of replies.
        timeouts: time limits of each request.
        connections: number of connections to each host that are kept open.
        max_reply_mb: megabytes beyond which a reply is not read to its end.
    """

    def __init__(
        self,
        hosts: Iterable[str],
        secrets: Secrets,
        *,
        timeouts: Timeouts,
        connections: int = 1,
        max_reply_mb: float = MAX_REPLY_MB,
    ) -> None:
        """Prepare connections to hosts, each with its scheme; none is opened yet."""
        self._secrets = secrets
        self._timeouts = timeouts
        self._max_reply_mb = max_reply_mb
        # How many run at once is for the caller to limit: waiting here would count against the timeouts.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=connections)
        mounts, proxies = {}, urllib.request.getproxies()
        for host in hosts:
            url = httpx.URL(host)
            proxy = None if urllib.request.proxy_bypass(url.host) else proxies.get(url.scheme)
            transport = httpx.HTTPTransport(verify=_certificates(), limits=limits, proxy=proxy)
            mounts[host] = KeyTransport(add_deadlines(transport), secrets)
        self._client = httpx.Client(
            mounts=mounts,
            verify=_certificates(),
            timeout=httpx.Timeout(timeouts.read, connect=timeouts.connect),
            headers={"user-agent": f"virl/{__version__}"},
        )
        # Those that a redirect reaches; the hosts' own, within `KeyTransport`, have theirs.
        for other in (self._client._transport, *self._client._mounts.values()):  # noqa: SLF001
            if isinstance(other, httpx.HTTPTransport):
                add_deadlines(other)

    def send(
        self,
        method: str,
        url: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        extensions: Mapping[str, object] | None = None,
        into: BinaryIO | None = None,
    ) -> HttpReply | HttpFault:
        """Send a request once, with the key added as it leaves, and return its reply, or a fault.

        Args:
            method: HTTP method, such as `"GET"`.
            url: URL with host and path.
            query: fields of the query; `None` leaves that of the URL.
            body: object that is sent as JSON; `None` for no body.
            headers: headers besides the usual ones.
            extensions: extensions of the request that `Secrets.proof` reads.
            into: file that the body of a reply with status 200 is written to as it comes, keys included; the
                reply's own body is then empty.
        """
        request = self._client.build_request(
            method,
            url,
            params=dict(query) if query else None,
            json=body,
            headers=headers,
            extensions=dict(extensions or {}),
        )
        with span(
            f"{request.method} {request.url.host}",
            {  # without path and query, which may hold keys
                "http.request.method": request.method,
                "server.address": request.url.host,
                "server.port": request.url.port,
                "url.scheme": request.url.scheme,
            },
            kind="client",
        ) as told:
            outcome = self._follow(request, into)
            if isinstance(outcome, HttpFault):
                told.fail("billed" if outcome.billed else "unreachable")
            else:
                told.tell({"http.response.status_code": outcome.status})
                if outcome.status >= httpx.codes.BAD_REQUEST:
                    told.fail(str(outcome.status))
        return outcome

    def _follow(self, request: httpx.Request, into: BinaryIO | None) -> HttpReply | HttpFault:
        """Return the reply after redirects, which make it billed; a good body goes into `into`, if given."""
        end, redirected = time.monotonic() + self._timeouts.total, False
        for _ in range(_MOST_REDIRECTS + 1):
            with deadline(end):
                outcome = self._hop(request, into)
            if not isinstance(outcome, httpx.Request):
                return replace(outcome, billed=True) if redirected else outcome
            request, redirected = outcome, True
        return HttpFault("it redirects in circles", verdict="never", billed=True)

    def _hop(self, request: httpx.Request, into: BinaryIO | None) -> httpx.Request | HttpReply | HttpFault:
        """Return the reply, the request it redirects to, or a fault of either; a body goes into `into`."""
        try:
            response = self._client.send(request, stream=True)
            with closing(response):
                location = response.headers.get("location")
                if response.is_redirect and location:
                    return self._follow_up(request, location)
                return self._read(response, into)
        except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
            host = f"{request.url.scheme}://{request.url.netloc.decode('ascii')}"
            return HttpFault(f"cannot be reached at {host} ({fault or type(fault).__name__})", verdict="wait")
        except httpx.TimeoutException:
            return HttpFault("no whole reply in time", verdict="wait", billed=True)
        except httpx.InvalidURL:
            return HttpFault("it redirects without an address", verdict="never", billed=True)
        except httpx.RequestError as fault:
            return HttpFault(
                f"the connection broke ({fault or type(fault).__name__})", verdict="wait", billed=True
            )

    def _follow_up(self, request: httpx.Request, location: str) -> httpx.Request | HttpFault:
        """Return the request that a redirect to a location asks for; a fault where it has no safe address."""
        target = request.url.join(location)
        if target.scheme not in {"http", "https"} or not target.host:
            return HttpFault("it redirects without an address", verdict="never", billed=True)
        if request.url.scheme == "https" and target.scheme != "https":
            return HttpFault("it redirects to an unencrypted address", verdict="never", billed=True)
        return self._client.build_request("GET", target)

    def close(self) -> None:
        """Close the connections to the hosts."""
        self._client.close()

    def _read(self, response: httpx.Response, into: BinaryIO | None) -> HttpReply | HttpFault:
        """Return a response read to its end, or a fault where it is too large or compressed repeatedly."""
        if "," in response.headers.get("content-encoding", ""):  # each turn may blow it up a thousandfold
            return HttpFault("the reply is compressed more than once", verdict="never", billed=True)
        body, size = bytearray(), 0
        for piece in response.iter_bytes():
            size += len(piece)
            if into and response.status_code == httpx.codes.OK:
                into.write(piece)
            else:
                body += piece
            if size > self._max_reply_mb * 1e6:
                words = f"the reply is larger than {self._max_reply_mb:g} MB"
                return HttpFault(words, verdict="never", billed=True)
        headers = {name.lower(): value for name, value in response.headers.items()}
        reply, redaction = HttpReply(response.status_code, headers, bytes(body)), self._secrets.redaction
        # Keys are taken out of texts; out of a picture they cannot be without breaking it.
        if not reply.body.startswith(PICTURES):
            return replace(reply, body=redaction.body(reply.body))
        if redaction.is_in(reply.body):
            return HttpFault("the picture has the key in it", verdict="never", billed=True)
        return reply


@cache
def _certificates() -> ssl.SSLContext:
    """Return the TLS context of trusted certificates; read once a process, in a tenth of a second."""
    return httpx.create_ssl_context()
