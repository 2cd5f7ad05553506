"""A local server that answers with JSON, status and headers of a script, over real HTTP.

with ScriptedService({"/search": [Reply({"a": 1})]}) as server: ...

Each request to a path is met by the next reply of its script; the last one is repeated. A path that ends in
`*` stands for all that begin so.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from loopback import LoopbackServer, Quiet


@dataclass(frozen=True)
class Reply:
    body: object = ""
    """Bytes and text as they are, all else as JSON."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass(frozen=True)
class Asked:
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: Any


class ScriptedService(LoopbackServer):
    """What was asked is in `asked`."""

    def __init__(self, scripts: Mapping[str, Sequence[Reply | Callable[[Any], Reply]]]) -> None:
        self.asked: list[Asked] = []
        asked, left = self.asked, {path: list(script) for path, script in scripts.items()}

        class Handler(Quiet, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                path = unquote(parts.path)
                headers = {name.lower(): text for name, text in self.headers.items()}
                size = int(headers.get("content-length", 0))
                body = json.loads(self.rfile.read(size)) if size else None
                query = {name: texts[0] for name, texts in parse_qs(parts.query).items()}
                asked.append(Asked(path, query, headers, body))
                script = next(
                    (s for p, s in left.items() if p == path or _begins(p, path)), [Reply("no", 404)]
                )
                found = script.pop(0) if len(script) > 1 else script[0]
                reply = found if isinstance(found, Reply) else found(body)
                self.send_response(reply.status)
                for name, text in reply.headers.items():
                    self.send_header(name, text)
                self.send_header("content-length", str(len(reply.data)))
                self.end_headers()
                with suppress(ConnectionError):
                    self.wfile.write(reply.data)

            def do_POST(self) -> None:
                self.do_GET()

        super().__init__(Handler)


def _begins(pattern: str, path: str) -> bool:
    return pattern.endswith("*") and path.startswith(pattern[:-1])
