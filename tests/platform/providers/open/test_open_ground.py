"""Cities of the provider `open` with places and maps of open services, and with parts of Google."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from servers.options import MapServeOptions, UploadOptions
from servers.panoramax.app import make_app as panoramax_app
from servers.town import map_app

from tests.platform.providers.open.conftest import write_city
from virl.errors import BadInput, BudgetExceeded, ProviderError
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.maps import PanoramaMaps, ReverseMaps
from virl.platform.providers.cities import Access, open_city, opened_city, read_city
from virl.platform.providers.open.city_file import OpenCity
from virl.serve.city_server import served_app
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

SERVERS = {"overpass": "/api/interpreter", "nominatim": "/search", "osrm": ""}


@pytest.fixture
def urls(town: City, data: Path) -> Iterator[dict[str, str]]:
    """The servers of Virlton, by the field of a city file that names each."""
    with ExitStack() as stack:
        found = {
            "panoramax_url": stack.enter_context(
                served_app(partial(panoramax_app, town, UploadOptions()))
            ).url
        }
        for server, path in SERVERS.items():
            make = stack.enter_context(map_app(server, "virlton", MapServeOptions()))
            found[f"{server}_url"] = stack.enter_context(served_app(make)).url + path
        yield found


@pytest.mark.slow
def test_a_city_of_open_services_has_places_addresses_and_ways(
    urls: dict[str, str], town: City, tmp_path: Path
) -> None:
    file = write_city(tmp_path / "open.yaml", places="overpass", maps="osrm", **urls)
    with opened_city(file, Access()) as city:
        assert city.attribution.endswith("© OpenStreetMap contributors (ODbL 1.0)")
        assert city.shareable
        assert city.lacks == "Open has no reviews, ratings or prices"
        assert city.capabilities.has_free_lookup
        near = city.places.nearby(city.center, 200)
        assert {place.name for place in near} <= {
            place.name for place in town.places.nearby(city.center, 210)
        }
        shop = next(place for place in near if place.address)
        assert city.places.search(shop.name, city.center)[0].name == shop.name
        assert isinstance(city.maps, ReverseMaps | PanoramaMaps)
        assert city.maps.route([city.center, shop.position]).distance > 0
        assert city.maps.geocode(shop.address)
        assert city.ledger is not None
        spent = city.ledger.take()
    assert set(spent.sent) >= {"overpass", "nominatim_search", "osrm_route"}
    assert spent.usd == 0.0


@pytest.mark.slow
def test_googles_places_and_maps_are_mixed_in_within_a_budget(
    urls: dict[str, str], town: City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "AIza-marker-that-must-not-leak")
    with serve_city(town, ServeOptions()) as google:
        monkeypatch.setenv("VIRL_GOOGLE_BASE_URL", google.url)
        file = write_city(
            tmp_path / "mixed.yaml", places="google", maps="google", panoramax_url=urls["panoramax_url"]
        )
        with opened_city(file, Access(ledger=Ledger(0.05), cache="off")) as city:
            assert city.shareable is False
            assert city.lacks == ""
            assert "Google" in city.attribution
            near = city.places.nearby(city.center, 100, ["restaurant"])
            assert any(place.rating for place in near)
            assert city.ledger is not None
            assert city.ledger.take().usd > 0
            with pytest.raises(BudgetExceeded):
                asked_nine_times(city)


def asked_nine_times(city: City) -> None:
    for _ in range(9):
        city.places.search("noodles")


def test_googles_parts_need_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_MAPS_API_KEY", raising=False)
    with pytest.raises(ProviderError, match="GOOGLE_MAPS_API_KEY is not set"):
        open_city(write_city(tmp_path / "mixed.yaml", places="google"))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"places": "yelp"}, "places"),
        ({"osrm_url": "ftp://x"}, "osrm_url"),
        ({"overpass_url": "https://user:password@host/api/interpreter"}, "overpass_url"),
    ],
)
def test_a_city_file_with_an_unknown_part_is_refused(
    told: dict[str, object], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=words):
        read_city(Path(write_city(tmp_path / "wrong.yaml", **told)))


def test_the_district_is_the_box_of_the_polygon(tmp_path: Path) -> None:
    from virl.platform.providers.open.city import district_of

    around = read_city(Path(write_city(tmp_path / "around.yaml", reach_m=500)))
    assert isinstance(around, OpenCity)
    across, up = district_of(around).size_km
    assert (across, up) == pytest.approx((1.0, 1.0), abs=0.01)
