"""Command lines of the stand-ins, such as `python -m servers.panoramax`."""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

from starlette.types import ASGIApp

from servers.options import MapServeOptions, UploadOptions
from servers.town import MapServer, map_app
from virl.errors import VirlError
from virl.platform.city.city import City
from virl.platform.providers.cities import open_city
from virl.serve.city_server import Pools, Stats, serve_app
from virl.serve.faults import parse_faults
from virl.serve.running import Address

OptionsT = TypeVar("OptionsT", MapServeOptions, UploadOptions)


def serve_pictures(
    service: str, port: int, make_app: Callable[[City, UploadOptions, Stats, Pools], ASGIApp], *names: str
) -> None:
    """Serve the pictures of drives through a town until the process is interrupted.

    Args:
        service: name of the service that is stood in for.
        port: default of `--port`.
        make_app: makes the application.
        names: fields of `UploadOptions` that can be set, beside those of every server.
    """
    with _ended_in_a_line():
        city, chosen, options = _read(service, port, UploadOptions, names)
        town = open_city(city)
        serve_app(partial(make_app, town, options), Address(port=chosen), partial(_tell, service, city))


def serve_map(service: MapServer, port: int, *names: str) -> None:
    """Serve a map of a town until the process is interrupted.

    Args:
        service: name of the service that is stood in for.
        port: default of `--port`.
        names: fields of `MapServeOptions` that can be set, beside those of every server.
    """
    with _ended_in_a_line():
        city, chosen, options = _read(service, port, MapServeOptions, names)
        with map_app(service, city, options) as make_app:
            serve_app(make_app, Address(port=chosen), partial(_tell, service, city))


def _read(service: str, port: int, kind: type[OptionsT], names: tuple[str, ...]) -> tuple[str, int, OptionsT]:
    """Return the city, the port and the options of the command line."""
    parser = ArgumentParser(
        prog=f"python -m servers.{service}",
        description=f"Serve a town as {service} does. The fields of {kind.__name__} explain the options.",
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    usual = kind()
    parser.add_argument("--city", default="virlton", help="made town, twin, or path of an extract")
    parser.add_argument("--port", type=int, default=port, help="0 takes a free one")
    parser.add_argument("--fault", default="", help="429:0.05,504:0.02,timeout:0.01,garbage:0.01,half:0.01")
    parser.add_argument("--retry-after", type=int, help="seconds in that header of 429 and 503 replies")
    for name in ("seed", "latency_ms", *names):
        value = getattr(usual, name)
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value, help=" ")
    given = vars(parser.parse_args())
    city, chosen, faults = given.pop("city"), given.pop("port"), parse_faults(given.pop("fault"))
    return city, chosen, kind(faults=faults, retry_after_s=given.pop("retry_after"), **given)


def _tell(service: str, city: str, url: str) -> None:
    print(f"Serving {service} of {city} at {url}", flush=True)


@contextmanager
def _ended_in_a_line() -> Iterator[None]:
    """Turn a user's error into one line and exit code 1, and an interruption into a quiet end."""
    with suppress(KeyboardInterrupt):
        try:
            yield
        except VirlError as fault:
            raise SystemExit(f"virl: {fault}") from None
