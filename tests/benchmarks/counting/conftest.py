"""The made city, opened once."""

import pytest

from virl.platform.city import City
from virl.platform.providers import open_city


@pytest.fixture(scope="session")
def virlton() -> City:
    return open_city("virlton")
