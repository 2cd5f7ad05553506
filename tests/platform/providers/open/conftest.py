"""What tests of the provider `open` share: services with short pauses, a town to serve, city files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from virl.platform.city.city import City
from virl.platform.providers.cities import open_city
from virl.platform.providers.http.osm_servers import MapServiceSettings, ServiceName, load_open_maps
from virl.platform.providers.http.settings import Retries


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test leaves anything in the cache of this machine, or asks whom the environment names."""
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    for name in ("OVERPASS", "NOMINATIM", "OSRM", "VALHALLA"):
        monkeypatch.delenv(f"VIRL_{name}_URL", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def quick() -> Callable[[ServiceName], MapServiceSettings]:
    """The settings of a service, with short pauses."""

    def settings(name: ServiceName) -> MapServiceSettings:
        short = Retries(further=4, first_wait=0.0, longest_wait=5.0)
        return load_open_maps().of(name).model_copy(update={"retries": short})

    return settings


@pytest.fixture(scope="package")
def town() -> City:
    return open_city("virlton")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder."""
    folder = tmp_path / "data"
    monkeypatch.setenv("VIRL_DATA", str(folder))
    return folder


def write_city(file: Path, **told: object) -> str:
    """Write a city file of the provider `open`; gives its path."""
    given = {"title": "Open", "about": "Served here", "provider": "open", "center": [41.25, -38.75]} | told
    file.write_text("".join(f"{name}: {value}\n" for name, value in given.items()))
    return str(file)
