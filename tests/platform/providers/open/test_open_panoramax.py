"""Cities of Panoramax, over HTTP."""

from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from contracts import StreetViewContract
from servers.options import UploadOptions
from servers.panoramax.app import make_app
from servers.uploads.drives import Roughness

from tests.platform.providers.open.conftest import write_city
from virl.errors import NoStreetView
from virl.geo.globe import distance
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import Access, open_city, opened_city
from virl.serve.city_server import ServedCity, served_app

TRUE = UploadOptions(roughness=Roughness(), tilt=4.0, width=1024)


@pytest.fixture(scope="module")
def server(town: City) -> Iterator[ServedCity]:
    with served_app(partial(make_app, town, TRUE)) as server:
        yield server


@pytest.fixture(scope="module")
def city(server: ServedCity, tmp_path_factory: pytest.TempPathFactory) -> Iterator[City]:
    folder = tmp_path_factory.mktemp("open")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("VIRL_DATA", str(folder / "data"))
        city = open_city(write_city(folder / "open-virlton.yaml", panoramax_url=server.url))
        yield city
        city.close()


@pytest.mark.slow
class TestPanoramax(StreetViewContract):
    pass


@pytest.mark.slow
def test_a_view_shows_what_the_town_shows_there(city: City, town: City) -> None:
    here = city.streetview.nearest(city.center, 500)
    assert here is not None
    there = town.streetview.nearest(here.position)
    assert there is not None
    assert distance(here.position, there.position) < 0.1
    camera = Camera(here.heading + 30, -5, 80, 320, 240)
    seen = city.streetview.view(here.id, camera).pixels.astype(float)
    true = town.streetview.view(there.id, camera).pixels.astype(float)
    off = {
        turn: np.abs(seen - town.streetview.view(there.id, _turned(camera, turn)).pixels).mean()
        for turn in (-4, 4)
    }
    assert np.abs(seen - true).mean() < min(off.values())


def _turned(camera: Camera, degrees: float) -> Camera:
    return Camera(camera.heading + degrees, camera.pitch, camera.fov, camera.width, camera.height)


@pytest.mark.slow
def test_what_was_fetched_is_not_fetched_again(server: ServedCity, data: Path, tmp_path: Path) -> None:
    name = write_city(tmp_path / "again.yaml", panoramax_url=server.url, reach_m=80)
    camera = Camera(0, width=64, height=64)
    sent, pixels = [], []
    for _ in range(2):
        city = open_city(name)
        here = city.streetview.nearest(city.center, 100)
        assert here is not None
        pixels.append(city.streetview.view(here.id, camera).pixels)
        assert city.ledger is not None
        sent.append(dict(city.ledger.take().sent))
        city.close()
    assert sent[0] == {"panoramax_search": 1, "panoramax_sd": 1}
    assert sent[1] == {}
    assert np.array_equal(*pixels)
    (credit,) = data.rglob("credit.json")
    assert '"licence": "' in credit.read_text()


@pytest.mark.slow
def test_as_of_a_day_shows_who_came_by_before(town: City, data: Path, tmp_path: Path) -> None:
    rough = UploadOptions(roughness=Roughness(again=1.0), width=512)
    with served_app(partial(make_app, town, rough)) as server:
        name = write_city(tmp_path / "then.yaml", panoramax_url=server.url, reach_m=80)
        taken = []
        for as_of in (None, date(2022, 12, 31)):
            with opened_city(name, Access(as_of=as_of)) as city:
                here = city.streetview.nearest(city.center, 100)
                assert here is not None
                taken.append(here.date)
        newest, before = taken
        assert newest is not None
        assert before is not None
        assert before <= "2022-12" < newest
        with (
            opened_city(name, Access(as_of=date(1999, 1, 1))) as city,
            pytest.raises(NoStreetView, match="until 1999-01-01"),
        ):
            city.streetview.nearest(city.center, 100)
