"""What the tests of the per-city benchmarks share."""

from pathlib import Path

import pytest

from virl.bench.city_data import square_around
from virl.datasets.collect.collection import (
    Collection,
    collect_city_places,
    collect_city_questions,
    collect_city_routes,
)
from virl.datasets.collect.places import PlacesSettings
from virl.datasets.collect.routes import RoutesSettings
from virl.platform.providers.cities import open_city

SIDE_M = 200.0


@pytest.fixture(scope="session")
def virlton_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a data set of the middle of Virlton: for tests that are marked slow."""
    home = tmp_path_factory.mktemp("collected")
    city = open_city("virlton")
    collection = Collection(home / "virlton", city, "offline", square_around(city.center, SIDE_M))

    def progress(*_: object) -> None:
        return None

    collect_city_places(collection, PlacesSettings(), "cpu", allow_downloads=False, progress=progress)
    collect_city_questions(collection, 0, progress)
    collect_city_routes(collection, RoutesSettings(count=2, starts=1), progress)
    return home
