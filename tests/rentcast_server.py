"""A local server that speaks as the RentCast API does, over real HTTP.

with RentCastServer([records(3)]) as server: ...

Each request is met by the next behaviour of the script; the last one is repeated.
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl, urlsplit

from loopback import LoopbackServer, Quiet

KEY = "marker-key-0123456789"


@dataclass(frozen=True)
class Request:
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    """By lower-case name."""


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: object = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0
    """Seconds before each byte of the body."""


def record(number: int, **fields: object) -> dict[str, object]:
    """A listing as RentCast words it."""
    return {
        "id": f"{number}-Main-St,-Austin,-TX-78701",
        "formattedAddress": f"{number} Main St, Austin, TX 78701",
        "latitude": 30.0 + number / 10_000,
        "longitude": -97.0,
        "propertyType": "Apartment",
        "bedrooms": 2,
        "bathrooms": 1.5,
        "squareFootage": 1000,
        "yearBuilt": 1998,
        "status": "Active",
        "price": 1500 + number,
    } | fields


def records(count: int, first: int = 0) -> Answer:
    return Answer(body=[record(number) for number in range(first, first + count)])


def refusal(status: int, error: str, message: str, **headers: str) -> Answer:
    return Answer(status, {"status": status, "error": error, "message": message}, headers)


class RentCastServer(LoopbackServer):
    def __init__(self, script: Sequence[Answer]) -> None:
        self.requests: list[Request] = []
        script, requests = list(script), self.requests

        class Handler(Quiet, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                headers = {name.lower(): text for name, text in self.headers.items()}
                requests.append(Request(parts.path, dict(parse_qsl(parts.query)), headers))
                answer = script[min(len(requests), len(script)) - 1]
                body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, text in {"content-length": str(len(body)), **answer.headers}.items():
                    self.send_header(name.replace("_", "-"), text)
                self.end_headers()
                if not answer.pause:
                    self.wfile.write(body)
                    return
                with suppress(ConnectionError):  # the client gave up waiting
                    for byte in body:
                        time.sleep(answer.pause)
                        self.wfile.write(bytes([byte]))

        super().__init__(Handler)
