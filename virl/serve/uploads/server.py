"""Runs a server of shared pictures: for good, or as long as a `with` block lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from virl.platform.city import City
from virl.serve.google.server import ServedCity
from virl.serve.google.stats import Stats
from virl.serve.limits import RequestLimits
from virl.serve.running import LOOPBACK, run, running
from virl.serve.uploads.options import UploadOptions
from virl.serve.work import Pools, pools

MakeApp = Callable[[City, UploadOptions, Stats, Pools], ASGIApp]


@contextmanager
def served_pictures(
    make_app: MakeApp, city: City, options: UploadOptions | None = None, port: int = 0
) -> Iterator[ServedCity]:
    """Serve the pictures of a town over loopback, from a thread of its own, until the block ends.

    Args:
        make_app: of the service.
        city: a made town or a twin.
        options: how the server behaves.
        port: 0 takes a free one.

    Raises:
        BadInput: the port is taken, or the city cannot be served.
        VirlError: the server did not start.
    """
    stats = Stats()
    with (
        pools() as own,
        running(
            make_app(city, options or UploadOptions(), stats, own), LOOPBACK, port, None, RequestLimits()
        ) as url,
    ):
        yield ServedCity(url, stats)


def serve_pictures(
    make_app: MakeApp, city: City, options: UploadOptions, port: int, tell: Callable[[str], None]
) -> None:
    """Serve the pictures of a town over loopback until the process is interrupted.

    Args:
        make_app: of the service.
        city: a made town or a twin.
        options: how the server behaves.
        port: 0 takes a free one.
        tell: gets the server's URL when it is known.

    Raises:
        BadInput: the port is taken, or the city cannot be served.
    """
    with pools() as own:
        run(make_app(city, options, Stats(), own), LOOPBACK, port, None, RequestLimits(), tell)
