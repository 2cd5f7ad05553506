"""A local server that repeats all it is sent, as a good reply or in an error, whoever's API is asked.

with EchoServer(401) as server: ...
"""

import base64
import json
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import quote, unquote

from loopback import LoopbackServer, Quiet

TOKENS = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}


class EchoServer(LoopbackServer):
    """On a free loopback port, until the `with` block ends.

    Args:
        status: what each request is answered with.
    """

    def __init__(self, status: int) -> None:
        self.status = status
        self.asked: list[str] = []
        """What was sent, each request with its headers as a text."""
        super().__init__(self._handler())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        echo = self

        class Handler(Quiet, BaseHTTPRequestHandler):
            def answer(self) -> None:
                sent = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                said = _said(self.path, dict(self.headers.items()), sent)
                echo.asked.append(said)
                if echo.status == 200:
                    body = _good(self.path, sent, said)
                else:
                    body = {"error": {"code": echo.status, "message": said, "status": "X", "type": said}}
                data = json.dumps(body).encode()
                self.send_response(echo.status)
                self.send_header("x-echo", quote(said, safe=" :/?&="))
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer  # noqa: N815

        return Handler


def _said(path: str, headers: dict[str, str], sent: str) -> str:
    """All secrets of a request first, since errors are shortened; in some spellings."""
    basic = headers.get("Authorization", headers.get("authorization", ""))
    decoded = base64.b64decode(basic[6:]).decode() if basic.startswith("Basic ") else ""
    names = ("authorization", "x-api-key", "x-goog-api-key")
    keys = " ".join(value for name, value in headers.items() if name.lower() in names)
    return f"{keys} {decoded} {path} {unquote(path)} {quote(keys)} {json.dumps(headers)} {sent[:300]}"


def _good(path: str, sent: str, said: str) -> Any:
    if path.startswith("/v1/listings"):
        return [{"id": "1", "formattedAddress": said, "price": said, "propertyType": said}]
    if "chat/completions" in path:
        message = {"role": "assistant", "content": _reply(sent, said)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": said, "object": "chat.completion", "created": 0, "model": said} | {
            "choices": [choice],
            "usage": TOKENS,
        }
    if path.startswith("/v1/messages"):
        return {
            "id": said,
            "type": "message",
            "role": "assistant",
            "model": said,
            "content": [{"type": "text", "text": _reply(sent, said)}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 10, "output_tokens": 10},
        }
    if "generateContent" in path:
        return {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": _reply(sent, said)}]},
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
            "modelVersion": said,
        }
    here = {"lat": 41.25, "lng": -38.75}
    return {"status": "OK", "pano_id": said, "location": here, "session": said, "panoId": said} | {
        "places": [{"id": said, "displayName": {"text": said}}],
        "results": [{"place_id": said, "name": said}],
        "links": [],
        "expiry": "9999999999",
        "date": said,
    }


def _reply(sent: str, said: str) -> str:
    """What fits the question that Hiro asks."""
    replies: dict[str, dict[str, Any]] = {
        "place_type": {"place_type": "restaurant"},
        "action": {"action": "continue", "reason": said},
        "index": {"index": 0, "reason": said},
        "summary": {"summary": said},
    }
    return json.dumps(next((one for name, one in replies.items() if f'"{name}"' in sent), {"reason": said}))
