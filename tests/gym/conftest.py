"""The town in which environments are tried."""

import pytest

import virl
from virl.platform.city.city import City


@pytest.fixture(scope="module")
def town() -> City:
    return virl.open_city("virlton")
