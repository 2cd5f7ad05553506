"""Requests to RentCast over real HTTP: key, pages, retries, faults, budget and cache."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rentcast_server import KEY, Answer, RentCastServer, record, records, refusal
from shapely import Point, box

from virl.errors import BadInput, BudgetExceeded, ProviderError
from virl.money.ledger import Ledger
from virl.platform.providers.http.settings import Retries, Timeouts
from virl.platform.providers.provider import Access
from virl.platform.providers.rentcast.client import (
    BASE_URL_VARIABLE,
    KEY_VARIABLE,
    RentCastHttp,
    load_rentcast_settings,
    open_rentcast,
)
from virl.platform.providers.rentcast.listings import RentCastListings

AUSTIN = box(-97.01, 29.99, -96.99, 30.01)
QUERY = {"latitude": "30", "longitude": "-97", "radius": "1"}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(BASE_URL_VARIABLE, raising=False)


@contextmanager
def way(server: RentCastServer, *, page: int = 500, **options: object) -> Iterator[RentCastHttp]:
    settings = load_rentcast_settings().model_copy(update={"base_url": server.url, "page": page})
    quick = settings.retries.model_copy(update={"first_wait": 0.0})
    access = Access(**options)  # type: ignore[arg-type]
    with open_rentcast(access, settings.model_copy(update={"retries": quick})) as http:
        yield http


def test_homes_of_an_area_are_asked_for_in_rentcasts_words() -> None:
    with RentCastServer([records(3)]) as server, way(server) as http:
        found = RentCastListings(http).rentals(AUSTIN, (1500, 1501), bedrooms=2)
    (request,) = server.requests
    assert request.path == "/v1/listings/rental/long-term"
    assert request.headers["x-api-key"] == KEY
    assert float(request.query["latitude"]) == pytest.approx(30.0)
    assert float(request.query["longitude"]) == pytest.approx(-97.0)
    assert float(request.query["radius"]) == pytest.approx(0.916, abs=0.01)  # miles to a corner
    assert {name: request.query[name] for name in ("status", "limit", "offset", "bedrooms")} == {
        "status": "Active",
        "limit": "500",
        "offset": "0",
        "bedrooms": "2",
    }
    assert [one.price for one in found] == [1500, 1501]
    assert found[0].area == pytest.approx(92.903, abs=0.001)  # 1000 square feet
    assert found[0].year_built == 1998


def test_pages_are_asked_for_until_one_is_not_full() -> None:
    with RentCastServer([records(2), records(2, 2), records(1, 4)]) as server, way(server, page=2) as http:
        found = RentCastListings(http).rentals(AUSTIN, (0, 9999))
    assert [request.query["offset"] for request in server.requests] == ["0", "2", "4"]
    assert [one.price for one in found] == [1500, 1501, 1502, 1503, 1504]


def test_homes_outside_the_area_and_broken_records_are_left_out() -> None:
    body = [record(0), record(1, latitude=31.0), record(2, price=None), record(3, squareFootage=None)]
    with RentCastServer([Answer(body=body)]) as server, way(server) as http:
        provider = RentCastListings(http)
        found = provider.rentals(AUSTIN, (0, 9999))
    assert [one.price for one in found] == [1500, 1503]
    assert found[1].area is None
    assert provider.faults == ["2 Main St, Austin, TX 78701: price is missing"]


def test_no_results_are_no_fault() -> None:
    with RentCastServer([refusal(404, "resource/not-found", "No listings")]) as server, way(server) as http:
        assert RentCastListings(http).rentals(AUSTIN, (0, 9999)) == []
    assert len(server.requests) == 1


def test_a_wrong_key_is_named_without_being_shown_and_is_not_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    answer = refusal(401, "auth/api-key-invalid", f"The key {KEY} is not valid")
    with RentCastServer([answer]) as server, way(server, ledger=Ledger(1.0)) as http:
        with pytest.raises(ProviderError, match="RENTCAST_API_KEY") as caught:
            http.rentals(QUERY)
        assert http.ledger.total().usd == 0
    assert caught.value.status == 401
    assert len(server.requests) == 1
    assert KEY not in str(caught.value) + repr(caught.value.__context__) + caplog.text
    assert KEY not in repr(vars(http))


def test_too_many_requests_and_server_errors_are_tried_again() -> None:
    script = [refusal(429, "auth/rate-limit-exceeded", "slow down"), Answer(500, b"oops"), records(1)]
    with RentCastServer(script) as server, way(server) as http:
        assert len(http.rentals(QUERY)) == 1
        assert http.ledger.total().usd == pytest.approx(http.settings.usd_per_request)
    assert len(server.requests) == 3


def test_a_limit_that_does_not_lift_is_a_typed_error() -> None:
    answer = refusal(429, "auth/rate-limit-exceeded", "slow down", retry_after="3600")
    with (
        RentCastServer([answer]) as server,
        way(server) as http,
        pytest.raises(ProviderError, match="wait a while") as caught,
    ):
        http.rentals(QUERY)
    assert (caught.value.status, caught.value.code) == (429, "auth/rate-limit-exceeded")
    assert len(server.requests) == 1  # an hour is not waited for


def test_a_reply_that_is_no_list_is_refused() -> None:
    with (
        RentCastServer([Answer(body={"listings": []})]) as server,
        way(server) as http,
        pytest.raises(ProviderError, match="no JSON array"),
    ):
        http.rentals(QUERY)


def test_a_server_that_is_not_there_is_named() -> None:
    with RentCastServer([]) as server:
        pass
    with way(server) as http, pytest.raises(ProviderError, match=r"cannot be reached at http://127\.0\.0\.1"):
        http.rentals(QUERY)


def test_the_budget_is_kept_before_a_request_leaves() -> None:
    with RentCastServer([records(1)]) as server, way(server, ledger=Ledger(0.3), cache="off") as http:
        http.rentals(QUERY)
        with pytest.raises(BudgetExceeded):
            http.rentals(QUERY)
    assert len(server.requests) == 1


def test_without_a_price_a_budget_cannot_be_kept() -> None:
    settings = load_rentcast_settings().model_copy(update={"usd_per_request": None})
    with RentCastServer([records(1)]) as server:
        there = settings.model_copy(update={"base_url": server.url})
        with (
            open_rentcast(Access(Ledger(9.0), "off"), there) as http,
            pytest.raises(BadInput, match=r"`usd_per_request` in platform/providers/rentcast.yaml"),
        ):
            http.rentals(QUERY)
        assert server.requests == []
        with open_rentcast(Access(cache="off"), there) as http:
            assert len(http.rentals(QUERY)) == 1


def test_a_reply_is_kept_for_the_next_run_and_a_key_is_in_no_file(tmp_path: Path) -> None:
    with RentCastServer([records(1)]) as server:
        for _ in range(2):
            with way(server) as http:
                assert len(http.rentals(QUERY)) == 1
        assert http.ledger.total().cached == {"rentcast_rentals": 1}
        with way(server, cache="off") as http:
            http.rentals(QUERY)
    assert len(server.requests) == 2
    files = [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert files
    assert not any(KEY.encode() in file.read_bytes() for file in files)


def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(ProviderError, match="RENTCAST_API_KEY is not set"):
        open_rentcast(Access())
    monkeypatch.setenv(KEY_VARIABLE, "two words")
    with pytest.raises(BadInput, match=KEY_VARIABLE):
        open_rentcast(Access())


def test_an_area_beyond_rentcasts_reach_is_refused_before_anything_is_asked() -> None:
    with RentCastServer([records(1)]) as server, way(server) as http, pytest.raises(BadInput, match="100"):
        RentCastListings(http).rentals(Point(-97, 30).buffer(3), (0, 9999))
    assert server.requests == []


def test_the_host_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BASE_URL_VARIABLE, "http://127.0.0.1:9/")
    assert load_rentcast_settings().base_url == "http://127.0.0.1:9"
    monkeypatch.setenv(BASE_URL_VARIABLE, "nonsense")
    with pytest.raises(BadInput, match=BASE_URL_VARIABLE):
        load_rentcast_settings()


def test_a_recorded_run_is_replayed_without_network_key_and_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "recorded"
    with RentCastServer([records(2)]) as server:
        with way(server, record=folder) as http:
            found = http.rentals(QUERY)
        monkeypatch.delenv(KEY_VARIABLE)
        with way(server, replay=folder) as http:
            assert http.rentals(dict(reversed(QUERY.items()))) == found
            assert (http.ledger.total().usd, http.ledger.total().cached) == (0, {"rentcast_rentals": 1})
            with pytest.raises(ProviderError, match=r'"latitude": "31".*--record'):
                http.rentals(QUERY | {"latitude": "31"})
            (body,) = folder.rglob("*.body")
            body.write_bytes(b"<html>")
            with pytest.raises(ProviderError, match="no JSON array"):
                http.rentals(QUERY)
    assert len(server.requests) == 1
    assert not any(KEY.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.slow
def test_a_reply_that_trickles_in_is_given_up_after_the_whole_time() -> None:
    trickle = Answer(body=b"[" + b" " * 40 + b"]", pause=0.05)
    with RentCastServer([trickle]) as server:
        settings = load_rentcast_settings().model_copy(update={"base_url": server.url})
        hasty = settings.model_copy(
            update={"timeouts": Timeouts(read=1.0, total=0.3), "retries": Retries(further=0)}
        )
        with open_rentcast(Access(), hasty) as http, pytest.raises(ProviderError, match="in time"):
            http.rentals(QUERY)


def test_the_key_goes_to_no_other_host() -> None:
    with RentCastServer([records(1)]) as other:
        away = Answer(302, b"", {"location": f"{other.url}/elsewhere"})
        with RentCastServer([away]) as server, way(server) as http:
            assert len(http.rentals(QUERY)) == 1
    assert server.requests[0].headers["x-api-key"] == KEY
    assert "x-api-key" not in other.requests[0].headers
