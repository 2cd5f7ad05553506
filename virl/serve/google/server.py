"""Runs the server of a city: for good, or as long as a `with` block lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from virl.platform.city import City
from virl.serve.google.app import make_app
from virl.serve.google.options import ServeOptions
from virl.serve.google.stats import Stats
from virl.serve.running import LOOPBACK, run, running
from virl.serve.work import pools

DEFAULT_PORT = 8765


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
        host: the address to listen at; another than loopback needs a key in the options.
        port: the port; 0 takes a free one.

    Raises:
        BadInput: the port is taken, or the key is missing.
        VirlError: the server did not start.
    """
    options, stats = options or ServeOptions(), Stats()
    with (
        pools() as own,
        running(make_app(city, options, stats, own), host, port, options.key, options.limits) as url,
    ):
        yield ServedCity(url, stats)


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
        host: the address to listen at; another than loopback needs a key in the options.
        port: the port; 0 takes a free one.
        tell: gets the server's URL when it is known.

    Raises:
        BadInput: the port is taken, or the key is missing.
    """
    with pools() as own:
        run(make_app(city, options, Stats(), own), host, port, options.key, options.limits, tell)
