"""HTTP servers of tests."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class Quiet:
    """A base of handlers that do not write each request to the terminal."""

    def log_message(self, *_: object) -> None:
        """Do nothing."""


class LoopbackServer:
    """A server on a free loopback port, in threads of its own, until the `with` block ends."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def host(self) -> str:
        """Such as `127.0.0.1:40123`."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """Such as `http://127.0.0.1:40123`."""
        return f"http://{self.host}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
