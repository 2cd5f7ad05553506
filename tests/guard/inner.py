"""All that the guard uses of virl's inside, so that renames are followed in one place."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from overpass_server import Answer, OverpassServer, match, town_xml
from rentcast_server import RentCastServer, records
from scripted_service import Reply, ScriptedService
from servers.mapillary.app import make_app as mapillary_app
from servers.options import MapServeOptions, UploadOptions
from servers.panoramax.app import make_app as panoramax_app
from servers.town import map_app
from shapely import box
from typer.testing import CliRunner

from virl.cli.main import app
from virl.geo.globe import LatLng
from virl.geo.polyline import encode_polyline
from virl.money.ledger import Ledger
from virl.platform.city.city import City, Listings
from virl.platform.providers.cities import Access, open_city, opened_city
from virl.platform.providers.rentcast.client import open_rentcast
from virl.platform.providers.rentcast.listings import RentCastListings
from virl.serve.city_server import served_app
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

Town = Literal["overpass", "nominatim", "osrm"]


@dataclass(frozen=True, slots=True)
class Modes:
    """How a service is asked."""

    limit_usd: float | None = None
    cache: Literal["off", "ttl"] = "off"
    record: Path | None = None
    replay: Path | None = None


class Money:
    """A book of what is paid, and what meters counted."""

    def __init__(self, book: Path, limit_usd: float | None) -> None:
        self.ledger = Ledger(limit_usd, book=book)
        self._book = book
        self._meter: Any = None

    def lines(self) -> list[str]:
        """Return the book's lines, the sum paid and the meter's counts."""
        book = self._book.read_text().splitlines() if self._book.exists() else []
        counted = self._meter.total() if self._meter else None
        names = ("sent", "cached", "billed", "usd", "received") if counted else ()
        counts = [f"{name} {json.dumps(getattr(counted, name), sort_keys=True)}" for name in names]
        return [*book, f"paid {self.ledger.spent_usd:.6f}", *counts]

    def count(self, meter: Any) -> None:
        """Read this meter too."""
        self._meter = meter

    def access(self, modes: Modes) -> Access:
        """Return how a city is asked on this budget."""
        return Access(ledger=self.ledger, cache=modes.cache, record=modes.record, replay=modes.replay)


@contextmanager
def city(file: Path, money: Money, modes: Modes) -> Iterator[City]:
    """Open a city by its file."""
    with opened_city(str(file), money.access(modes)) as opened:
        money.count(opened.ledger)
        yield opened


@contextmanager
def rentcast(_: Path, money: Money, modes: Modes) -> Iterator[Listings]:
    """Open RentCast's listings."""
    with open_rentcast(money.access(modes)) as http:
        money.count(http.ledger)
        yield RentCastListings(http)


@contextmanager
def command(_: Path, money: Money, modes: Modes) -> Iterator[Callable[..., str]]:
    """Give what runs a command of virl in this process and returns what it printed."""

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, list(arguments))
        return f"exit status {done.exit_code}\n{done.output}"

    yield run


@contextmanager
def google_server() -> Iterator[str]:
    """Serve Virlton as Google does."""
    with serve_city(open_city("virlton"), ServeOptions(lossless=True, page_delay_s=0.0)) as server:
        yield server.url


@contextmanager
def pictures_server(make_app: Callable[..., Any]) -> Iterator[str]:
    """Serve pictures of Virlton's streets, as people share them."""
    with served_app(partial(make_app, open_city("virlton"), UploadOptions(width=512))) as server:
        yield server.url


@contextmanager
def map_server(name: Town) -> Iterator[str]:
    """Serve a service of open maps of Virlton."""
    with map_app(name, "virlton", MapServeOptions()) as make, served_app(make) as server:
        yield server.url


@contextmanager
def valhalla_server() -> Iterator[str]:
    """Serve the same route and times of Valhalla to all that ask."""
    corners = [LatLng(41.2500, -38.7500), LatLng(41.2500, -38.7510), LatLng(41.2508, -38.7510)]
    maneuvers = [
        {"street_names": ["Long Street"], "begin_shape_index": 0, "end_shape_index": 1},
        {"street_names": ["Side Street"], "begin_shape_index": 1, "end_shape_index": 2},
        {"begin_shape_index": 2, "end_shape_index": 2},
    ]
    shape = encode_polyline(corners, 6)
    leg = {"summary": {"time": 160.0, "length": 0.17}, "shape": shape, "maneuvers": maneuvers}
    matrix = {"sources_to_targets": [[{"time": 61}, {"time": None}]]}
    scripts = {"/route": [Reply({"trip": {"legs": [leg]}})], "/sources_to_targets": [Reply(matrix)]}
    with ScriptedService(scripts) as server:
        yield server.url


@contextmanager
def rentcast_server() -> Iterator[str]:
    """Serve one page of three homes."""
    with RentCastServer([records(3)]) as server:
        yield server.url


@contextmanager
def download_server() -> Iterator[str]:
    """Serve an extract and a place of that name, as Overpass and Nominatim do for downloads."""
    with OverpassServer([Answer(town_xml())], places=[match("Kylä")]) as server:
        yield f"http://{server.host}"


panoramax_server = partial(pictures_server, panoramax_app)
mapillary_server = partial(pictures_server, mapillary_app)
AUSTIN = box(-97.1, 29.9, -96.9, 30.1)
