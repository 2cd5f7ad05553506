"""Places and addresses of a twin are found however they are written."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from real_data import real_data
from written_extract import Writer, box, opened

from virl.errors import NotFound
from virl.osm.names import other_names
from virl.platform.city.city import City
from virl.platform.providers.osm.city import open_twin
from virl.platform.providers.osm.city_file import OsmCity


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> City:
    town = Writer(tmp_path_factory.mktemp("osm") / "town.osm.pbf")
    town.way((-200, 0), (0, 0), (200, 0), highway="residential", name="Städtle", name__sv="Lillstan")
    town.way((0, 0), (0, 100), highway="residential", name="Øvre vei")
    for x, town_name in ((-100, "Vaduz"), (100, "Triesen")):
        address = {"addr__street": "Städtle", "addr__housenumber": "3", "addr__city": town_name}
        town.way(*box(x, 10, x + 20, 30), building="yes", **address)
    town.node(-90, 11, amenity="cafe", name="Café Engländerbau", name__en="English House")
    town.node(-80, 11, amenity="restaurant", cuisine="sushi", name="Torvet", alt_name="Mori;Hana")
    town.node(110, 11, amenity="pharmacy", name="Аптека Ромашка")
    town.node(115, 11, tourism="museum", name="Kunstmuseum", name__sv="Konstmuseet")
    return opened(town)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("englanderbau", "Café Engländerbau"),  # without accents
        ("CAFE ENGLÄNDERBAU", "Café Engländerbau"),
        ("english house", "Café Engländerbau"),  # another language
        ("konstmuseet", "Kunstmuseum"),
        ("hana", "Torvet"),
        ("torvat", "Torvet"),  # one letter wrong, missing, too much, two swapped
        ("torve", "Torvet"),
        ("torvett", "Torvet"),
        ("tovret", "Torvet"),
        ("АПТЕКА", "Аптека Ромашка"),
        ("ромашко", "Аптека Ромашка"),
        ("sushi restaurant", "Torvet"),  # the finest type, and a coarse one
        ("restaurant", "Torvet"),
        ("food", "Café Engländerbau"),
        ("pharmacy", "Аптека Ромашка"),
        ("Apotheke", "Аптека Ромашка"),  # its type in another language
        ("apteekki", "Аптека Ромашка"),
        ("музей", "Kunstmuseum"),
        ("кафе", "Café Engländerbau"),
        ("薬局", "Аптека Ромашка"),
    ],
)
def test_places_are_found(city: City, query: str, name: str) -> None:
    assert name in [place.name for place in city.places.search(query)]


def test_short_words_are_not_guessed(city: City) -> None:
    assert city.places.search("mora") == []


@pytest.mark.parametrize(("types", "count"), [(["sushi_restaurant"], 1), (["food"], 2), (["museum"], 1)])
def test_places_are_found_by_type(city: City, types: list[str], count: int) -> None:
    assert len(city.places.nearby(city.center, 500, types)) == count


def test_addresses_are_found_however_they_are_written(city: City) -> None:
    vaduz, triesen = (city.maps.geocode(f"Städtle 3, {town}") for town in ("Vaduz", "Triesen"))
    assert vaduz.lng < triesen.lng
    assert city.maps.geocode("3 stadtle, TRIESEN") == triesen
    assert {city.maps.geocode(f"Städtle {house}") for house in ("3a", "3 B", "3 b 12")} == {vaduz}
    assert city.maps.geocode("Lillstan") == city.maps.geocode("Stadtle")
    assert city.maps.geocode("Lillstan 3, Triesen") == triesen
    assert city.maps.geocode("ovre vei") == city.maps.geocode("Øvre vei")
    assert city.maps.geocode("Lillstan & Øvre vei") == city.maps.geocode("Städtle & Øvre vei")
    assert city.maps.geocode("konstmuseet") == city.maps.geocode("Kunstmuseum")
    with pytest.raises(NotFound, match="write it as in 'Städtle 3'"):
        city.maps.geocode("Lillstan 99")


def test_names_are_told_from_notes_about_them() -> None:
    tags = {"name": "A", "name:en": "B", "alt_name": "C; D", "name:etymology:wikidata": "Q1", "name:sv": "A"}
    assert other_names(tags) == ("B", "C", "D")


def test_names_are_those_of_the_language_that_is_asked_for(tmp_path: Path) -> None:
    made = Writer(tmp_path / "town.osm.pbf")
    made.way((-100, 0), (100, 0), highway="residential", name="Iso Katu", name__en="Great Street")
    made.node(0, 12, shop="bakery", name="Leipomo", name__en="The Bakery", addr__street="Iso Katu",
              addr__housenumber="1")  # fmt: skip
    made.node(40, 12, shop="kiosk", name="Kioski")
    made.close()
    file = OsmCity(title="Town", about="", provider="osm", extract=made.path, names="en")
    city = open_twin("town", file)
    assert {place.name for place in city.places.nearby(city.center, 200)} == {"The Bakery", "Kioski"}
    assert city.places.search("Leipomo")[0].name == "The Bakery"
    assert city.places.search("The Bakery")[0].address == "Great Street 1"
    assert city.inventory
    assert {street.name for street in city.inventory.streets()} == {"Great Street"}
    local = open_twin("town", file.model_copy(update={"names": ""}))
    assert {place.name for place in local.places.nearby(city.center, 200)} == {"Leipomo", "Kioski"}
    with pytest.raises(ValidationError):
        OsmCity(title="Town", about="", provider="osm", extract=made.path, names="English!")


@pytest.mark.slow
def test_places_of_helsinki_are_found() -> None:
    file: Path = real_data("osm") / "helsinki.osm.pbf"
    city = open_twin("helsinki", OsmCity(title="Helsinki", about="", provider="osm", extract=file))
    for query in ("rautatieasema", "järnvägsstation", "jarnvagsstation", "rautatieasama"):
        assert city.places.search(query), query
    assert city.maps.geocode("Mannerheimvägen") == city.maps.geocode("mannerheimintie")
