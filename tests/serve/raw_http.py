"""HTTP as bytes on a socket, for requests that no client would send."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit


def connection(url: str, timeout: float = 20.0) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout)


def all_of(opened: socket.socket) -> bytes:
    """What comes until the server closes."""
    found = bytearray()
    try:
        while piece := opened.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return bytes(found)


def exchange(url: str, sent: bytes) -> tuple[int, str]:
    """Status and body of the answer to these bytes, after which the server has to close."""
    with connection(url) as opened:
        opened.sendall(sent)
        head, _, body = all_of(opened).partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()


def head(host: str, *headers: str, method: str = "GET", path: str = "/") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def message_of(body: str) -> str:
    """What a refusal says, which is one line of JSON."""
    assert "\n" not in body
    refused: dict[str, Any] = json.loads(body)
    return str(refused["error"]["message"])
