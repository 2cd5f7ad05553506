"""Replies of Google's services, new and legacy: one kind for each endpoint, served over a socket."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from scripted_google import Behaviour, Request, ScriptedGoogle, client, settings_for
from served_google import FlatPhotos

from fuzz.mutate import mutate_http
from fuzz.session import Kind
from virl.geo.globe import LatLng, destination
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import open_city
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.maps import geocode
from virl.platform.providers.google.places import GooglePlaces
from virl.platform.providers.google.places_legacy import LegacyPlaces
from virl.platform.providers.google.places_new import NewPlaces
from virl.platform.providers.google.settings import Keys
from virl.platform.providers.google.streetview import GoogleStreetView
from virl.platform.providers.google.ways_legacy import LegacyWays
from virl.platform.providers.google.ways_new import RoutesApi
from virl.platform.providers.http.stored_replies import Keeping, Recording
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

Ask = Callable[[GoogleHttp], object]
PATIENT = {"read": 120.0, "total": 300.0}
"""Seconds: the server renders in this process, and the machine may be busy."""


@contextmanager
def google_kinds(folder: Path) -> Iterator[list[Kind]]:
    """The kinds; good replies are recorded in a folder from the server of Virlton."""
    city = open_city("virlton")
    asks = _asks(city)
    recorded = _recorded(city, asks, folder)
    with (
        ScriptedGoogle([]) as server,
        client(server, changes={"retries": {"further": 1}, "timeouts": PATIENT}) as http,
    ):
        raw = _Script(http, {name: bodies[0] for name, bodies in recorded.items()})
        server.script = [raw]
        kinds = []
        for name, bodies in recorded.items():

            def read(data: bytes, name: str = name) -> None:
                raw.damaged = (name, data)
                asks[name](http)
                server.requests.clear()

            kinds.append(Kind(f"google-{name}", bodies, read, mutate_http, 3))
        yield kinds


class _Script:
    """Answers an endpoint with a damaged reply, and the others with a good one."""

    def __init__(self, http: GoogleHttp, good: Mapping[str, bytes]) -> None:
        self.damaged = ("", b"")
        self._good = good
        endpoints = http.settings.endpoints.items()
        self._prefixes = sorted(((e.prefix, name) for name, e in endpoints), key=lambda one: -len(one[0]))

    def __call__(self, request: Request) -> Behaviour:
        name = next((name for prefix, name in self._prefixes if request.path.startswith(prefix)), "")
        name = "places_photo" if request.path.endswith("/media") else name
        return Behaviour(self.damaged[1] if name == self.damaged[0] else self._good.get(name, b""))


def _recorded(city: City, asks: Mapping[str, Ask], folder: Path) -> dict[str, list[bytes]]:
    """Whole good replies by endpoint."""
    served_city = replace(city, places=FlatPhotos(city.places))
    options = ServeOptions(page_delay_s=0.0, panorama_width=512)
    with ExitStack() as stack:
        server = stack.enter_context(serve_city(served_city, options))
        settings = settings_for(server.url, timeouts=PATIENT, map_tiles=True)
        http = stack.enter_context(GoogleHttp(settings, Keys("AIza-key"), Keeping(record=Recording(folder))))
        for ask in asks.values():
            ask(http)
    found = {}
    for name in asks:
        bodies = [file.read_bytes() for file in sorted((folder / name).glob("*.body"))[:4]]
        if name.endswith("details"):  # one asks for the place, the other for its photos
            bodies = [json.dumps(reduce(_merged, map(json.loads, bodies))).encode()]
        found[name] = [b"HTTP/1.1 200 OK\r\n\r\n" + body for body in bodies]
    return found


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    both = {**one, **other}
    return both | {"result": {**one["result"], **other["result"]}} if "result" in both else both


def _asks(city: City) -> dict[str, Ask]:
    """What is asked so that an endpoint is."""
    here = city.center
    panorama = city.streetview.nearest(here, 200)
    assert panorama
    there = destination(here, 90.0, 200.0)
    known = _place_with_photo(city, here)
    small, pano = Camera(20.0, width=64, height=48), panorama.id

    def new(http: GoogleHttp) -> GooglePlaces[NewPlaces]:
        return GooglePlaces(NewPlaces(http), here, GoogleOptions(nearby_requests=3))

    hasty = GoogleOptions(nearby_requests=3, page_wait=0.0)

    def old(http: GoogleHttp) -> GooglePlaces[LegacyPlaces]:
        return GooglePlaces(LegacyPlaces(http, hasty), here, hasty)

    return {
        "tiles_session": lambda http: GoogleStreetView(http).panorama(pano),
        "tiles_pano_ids": lambda http: GoogleStreetView(http).nearest_many([here, there], 50.0),
        "tiles_metadata": lambda http: GoogleStreetView(http).panorama(pano),
        "tiles_tile": lambda http: GoogleStreetView(http, GoogleOptions(imagery="tiles", zoom=0)).view(
            pano, small
        ),
        "static_metadata": lambda http: GoogleStreetView(http).nearest(here, 100.0),
        "tiles_thumbnail": lambda http: GoogleStreetView(http).view(pano, small),
        "static_image": lambda http: GoogleStreetView(http, GoogleOptions(thumbnails=False)).view(
            pano, small
        ),
        "places_nearby": lambda http: new(http).nearby(here, 150.0, ("restaurant",)),
        "places_text": lambda http: new(http).search("noodles"),
        "places_details": lambda http: new(http).details(known.id),
        "places_photo": lambda http: new(http).photos(known.id),
        "routes_compute": lambda http: RoutesApi(http).route([here, there], "walking"),
        "routes_matrix": lambda http: RoutesApi(http).times([here, there], [there], "WALK"),
        "geocode": lambda http: geocode(http, known.address),
        "legacy_nearby": lambda http: old(http).nearby(here, 150.0, ("restaurant",)),
        "legacy_text": lambda http: old(http).search("noodles"),
        "legacy_details": lambda http: old(http).details(known.id),
        "legacy_photo": lambda http: old(http).photos(known.id),
        "legacy_directions": lambda http: LegacyWays(http).route([here, there], "walking"),
        "legacy_matrix": lambda http: LegacyWays(http).times([here], [there], "walking"),
    }


def _place_with_photo(city: City, here: LatLng) -> Place:
    return next(place for place in city.places.nearby(here, 500.0) if place.address)
