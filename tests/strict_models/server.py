"""A server on loopback that speaks as one of the four providers and is as strict as it is."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import LoopbackServer, Quiet

from strict_models.answers import BODIES, Raw, Said, fault, streamed
from strict_models.rules import forms_of, request_faults


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came in."""

    provider: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: dict[str, Any]
    at: float
    """Seconds on the monotonic clock."""

    @property
    def text(self) -> str:
        """All of it, as JSON."""
        return json.dumps(self.body, ensure_ascii=False)


Answer = Said | Raw | Callable[[Request], Said | Raw]


class ModelServer(LoopbackServer):
    """A server on a free loopback port, in threads of its own, until the `with` block ends.

    Args:
        provider: `openai`, `anthropic`, `google_genai` or `ollama`.
        script: what is answered, in order; the last one is repeated.
        sees: whether the model takes pictures.
        refuses: the words with which it refuses a form of conversation, by the name of an `Ability`.
    """

    def __init__(
        self,
        provider: str,
        script: Sequence[Answer] = (),
        *,
        sees: bool = True,
        refuses: Mapping[str, str] = {},
    ) -> None:
        self.refuses = refuses
        self.provider, self.script, self.sees = provider, list(script), sees
        self.requests: list[Request] = []
        """Those that were taken."""
        self.refusals: list[str] = []
        """Why requests were refused."""
        self._turn = threading.Lock()
        super().__init__(self._handler())

    @property
    def url(self) -> str:
        """As the provider's client takes it."""
        root = f"http://{self.host}"
        return f"{root}/v1" if self.provider == "openai" else root

    def _next(self, request: Request) -> Said | Raw:
        faults = request_faults(request.provider, request.path, request.headers, request.body, sees=self.sees)
        forms = forms_of(request.provider, request.body) if self.refuses and not faults else set()
        faults += [words for form, words in self.refuses.items() if form in forms][:1]
        with self._turn:
            if faults:
                self.refusals.append("; ".join(faults))
                status = 401 if faults[0].startswith("key:") else 400
                return fault(self.provider, status, "; ".join(faults)[:2000])
            index = min(len(self.requests), len(self.script) - 1)
            self.requests.append(request)
        answer = self.script[index]
        return answer if isinstance(answer, Said | Raw) else answer(request)

    def _streams(self, request: Request) -> bool:
        return request.body.get("stream") is True or "streamGenerateContent" in request.path

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        models = self

        class Handler(Quiet, BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(models.provider, self.path, headers, body, time.monotonic())
                answer = models._next(request)
                time.sleep(answer.delay)
                try:
                    if isinstance(answer, Said) and models._streams(request):
                        self._stream(answer)
                    elif isinstance(answer, Said):
                        self._send(Raw(200, json.dumps(BODIES[models.provider](answer)).encode()))
                    else:
                        self._send(answer)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client gave up waiting

            def _send(self, answer: Raw) -> None:
                self.send_response(answer.status)
                for name, value in {"content-type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def _stream(self, said: Said) -> None:
                lines = models.provider == "ollama"
                self.send_response(200)
                self.send_header("content-type", "application/x-ndjson" if lines else "text/event-stream")
                self.end_headers()  # HTTP/1.0: the end of the connection is the end of the body
                for part in streamed(models.provider, said):
                    self.wfile.write(part)
                    self.wfile.flush()

        return Handler
