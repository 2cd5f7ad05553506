"""Connections whose every wait ends at one deadline, however slowly the bytes of a reply come in."""

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline(at: float) -> Iterator[None]:
    """Let what is a `add_deadlines` transport sends and receives within the block time out at a moment.

    Args:
        at: seconds on `time.monotonic`.
    """
    token = _DEADLINE.set(at)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def keep_deadlines(client: httpx.Client) -> None:
    """Let the connections of a client keep deadlines; httpx itself bounds only the pauses between bytes.

    Transports that wrap others are left as they are: see `add_deadlines`.
    """
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001  as `add_deadlines`
        if isinstance(transport, httpx.HTTPTransport):
            add_deadlines(transport)


def add_deadlines(transport: httpx.HTTPTransport) -> httpx.HTTPTransport:
    """Return a transport whose connections keep deadlines."""
    transport._pool._network_backend = _TimedBackend()  # noqa: SLF001  httpx has no option for it
    return transport


class _TimedBackend(httpcore.SyncBackend):
    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **more: Any
    ) -> httpcore.NetworkStream:
        left = _seconds_left(timeout, httpcore.ConnectTimeout)
        return _TimedStream(super().connect_tcp(host, port, left, *args, **more))


class _TimedStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _seconds_left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _seconds_left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _seconds_left(timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _seconds_left(timeout: float | None, fault: type[httpcore.TimeoutException]) -> float | None:
    """Return the seconds that one wait may take; `None` for no limit.

    Raises:
        TimeoutException: as `fault`: the deadline is over.
    """
    at = _DEADLINE.get()
    if at is None:
        return timeout
    left = at - time.monotonic()
    if left <= 0:
        raise fault
    return left if timeout is None else min(timeout, left)
