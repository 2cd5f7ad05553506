"""Runs a server: for good, or as long as a `with` block lasts."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn

from virl.errors import BadInput, VirlError
from virl.platform.city import City
from virl.serve.google.app import make_app
from virl.serve.google.options import ServeOptions
from virl.serve.google.stats import Stats

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8765
_STOP_S = 1  # seconds that open requests get when a server stops; chosen


class ServedCity:
    """A city that is being served. Made by `served`."""

    def __init__(self, url: str, stats: Stats) -> None:
        self.url = url
        self._stats = stats

    def stats(self) -> dict[str, Any]:
        """What `/stats` gives; see `Stats.snapshot`."""
        return self._stats.snapshot()

    def reset(self) -> None:
        """What `/stats/reset` does."""
        self._stats.reset()


@contextmanager
def served(
    city: City, options: ServeOptions | None = None, *, host: str = LOOPBACK, port: int = 0
) -> Iterator[ServedCity]:
    """Serve a city from a thread of its own until the block ends.

    Args:
        city: what is served.
        options: how the server behaves.
        host: the address to listen at.
        port: the port; 0 takes a free one.

    Raises:
        BadInput: the port is taken.
        VirlError: the server did not start.
    """
    stats = Stats()
    with _listening(host, port) as listener, _pool() as pool:
        server = uvicorn.Server(_config(city, options or ServeOptions(), stats, pool))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            _wait_for(server, thread)
            yield ServedCity(f"http://{host}:{listener.getsockname()[1]}", stats)
        finally:
            server.should_exit = True
            thread.join()


def serve(
    city: City,
    options: ServeOptions,
    host: str = LOOPBACK,
    port: int = DEFAULT_PORT,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a city until the process is interrupted.

    Args:
        city: what is served.
        options: how the server behaves.
        host: the address to listen at.
        port: the port; 0 takes a free one.
        tell: gets the server's URL when it is known.

    Raises:
        BadInput: the port is taken.
    """
    with _listening(host, port) as listener, _pool() as pool:
        tell(f"http://{host}:{listener.getsockname()[1]}")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(_config(city, options, Stats(), pool)).run(sockets=[listener])


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    # asyncio sends without delay only on sockets that name their protocol
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as fault:
            raise BadInput(
                f"cannot listen at {host}:{port} ({fault.strerror}): give another --port"
            ) from fault
        yield listener


def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="serve")


def _config(city: City, options: ServeOptions, stats: Stats, pool: ThreadPoolExecutor) -> uvicorn.Config:
    """No access log: its lines would hold keys."""
    return uvicorn.Config(
        make_app(city, options, stats, pool),
        access_log=False,
        log_level="warning",
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=_STOP_S,
    )


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    while not server.started:
        if not thread.is_alive():
            raise VirlError("the server did not start: see the log above")
        thread.join(0.01)
