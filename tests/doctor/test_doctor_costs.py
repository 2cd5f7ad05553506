"""What the doctor says that runs will cost, against the price list and what the provider really asks."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served_google import FlatPhotos, Google, google_over

from virl.doctor.costs import (
    MEASURED,
    Estimate,
    Habits,
    estimates,
    localization_cameras,
    smallest_and_largest,
    tiles_of,
)
from virl.platform.city.streetview import Camera
from virl.platform.perception.cameras import sweep_cameras
from virl.platform.providers import open_city
from virl.platform.providers.cities import all_cities
from virl.platform.providers.google.settings import GoogleSettings, load_google_settings
from virl.serve.google.options import ServeOptions

LIST = load_google_settings()
HABITS = Habits("a made count", runs=1, steps=100, closer=20, crossings=10, roads=30, nearby=40, details=5)


def by_unit(found: list[Estimate]) -> dict[tuple[str, str], Estimate]:
    return {(one.unit.split(",")[0], one.imagery): one for one in found}


@cache
def listed() -> dict[tuple[str, str], Estimate]:
    """The estimates of the price list, made once."""
    return by_unit(estimates(LIST, HABITS))


def repriced(factor: float) -> GoogleSettings:
    skus = {
        name: sku.model_copy(update={"usd_per_1000": factor * sku.usd_per_1000})
        for name, sku in LIST.skus.items()
    }
    return LIST.model_copy(update={"skus": skus})


@pytest.fixture(scope="module")
def google() -> Iterator[Google]:
    town = open_city("virlton")
    town.streetview.view("vt-00042", Camera(0, width=64, height=48))  # the first picture takes seconds
    with google_over(replace(town, places=FlatPhotos(town.places)), serve=ServeOptions()) as google:
        yield google


@pytest.mark.slow
def test_a_price_is_what_the_provider_then_spends(google: Google) -> None:
    step = listed()["one step of Hiro", "static"]
    run = by_unit(estimates(LIST, HABITS, 3))["one run of Hiro", "static"]
    prices = {item.what: item for item in (*run.items, *step.items)}
    here, city, ledger = google.city.center, google.city, google.http.ledger
    place = google.city.places.nearby(here, 20.0, ["restaurant"]) or google.city.places.search(
        "restaurant", here
    )
    ledger.take()
    for what, ask in {
        "address of the start": lambda: city.maps.geocode("91 Station Street"),
        "relocation": lambda: city.streetview.nearest(here),
        "views around": lambda: city.streetview.view("vt-00042", Camera(0.0, width=64, height=300)),
        "places nearby": lambda: city.places.nearby(here, 20.0),
        "details of a place": lambda: city.places.details(place[0].id),
    }.items():
        ask()
        spent = ledger.take()
        assert spent.usd == pytest.approx(prices[what].usd), what
        assert prices[what].endpoint in spent.sent, what


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.0, 3.0])
def test_every_dollar_comes_from_the_price_list(factor: float) -> None:
    before, after = listed(), by_unit(estimates(repriced(factor), HABITS))
    for unit, one in before.items():
        assert after[unit].usd == pytest.approx(factor * one.usd, abs=1e-5)


@pytest.mark.slow
def test_a_step_is_the_sum_of_its_requests() -> None:
    step = listed()["one step of Hiro", "static"]
    each = {name: sku.usd_per_1000 / 1000 for name, sku in LIST.skus.items()}
    views = 3 + 0.20 + 0.30
    by_hand = views * each["street-view-static"] + 0.40 * each["nearby-enterprise"]
    assert step.usd == pytest.approx(by_hand + 0.05 * each["details-atmosphere"])


@pytest.mark.slow
def test_a_run_is_its_start_and_one_look_around_more_than_moves() -> None:
    for imagery in ("static", "tiles"):
        step = listed()["one step of Hiro", imagery].usd
        for moves in (0, 7):
            run = by_unit(estimates(LIST, HABITS, moves))["one run of Hiro", imagery].usd
            assert run == pytest.approx(
                (moves + 1) * step + LIST.skus["geocoding"].usd_per_1000 / 1000, abs=1e-5
            )


def test_the_default_run_is_as_long_as_the_character_allows() -> None:
    units = {one.unit for one in listed().values()}
    assert "one run of Hiro, 120 moves" in units


def test_districts_are_those_with_the_least_and_the_most_ground() -> None:
    areas = {city.title: city.region.area_m2 for city in all_cities().values() if city.region}
    smallest, largest = smallest_and_largest()
    assert (smallest.title, largest.title) == (
        min(areas, key=areas.__getitem__),
        max(areas, key=areas.__getitem__),
    )
    for district in (smallest, largest):
        assert district.positions == pytest.approx(areas[district.title] / 20**2, rel=0.05)


def test_a_district_costs_as_many_positions_as_its_grid_has() -> None:
    found = listed()
    for imagery in ("static", "tiles"):
        position = found["one position of place localization", imagery].usd
        for district in smallest_and_largest():
            assert found[district.title, imagery].usd == pytest.approx(district.positions * position)


def test_legacy_searches_have_legacy_prices() -> None:
    pytest.importorskip("googlemaps", reason="the legacy APIs need the extra google")
    step = by_unit(estimates(LIST.model_copy(update={"api": "legacy"}), HABITS))["one step of Hiro", "static"]
    assert {item.endpoint for item in step.items} >= {"legacy_nearby", "legacy_details"}


@pytest.mark.slow
def test_tiles_are_those_of_the_table_in_the_docs() -> None:
    assert len(localization_cameras()) == 13
    assert len(tiles_of(localization_cameras())) == 21
    assert [len(tiles_of(localization_cameras(), zoom)) for zoom in (2, 4)] == [8, 72]
    assert len(tiles_of(sweep_cameras(0.0, 180.0, 60.0))) == 8


@pytest.mark.slow
@settings(max_examples=8)
@given(
    heading=st.floats(0, 359), fov=st.floats(35, 110), narrower=st.floats(0.3, 0.95), zoom=st.integers(1, 4)
)
def test_a_closer_look_touches_no_further_tile(
    heading: float, fov: float, narrower: float, zoom: int
) -> None:
    wide, close = Camera(heading, fov=fov), Camera(heading, fov=fov * narrower)
    assert tiles_of([close], zoom) <= tiles_of([wide], zoom)


def test_the_counted_habits_are_plausible() -> None:
    assert MEASURED.crossings <= MEASURED.steps
    assert MEASURED.details <= MEASURED.closer
    assert MEASURED.roads >= 2 * MEASURED.crossings
    assert MEASURED.nearby <= MEASURED.steps
