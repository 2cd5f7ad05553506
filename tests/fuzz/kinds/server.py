"""Requests to the emulator of Google: any may be refused, none may end in a status of 500 or more."""

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import quote

from fastapi.testclient import TestClient
from served_google import FlatPhotos

from fuzz.mutate import mutate_bytes, mutate_json
from fuzz.session import Kind
from virl.errors import BadInput
from virl.geo.globe import LatLng, destination
from virl.platform.city.places import Place
from virl.platform.providers.cities import open_city
from virl.serve.city_server import Pools, Stats
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import make_app

KEY = "AIza-key"


@contextmanager
def server_kinds() -> Iterator[list[Kind]]:
    """The kinds: lines of a request (method, target, field mask) and bodies of JSON."""
    city = open_city("virlton")
    city = replace(city, places=FlatPhotos(city.places))
    options = ServeOptions(page_delay_s=0.0, panorama_width=512)
    with ThreadPoolExecutor(2) as pool:
        client = TestClient(make_app(city, options, Stats(), Pools(pool, pool)), raise_server_exceptions=True)

        def send(data: bytes) -> None:
            *head, body = _parts(data)
            method, target, mask = (part.decode("latin-1") for part in head)
            headers = {"x-goog-fieldmask": mask.encode("latin-1"), "x-goog-api-key": KEY.encode()}
            if (
                not target.startswith("/")
                or target.startswith("//")
                or not (method.isascii() and method.isalpha())
            ):
                raise BadInput("no client sends it")
            spelt = "".join(one if "!" <= one <= "~" else quote(one) for one in target)
            answer = client.request(method, spelt, content=body, headers=headers, follow_redirects=False)
            if answer.status_code >= 500:
                raise AssertionError(f"{answer.status_code}: {answer.text[:200]}")
            if answer.status_code >= 400:
                raise BadInput(f"{answer.status_code} {answer.text[:60]!r}")

        about = {"mapType": "streetview", "language": "en-US", "region": "US"}
        session = client.post(f"/v1/createSession?key={KEY}", json=about).json()["session"]
        here, there = city.center, destination(city.center, 90.0, 200.0)
        place = next(one for one in city.places.nearby(here, 500.0) if one.address)
        yield [
            Kind("server-line", list(_lines(here, there, place, session)), send, _mutate_line, 20),
            Kind("server-body", list(_bodies(here, there, session)), send, _mutate_body, 20),
        ]


def _lines(center: LatLng, end: LatLng, place: Place, session: str) -> Iterator[bytes]:
    here, there, key = f"{center.lat},{center.lng}", f"{end.lat},{end.lng}", f"session={session}&key={KEY}"
    for target in (
        f"/maps/api/streetview/metadata?location={here}&radius=50&{key}",
        f"/maps/api/streetview?pano=vt-00042&size=64x48&heading=20&pitch=0&fov=90&{key}",
        f"/v1/streetview/metadata?panoId=vt-00042&{key}",
        f"/v1/streetview/tiles/0/0/0?panoId=vt-00042&{key}",
        f"/maps/api/geocode/json?address={quote(place.address)}&bounds={here}|{here}&{key}",
        f"/maps/api/place/nearbysearch/json?location={here}&radius=100&type=cafe&{key}",
        f"/maps/api/place/textsearch/json?query=noodles&location={here}&radius=500&{key}",
        f"/maps/api/place/details/json?place_id={place.id}&fields=name,geometry/location&{key}",
        f"/maps/api/directions/json?origin={here}&destination={there}&mode=walking&waypoints={here}&{key}",
        f"/maps/api/distancematrix/json?origins={here}|{here}&destinations={there}&{key}",
        f"/v1/places/{place.id}",
        "/stats",
        "/maps/api/js?v=weekly&callback=f",
    ):
        yield f"GET\n{target}\n{'id,location' if 'places/' in target else ''}\n".encode()


def _bodies(center: LatLng, end: LatLng, session: str) -> Iterator[bytes]:
    here = {"latitude": center.lat, "longitude": center.lng}
    stop = {"location": {"latLng": here}}
    other = {"location": {"latLng": {"latitude": end.lat, "longitude": end.lng}}}
    circle = {"circle": {"center": here, "radius": 100.0}}
    yield _post("/v1/createSession", {"mapType": "streetview", "language": "en-US", "region": "US"})
    yield _post(
        f"/v1/streetview/panoIds?session={session}",
        {"locations": [{"lat": center.lat, "lng": center.lng}], "radius": 50},
    )
    yield _post(
        "/v1/places:searchNearby",
        {
            "locationRestriction": circle,
            "includedTypes": ["cafe"],
            "maxResultCount": 5,
            "rankPreference": "DISTANCE",
        },
        "places.id,places.location,places.displayName",
    )
    yield _post(
        "/v1/places:searchText", {"textQuery": "noodles", "pageSize": 5, "locationBias": circle}, "places.id"
    )
    route = {"origin": stop, "destination": other, "intermediates": [stop], "travelMode": "WALK"}
    yield _post("/directions/v2:computeRoutes", route, "routes.distanceMeters,routes.polyline")
    matrix = {"origins": [{"waypoint": stop}], "destinations": [{"waypoint": other}], "travelMode": "WALK"}
    yield _post("/distanceMatrix/v2:computeRouteMatrix", matrix, "originIndex,duration")


def _post(target: str, body: object, mask: str = "") -> bytes:
    return f"POST\n{target}\n{mask}\n".encode() + json.dumps(body).encode()


def _mutate_line(rng: random.Random, data: bytes) -> bytes:
    parts = _parts(data)
    at = rng.choice((0, 1, 1, 1, 1, 2))
    parts[at] = mutate_bytes(rng, parts[at])
    return b"\n".join(parts)


def _mutate_body(rng: random.Random, data: bytes) -> bytes:
    *head, body = _parts(data)
    return b"\n".join([*head, mutate_json(rng, body)])


def _parts(data: bytes) -> list[bytes]:
    """Method, target, field mask and body."""
    parts = data.split(b"\n", 3)
    return parts + [b""] * (4 - len(parts))
