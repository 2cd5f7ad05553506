"""What the doctor finds out about a key, asked over HTTP at the Google-compatible server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

import pytest
from served_google import MARKER_KEY, FlatPhotos

from virl.doctor import services
from virl.doctor.probes import probes
from virl.doctor.services import ProbeOutcome, ProbeOutcomes, ask_google
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.providers import open_city
from virl.platform.providers.google.settings import (
    GoogleSettings,
    Keys,
    at_base_url,
    load_google_settings,
)
from virl.platform.providers.http.settings import Retries, Timeouts
from virl.serve.city_server import ServedCity
from virl.serve.faults import parse_faults
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

Api = Literal["new", "legacy"]
SERVICES = {
    "new": {
        "Street View Static API",
        "Map Tiles API",
        "Geocoding API",
        "Places API (New)",
        "Routes API",
    },
    "legacy": {
        "Street View Static API",
        "Map Tiles API",
        "Geocoding API",
        "Places API",
        "Directions API",
        "Distance Matrix API",
    },
}


@pytest.fixture(scope="module")
def city() -> City:
    opened = open_city("virlton")
    _ = opened.streetview.view("vt-00042", Camera(0, width=64, height=48)).pixels  # the first takes seconds
    return replace(opened, places=FlatPhotos(opened.places))


@pytest.fixture(scope="module")
def strict(city: City) -> Iterator[ServedCity]:
    """A server that takes one key, as Google does."""
    with serving(city) as server:
        yield server


@pytest.fixture(params=["new", "legacy"])
def api(request: pytest.FixtureRequest) -> Api:
    chosen: Api = request.param
    return chosen


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "RETRIES", Retries(further=1, first_wait=0.01))


@contextmanager
def serving(city: City, **options: object) -> Iterator[ServedCity]:
    chosen = ServeOptions(**{"key": MARKER_KEY, "panorama_width": 512, **options})  # type: ignore[arg-type]
    with serve_city(city, chosen) as server:
        yield server


def settings_of(url: str, api: Api = "new") -> GoogleSettings:
    return at_base_url(load_google_settings(), url).model_copy(update={"api": api})


def ask(
    server: ServedCity, city: City, api: Api = "new", *, key: str = MARKER_KEY, budget: float | None = None
) -> ProbeOutcomes:
    server.reset()
    return ask_google(settings_of(server.url, api), Keys(key), city.center, budget)


def unpaid(asked: ProbeOutcomes) -> list[ProbeOutcome]:
    return [outcome for outcome in asked.outcomes if not outcome.usd]


def statuses(outcomes: list[ProbeOutcome]) -> set[str]:
    return {outcome.status for outcome in outcomes}


def good_and_paid(server: ServedCity) -> set[str]:
    """Endpoints that gave an answer which Google would bill."""
    settings = load_google_settings()
    good = (name for name in server.stats()["good"] if name in settings.endpoints)
    return {name for name in good if settings.skus[settings.endpoint(name).sku].usd_per_1000}


@pytest.mark.slow
def test_without_paying_every_service_is_judged_and_nothing_paid_is_answered(
    strict: ServedCity, city: City, api: Api
) -> None:
    asked = ask(strict, city, api)
    assert {outcome.service for outcome in unpaid(asked)} == SERVICES[api]
    assert statuses(unpaid(asked)) == {"reached"}
    assert {outcome.status for outcome in asked.outcomes if outcome.usd} == {"not asked"}
    assert asked.spent_usd == 0
    assert good_and_paid(strict) == set()
    requests = strict.stats()["requests"]
    assert {"static_image", "tiles_tile", "places_nearby", "places_photo", "places_details"}.isdisjoint(
        requests
    )
    assert requests["static_metadata"] == requests["tiles_metadata"] == requests["tiles_session"] == 1


@pytest.mark.slow
def test_paid_probes_cost_what_was_announced_and_are_asked_once(
    strict: ServedCity, city: City, api: Api
) -> None:
    asked = ask(strict, city, api, budget=0.10)
    assert statuses(list(asked.outcomes)) == {"reached"}
    announced = sum(probe.usd(settings_of(strict.url, api)) for probe in probes(settings_of(strict.url, api)))
    refused = sum(
        probe.usd(settings_of(strict.url, api))
        for probe in probes(settings_of(strict.url, api))
        if probe.way == "refused"
    )
    assert asked.spent_usd == pytest.approx(announced - refused)
    assert asked.spent_usd == pytest.approx(sum(outcome.usd for outcome in asked.outcomes))
    good = strict.stats()["good"]
    own = {"new": {"places_nearby", "places_photo", "routes_compute"}}.get(
        api, {"legacy_nearby", "legacy_directions", "legacy_matrix"}
    )
    for name in own | {"static_image", "tiles_tile", "geocode"}:
        assert good[name] == 1, name


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0.0, 0.002, 0.0139, 0.02, 0.05])
def test_a_budget_holds_and_the_cheapest_are_asked(strict: ServedCity, city: City, budget: float) -> None:
    asked = ask(strict, city, budget=budget)
    assert asked.spent_usd <= budget
    paid = sorted((outcome.usd, outcome.status) for outcome in asked.outcomes if outcome.usd)
    came = [status for _, status in paid]
    assert came == sorted(came, reverse=True)  # "reached" before "not asked"
    cheapest_left = min((usd for usd, status in paid if status == "not asked"), default=1.0)
    assert asked.spent_usd + cheapest_left > budget


def test_a_wrong_key_is_refused_by_every_service(strict: ServedCity, city: City, api: Api) -> None:
    asked = ask(strict, city, api, key="AIza-another-key")
    assert statuses(unpaid(asked)) == {"refused"}
    assert all(outcome.service in outcome.remedy for outcome in unpaid(asked))
    assert strict.stats()["good"] == {}


def test_where_any_key_is_taken_a_refused_request_proves_nothing(city: City) -> None:
    with serving(city, key=None) as server:
        found = {outcome.endpoint: outcome for outcome in unpaid(ask(server, city))}
    assert found["geocode"].status == found["routes_compute"].status == "unclear"
    assert "test it with --real, for $0.005" in found["geocode"].remedy
    assert found["static_metadata"].status == "reached"


def test_a_key_that_may_not(city: City) -> None:
    with serving(city, faults=parse_faults("403:1")) as server:
        asked = ask(server, city, budget=0.10)
    assert statuses(list(asked.outcomes)) <= {"refused", "failing"}
    assert {one.service for one in asked.outcomes if one.status == "refused"} >= {
        "Map Tiles API",
        "Routes API",
    }
    assert asked.spent_usd == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("faults", "status"), [("500:1", "failing"), ("429:1", "limited"), ("timeout:1", "unreachable")]
)
def test_faults_are_told_apart_and_say_nothing_about_the_key(
    city: City, faults: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "TIMEOUTS", Timeouts(connect=1, read=0.2, total=0.4))
    with serving(city, faults=parse_faults(faults), hang_s=0.6) as server:
        asked = ask(server, city)
    assert statuses(unpaid(asked)) == {status}
    assert all(outcome.remedy for outcome in unpaid(asked))


def test_noise_is_failing_and_what_is_refused_is_judged_all_the_same(city: City) -> None:
    with serving(city, faults=parse_faults("garbage:1")) as server:
        found = {outcome.endpoint: outcome.status for outcome in unpaid(ask(server, city))}
    assert found["static_metadata"] == found["tiles_metadata"] == found["places_text"] == "failing"
    assert found["geocode"] == found["routes_compute"] == "reached"


def test_nobody_listens(city: City, api: Api) -> None:
    with serving(city) as server:
        gone = server.url
    asked = ask_google(settings_of(gone, api), Keys(MARKER_KEY), city.center, 0.10)
    assert statuses(list(asked.outcomes)) == {"unreachable"}
    assert asked.spent_usd == 0


def test_where_there_is_no_street_view_pictures_are_not_asked_for(strict: ServedCity, city: City) -> None:
    strict.reset()
    far = city.center._replace(lat=10.0)
    asked = ask_google(settings_of(strict.url), Keys(MARKER_KEY), far, 0.10)
    found = {(outcome.endpoint, bool(outcome.usd)): outcome for outcome in asked.outcomes}
    assert found["static_metadata", False].status == "reached"
    assert found["static_image", True].status == found["tiles_tile", True].status == "not asked"
    assert "static_image" not in strict.stats()["requests"]
    assert found["geocode", True].status == "reached"


def test_without_a_key_nothing_is_asked(strict: ServedCity, city: City) -> None:
    strict.reset()
    asked = ask_google(settings_of(strict.url), None, city.center, 0.10)
    assert statuses(list(asked.outcomes)) == {"not asked"}
    assert strict.stats()["total"] == 0


def test_what_the_price_list_makes_dear_is_not_asked_for_free(strict: ServedCity, city: City) -> None:
    strict.reset()
    settings = settings_of(strict.url)
    dear = settings.skus["text-ids"].model_copy(update={"usd_per_1000": 5.0})
    settings = settings.model_copy(update={"skus": {**settings.skus, "text-ids": dear}})
    asked = ask_google(settings, Keys(MARKER_KEY), city.center)
    assert {one.status for one in asked.outcomes if one.endpoint == "places_text"} == {"not asked"}
    assert "places_text" not in strict.stats()["requests"]


@pytest.mark.slow
def test_the_key_is_in_no_outcome(city: City) -> None:
    for options in ({}, {"key": "another"}, {"faults": parse_faults("500:0.5,garbage:0.3")}):
        with serving(city, **options) as server:
            assert MARKER_KEY not in repr(ask(server, city, budget=0.10))
