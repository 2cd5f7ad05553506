"""What no client should send, and what the server says to it."""

import socket
import time

import httpx
import numpy as np
import pytest
from raw_http import all_of, connection, head

from virl.platform.city.city import City
from virl.serve.city_server import ServedCity
from virl.serve.gate import RequestLimits
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city
from virl.serve.google.streetview import PanoramaParts

NEARBY = "/v1/places:searchNearby"


@pytest.mark.parametrize("path", ["/maps/api/elevation/json", "/v1/places/a%2Fb/photos/c/media", "/v2/none"])
def test_unknown_paths(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"] == {"code": 404, "message": "Method not found.", "status": "NOT_FOUND"}


def test_another_method_than_the_one_needed(client: httpx.Client) -> None:
    assert client.get(NEARBY).json()["error"]["status"] == "NOT_FOUND"


def test_deep_json_and_large_bodies(client: httpx.Client) -> None:
    deep = client.post(NEARBY, content=b"[" * 50_000 + b"]" * 50_000)
    assert (deep.status_code, deep.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    large = client.post(NEARBY, content=b" " * 1_500_000)
    assert (large.status_code, large.json()["error"]["status"]) == (413, "INVALID_ARGUMENT")


@pytest.mark.slow
def test_half_a_body(city: City) -> None:
    with serve_city(city, ServeOptions(limits=RequestLimits(body_s=0.2))) as server:
        host = server.url.removeprefix("http://")
        with connection(server.url) as opened:
            opened.sendall(head(host, "Content-Length: 9", method="POST", path=f"{NEARBY}?key=k"))
            answer = all_of(opened).decode()
    assert " 408 " in answer
    assert "DEADLINE_EXCEEDED" in answer


@pytest.mark.slow
def test_a_client_that_leaves_is_no_error(server: ServedCity, caplog: pytest.LogCaptureFixture) -> None:
    host = server.url.removeprefix("http://")
    for path, rest in (
        (f"{NEARBY}?key=k", b"{"),
        ("/maps/api/streetview/metadata?key=k&location=41.25,-38.75", b""),
    ):
        with connection(server.url) as opened:
            length = f"Content-Length: {100 * len(rest)}"
            opened.sendall(head(host, length, method="POST" if rest else "GET", path=path) + rest)
            opened.shutdown(socket.SHUT_RDWR)
    time.sleep(0.3)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/maps/api/streetview", {"size": "\u0661\u0666x16", "pano": "vt-00042"}),
        ("/maps/api/streetview", {"size": "16x16", "pano": "vt-00042", "heading": "\u0663"}),
    ],
)
def test_digits_of_other_scripts(client: httpx.Client, path: str, parameters: dict[str, str]) -> None:
    assert client.get(path, params=parameters).status_code == 400


@pytest.mark.parametrize(
    ("path", "lists"),
    [
        ("/maps/api/streetview/metadata", set()),
        ("/maps/api/geocode/json", {"results"}),
        ("/maps/api/directions/json", {"geocoded_waypoints", "routes"}),
        ("/maps/api/place/nearbysearch/json", {"html_attributions", "results"}),
        ("/maps/api/place/findplacefromtext/json", {"candidates"}),
    ],
)
def test_legacy_errors_hold_the_lists_of_their_answer(
    client: httpx.Client, path: str, lists: set[str]
) -> None:
    assert set(client.get(path).json()) == {"error_message", "status", *lists}


@pytest.mark.slow
def test_tiles_are_parts_of_the_panorama(city: City) -> None:
    provider = city.streetview
    assert isinstance(provider, PanoramaParts)
    whole = provider.panorama_part("vt-00042", 1024, 0, 0, (1024, 512)).astype(int)
    for left, top in ((0, 0), (900, 130), (300, 256)):
        part = provider.panorama_part("vt-00042", 1024, left, top, (256, 256))
        same = np.roll(whole, -left, axis=1)[top : top + 256, :256]
        assert np.mean(np.abs(part - same).max(axis=2) > 2) < 0.02


def test_sizes_of_photos_are_known_without_drawing_them(city: City) -> None:
    places = city.places
    shop = next(place for place in places.nearby(city.center, 400) if "park" not in place.types)
    assert places.photo_sizes(shop.id) == [places.photos(shop.id)[0].shape[1::-1]]  # type: ignore[attr-defined]
