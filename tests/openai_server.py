"""A local server that speaks the chat completions format, for tests over real HTTP.

    with ChatServer([reply({"place_type": "bar"})]) as server:
        mind = open_mind("openai:test", cache_dir=None, base_url=server.url)

Each request is answered by the next behaviour of the script; the last one is repeated. Requests are kept in
`server.requests`.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import LoopbackServer, Quiet


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: dict[str, Any]
    at: float
    """Seconds on the monotonic clock."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a request is answered."""

    status: int = 200
    body: Mapping[str, Any] | str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the answer."""


Answer = Behaviour | Callable[[Request], Behaviour]


def text(
    content: str | None,
    *,
    refusal: str | None = None,
    finish: str = "stop",
    input_tokens: int = 100,
    cached_tokens: int = 0,
    output_tokens: int = 10,
    delay: float = 0.0,
) -> Behaviour:
    """A chat completion with this text, or with a refusal."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return Behaviour(body=_completion(choice, input_tokens, cached_tokens, output_tokens), delay=delay)


def reply(fields: Mapping[str, Any], **usage: Any) -> Behaviour:
    """A chat completion whose text is this JSON object."""
    return text(json.dumps(fields), **usage)


def tool_call(arguments: str, name: str) -> Behaviour:
    """A chat completion that calls a tool with these arguments, JSON or not."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    choice = {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [call]}}
    return Behaviour(body=_completion(choice | {"finish_reason": "tool_calls"}))


def tool_calls(
    *called: tuple[str, Mapping[str, Any] | str], said: str | None = None, **usage: int
) -> Behaviour:
    """A chat completion that calls tools, each given by its name and its arguments: an object, or text as is.

    Ids are `call_1`, `call_2` ... in every completion anew.
    """
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for number, (name, arguments) in enumerate(called, 1)
    ]
    message = {"role": "assistant", "content": said, "tool_calls": calls}
    return Behaviour(
        body=_completion({"index": 0, "message": message, "finish_reason": "tool_calls"}, **usage)
    )


def refusal(said: str) -> Behaviour:
    """A model that will not answer."""
    return text(None, refusal=said)


def fault(status: int, message: str = "", code: str | None = None, **headers: str) -> Behaviour:
    """An HTTP error; `retry_after="1"` becomes the header `retry-after: 1`."""
    body = {"error": {"message": message or f"status {status}", "type": "error", "code": code}}
    return Behaviour(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def _completion(
    choice: Mapping[str, Any], input_tokens: int = 100, cached_tokens: int = 0, output_tokens: int = 10
) -> dict[str, Any]:
    usage = {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached_tokens},
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "test",
        "choices": [choice],
        "usage": usage,
    }


class ChatServer(LoopbackServer):
    """A server on a free loopback port, in a thread of its own, until the `with` block ends."""

    def __init__(self, script: Sequence[Answer] = ()) -> None:
        self.script = list(script)
        self.requests: list[Request] = []
        self._turn = threading.Lock()
        super().__init__(self._handler())

    @property
    def url(self) -> str:
        """Base URL, such as `http://127.0.0.1:40123/v1`."""
        return f"http://{self.host}/v1"

    def _next(self, request: Request) -> Behaviour:
        with self._turn:
            index = min(len(self.requests), len(self.script) - 1)
            self.requests.append(request)
        answer = self.script[index]
        return answer if isinstance(answer, Behaviour) else answer(request)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        chat = self

        class Handler(Quiet, BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length))
                headers = {name.lower(): value for name, value in self.headers.items()}
                behaviour = chat._next(Request(self.path, headers, body, time.monotonic()))
                time.sleep(behaviour.delay)
                content = behaviour.body if isinstance(behaviour.body, str) else json.dumps(behaviour.body)
                data = content.encode()
                try:
                    self.send_response(behaviour.status)
                    for name, value in behaviour.headers.items():
                        self.send_header(name, value)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client gave up waiting

        return Handler
