import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest
from raw_http import connection, head
from typer.testing import CliRunner

from virl import extras
from virl.cli.serve import serve_app
from virl.errors import BadInput
from virl.platform.city.city import City
from virl.platform.city.places import Places
from virl.platform.city.streetview import Image, Panorama, StreetView
from virl.serve.google import Faults, ServeOptions, parse_faults
from virl.serve.google.protojson import apply_mask, parse_mask
from virl.serve.google.server import serve_city

METADATA, IMAGE = "/maps/api/streetview/metadata", "/maps/api/streetview"
GEOCODE, DETAILS = "/maps/api/geocode/json", "/v1/places/place-0001"
SEEN = {"pano": "vt-00042", "size": "16x16"}


def codes(url: str, seed: int, count: int) -> list[int]:
    with httpx.Client(base_url=url, params={"key": "k"}, timeout=30) as client:
        return [
            client.get(DETAILS, params={"fields": "id", "n": f"{seed}-{i}"}).status_code for i in range(count)
        ]


def test_a_key_is_needed(client: httpx.Client) -> None:
    bare = httpx.Client(base_url=client.base_url, timeout=30)
    with bare:
        legacy = bare.get(GEOCODE, params={"address": "91 Station Street"})
        assert (legacy.status_code, legacy.json()["status"]) == (200, "REQUEST_DENIED")
        new = bare.get(DETAILS, params={"fields": "id"})
        assert (new.status_code, new.json()["error"]["status"]) == (403, "PERMISSION_DENIED")
        assert bare.get(IMAGE, params=SEEN).status_code == 403
        assert bare.get(DETAILS, params={"fields": "id"}, headers={"X-Goog-Api-Key": "k"}).status_code == 200


def test_a_wrong_key_is_refused(city: City) -> None:
    with (
        serve_city(city, ServeOptions(key="right")) as server,
        httpx.Client(base_url=server.url, timeout=30) as client,
    ):
        wrong = {"key": "wrong"}
        new = client.get(DETAILS, params={"fields": "id", **wrong})
        assert new.status_code == 400
        assert new.json()["error"]["details"][0]["reason"] == "API_KEY_INVALID"
        assert client.get(METADATA, params=SEEN | wrong).json()["status"] == "REQUEST_DENIED"
        assert client.get(IMAGE, params=SEEN | wrong).status_code == 403
        assert client.get(METADATA, params=SEEN | {"key": "right"}).json()["status"] == "OK"


@pytest.mark.slow
def test_after_its_quota_a_server_answers_only_what_is_free(city: City) -> None:
    options = ServeOptions(quota=2, retry_after_s=7)
    with (
        serve_city(city, options) as server,
        httpx.Client(base_url=server.url, params={"key": "k"}, timeout=30) as client,
    ):
        for _ in range(3):
            assert client.get(METADATA, params=SEEN).json()["status"] == "OK"
        assert [client.get(IMAGE, params=SEEN).status_code for _ in range(3)] == [200, 200, 429]
        new = client.get(DETAILS, params={"fields": "id"})
        assert (new.status_code, new.json()["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
        assert new.headers["retry-after"] == "7"
        assert client.get(GEOCODE, params={"address": "x"}).json()["status"] == "OVER_QUERY_LIMIT"
        server.reset()
        assert client.get(IMAGE, params=SEEN).status_code == 200


@pytest.mark.slow
def test_faults_come_at_their_rates_and_depend_on_the_seed_alone(city: City) -> None:
    options = ServeOptions(faults=parse_faults("429:0.2,500:0.1"), seed=5)
    with serve_city(city, options) as server:
        first = codes(server.url, 0, 300)
        counts = Counter(first)
        assert counts[429] == pytest.approx(60, abs=25)  # 3.6 standard deviations
        assert counts[500] == pytest.approx(30, abs=19)
        assert counts[200] == 300 - counts[429] - counts[500]
        assert server.stats()["faults"] == {"429": counts[429], "500": counts[500]}
    with serve_city(city, options) as server:
        assert codes(server.url, 0, 300) == first
    with serve_city(city, ServeOptions(faults=options.faults, seed=6)) as server:
        assert codes(server.url, 0, 300) != first


def test_a_request_tried_again_gets_through(city: City) -> None:
    with (
        serve_city(city, ServeOptions(faults=parse_faults("503:0.5"))) as server,
        httpx.Client(base_url=server.url, params={"key": "k", "fields": "id"}, timeout=30) as client,
    ):
        answers = [client.get(DETAILS).status_code for _ in range(40)]
        assert set(answers) == {200, 503}
        stats = server.stats()
        assert stats["good"]["places_details"] == answers.count(200)
        assert stats["repeated"]["places_details"] == answers.count(200) - 1


@pytest.mark.slow
def test_legacy_faults_have_legacy_bodies(city: City) -> None:
    for kind, code, status in (("429", 200, "OVER_QUERY_LIMIT"), ("500", 500, "UNKNOWN_ERROR")):
        with serve_city(city, ServeOptions(faults=parse_faults(f"{kind}:1"))) as server:
            answer = httpx.get(f"{server.url}{GEOCODE}", params={"key": "k", "address": "x"}, timeout=30)
            assert (answer.status_code, answer.json()["status"]) == (code, status)


def test_garbage_is_neither_json_nor_a_picture(city: City) -> None:
    with serve_city(city, ServeOptions(faults=parse_faults("garbage:1"))) as server:
        query = {"key": "k", **SEEN}
        metadata = httpx.get(f"{server.url}{METADATA}", params=query, timeout=30)
        assert metadata.status_code == 200
        with pytest.raises(ValueError, match=r"codec|Expecting"):
            metadata.json()
        image = httpx.get(f"{server.url}{IMAGE}", params=query, timeout=30)
        assert (image.status_code, image.headers["content-type"]) == (200, "image/jpeg")
        assert not image.content.startswith(b"\xff\xd8")


@pytest.mark.slow
def test_a_timeout_outlasts_the_client_and_does_not_keep_the_server(city: City) -> None:
    faults = parse_faults("timeout:1")
    with serve_city(city, ServeOptions(faults=faults, hang_s=86_400)) as server:  # a kept server never ends
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"{server.url}{METADATA}", params={"key": "k", **SEEN}, timeout=0.3)
        assert server.stats()["faults"] == {"timeout": 1}


def test_latency_is_added(city: City, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("virl.serve.google.dispatch.asyncio", SimpleNamespace(sleep=sleep))
    with serve_city(city, ServeOptions(latency_ms=150)) as server:
        httpx.get(f"{server.url}/stats")
        httpx.get(f"{server.url}{METADATA}", params={"key": "k", **SEEN}, timeout=30)
    assert waits == [0.15]


def test_stats_count_requests_by_endpoint(city: City) -> None:
    with (
        serve_city(city) as server,
        httpx.Client(base_url=server.url, params={"key": "secret-key"}, timeout=30) as client,
    ):
        client.get(METADATA, params=SEEN)
        client.get(METADATA, params=SEEN)
        client.get(IMAGE, params={"pano": "vt-00042"})
        stats = client.get("/stats")
        assert stats.json()["requests"] == {"static_image": 1, "static_metadata": 2}
        assert stats.json()["answers"] == {"static_image": {"400": 1}, "static_metadata": {"200": 2}}
        assert stats.json()["repeated"] == {"static_metadata": 1}
        assert "secret-key" not in stats.text
        assert client.post("/stats/reset").json()["total"] == 0
        assert server.stats()["requests"] == {}


@pytest.mark.parametrize("body", ["{", "[]", '"text"'])
def test_a_body_that_is_no_message(client: httpx.Client, body: str) -> None:
    answer = client.post("/v1/createSession", content=body)
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("text", ["429", "429:x", "teapot:0.1", "200:0.1", "429:-0.1", "429:0.6,500:0.6"])
def test_faults_that_make_no_sense(text: str) -> None:
    with pytest.raises(BadInput):
        parse_faults(text)


def test_faults_share_the_numbers_between_them() -> None:
    faults = Faults({"429": 0.25, "timeout": 0.25})
    assert [faults.choose_fault(chance) for chance in (0.0, 0.2, 0.3, 0.49, 0.5, 0.99)] == [
        "429",
        "429",
        "timeout",
        "timeout",
        None,
        None,
    ]


def test_a_mask_takes_what_it_names() -> None:
    answer = {"places": [{"id": "1", "name": {"text": "A", "code": "en"}}], "nextPageToken": "t"}
    tree = parse_mask("places.name.text,places.id", {"id", "name"}, "places")
    assert apply_mask(answer, tree) == {"places": [{"id": "1", "name": {"text": "A"}}]}
    whole = parse_mask("places.name,places.name.text", {"id", "name"}, "places")
    assert apply_mask(answer, whole) == {"places": [{"name": {"text": "A", "code": "en"}}]}
    assert apply_mask(answer, parse_mask("*", {"id", "name"}, "places")) == answer


def test_a_key_does_not_show(city: City) -> None:
    assert "right" not in repr(ServeOptions(key="right"))


class Blocking:
    """A street view whose metadata waits."""

    def __init__(self, streetview: StreetView) -> None:
        self.go = threading.Event()
        self.asked: list[str] = []
        self.nearest, self.view = streetview.nearest, streetview.view
        self._panorama = streetview.panorama

    def panorama(self, pano_id: str) -> Panorama:
        self.asked.append(pano_id)
        self.go.wait(20)
        return self._panorama(pano_id)


def test_work_for_clients_that_left_is_dropped(city: City) -> None:
    slow = Blocking(city.streetview)
    threads = os.cpu_count() or 1
    with serve_city(replace(city, streetview=slow)) as server, ExitStack() as opened:
        for number in range(threads + 5):
            path = f"{METADATA}?key=k&pano=vt-{number:05}"
            opened.enter_context(connection(server.url)).sendall(head("127.0.0.1", path=path))
        until(lambda: len(slow.asked) == threads)
        opened.close()
        until(lambda: server.stats()["answers"].get("static_metadata") == {"499": threads + 5})
        slow.go.set()
        answer = httpx.get(f"{server.url}{METADATA}", params={"key": "k", **SEEN}, timeout=30)
        assert answer.json()["status"] == "OK"
        assert len(slow.asked) == threads + 1


class SlowPhotos:
    """Places whose photos wait, and have to be fetched to be measured."""

    photo_sizes = None

    def __init__(self, places: Places) -> None:
        self.go = threading.Event()
        self.asked: list[str] = []
        self._places = places

    def __getattr__(self, name: str) -> object:
        return getattr(self._places, name)

    def photos(self, place_id: str, limit: int) -> list[Image]:
        self.asked.append(place_id)
        self.go.wait(20)
        return []


@pytest.mark.slow
def test_work_that_has_begun_ends_when_its_client_has_left(city: City) -> None:
    slow = SlowPhotos(city.places)
    with serve_city(replace(city, places=slow)) as server:
        with connection(server.url) as opened:
            opened.sendall(head("127.0.0.1", path="/maps/api/place/textsearch/json?key=k&query=restaurant"))
            until(lambda: len(slow.asked) == 1)
        until(lambda: server.stats()["answers"].get("legacy_text") == {"499": 1})
        slow.go.set()
        time.sleep(0.5)  # in which all twenty places of the answer would have been asked for
        assert len(slow.asked) == 1


def until(ready: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--host", "0.0.0.0"], "VIRL_SERVE_KEY is not set"),  # noqa: S104
        (["--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["--allow-host", "http://maps.lan"], "--allow-host"),
        (["--allow-origin", "*"], "--allow-origin"),
        (["--budget-usd", "1"], "costs nothing"),
    ],
)
def test_the_command_line_refuses_unsafe_options(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.delenv("VIRL_SERVE_KEY", raising=False)
    wrong = CliRunner().invoke(serve_app, ["google", *arguments])
    assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1), wrong.output
    assert says in wrong.stderr


@pytest.mark.slow
def test_the_command_line_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch, city: City) -> None:
    wrong = CliRunner().invoke(serve_app, ["google", "--fault", "teapot:0.1"])
    assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1)
    assert "teapot" in wrong.stderr
    with serve_city(city) as server:
        port = server.url.rpartition(":")[2]
        taken = CliRunner().invoke(serve_app, ["google", "--port", port])
    assert (taken.exit_code, "--port" in taken.stderr) == (2, True)
    monkeypatch.setattr(extras, "PACKAGES", {"serve": ("no_such_package",)})
    lacking = CliRunner().invoke(serve_app, ["google"])
    assert "serving needs no_such_package: pip install 'virl[serve]'" in lacking.stderr
