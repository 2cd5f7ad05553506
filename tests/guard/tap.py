"""A server between a client and a stand-in: it writes down each request, and answers some by a fault."""

import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from loopback import LoopbackServer

KEY = "guard-key-0123456789-abcdefghijklmnopqr"
SECRET = "Z3VhcmQtc2VjcmV0LW9mLXNpZ25pbmctMDEyMw=="  # noqa: S105 - made up
_UNTOLD = frozenset({"host", "connection", "accept-encoding", "content-length", "accept"})


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer in place of the stand-in's."""

    name: str
    status: int = 200
    body: bytes | None = b""
    """`None` passes on the stand-in's answer, of which half is sent."""
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    """Whether the connection closes without an answer."""


@dataclass(slots=True)
class Log:
    """The lines of a case, and which of its requests meets a fault."""

    lines: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    """What each request asked, without what names things."""
    fault: Fault | None = None
    waited_s: float = 0.0
    """Seconds that clients asked to wait, since the process began."""
    at: int | None = None
    """The only request that meets it; `None` for all."""

    def next_fault(self) -> Fault | None:
        """Return the fault of the request that was written down last."""
        return self.fault if self.at in {None, len(self.heads) - 1} else None


class Tap(LoopbackServer):
    """Passes requests on to a stand-in, and its answers back.

    Args:
        name: of the service, for the log.
        upstream: the stand-in's URL.
        log: written to; may be that of several taps.
    """

    def __init__(self, name: str, upstream: str, log: Log) -> None:
        self.upstream, tap = urlsplit(upstream).netloc, self

        class Handler(BaseHTTPRequestHandler):
            wbufsize = 65536

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                log.lines += [tidy(line) for line in _told(name, self, body)]
                log.heads.append(
                    f"{name} {self.command} {re.sub(r'[^/]*[0-9].*', '', urlsplit(self.path).path)}"
                )
                fault = log.next_fault()
                if fault and fault.silent:
                    return
                if fault and fault.body is not None:
                    self._answer(fault.status, fault.headers, fault.body, 0)
                else:
                    status, headers, data = tap.forward(self, body)
                    half = len(data) // 2 if fault else len(data)
                    self._answer(status, headers, data[:half], len(data) - half)

            def do_POST(self) -> None:
                self.do_GET()

            def _answer(self, status: int, headers: Mapping[str, str], data: bytes, missing: int) -> None:
                self.send_response(status)
                for header, text in headers.items():
                    self.send_header(header, text)
                self.send_header("content-length", str(len(data) + missing))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
                pass

        super().__init__(Handler)

    def forward(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return the stand-in's answer, with this server's address for its own."""
        headers = {name: text for name, text in request.headers.items() if name.lower() != "accept-encoding"}
        connection = http.client.HTTPConnection(self.upstream, timeout=60)
        connection.request(request.command, request.path, body or None, headers | {"Host": self.upstream})
        answer = connection.getresponse()
        data = answer.read().replace(self.upstream.encode(), self.host.encode())
        connection.close()
        kept = ("content-type", "location", "retry-after")
        told = {name: text for name in kept if (text := answer.headers.get(name))}
        return (
            answer.status,
            {name: text.replace(self.upstream, self.host) for name, text in told.items()},
            data,
        )


def _told(name: str, request: BaseHTTPRequestHandler, body: bytes) -> list[str]:
    parts = urlsplit(request.path)
    headers = {one.lower(): text for one, text in request.headers.items() if one.lower() not in _UNTOLD}
    lines = [f"> {name} {request.command} {parts.path}"]
    lines += [f"    ? {key}={text}" for key, text in parse_qsl(parts.query, keep_blank_values=True)]
    lines += [f"    {header}: {text}" for header, text in sorted(headers.items())]
    return [*lines, f"    body {body.decode(errors='replace')}"] if body else lines


def tidy(text: str) -> str:
    """Return a text without keys, and what differs between two recordings by nature."""
    text = text.replace(KEY, "KEY").replace(SECRET, "KEY")
    text = re.sub(r"(127\.0\.0\.1|localhost):\d+", "HOST", text)
    text = re.sub(r"\b(oe|oh)=\w+", r"\1=SIGNED", text)  # address of a picture, good for an hour
    text = re.sub(r" at 0x[0-9a-f]+", " at ADDRESS", text)
    return re.sub(r"virl/\d[\w.]*", "virl/VERSION", text)


def words(message: str, status: int, code: str) -> bytes:
    """Return the body of a refusal that each of the services could have written."""
    error = {"code": status, "message": message, "status": code}
    return json.dumps({"code": code, "message": message, "error": error, "remark": message}).encode()
