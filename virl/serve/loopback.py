"""Runs a server that counts its requests: for good, or as long as a `with` block lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.types import ASGIApp

from virl.serve.limits import RequestLimits
from virl.serve.running import LOOPBACK, run, serve_in_thread
from virl.serve.stats import Stats
from virl.serve.work import Pools, pools

MakeApp = Callable[[Stats, Pools], ASGIApp]
USUAL_LIMITS = RequestLimits()


class ServedCity:
    """A city that is being served. Made by `served_app`."""

    def __init__(self, url: str, stats: Stats) -> None:
        self.url = url
        self._stats = stats

    def stats(self) -> dict[str, Any]:
        """Return the counts that `/stats` gives; see `Stats.snapshot`."""
        return self._stats.snapshot()

    def reset(self) -> None:
        """Reset the counts, as `/stats/reset` does."""
        self._stats.reset()


@contextmanager
def served_app(
    make_app: MakeApp,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    key: str | None = None,
    limits: RequestLimits = USUAL_LIMITS,
) -> Iterator[ServedCity]:
    """Serve from a thread of its own until the block ends.

    Args:
        make_app: makes the application.
        host: the address to listen at; another than loopback needs a key.
        port: 0 takes a free one.
        key: what clients have to show.
        limits: what one client may send.

    Raises:
        BadInput: the port is taken, or the key is missing.
        VirlError: the server did not start.
    """
    stats = Stats()
    with pools() as own, serve_in_thread(make_app(stats, own), host, port, key, limits) as url:
        yield ServedCity(url, stats)


def serve_app(
    make_app: MakeApp,
    port: int,
    tell: Callable[[str], None],
    *,
    host: str = LOOPBACK,
    key: str | None = None,
    limits: RequestLimits = USUAL_LIMITS,
) -> None:
    """Serve until the process is interrupted.

    Args:
        make_app: makes the application.
        port: 0 takes a free one.
        tell: gets the server's URL when it is known.
        host: the address to listen at; another than loopback needs a key.
        key: what clients have to show.
        limits: what one client may send.

    Raises:
        BadInput: the port is taken, or the key is missing.
    """
    with pools() as own:
        run(make_app(Stats(), own), host, port, key, limits, tell)
