"""Where a text means."""

from dataclasses import dataclass, field, replace

import made_day_town as town
import pytest

from virl.errors import NotFound, PlaceClosed
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.locate import locate
from virl.platform.city.places import Place, SearchResults, closed_among

BANK = town.place("Banca del Olivo", "bank", 100)
GONE = town.place("Bank of Yore", "bank", 50, closed=True)
ANYWHERE = LatLng(40.7, -74.0)


@dataclass(frozen=True)
class KindMaps(town.DayMaps):
    """A geocoder that finds something for any text."""

    texts: list[str] = field(default_factory=list)

    def geocode(self, address: str) -> LatLng:
        self.texts.append(address)
        return ANYWHERE


def kind_city() -> City:
    return replace(town.day_town(GONE, BANK), maps=KindMaps())


@pytest.mark.parametrize("text", ["banca", "Banca del Olivo", "banca del olivo"])
def test_a_place_comes_before_what_a_kind_geocoder_finds(text: str) -> None:
    city = kind_city()
    assert locate(city, text) == ("Banca del Olivo", BANK.position)
    assert isinstance(city.maps, KindMaps)
    assert not city.maps.texts


@pytest.mark.parametrize(
    "text",
    ["1 Olivo Street", "Hauptstraße 12a", "Olivo Street", "1-2-3 Ginza", "銀座1丁目2-3", "1 Chome-2-3 Ginza"],
)
def test_an_address_is_geocoded(text: str) -> None:
    assert locate(kind_city(), text) == (text, ANYWHERE)


def test_what_no_geocoder_finds_is_a_place_of_nearly_that_name() -> None:
    city = town.day_town(GONE, BANK)
    assert locate(city, "Banca Olivo 2")[0] == "Banca del Olivo"
    for text in ("3 Banca del Olivo", "Town Hall"):
        with pytest.raises(NotFound):
            locate(city, text)


def test_a_name_that_only_a_closed_place_has_is_told() -> None:
    with pytest.raises(PlaceClosed, match=r"'Bank of Yore' in .* has closed"):
        locate(kind_city(), "Bank of Yore")
    left_out = SearchResults([BANK], closed=[GONE])
    assert closed_among(left_out) == [GONE]
    assert closed_among([BANK, GONE]) == [GONE]


CORNER = town.place("Corner Bakery", "bakery", 100)
PLATFORM_13 = town.place("Platform 13", "bar", 50)
PLATFORM_3 = town.place("Platform 3", "bar", 90)
MORGAN = town.place("JP Morgan", "bank", 10)
FIFTH = town.place("5th Ave. Bakery", "bakery", 20)
ELEVEN = town.place("7-Eleven", "store", 30)
HOURS = town.place("24 Hour Gym", "gym", 40)


@dataclass(frozen=True)
class AllFound(town.DayPlaces):
    """A directory that answers everything it has to any text."""

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        return list(self.listed)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The Corner Bakery & Café", "Corner Bakery"),
        ("J. P. Morgan", "JP Morgan"),
        ("Fifth Avenue Bakery", "5th Ave. Bakery"),
        ("5th Avenue Bakery", "5th Ave. Bakery"),
        ("7-Eleven", "7-Eleven"),
    ],
)
def test_a_name_is_found_however_it_is_written(text: str, name: str) -> None:
    places = AllFound((PLATFORM_13, CORNER, MORGAN, FIFTH, ELEVEN))
    city = replace(town.day_town(), maps=KindMaps(), places=places)
    assert locate(city, text)[0] == name


def test_a_number_in_a_name_has_to_be_the_same() -> None:
    city = replace(town.day_town(), places=AllFound((PLATFORM_13, PLATFORM_3, HOURS)))
    assert locate(city, "Platform 3")[0] == "Platform 3"
    assert locate(city, "24 Hour Gym")[0] == "24 Hour Gym"
    with pytest.raises(NotFound, match=r"no place in .* matches 'Platform 4'"):
        locate(city, "Platform 4")
