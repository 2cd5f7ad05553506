"""Runs the server of a city: for good, or as long as a `with` block lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from virl.platform.city.city import City
from virl.serve.google.app import make_app
from virl.serve.google.options import ServeOptions
from virl.serve.loopback import ServedCity, serve_app, served_app
from virl.serve.running import LOOPBACK

DEFAULT_PORT = 8765


@contextmanager
def serve_city(
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
    options = options or ServeOptions()
    app = partial(make_app, city, options)
    with served_app(app, host=host, port=port, key=options.key, limits=options.limits) as city_served:
        yield city_served


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
    app = partial(make_app, city, options)
    serve_app(app, port, tell, host=host, key=options.key, limits=options.limits)
