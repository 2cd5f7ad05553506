"""Where a text means."""

from dataclasses import dataclass, field, replace

import made_day_town as town
import pytest

from virl.errors import NotFound
from virl.geo import LatLng
from virl.platform.city import City
from virl.platform.locate import locate

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


@pytest.mark.parametrize("text", ["1 Olivo Street", "Hauptstraße 12a", "Olivo Street"])
def test_an_address_is_geocoded(text: str) -> None:
    assert locate(kind_city(), text) == (text, ANYWHERE)


def test_what_no_geocoder_finds_is_a_place_of_nearly_that_name() -> None:
    city = town.day_town(GONE, BANK)
    assert locate(city, "Banca Olivo 2")[0] == "Banca del Olivo"
    for text in ("3 Banca del Olivo", "Town Hall"):
        with pytest.raises(NotFound):
            locate(city, text)
