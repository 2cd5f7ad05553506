"""Failures of models, whoever serves them, as one-line errors without secrets; and bounded connections.

No redirect takes a prompt elsewhere, and no reply trickles for ever.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from json import JSONDecodeError
from operator import attrgetter
from socket import gaierror
from typing import Any

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.language_models import BaseLanguageModel
from pydantic import SecretStr

from virl.mind.providers import Usage
from virl.mind.settings import refused_ability
from virl.plain_text import whole_text
from virl.redaction import Redaction
from virl.retry import asked_wait

WHOLE = 10
"""Most time for a whole reply, in multiples of a request's timeout; chosen: slow servers stream for long."""
_MOST_BYTES = 32_000_000
"""Most bytes of a reply, compressed or unpacked; chosen, the same bound as for replies of map providers."""
_END_OF_HEAD = b"\r\n\r\n"
_PATHS = (
    "root_client._client",
    "_client._client",
    "client._api_client._httpx_client",
    "client._client._client",
)
"""Attribute paths from LangChain's models of all providers to their HTTP clients (httpx or httpx2)."""


_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)
"""Time (seconds of `time.monotonic`) by which the reply must be complete; `None` without a bound."""


@contextmanager
def whole_within(seconds: float) -> Iterator[None]:
    """Let replies requested within the block fail unless they are complete so many seconds from its start."""
    token = _DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


class RedirectRefused(Exception):
    """Error that a server redirects a request to another server, which would get the prompt and the key."""


def bound_connections(model: object) -> None:
    """Make a LangChain model's HTTP clients refuse redirects to other servers, and bound replies.

    The head of a reply has to be there within the model's time limit, which its client applies to the pauses
    between bytes alone; the whole reply within `WHOLE` times as long, or as `whole_within` says; and 32 MB
    at most. Clients of unknown kinds are left alone.
    """
    for client in _http_clients(model):
        if _refuse_redirect not in client.event_hooks["response"]:
            client.event_hooks["response"] += [_refuse_redirect, _bound_decoding]
            client.headers["accept-encoding"] = "identity"
        for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001  httpx has no option
            pool = getattr(transport, "_pool", None)
            if pool is not None and not isinstance(pool._network_backend, _Backend):  # noqa: SLF001
                pool._network_backend = _Backend(pool._network_backend)  # noqa: SLF001


def _http_clients(model: object) -> Iterator[Any]:
    """Yield the HTTP clients of a LangChain model that are found at the known attribute paths."""
    for path in _PATHS:
        try:
            found = attrgetter(path)(model)
        except AttributeError:
            continue
        if hasattr(found, "event_hooks") and hasattr(found, "_mounts"):
            yield found


def _refuse_redirect(response: Any) -> None:
    """Raise `RedirectRefused` for a response that redirects to another scheme, host or port."""
    if not response.has_redirect_location:
        return
    asked, sent_on = response.request.url, response.request.url.join(response.headers["location"])
    if (asked.scheme, asked.host, asked.port) != (sent_on.scheme, sent_on.host, sent_on.port):
        raise RedirectRefused(
            f"the server redirects to {sent_on.scheme}://{sent_on.host}, which virl does not follow: "
            "set the base URL to it if you trust it"
        )


def _bound_decoding(response: Any) -> None:
    """Make a response raise `ConnectionError` if its compression is unknown or it unpacks too large."""
    encoding = response.headers.get("content-encoding", "identity")
    if encoding not in {"identity", "gzip", "deflate"}:  # a piece of the others can unpack to gigabytes
        raise ConnectionError(f"the reply is compressed as {encoding}, which was not asked for")
    unpack = response.iter_bytes

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the unpacked bytes of the response; raise `ConnectionError` above `_MOST_BYTES`."""
        left = _MOST_BYTES
        for piece in unpack(chunk_size):
            left -= len(piece)
            if left < 0:
                raise ConnectionError(f"the reply unpacks to more than {_MOST_BYTES / 1e6:.0f} MB")
            yield piece

    response.iter_bytes = iter_bytes


class _Backend:
    """A wrapper of a network backend of httpcore whose connections bound replies in time and size."""

    def __init__(self, inner: Any) -> None:
        """Begin a wrapper of the network backend `inner`."""
        self._inner = inner

    def connect_tcp(self, *args: Any, **more: Any) -> "_Stream":
        """Return a bounded connection to a server; arguments are those of httpcore."""
        return _Stream(self._inner.connect_tcp(*args, **more))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the wrapped backend."""
        return getattr(self._inner, name)


class _Stream:
    """A connection that bounds each reply's bytes, and its seconds since the request's last byte was sent."""

    def __init__(self, inner: Any) -> None:
        """Begin a wrapper of httpcore's connection `inner`."""
        self._inner = inner
        self._asked_at = 0.0
        """Time, by `time.monotonic`, at which the last bytes of the request were sent."""
        self._head = b""
        """The bytes of the reply received so far; no longer extended once the reply's head is complete."""
        self._left = _MOST_BYTES
        """The bytes that the reply may still have."""

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes of a request, and start the count of the reply's time and size anew."""
        self._inner.write(buffer, timeout)
        self._asked_at, self._head, self._left = time.monotonic(), b"", _MOST_BYTES

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return up to `max_bytes` bytes; raise an error if the whole reply is too slow or too large."""
        if self._left <= 0:
            raise ConnectionError(f"the reply has more than {_MOST_BYTES / 1e6:.0f} MB")
        if timeout is None:
            return self._count_bytes(bytes(self._inner.read(max_bytes, timeout)))
        in_head = _END_OF_HEAD not in self._head
        until = _DEADLINE.get() or self._asked_at + WHOLE * timeout
        until = min(until, self._asked_at + timeout) if in_head else until
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the reply does not end")
        data = self._count_bytes(bytes(self._inner.read(max_bytes, min(timeout, left))))
        self._head += data if in_head else b""
        return data

    def _count_bytes(self, data: bytes) -> bytes:
        """Return the bytes, after subtracting their number from those that the reply may still have."""
        self._left -= len(data)
        return data

    def start_tls(self, *args: Any, **more: Any) -> "_Stream":
        """Return the connection with TLS started, its replies bounded in bytes and seconds, too."""
        return _Stream(self._inner.start_tls(*args, **more))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the wrapped connection."""
        return getattr(self._inner, name)


MAX_TEXT = 200  # characters of a model's own words that are shown (chosen)
MOST_WORDS = 400  # characters of a server's words on a fault that are shown (chosen)


class LLMFault(Enum):
    """The kind of failure of a request to a model."""

    LIMITED = "limited"
    """The server has had too many requests for now; another try later may succeed."""
    BROKEN = "broken"
    """The server failed, is too slow or cannot be reached; another try later may succeed."""
    UNREADABLE = "unreadable"
    """The reply is no message of a model; another try may succeed."""
    NO_QUOTA = "no quota"
    KEY = "key"
    UNKNOWN_MODEL = "unknown model"
    CUT_OFF = "cut off"
    """The reply was cut off at the token limit."""
    REFUSED = "refused"
    """The model or its content filter refuses to answer."""
    TOO_LONG = "too long"
    """The prompt is longer than the model's context."""
    NO_CHAT = "no chat server"
    """The server at the address does not offer chat completions."""
    NO_TOOLS = "no tools"
    """The model, or its server as it was started, does not support tools."""
    TOO_MUCH = "too much"
    """The request is larger, or asks for more tokens, than the server accepts at once."""
    NOT_TAKEN = "not taken"
    """The model does not support a part of the request, such as pictures."""
    OTHER = "other"


_KINDS: tuple[tuple[type[Exception], LLMFault], ...] = (
    (ContextOverflowError, LLMFault.TOO_LONG),
    (ModelAuthenticationError, LLMFault.KEY),
    (ModelPermissionDeniedError, LLMFault.KEY),
    (ModelNotFoundError, LLMFault.UNKNOWN_MODEL),
    (ModelRateLimitError, LLMFault.LIMITED),
    (ModelTimeoutError, LLMFault.BROKEN),
    (ModelConnectionError, LLMFault.BROKEN),
    (ModelAPIError, LLMFault.BROKEN),
    (TimeoutError, LLMFault.BROKEN),
    (ConnectionError, LLMFault.BROKEN),
)
_STATUSES = {
    401: LLMFault.KEY,
    402: LLMFault.NO_QUOTA,
    403: LLMFault.KEY,
    404: LLMFault.UNKNOWN_MODEL,
    408: LLMFault.BROKEN,
    409: LLMFault.BROKEN,
    413: LLMFault.TOO_MUCH,
    429: LLMFault.LIMITED,
}
# Raised by clients that are not imported here: OpenAI's, httpx, Ollama's.
_NAMES = {
    "LengthFinishReasonError": LLMFault.CUT_OFF,
    "ContentFilterFinishReasonError": LLMFault.REFUSED,
} | dict.fromkeys((
    "APIConnectionError", "APITimeoutError", "ConnectError", "ConnectTimeout", "ReadTimeout", "ReadError",
    "WriteError", "WriteTimeout", "RemoteProtocolError", "LocalProtocolError", "DecodingError",
), LLMFault.BROKEN)  # fmt: skip
# Words of servers whose status says less, or something else.
_WORDS: tuple[tuple[LLMFault, re.Pattern[str]], ...] = (
    (LLMFault.KEY, re.compile(r"api[ _]key not valid|api_key_invalid|invalid x-api-key", re.IGNORECASE)),
    (LLMFault.NO_QUOTA, re.compile(r"credit balance is too low|insufficient_quota|billing_not_active|"
                                   r"budget has been exceeded|budget_exceeded",
                                   re.IGNORECASE)),
    (LLMFault.TOO_MUCH, re.compile(r"request too large|reduce your message size|must be reduced in order",
                                   re.IGNORECASE)),
    (LLMFault.NO_TOOLS, re.compile(r"(not|n't|that) support (tools\b|tool use|(tool|function).?call)|"
                                   r"tool use (is )?not supported|requires --(jinja|enable-auto-tool-choice)",
                                   re.IGNORECASE)),
    (LLMFault.REFUSED, re.compile(r"content_?policy|content management policy|content_filter|"
                                  r"flagged (as|by)|safety (system|policy)|moderation", re.IGNORECASE)),
    (LLMFault.TOO_LONG, re.compile(r"maximum context length|exceeds the (available|maximum) context|"
                                   r"maximum model length|loaded with context length|"
                                   r"prompt is too long|context_length_exceeded|exceed_context_size|"
                                   r"input token count .{0,40}exceeds|maximum number of tokens allowed",
                                   re.IGNORECASE)),
    (LLMFault.CUT_OFF, re.compile(r"does not match the expected [\w-]+ format", re.IGNORECASE)),
)  # fmt: skip
_STATUS_WORDS = (
    (429, re.compile(r"rate.?limit|too many requests", re.IGNORECASE)),
    (503, re.compile(r"overload|server.?error|internal|unavailable|upstream", re.IGNORECASE)),
)
"""Pairs of an HTTP status and a pattern of error texts that imply it, for errors that carry no status."""
_NEVER_LEFT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"})
_UNREADABLE = (AttributeError, TypeError, LookupError, ValueError)
"""Exceptions that clients raise when a reply is not a chat model's message."""
_PAGE = re.compile(r"\s*<(!doctype|html|\?xml)", re.IGNORECASE)
_TITLE = re.compile(r"<title>([^<]{1,200})</title>", re.IGNORECASE)
_DELAY = re.compile(r"retry in (\d{1,6}(?:\.\d+)?) ?s|retryDelay\W+(\d{1,6}(?:\.\d+)?)s", re.IGNORECASE)


def classify(error: Exception) -> LLMFault:
    """Return the kind of failure that a provider's exception stands for."""
    if getattr(error, "code", None) == "insufficient_quota":
        return LLMFault.NO_QUOTA
    if _redirect_in(error):
        return LLMFault.OTHER
    if type(error).__name__ in _NAMES:
        return _NAMES[type(error).__name__]
    status = status_of(error)
    told = (
        _fault_in_words(words_of(error), status)
        if status is not None or isinstance(error, ModelError)
        else None
    )
    kind = next((fault for kind, fault in _KINDS if isinstance(error, kind)), None)
    if told or kind:
        return told or kind or LLMFault.OTHER
    if status is not None:
        return LLMFault.BROKEN if status >= 500 else _STATUSES.get(status, LLMFault.OTHER)
    return _unreadable(error)


def _fault_in_words(said: str, status: int | None) -> LLMFault | None:
    """Return the kind of failure that a server's words name, given its HTTP status; `None` if none."""
    if refused_ability(said) == "max_tokens":
        return LLMFault.NOT_TAKEN  # the reply may be too long, not the prompt
    for fault, pattern in _WORDS:
        if pattern.search(said):
            return fault
    speaks = status in (None, 400, 415, 422, 500, 501) or "no endpoints" in said.casefold()
    refused = speaks and refused_ability(said)
    return LLMFault.NOT_TAKEN if refused else None


def _unreadable(error: Exception) -> LLMFault:
    """Return the kind of failure of a reply with status 200 that the client cannot read as a message."""
    seen = [str(getattr(one, "doc", "")) for one in _causes(error)] + [str(error)]
    if any(_PAGE.match(text) for text in seen) or "'str' object has no attribute" in seen[-1]:
        return LLMFault.NO_CHAT
    if isinstance(error, _UNREADABLE) or any(isinstance(one, JSONDecodeError) for one in _causes(error)):
        return LLMFault.UNREADABLE
    return LLMFault.OTHER


def status_of(error: Exception) -> int | None:
    """Return the HTTP status that a provider's exception, or one of its causes, carries; `None` without one.

    For errors within a stream, or with status 200, it is the one that their code or words stand for.
    """
    for one in _causes(error):
        body = getattr(one, "body", None)
        told = body.get("error", body) if isinstance(body, Mapping) else None
        inner = told if isinstance(told, Mapping) else {}
        for status in (getattr(one, "status_code", None), getattr(one, "code", None), inner.get("code")):
            found = int(str(status)) if str(status).isdecimal() else 0
            if 400 <= found < 600:
                return found
        if told is not None:
            said = json.dumps(told, default=str)
            return next((status for status, words in _STATUS_WORDS if words.search(said)), None)
    return None


def words_of(error: Exception) -> str:
    """Return the server's own error text, else the client library's; without any text of the request."""
    if redirect := _redirect_in(error):
        return str(redirect)
    bodies = [getattr(one, "body", None) for one in _causes(error)]
    said = next(filter(None, map(_said_in, bodies)), None)
    status = status_of(error)
    if said is None:
        return str(error) or type(error).__name__
    return said if status is None or str(status) in said else f"{said} (HTTP {status})"


def _redirect_in(error: Exception) -> RedirectRefused | None:
    """Return the `RedirectRefused` among an exception and its causes; `None` if there is none."""
    return next((one for one in _causes(error) if isinstance(one, RedirectRefused)), None)


def _said_in(body: object, depth: int = 4) -> str:
    """Return the message in an error's body, up to `depth` levels deep, or a page's title; "" for none."""
    if isinstance(body, str):
        title = _TITLE.search(body) if _PAGE.match(body) else None
        return title[1].strip() if title else "" if _PAGE.match(body) else body.strip()
    if isinstance(body, Mapping) and depth:
        names = ("error", "message", "detail", "msg")
        return next(filter(None, (_said_in(body.get(name), depth - 1) for name in names)), "")
    if isinstance(body, list) and depth:
        return "; ".join(filter(None, (_said_in(one, depth - 1) for one in body[:5])))
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and then, one by one, the exceptions that caused it."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def retry_after(error: Exception) -> float | None:
    """Return the seconds that a server asks to wait in its error; `None` if it names none, or a past time.

    From the headers `retry-after-ms` and `Retry-After`, else from `retryDelay` or the words of Gemini.
    """
    for one in _causes(error):
        headers = getattr(getattr(one, "response", None), "headers", None) or {}
        if exactly := asked_wait(headers.get("retry-after-ms")):
            return exactly / 1000
        if wait := asked_wait(headers.get("retry-after")):
            return wait
    if status_of(error) in (429, 503) and (told := _DELAY.search(str(error))):
        return float(told[1] or told[2])
    return None


def usage_in(error: Exception) -> Usage:
    """Return the tokens that a failed request used, by its exception; zeros if that says nothing."""
    usage = getattr(getattr(error, "completion", None), "usage", None)
    if usage is None:
        return Usage()
    counts = (usage.prompt_tokens, usage.completion_tokens)
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return Usage()
    return Usage(input_tokens=counts[0], output_tokens=counts[1])


def may_be_billed(error: Exception) -> bool:
    """Return whether a failed request may have been billed: it was sent, and no reply arrived."""
    if status_of(error) is not None or classify(error) is not LLMFault.BROKEN:
        return False
    return not never_left(error)


def never_left(error: Exception) -> bool:
    """Return whether a failed request reached no server at all."""
    return any(
        type(cause).__name__ in _NEVER_LEFT or isinstance(cause, ConnectionRefusedError | gaierror)
        for cause in _causes(error)
    )


def redaction_of(model: BaseLanguageModel[Any]) -> Redaction:
    """Return a redaction that removes the model's keys and URL credentials, and those of the environment."""
    values = [getattr(model, field, None) for field in type(model).model_fields]
    keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    return Redaction.of(keys, urls=[value for value in values if isinstance(value, str) and "://" in value])


def in_a_line(text: str, redaction: Redaction, most: int = MAX_TEXT) -> str:
    """Return a text on one line, at most `most` characters, without anything that is or looks like a key.

    Args:
        text: of anybody.
        redaction: takes keys out.
        most: letters.
    """
    # Cut first, since a server may send megabytes.
    text = " ".join(whole_text(redaction.text(text[: 20 * most])).split())
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
