"""Runs a server of open maps over loopback: for good, or as long as a `with` block lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from virl.serve.google.server import ServedCity
from virl.serve.google.stats import Stats
from virl.serve.limits import RequestLimits
from virl.serve.running import LOOPBACK, run, running
from virl.serve.work import Pools, pools

MakeMapApp = Callable[[Stats, Pools], ASGIApp]


@contextmanager
def served_maps(make_app: MakeMapApp, port: int = 0) -> Iterator[ServedCity]:
    """Serve from a thread of its own until the block ends.

    Args:
        make_app: makes the application.
        port: 0 takes a free one.

    Raises:
        BadInput: the port is taken.
        VirlError: the server did not start.
    """
    stats = Stats()
    with pools() as own, running(make_app(stats, own), LOOPBACK, port, None, RequestLimits()) as url:
        yield ServedCity(url, stats)


def serve_maps(make_app: MakeMapApp, port: int, tell: Callable[[str], None]) -> None:
    """Serve until the process is interrupted.

    Args:
        make_app: makes the application.
        port: 0 takes a free one.
        tell: gets the server's URL when it is known.

    Raises:
        BadInput: the port is taken.
    """
    with pools() as own:
        run(make_app(Stats(), own), LOOPBACK, port, None, RequestLimits(), tell)
