"""A city that costs money, served: Virlton behind Google's formats, behind Google's formats."""

import json
from pathlib import Path

import httpx
import pytest
from raw_http import exchange, head
from scripted_google import ScriptedGoogle, answer, refusal
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl import resources
from virl.cli.serve import serve_app
from virl.errors import BadInput
from virl.platform.city.city import City
from virl.platform.providers.google import city as google_city
from virl.platform.providers.google.settings import load_google_settings
from virl.platform.providers.http.settings import Retries
from virl.serve.city_server import ServedCity, opened_to_serve
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city

UPSTREAM_KEY = "AIza-upstream-marker-0123456789"
KEY = "marker-of-a-serve-key-0123456789"
IMAGE, GEOCODE, DETAILS = "/maps/api/streetview", "/maps/api/geocode/json", "/v1/places/place-0001"
METADATA = "/maps/api/streetview/metadata"
SEEN = {"pano": "vt-00042", "size": "320x320"}
PHOTO = "/v1/places/place-0001/photos/photo-0/media"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", UPSTREAM_KEY)
    monkeypatch.setenv("VIRL_CACHE", warm_cache(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(google_city, "load_google_settings", no_patience)


def no_patience():
    return load_google_settings().model_copy(update={"retries": Retries(further=0)})


@pytest.fixture
def upstream(server: ServedCity, monkeypatch: pytest.MonkeyPatch) -> ServedCity:
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", server.url)
    server.reset()
    return server


def asking(server: ServedCity) -> httpx.Client:
    return httpx.Client(base_url=server.url, params={"key": KEY}, timeout=30)


def billed(upstream: ServedCity) -> dict[str, int]:
    free = {"static_metadata", "tiles_metadata", "tiles_session", "photo_file"}
    return {name: count for name, count in upstream.stats()["requests"].items() if name not in free}


@pytest.mark.parametrize(
    ("key", "more", "says"),
    [
        (KEY, [], "--budget-usd"),
        ("", ["--budget-usd", "1"], "VIRL_SERVE_KEY is not set"),
        ("short", ["--budget-usd", "1"], "has 5 characters"),
        (UPSTREAM_KEY, ["--budget-usd", "1"], "has the value of GOOGLE_MAPS_API_KEY"),
    ],
)
@pytest.mark.parametrize("renamed", [False, True])
def test_a_city_that_costs_money_needs_a_budget_and_a_key(
    key: str, more: list[str], says: str, renamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_SERVE_KEY", key)
    city = "tokyo"
    if renamed:  # the provider decides, whatever the city is called
        file = tmp_path / "virlton.yaml"
        file.write_bytes((resources.data_folder("platform/cities") / "virlton-http.yaml").read_bytes())
        city = str(file)
    done = CliRunner().invoke(serve_app, ["google", "--city", city, "--port", "0", *more])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert says in done.stderr
    assert not key or key not in done.output.replace("short ", "")
    assert not Path("runs").exists()


def test_a_city_that_costs_nothing_needs_no_budget() -> None:
    with opened_to_serve("virlton", None, None) as city:
        assert city.name == "virlton"
    with pytest.raises(BadInput, match="costs nothing"), opened_to_serve("virlton", None, 1.0):
        pass


@pytest.mark.slow
def test_within_its_budget_a_paid_city_answers_those_with_the_key(upstream: ServedCity) -> None:
    with (
        opened_to_serve("virlton-http", KEY, 0.014) as city,
        serve_city(city, ServeOptions(key=KEY)) as server,
        asking(server) as client,
    ):
        assert httpx.get(f"{server.url}{IMAGE}", params=SEEN | {"key": "made-up"}).status_code == 403
        assert httpx.get(f"{server.url}{DETAILS}", params={"key": UPSTREAM_KEY}).status_code == 400
        assert httpx.get(f"{server.url}/stats").status_code == 401
        assert exchange(server.url, head("evil.example", path=f"{IMAGE}?key={KEY}"))[0] == 421
        assert billed(upstream) == {}
        codes = [
            client.get(IMAGE, params=SEEN | {"heading": heading}).status_code for heading in (0, 90, 180)
        ]
        assert codes == [200, 200, 429]
        over = client.get(DETAILS, params={"fields": "id"})
        assert (over.status_code, over.json()["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
        assert (
            client.get(GEOCODE, params={"address": "91 Station Street"}).json()["status"]
            == "OVER_QUERY_LIMIT"
        )
        assert client.get(METADATA, params=SEEN).json()["status"] == "OK"  # free of charge
        assert billed(upstream) == {"static_image": 2}
    book = Path("runs/serve-virlton-http/spending.jsonl")
    assert sum(json.loads(line)["micro_usd"] for line in book.read_text().splitlines()) == 14_000
    with (
        opened_to_serve("virlton-http", KEY, 0.014) as city,
        serve_city(city, ServeOptions(key=KEY)) as server,
        asking(server) as client,
    ):
        assert client.get(IMAGE, params=SEEN | {"heading": 270}).status_code == 429
        assert client.get(IMAGE, params=SEEN | {"heading": 90}).status_code == 200  # kept, and paid before
    assert billed(upstream) == {"static_image": 2}


def test_the_address_of_a_photo_is_of_this_server_and_cannot_be_made_up(city: City) -> None:
    with serve_city(city, ServeOptions(key=KEY, hosts=("maps.lan",))) as server, asking(server) as client:
        sized = {"maxWidthPx": "64"}
        location = client.get(PHOTO, params=sized).headers["location"]
        assert location.startswith(server.url)
        named = client.get(PHOTO, params=sized, headers={"Host": "maps.lan"}).headers["location"]
        assert named.startswith("http://maps.lan/")
        assert client.get(PHOTO, params=sized, headers={"Host": "evil.example"}).status_code == 421
        assert httpx.get(location, timeout=30).headers["content-type"] == "image/jpeg"
        assert KEY not in location
        for made_up in (location.partition("&signature")[0], location.replace("w=64", "w=65")):
            assert httpx.get(made_up, timeout=30).status_code == 403


FAULTS = [
    (refusal(429, "slow down", "RESOURCE_EXHAUSTED"), 429, "RESOURCE_EXHAUSTED", (200, "OVER_QUERY_LIMIT")),
    (refusal(500, "broken", "INTERNAL"), 503, "UNAVAILABLE", (503, "UNKNOWN_ERROR")),
    (refusal(403, f"bad {UPSTREAM_KEY}", "PERMISSION_DENIED"), 502, "UNAVAILABLE", (502, "UNKNOWN_ERROR")),
    (answer(200, b"noise"), 502, "UNAVAILABLE", (502, "UNKNOWN_ERROR")),
]


@pytest.mark.parametrize(("fault", "code", "status", "legacy"), FAULTS)
def test_faults_of_a_paid_city_are_told_as_google_tells_them(
    fault, code: int, status: str, legacy: tuple[int, str], monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    with ScriptedGoogle([fault]) as broken:
        monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", broken.url)
        assert_faults(code, status, legacy)
    assert UPSTREAM_KEY not in caplog.text


def test_a_paid_city_out_of_reach_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", "http://127.0.0.1:9")
    assert_faults(503, "UNAVAILABLE", (503, "UNKNOWN_ERROR"))


def assert_faults(code: int, status: str, legacy: tuple[int, str]) -> None:
    with (
        opened_to_serve("virlton-http", KEY, 1.0) as city,
        serve_city(city, ServeOptions(key=KEY)) as server,
        asking(server) as client,
    ):
        new = client.get(DETAILS, params={"fields": "id"})
        assert (new.status_code, new.json()["error"]["status"]) == (code, status)
        old = client.get(GEOCODE, params={"address": "1 Main St"})
        assert (old.status_code, old.json()["status"]) == legacy
        picture = client.get(IMAGE, params=SEEN)
        assert picture.status_code == code
        assert UPSTREAM_KEY not in new.text + old.text + picture.text


def test_a_book_that_cannot_be_written_ends_no_server(upstream: ServedCity, tmp_path: Path) -> None:
    with (
        opened_to_serve("virlton-http", KEY, 1.0, tmp_path / "out") as city,
        serve_city(city, ServeOptions(key=KEY)) as server,
        asking(server) as client,
    ):
        (tmp_path / "out").write_text("a file where the folder should be")
        assert client.get(IMAGE, params=SEEN).status_code == 503
        assert billed(upstream) == {}
        (tmp_path / "out").unlink()
        assert client.get(IMAGE, params=SEEN).status_code == 200


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"a":' * 100_000, b'{"x": ' + b"[" * 300 + b"]" * 300 + b"}"]
)
def test_json_may_not_nest_without_end(client: httpx.Client, body: bytes) -> None:
    nested = client.post("/v1/createSession", content=body)
    assert (nested.status_code, nested.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    "body", [b'{"radius": NaN}', b'{"radius": 1e999}', b'{"a": ' + b"9" * 500_000 + b"}"]
)
def test_numbers_of_json_are_finite(client: httpx.Client, body: bytes) -> None:
    assert client.post("/v1/places:searchNearby", content=body).status_code == 400
