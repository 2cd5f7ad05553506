"""Connections of models' clients: no redirect takes a prompt elsewhere, and no reply trickles for ever."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import attrgetter
from typing import Any

WHOLE = 10
"""Times the time limit that a whole reply may take, and that all replies to a question may, unless it is set;
chosen: streamed replies of slow servers are long."""
_MOST_BYTES = 32_000_000
"""Bytes of a reply at most, as they come; chosen, the bound of providers' replies."""
_END_OF_HEAD = b"\r\n\r\n"
_PATHS = (
    "root_client._client",
    "_client._client",
    "client._api_client._httpx_client",
    "client._client._client",
)
"""Paths to clients of httpx or its fork httpx2, from LangChain's models of OpenAI, Anthropic and Ollama, of
Gemini, and of completions."""


_UNTIL: ContextVar[float | None] = ContextVar("until", default=None)
"""The moment by which the reply has to be whole, as `time.monotonic` counts."""


@contextmanager
def whole_within(seconds: float) -> Iterator[None]:
    """Bound the seconds until a reply in the block is whole, whatever a single one may take."""
    token = _UNTIL.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _UNTIL.reset(token)


class RedirectRefused(Exception):
    """A redirect to another server, which would get the prompt and the key."""


def bound_connections(model: object) -> None:
    """Let the clients of a LangChain model follow no redirect to another origin, and bound their replies.

    The head of a reply has to be there within the model's time limit, which its client applies to the pauses
    between bytes alone; the whole reply within ten times as long, or as `whole_within` says, and in 32 MB.
    Clients of unknown kinds are left alone.
    """
    for client in _clients(model):
        if _refuse_redirect not in client.event_hooks["response"]:
            client.event_hooks["response"] += [_refuse_redirect, _bound_decoding]
            client.headers["accept-encoding"] = "identity"
        for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001  httpx has no option
            pool = getattr(transport, "_pool", None)
            if pool is not None and not isinstance(pool._network_backend, _Backend):  # noqa: SLF001
                pool._network_backend = _Backend(pool._network_backend)  # noqa: SLF001


def _clients(model: object) -> Iterator[Any]:
    for path in _PATHS:
        try:
            found = attrgetter(path)(model)
        except AttributeError:
            continue
        if hasattr(found, "event_hooks") and hasattr(found, "_mounts"):
            yield found


def _refuse_redirect(response: Any) -> None:
    """Raise `RedirectRefused` for a response that leads to another origin."""
    if not response.has_redirect_location:
        return
    asked, sent_on = response.request.url, response.request.url.join(response.headers["location"])
    if (asked.scheme, asked.host, asked.port) != (sent_on.scheme, sent_on.host, sent_on.port):
        raise RedirectRefused(
            f"the server redirects to {sent_on.scheme}://{sent_on.host}, which virl does not follow: "
            "set the base URL to it if you trust it"
        )


def _bound_decoding(response: Any) -> None:
    """Bound the size of a reply that is compressed, although nobody asked for that."""
    encoding = response.headers.get("content-encoding", "identity")
    if encoding not in {"identity", "gzip", "deflate"}:  # a piece of the others can unpack to gigabytes
        raise ConnectionError(f"the reply is compressed as {encoding}, which was not asked for")
    unpack = response.iter_bytes

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        left = _MOST_BYTES
        for piece in unpack(chunk_size):
            left -= len(piece)
            if left < 0:
                raise ConnectionError(f"the reply unpacks to more than {_MOST_BYTES / 1e6:.0f} MB")
            yield piece

    response.iter_bytes = iter_bytes


class _Backend:
    """A network backend of httpcore, or of its fork, whose streams are bounded."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def connect_tcp(self, *args: Any, **more: Any) -> "_Stream":
        return _Stream(self._inner.connect_tcp(*args, **more))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Stream:
    """A connection on which each reply is awaited from the last byte of its request on."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._asked = 0.0
        self._head = b""
        """The reply so far, until its head is there."""
        self._left = _MOST_BYTES

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, timeout)
        self._asked, self._head, self._left = time.monotonic(), b"", _MOST_BYTES

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._left <= 0:
            raise ConnectionError(f"the reply has more than {_MOST_BYTES / 1e6:.0f} MB")
        if timeout is None:
            return self._count_bytes(bytes(self._inner.read(max_bytes, timeout)))
        in_head = _END_OF_HEAD not in self._head
        until = _UNTIL.get() or self._asked + WHOLE * timeout
        until = min(until, self._asked + timeout) if in_head else until
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the reply does not end")
        data = self._count_bytes(bytes(self._inner.read(max_bytes, min(timeout, left))))
        self._head += data if in_head else b""
        return data

    def _count_bytes(self, data: bytes) -> bytes:
        self._left -= len(data)
        return data

    def start_tls(self, *args: Any, **more: Any) -> "_Stream":
        return _Stream(self._inner.start_tls(*args, **more))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
