import pytest
from contracts import ListingsContract, MapsContract, PlacesContract, StreetViewContract

from virl.platform.city import City
from virl.platform.providers import open_city


@pytest.fixture(scope="session")
def city() -> City:
    return open_city("virlton")


class TestVirlton(StreetViewContract, PlacesContract, MapsContract, ListingsContract):
    pass
