"""A server on real sockets whose every reply is scripted down to the bytes, and clients that talk to it.

    with ScriptedGoogle([answer(500), good({"a": 1})]) as server:
        http = client(server)

Each request is met by the next behaviour of the script; the last one is repeated.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import PIL.Image
from served_google import keeping

from virl.platform.providers.google.client import Call, GoogleHttp, Pace
from virl.platform.providers.google.settings import GoogleSettings, Keys, at_base_url, load_google_settings


def _jpeg() -> bytes:
    """A picture of 16 by 16 pixels."""
    file = BytesIO()
    PIL.Image.new("RGB", (16, 16), "teal").save(file, "JPEG")
    return file.getvalue()


KEY = "AIzaMarkerKey-0123456789abcdefghijklmno"
SECRET = "bWFya2VyLXNlY3JldA=="  # noqa: S105
KEYS = Keys(KEY, SECRET)
PICTURE = _jpeg()


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    """Path and query as they came."""
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))


@dataclass(frozen=True)
class Behaviour:
    raw: bytes = b""
    """What is written; nothing at all closes the connection without a word."""
    delay: float = 0.0
    """Seconds before it is written."""
    drip: float = 0.0
    """Seconds between single bytes."""


Script = Sequence["Behaviour | Callable[[Request], Behaviour]"]


def answer(
    status: int, body: bytes | str | object = b"", headers: Mapping[str, str] | None = None, **more: Any
) -> Behaviour:
    """A whole reply; a body that is neither bytes nor text goes out as JSON."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = {"content-length": str(len(data)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return Behaviour(f"HTTP/1.1 {status} Whatever\r\n{head}\r\n".encode() + data, **more)


def good(body: object, **more: Any) -> Behaviour:
    return answer(200, body, **more)


def refusal(status: int, message: str, code: str = "INVALID_ARGUMENT", **headers: str) -> Behaviour:
    """An error as the New APIs word it; `retry_after="1"` becomes a header."""
    error = {"error": {"code": status, "message": message, "status": code}}
    return answer(status, error, {name.replace("_", "-"): value for name, value in headers.items()})


def half(body: bytes) -> Behaviour:
    """A reply that promises more than it sends before the connection closes."""
    return answer(200, body, {"content-length": str(len(body) + 100)})


SILENCE = Behaviour()
"""The connection closes without a word."""


@dataclass
class ScriptedGoogle:
    script: Script
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0

    def __enter__(self) -> "ScriptedGoogle":
        self._turn, self._now, self._stop = threading.Lock(), 0, threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self._threads: list[threading.Thread] = []
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._socket.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def _start(self, work: Callable[..., None], *values: object) -> None:
        thread = threading.Thread(target=work, args=values, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(10)
            try:
                request = _read(connection)
                if request is not None:
                    self._behave(connection, request)
            except OSError:
                pass  # the client gave up waiting

    def _behave(self, connection: socket.socket, request: Request) -> None:
        with self._turn:
            scripted = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(request)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        behaviour = scripted if isinstance(scripted, Behaviour) else scripted(request)
        self._stop.wait(behaviour.delay)
        with self._turn:
            self._now -= 1
        raw = behaviour.raw.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n", 1)
        if not behaviour.drip:
            connection.sendall(raw)
            return
        for byte in raw:
            connection.sendall(bytes([byte]))
            if self._stop.wait(behaviour.drip):
                return


def _read(connection: socket.socket) -> Request | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    method, target, _ = first.split(" ")
    return Request(method, target, headers, body)


def settings_for(base_url: str, **changes: Any) -> GoogleSettings:
    """The settings that come with virl, at another host, with fields changed: `retries={"further": 1}`."""
    data = at_base_url(load_google_settings(), base_url).model_dump()
    for name, value in changes.items():
        data[name] = data[name] | value if isinstance(value, dict) else value
    return GoogleSettings.model_validate(data)


@dataclass
class FakeTime:
    """A clock that moves only by waiting, and what was waited."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def pace(self) -> Pace:
        return Pace(clock=lambda: self.now, sleep=self.sleep, chance=lambda: 1.0)


def client(
    server: ScriptedGoogle | str,
    *,
    keys: Keys | None = KEYS,
    changes: Mapping[str, Any] | None = None,
    pace: Pace | None = None,
    **more: Any,
) -> GoogleHttp:
    """A client of the server that waits for nothing, without a cache unless one is given."""
    url = server if isinstance(server, str) else server.url
    return GoogleHttp(settings_for(url, **(changes or {})), keys, keeping(**more), pace or FakeTime().pace)


def json_of(http: GoogleHttp, call: Call) -> dict[str, Any]:
    """The JSON object that answers a call."""
    return http.json(http.request(call))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
