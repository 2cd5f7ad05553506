"""Serves the web mover's page to its browser: on loopback, from memory, under a secret address."""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import Thread

_PAGE = files("virl.platform.movement") / "web_page"


@contextmanager
def serve_page(settings: Mapping[str, str]) -> Iterator[str]:
    """Serve the page while the context is open.

    Args:
        settings: what the page asks for at its start, the key among them. It is sent to the page alone and
            stands in no file and in no address.

    Yields:
        The address of the page.
    """
    secret = secrets.token_urlsafe(16)
    content = {
        f"/{secret}/": ("text/html; charset=utf-8", (_PAGE / "index.html").read_bytes()),
        f"/{secret}/page.js": ("text/javascript; charset=utf-8", (_PAGE / "page.js").read_bytes()),
        f"/{secret}/settings": ("application/json", json.dumps(dict(settings)).encode()),
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(content))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{secret}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(content: Mapping[str, tuple[str, bytes]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10  # seconds a connection may stay silent

        def do_GET(self) -> None:
            kind, body = content.get(self.path, ("text/plain", b""))
            self.send_response(200 if self.path in content else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Says nothing."""

    return Handler
