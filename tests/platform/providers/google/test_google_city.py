"""The contracts of a city, kept by the Google provider over real HTTP, for both generations of the API."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from contracts import MapsContract, PlacesContract, StreetViewContract
from served_google import MARKER_KEY, FlatPhotos, Google, google_http, google_over

from virl.errors import BudgetExceeded, ProviderError
from virl.geo.globe import LatLng
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleOptions
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city


@pytest.fixture(scope="module", params=["new", "legacy"])
def google(virlton: City, request: pytest.FixtureRequest) -> Iterator[Google]:
    quick = replace(virlton, places=FlatPhotos(virlton.places))
    with google_over(quick, GoogleOptions(api=request.param, page_wait=0.0)) as google:
        yield google


@pytest.fixture(scope="module")
def city(google: Google) -> City:
    return google.city


@pytest.mark.slow
class TestGoogleCity(StreetViewContract, PlacesContract, MapsContract):
    pass


def test_opening_asks_nothing(google: Google) -> None:
    google.asked()
    google.reopened()
    assert google.asked() == {}


def test_without_a_key_one_line_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_MAPS_API_KEY", raising=False)
    with pytest.raises(ProviderError, match="GOOGLE_MAPS_API_KEY") as caught:
        open_google("london", "London", LatLng(51.5, -0.12))
    assert "\n" not in str(caught.value)


def test_a_refused_key_names_the_service_to_enable(virlton: City) -> None:
    with serve_city(virlton, ServeOptions(key="another")) as server, google_http(server.url) as http:
        refused = {}
        for api in ("new", "legacy"):
            city = open_google("served", "Served", virlton.center, GoogleOptions(api=api), http)
            for ask in (
                lambda city=city: city.streetview.nearest(city.center),
                lambda city=city: city.streetview.panorama("vt-00001"),
                lambda city=city: city.places.details("place-0001"),
                lambda city=city: city.maps.geocode("1 Main Street"),
                lambda city=city: city.maps.route([city.center, city.center]),
                lambda city=city: city.maps.travel_times([city.center], [city.center]),
            ):
                with pytest.raises(ProviderError, match="enable") as caught:
                    ask()
                refused[caught.value.service] = str(caught.value)
    assert set(refused) == {
        "Street View Static API",
        "Map Tiles API",
        "Places API (New)",
        "Places API",
        "Geocoding API",
        "Routes API",
        "Directions API",
        "Distance Matrix API",
    }
    for service, text in refused.items():
        assert f"enable {service}" in text
        assert MARKER_KEY not in text
        assert "\n" not in text


def test_visual_memory_there_expects_real_street_view(google: Google) -> None:
    assert google.city.capabilities.visual_memory == "street-view"
    assert google.reopened(GoogleOptions(visual_memory="mine")).city.capabilities.visual_memory == "mine"


@pytest.mark.slow
def test_the_page_of_the_web_mover_is_at_the_same_host_and_is_paid_for(virlton: City) -> None:
    with serve_city(virlton) as server, google_http(server.url, ledger=Ledger(0.03)) as http:
        page = open_google(
            "served", "Served", virlton.center, GoogleOptions(outdoor=False), http
        ).capabilities.panorama_page
        assert page
        assert page.maps_js == f"{server.url}/maps/api/js"
        assert not page.outdoor
        page.pay()
        page.pay()
        assert http.ledger.total().usd == pytest.approx(0.028)
        assert http.ledger.total().sent == {"maps_js": 2}
        with pytest.raises(BudgetExceeded):
            page.pay()
