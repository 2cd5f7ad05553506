"""HTTP/1.1 connections that end when their client keeps the server waiting.

uvicorn bounds how long a connection may stay idle between two requests, but not how long the head of a
request may take, nor how long an answer may stay unread. Its setting `http` takes another protocol class.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from virl.serve.limits import RequestLimits


def protocol(limits: RequestLimits) -> type[asyncio.Protocol]:
    """The class to give to `uvicorn.Config(http=...)`."""

    class Timed(TimedProtocol):
        request_limits = limits

    return Timed


class TimedProtocol(H11Protocol):
    """uvicorn's own protocol with two deadlines more."""

    request_limits = RequestLimits()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connects; from now on it has to send a head."""
        self._head: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        super().connection_made(transport)  # type: ignore[arg-type]
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """A part of a request comes."""
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client, or the server, closes."""
        _cancel(self._head)
        _cancel(self._unread)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """More is to be sent than the client takes."""
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        """The client takes it again."""
        _cancel(self._unread)
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """No further request comes; uvicorn closes once all is sent, which may be never."""
        super().timeout_keep_alive_handler()
        self._await_reading()

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
        self._head = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
