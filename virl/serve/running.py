"""Running an ASGI application: until the process is interrupted, or as long as a `with` block lasts."""

import asyncio
import ipaddress
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from virl.errors import BadInput, VirlError
from virl.redaction import SHORTEST_SECRET, warn_of_placeholder
from virl.serve.gate import KEY_VARIABLE, RequestLimits, is_loopback

LOOPBACK = "127.0.0.1"
Lifespan = Literal["on", "off"]
_BACKLOG = 2048  # connections that wait to be accepted; as uvicorn's
_STOP_S = 1  # seconds that open requests get when a server stops; chosen


def own_key() -> str | None:
    """Return the key that clients have to show, from `VIRL_SERVE_KEY`; `None` if it is not set."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    warn_of_placeholder(KEY_VARIABLE, len(key))
    return key or None


def check_key(key: str | None, reason: str) -> str:
    """Return a server's key unless it is missing or weak; else raise an error that begins with `reason`.

    Raises:
        BadInput: there is none, it is too short, or it is also the key of something else.
    """
    if key is None or len(key) < SHORTEST_SECRET:
        found = "is not set" if not key else f"has {len(key)} characters"
        raise BadInput(
            f"{reason} needs a key that clients have to show, and {KEY_VARIABLE} {found}: set it to "
            f"{SHORTEST_SECRET} characters or more, such as $(openssl rand -hex 24)"
        )
    # Clients have to know this key: with it they would have the other one too.
    for name, value in os.environ.items():
        if name != KEY_VARIABLE and value.strip() == key:
            raise BadInput(f"{KEY_VARIABLE} has the value of {name}: give the server a key of its own")
    return key


@dataclass(frozen=True, slots=True)
class Address:
    """An address of this machine to listen at, with the key and the limits that hold there."""

    host: str = LOOPBACK
    """Name or IP address; where other machines can connect, a key is needed."""
    port: int = 0
    """Port; 0 takes a free one."""
    key: str | None = field(default=None, repr=False)
    """Key that clients have to show; `None` for none."""
    limits: RequestLimits = field(default_factory=RequestLimits)
    """Limits on requests and connections."""


def run(
    app: ASGIApp,
    address: Address,
    tell: Callable[[str], None],
    closing: threading.Event | None = None,
    *,
    lifespan: Lifespan = "off",
) -> None:
    """Serve an app until interrupted; call `tell` with the URL, and set `closing` when the server stops.

    Args:
        app: the application, behind `add_gate`.
        address: where to listen.
        tell: called with the server's URL.
        closing: set when the server begins to stop, for answers that have no end of their own.
        lifespan: "on" if the application is told when the server starts and stops.

    Raises:
        BadInput: the port is taken, or other machines can connect and there is no key.
    """
    with _open_socket(address) as listener:
        tell(_url(listener))
        with suppress(KeyboardInterrupt):
            _server(app, address.limits, lifespan, closing).run(sockets=[listener])


@contextmanager
def serve_in_thread(
    app: ASGIApp,
    address: Address,
    closing: threading.Event | None = None,
    *,
    lifespan: Lifespan = "off",
) -> Iterator[str]:
    """Serve an app from a thread until the block ends, then set `closing`; yield the server's URL.

    Args:
        app: as for `run`.
        address: as for `run`.
        closing: as for `run`.
        lifespan: as for `run`.

    Raises:
        BadInput: the port is taken, or other machines can connect and there is no key.
        VirlError: the server did not start.
    """
    with _open_socket(address) as listener:
        server = _server(app, address.limits, lifespan, closing)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                if not thread.is_alive():
                    raise VirlError("the server did not start: see the log above")
                thread.join(0.01)
            yield _url(listener)
        finally:
            server.should_exit = True
            thread.join()


class _Server(uvicorn.Server):
    """A uvicorn server that sets the event `closing`, if given, when it begins to stop."""

    closing: threading.Event | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut the server down as uvicorn does; first set the closing event, if there is one."""
        if self.closing is not None:
            self.closing.set()
        await super().shutdown(sockets)


@contextmanager
def _open_socket(asked: Address) -> Iterator[socket.socket]:
    """Yield a listening socket; raise `BadInput` if others can reach its address and the key is weak."""
    host, port = asked.host, asked.port
    try:
        resolved = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as fault:
        raise BadInput(f"cannot listen at {host!r} ({fault}): give an address of this machine") from fault
    family, _, _, _, endpoint = resolved[0]
    # Without the zone of a link-local IPv6 address, such as `%eth0`.
    address = str(ipaddress.ip_address(str(endpoint[0]).partition("%")[0]))
    if not is_loopback(address):
        check_key(asked.key, f"listening at {address}, where other machines can connect,")
    # asyncio sends without delay only on sockets that name their protocol
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        # A server that is started again gets its port though old connections linger there.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
            listener.listen(_BACKLOG)  # clients can connect from the moment that the URL is told
        except OSError as fault:
            raise BadInput(
                f"cannot listen at {host}:{port} ({fault.strerror}): give another --port"
            ) from fault
        yield listener


def _url(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def _server(
    app: ASGIApp, limits: RequestLimits, lifespan: Lifespan, closing: threading.Event | None
) -> _Server:
    """Return uvicorn's server of an app within limits, which sets `closing`, if given, when it stops."""

    class Timed(TimedProtocol):
        """The protocol with these limits."""

        request_limits = limits

    config = uvicorn.Config(
        app,
        http=Timed,
        h11_max_incomplete_event_size=limits.head_bytes,
        log_config=None,
        log_level="error",
        access_log=False,  # its lines would hold keys
        lifespan=lifespan,
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_STOP_S,
    )
    server = _Server(config)
    server.closing = closing
    return server


# Written by hand: the connection has no request yet that uvicorn could answer.
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 29\r\n"
    b"Connection: close\r\n\r\nToo many connections at once\n"
)


class TimedProtocol(H11Protocol):
    """An HTTP protocol for uvicorn with deadlines for headers and reading, and a limit of connections.

    uvicorn's own limit refuses requests on accepted connections. This one refuses new connections, unless one
    that waits for headers can be closed to make room, so that idle and half-sent ones shut nobody out.
    """

    request_limits = RequestLimits()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the headers of a new client; refuse it if there are too many connections."""
        self._head: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self.heard = self.loop.time()
        """Time, in seconds of the loop's clock, at which the client last sent something."""
        super().connection_made(transport)  # type: ignore[arg-type]
        if len(self.connections) > self.request_limits.connections and not self._make_room():
            transport.write(_FULL)  # type: ignore[attr-defined]
            self.transport.close()
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, and start or stop the deadline of its headers."""
        self.heard = self.loop.time()
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all deadlines, since the connection is closed."""
        _cancel(self._head)
        _cancel(self._unread)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the deadline of reading for a client that reads more slowly than is sent."""
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        """Stop the deadline of reading, since the client reads again."""
        _cancel(self._unread)
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Start the deadline of reading: no request came in time, and uvicorn closes once all is sent."""
        super().timeout_keep_alive_handler()
        self._await_reading()

    def _make_room(self) -> bool:
        """Return whether room was made, by closing the connection that waited longest for a request."""
        others = [one for one in self.connections if isinstance(one, TimedProtocol) and one is not self]
        waiting = [
            one for one in others if one.conn.their_state is h11.IDLE and not one.transport.is_closing()
        ]
        if waiting:
            min(waiting, key=lambda one: one.heard).transport.abort()
        return bool(waiting)

    def _await_reading(self) -> None:
        """Start the deadline, in `reading_s` seconds, for the client to read what is left to send."""
        _cancel(self._unread)
        self._unread = self.loop.call_later(self.request_limits.reading_s, self.transport.abort)

    def _await_head(self) -> None:
        """Start the deadline of headers if they are awaited, and stop it if they have come."""
        if self.conn.their_state is not h11.IDLE:
            _cancel(self._head)
            self._head = None
        elif self._head is None:
            self._head = self.loop.call_later(self.request_limits.head_s, self._close_if_waiting)

    def _close_if_waiting(self) -> None:
        """Close the connection if the client's headers have not come in time."""
        self._head = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    """Stop a timer, if there is one."""
    if timer is not None:
        timer.cancel()
