"""Replies that come whole and with status 200, and that their reader cannot use."""

from pathlib import Path

import pytest
from scripted_google import PICTURE, ScriptedGoogle, answer, client, good

from virl.errors import NotFound, ProviderError
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Camera
from virl.platform.providers.google.client import Call, GoogleHttp
from virl.platform.providers.google.maps import geocode
from virl.platform.providers.google.static import nearest_of, static_view
from virl.platform.providers.google.tiles import PanoramaTiles
from virl.platform.providers.http.stored_replies import ReplyCache

HERE = LatLng(1.0, 2.0)
SMALL = Camera(0.0, width=16, height=16)
HALF = PICTURE[: len(PICTURE) // 2]
SESSION = good({"session": "s", "expiry": "9999999999"})
METADATA = {"panoId": "p", "lat": 1, "lng": 2, "imageWidth": 64, "imageHeight": 32, "tileWidth": 64}
GEOCODED = {"status": "OK", "results": [{"geometry": {"location": {"lat": 1, "lng": 2}}}]}


@pytest.mark.parametrize("wrong", [{}, {"results": [{"geometry": {}}]}, {"status": "OK", "results": [3]}])
def test_an_address_without_what_is_needed_is_not_found_and_asked_once(wrong: dict[str, object]) -> None:
    with ScriptedGoogle([good(wrong), good(GEOCODED)]) as server, client(server) as http:
        with pytest.raises((NotFound, ProviderError)):
            geocode(http, "1 Main St")
        assert sum(one.count for one in http.keeping.left_out.omissions()) == len(wrong.get("results", ()))
    assert len(server.requests) == 1


@pytest.mark.parametrize("wrong", [{}, {"status": "OK"}, {"status": "OK", "pano_id": "p"}])
def test_metadata_without_what_is_needed_is_refused_and_asked_once(wrong: dict[str, object]) -> None:
    with (
        ScriptedGoogle([good(wrong)]) as server,
        client(server) as http,
        pytest.raises(ProviderError, match="lacks a field, or has a wrong one"),
    ):
        nearest_of(http, HERE, 50.0, outdoor=True)
    assert len(server.requests) == 1


@pytest.mark.parametrize("wrong", [{}, METADATA | {"lat": 91}])
def test_a_panorama_without_what_is_needed_is_refused_and_asked_once(wrong: dict[str, object]) -> None:
    with (
        ScriptedGoogle([SESSION, good(wrong)]) as server,
        client(server) as http,
        pytest.raises(ProviderError, match="lacks a field, or has a wrong one"),
    ):
        PanoramaTiles(http).capture("p")
    assert len(server.requests) == 2


def test_half_a_picture_costs_one_request_more(tmp_path: Path) -> None:
    with ScriptedGoogle([answer(200, HALF), answer(200, PICTURE)]) as server:
        for _ in range(2):
            with kept_in(tmp_path, server) as http:
                assert static_view(http, "p", SMALL).shape == (16, 16, 3)
    assert len(server.requests) == 2  # the second run finds the good one


def test_what_an_earlier_virl_kept_is_asked_for_again_if_it_cannot_be_read(tmp_path: Path) -> None:
    call = Call("static_image", query={"pano": "p"})
    with ScriptedGoogle([answer(200, PICTURE)]) as server:
        with kept_in(tmp_path, server) as http:
            http.bytes(http.request(call))
        spoil(tmp_path)
        with kept_in(tmp_path, server) as http:
            assert http.bytes(http.request(call)) == PICTURE
    assert len(server.requests) == 2


def kept_in(folder: Path, server: ScriptedGoogle) -> GoogleHttp:
    return client(server, cache=ReplyCache(folder), session="a run")


def spoil(folder: Path) -> None:
    """Cut what a cache keeps in half."""
    cache = ReplyCache(folder)
    cache._run("UPDATE replies SET body = substr(body, 1, length(body) / 2)")
    cache.close()
