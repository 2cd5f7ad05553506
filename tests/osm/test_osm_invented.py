"""Invented life: reviews, ratings, prices and homes in a town of OpenStreetMap, on request."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner
from written_extract import Writer, box

from virl.cli.main import app
from virl.osm.invented import INVENTED, trade_of
from virl.platform.city.city import City
from virl.platform.providers.cities import open_city
from virl.platform.providers.osm.city_file import with_part


@pytest.fixture(scope="module")
def extract(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("osm") / "town.osm.pbf"
    town = Writer(file)
    town.way((-200, 0), (0, 0), (200, 0), highway="residential", name="Main Street")
    for number in range(12):
        west = -180 + 30 * number
        town.way(*box(west, 8, west + 20, 25), building="house",
                 addr__street="Main Street", addr__housenumber=str(2 * number + 1))  # fmt: skip
        town.node(west + 10, 9, amenity="restaurant", name=f"Restaurant {number}", diet__vegetarian="only")
    town.node(-200, 9, office="company", name="Offices")
    town.node(60, -8, highway="bus_stop", name="Main Street")
    town.close()
    return file


@pytest.fixture(scope="module")
def city(extract: Path) -> City:
    return open_city(with_part(str(extract), None, None, invented=True))


def test_without_it_nothing_is_known(extract: Path) -> None:
    city = open_city(str(extract))
    place = city.places.details(city.places.search("Restaurant 3")[0].id)
    assert (place.rating, place.price_level, place.reviews, city.listings) == (None, None, (), None)
    assert city.invented == ""


def test_places_that_visitors_rate_have_reviews(city: City) -> None:
    places = [city.places.details(place.id) for place in city.places.search("restaurant")]
    rated = [place for place in places if place.rating is not None]
    assert len(rated) >= 10
    assert all(len(place.reviews) >= 3 and 1 <= (place.rating or 0) <= 5 for place in rated)
    assert all(place.price_level for place in rated)
    assert city.truth is not None
    assert all(city.truth.attributes(place.id)["vegetarian"] for place in places)  # as it is mapped


def test_offices_and_stops_have_none(city: City) -> None:
    for query in ("Offices", "bus stop"):
        place = city.places.details(city.places.search(query)[0].id)
        assert (place.rating, place.reviews) == (None, ())


def test_a_place_is_the_same_in_any_part_and_differs_by_seed(
    extract: Path, city: City, tmp_path: Path
) -> None:
    [place] = [one for one in city.places.search("Restaurant 3") if one.name == "Restaurant 3"]
    around = f"{place.position.lat:.5f},{place.position.lng:.5f}"
    part = open_city(with_part(str(extract), around, 150, invented=True))
    assert part.places.details(place.id).reviews == city.places.details(place.id).reviews
    file = tmp_path / "seeded.yaml"
    file.write_text(f"title: T\nabout: T\nprovider: osm\nextract: {extract}\nlife: invented\nseed: 5\n")
    assert open_city(str(file)).places.details(place.id).reviews != city.places.details(place.id).reviews


def test_homes_stand_at_mapped_addresses(city: City) -> None:
    assert city.listings is not None
    homes = city.listings.rentals(_around(city), (0, 100_000))
    assert len(homes) == 12
    assert all("Main Street" in home.address for home in homes)
    assert {city.maps.geocode(home.address.split(", Apt")[0].split(", Town")[0]) for home in homes}


@pytest.mark.slow
def test_result_journal_and_report_say_so(extract: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(
        app, ["run", "hiro", "--city", str(extract), "--invented-life", "--out", str(out), "--quiet"]
    )
    assert done.exit_code == 0, done.output
    assert INVENTED in json.loads((out / "result.json").read_text())["notice"]
    assert INVENTED in (out / "journal.jsonl").read_text().splitlines()[-1]
    assert INVENTED in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("types", "items"),
    [
        (("italian_restaurant", "restaurant", "food"), "tagliatelle"),
        (("kebab_shop", "restaurant", "food"), None),
        (("bakery", "store", "food"), None),
        (("toy_store", "store"), "window display"),
        (("restaurant", "food"), "lunch menu"),
    ],
)
def test_types_have_a_trade(types: tuple[str, ...], items: str | None) -> None:
    trade = trade_of(types)
    assert trade is not None
    assert items is None or items in trade.items
    assert trade.debatable


def test_an_embassy_has_none() -> None:
    assert trade_of(("embassy", "point_of_interest")) is None


def _around(city: City):  # type: ignore[no-untyped-def]
    from shapely import Point

    return Point(city.center.lng, city.center.lat).buffer(0.1)


@pytest.mark.slow
def test_an_explorer_looks_up_names_that_tell_no_type(tmp_path: Path) -> None:
    town = Writer(tmp_path / "town.osm.pbf")
    town.way((-200, 0), (0, 0), (200, 0), highway="residential", name="Main Street")
    for number, (name, kind) in enumerate({"Gaijin": "restaurant", "Novita": "bank"}.items()):
        west = -60 + 60 * number
        town.way(*box(west, 9, west + 30, 25), building="house", height="8")
        town.node(west + 15, 11, amenity=kind, name=name)
    town.close()
    out, at = tmp_path / "out", open_city(str(tmp_path / "town.osm.pbf")).center
    done = CliRunner().invoke(
        app,
        ["run", "hiro", "--city", str(tmp_path / "town.osm.pbf"), "--at", f"{at.lat},{at.lng}",
         "--out", str(out), "--quiet"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    result = json.loads((out / "result.json").read_text())
    assert (result["status"], result["place"]["name"]) == ("entered", "Gaijin")
    assert "no reviews" in result["reason"]
    assert result["notice"].startswith("© OpenStreetMap contributors")
    looks = [
        view["purpose"] for view in json.loads((out / "journal.jsonl").read_text().splitlines()[1])["views"]
    ]
    assert looks.count("look") == 6  # all around, since looking costs nothing
