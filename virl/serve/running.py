"""Runs an ASGI application: until the process is interrupted, or as long as a `with` block lasts."""

import asyncio
import ipaddress
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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


def check_key(key: str | None, what: str) -> str:
    """Return the key of a server that not everybody may use.

    Args:
        key: what `VIRL_SERVE_KEY` holds.
        what: why it is needed, for the error, such as `"listening at 0.0.0.0"`.

    Raises:
        BadInput: there is none, it is too short, or it is also the key of something else.
    """
    if key is None or len(key) < SHORTEST_SECRET:
        found = "is not set" if not key else f"has {len(key)} characters"
        raise BadInput(
            f"{what} needs a key that clients have to show, and {KEY_VARIABLE} {found}: set it to "
            f"{SHORTEST_SECRET} characters or more, such as $(openssl rand -hex 24)"
        )
    # Clients have to know this key: with it they would have the other one too.
    for name, value in os.environ.items():
        if name != KEY_VARIABLE and value.strip() == key:
            raise BadInput(f"{KEY_VARIABLE} has the value of {name}: give the server a key of its own")
    return key


def run(
    app: ASGIApp,
    host: str,
    port: int,
    key: str | None,
    limits: RequestLimits,
    tell: Callable[[str], None],
    closing: threading.Event | None = None,
    *,
    lifespan: Lifespan = "off",
) -> None:
    """Serve until the process is interrupted.

    Args:
        app: behind `gated`.
        host: the address to listen at.
        port: the port; 0 takes a free one.
        key: what clients have to show; needed where other machines can connect.
        limits: of each request.
        tell: gets the server's URL when it is known.
        closing: set when the server begins to stop, for answers that have no end of their own.
        lifespan: whether the application is told when the server starts and stops.

    Raises:
        BadInput: the port is taken, or other machines can connect and there is no key.
    """
    with _open_socket(host, port, key) as listener:
        tell(_url(listener))
        with suppress(KeyboardInterrupt):
            _Server(_config(app, limits, lifespan), closing).run(sockets=[listener])


@contextmanager
def serve_in_thread(
    app: ASGIApp,
    host: str,
    port: int,
    key: str | None,
    limits: RequestLimits,
    closing: threading.Event | None = None,
    *,
    lifespan: Lifespan = "off",
) -> Iterator[str]:
    """Serve from a thread of its own until the block ends; gives the server's URL.

    Args:
        app: as `run`.
        host: as `run`.
        port: as `run`.
        key: as `run`.
        limits: as `run`.
        closing: as `run`.
        lifespan: as `run`.

    Raises:
        BadInput: as `run`.
        VirlError: the server did not start.
    """
    with _open_socket(host, port, key) as listener:
        server = _Server(_config(app, limits, lifespan), closing)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            _wait_for(server, thread)
            yield _url(listener)
        finally:
            server.should_exit = True
            thread.join()


class _Server(uvicorn.Server):
    """A server that says when it begins to stop."""

    def __init__(self, config: uvicorn.Config, closing: threading.Event | None) -> None:
        super().__init__(config)
        self._closing = closing

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut the server down as uvicorn does; first set the closing event, if there is one."""
        if self._closing is not None:
            self._closing.set()
        await super().shutdown(sockets)


@contextmanager
def _open_socket(host: str, port: int, key: str | None) -> Iterator[socket.socket]:
    """Yield a socket that listens; an address that other machines reach needs a key."""
    family, address = _resolve_host(host, port)
    if not is_loopback(address):
        check_key(key, f"listening at {address}, where other machines can connect,")
    # asyncio sends without delay only on sockets that name their protocol
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
            listener.listen(_BACKLOG)  # clients can connect from the moment that the URL is told
        except OSError as fault:
            raise BadInput(
                f"cannot listen at {host}:{port} ({fault.strerror}): give another --port"
            ) from fault
        yield listener


def _resolve_host(host: str, port: int) -> tuple[socket.AddressFamily, str]:
    """Return the family and the IP address of a name or an address."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as fault:
        raise BadInput(f"cannot listen at {host!r} ({fault}): give an address of this machine") from fault
    family, _, _, _, address = found[0]
    return family, str(ipaddress.ip_address(str(address[0]).partition("%")[0]))


def _url(listener: socket.socket) -> str:
    """Return the address of a listening socket."""
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def _config(app: ASGIApp, limits: RequestLimits, lifespan: Lifespan) -> uvicorn.Config:
    """Return the server's settings, without an access log: its lines would hold keys."""
    return uvicorn.Config(
        app,
        http=protocol(limits),
        h11_max_incomplete_event_size=limits.head_bytes,
        log_config=None,
        log_level="error",
        access_log=False,
        lifespan=lifespan,
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_STOP_S,
    )


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    """Return once the server takes requests; raise `VirlError` if its thread ends before."""
    while not server.started:
        if not thread.is_alive():
            raise VirlError("the server did not start: see the log above")
        thread.join(0.01)


_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 29\r\n"
    b"Connection: close\r\n\r\nToo many connections at once\n"
)


def protocol(limits: RequestLimits) -> type[asyncio.Protocol]:
    """Return the class to give to `uvicorn.Config(http=...)`."""

    class Timed(TimedProtocol):
        request_limits = limits

    return Timed


class TimedProtocol(H11Protocol):
    """uvicorn's own protocol with two deadlines more, and a limit of connections.

    uvicorn's own limit refuses requests of connections that are in. This one refuses those that come; one
    that waits for a head is closed to make room, so that idle and half-sent ones shut nobody out.
    """

    request_limits = RequestLimits()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the head of a client that connects."""
        self._head: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._heard = self.loop.time()
        super().connection_made(transport)  # type: ignore[arg-type]
        if len(self.connections) > self.request_limits.connections and not self._make_room():
            transport.write(_FULL)  # type: ignore[attr-defined]
            self.transport.close()
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        self._heard = self.loop.time()
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: the client, or the server, closes."""
        _cancel(self._head)
        _cancel(self._unread)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client, which takes less than is to be sent."""
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        """Go on writing: the client takes it again."""
        _cancel(self._unread)
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Wait for the client to take the rest: no request comes, and uvicorn closes once all is sent."""
        super().timeout_keep_alive_handler()
        self._await_reading()

    @property
    def waits_since(self) -> float | None:
        """Time of the loop since which a head is awaited; `None` while a request is answered."""
        is_waiting = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        return self._heard if is_waiting else None

    def give_way(self) -> None:
        """Close at once: another client needs the place."""
        self.transport.abort()

    def _make_room(self) -> bool:
        """Return whether a connection was closed to make room: the one that has waited longest for a head."""
        others = [one for one in self.connections if isinstance(one, TimedProtocol) and one is not self]
        waiting = [(since, id(one), one) for one in others if (since := one.waits_since) is not None]
        if waiting:
            min(waiting)[-1].give_way()
        return bool(waiting)

    def _await_reading(self) -> None:
        """Give the client a while to take what is left to send."""
        _cancel(self._unread)
        self._unread = self.loop.call_later(self.request_limits.reading_s, self.transport.abort)

    def _await_head(self) -> None:
        """Start the clock where a head is awaited, and stop it where one is there."""
        if self.conn.their_state is not h11.IDLE:
            _cancel(self._head)
            self._head = None
        elif self._head is None:
            self._head = self.loop.call_later(self.request_limits.head_s, self._too_slow)

    def _too_slow(self) -> None:
        """Close the connection of a client whose head has not come in time."""
        self._head = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    """Stop a timer, if there is one."""
    if timer is not None:
        timer.cancel()
