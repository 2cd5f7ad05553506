"""Cities of Mapillary, over HTTP."""

from collections.abc import Iterator
from functools import partial
from math import radians
from pathlib import Path

import numpy as np
import pytest
from contracts import StreetViewContract
from scripted_service import Reply, ScriptedService
from servers.mapillary.app import make_app
from servers.mapillary.graph_api import rotation_of
from servers.options import UploadOptions

from tests.platform.providers.open.conftest import write_city
from virl.errors import NoImagery, ProviderError
from virl.geo.globe import LatLng, destination
from virl.platform.city.city import City
from virl.platform.city.left_out import LeftOut
from virl.platform.city.streetview import Attitude, Camera
from virl.platform.providers.cities import Access, open_city, opened_city
from virl.platform.providers.open.mapillary.client import Images, attitude_of, shot_of
from virl.serve.city_server import ServedCity, served_app

TOKEN = "MLY|1234567890|0123456789abcdef0123456789abcdef"  # noqa: S105  # of nobody
CAMERA = Camera(10, width=64, height=64)


@pytest.fixture(scope="module")
def server(town: City) -> Iterator[ServedCity]:
    options = UploadOptions(width=512, tilt=4.0, most=300, expired=1.0)
    with served_app(partial(make_app, town, options)) as server:
        yield server


@pytest.fixture(scope="module")
def city(server: ServedCity, tmp_path_factory: pytest.TempPathFactory) -> Iterator[City]:
    folder = tmp_path_factory.mktemp("open")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("VIRL_DATA", str(folder / "data"))
        monkeypatch.setenv("MAPILLARY_ACCESS_TOKEN", TOKEN)
        told = {"streetview": "mapillary", "mapillary_url": server.url}
        with opened_city(write_city(folder / "open-virlton.yaml", **told), Access()) as city:
            yield city


@pytest.mark.slow
class TestMapillary(StreetViewContract):
    pass


@pytest.mark.parametrize(
    ("heading", "vector"),
    [
        (0, (1.571, 0, 0)),
        (30, (1.532, -0.410, 0.410)),
        (90, (1.209, -1.209, 1.209)),
        (200, (0.358, 2.032, -2.032)),
    ],
)
def test_a_level_camera_is_turned_as_mapillary_says(heading: float, vector: tuple[float, ...]) -> None:
    assert rotation_of(Attitude(heading)) == pytest.approx(vector, abs=2e-3)


@pytest.mark.parametrize("held", [Attitude(0), Attitude(77, 8, -5), Attitude(250.5, -12, 20)])
def test_a_rotation_says_how_the_camera_was_held(held: Attitude) -> None:
    found = attitude_of(rotation_of(held))
    assert (found.heading, found.pitch, found.roll) == pytest.approx(
        (held.heading, held.pitch, held.roll), abs=1e-4
    )
    assert radians(held.pitch) < 1


@pytest.mark.slow
def test_full_boxes_are_split_and_expired_addresses_are_asked_for_again(
    city: City, server: ServedCity
) -> None:
    here = city.streetview.nearest(city.center, 500)
    assert here is not None
    assert city.streetview.view(here.id, CAMERA).pixels.any()
    answers = server.stats()["answers"]
    assert answers["images"]["500"] > 0
    assert answers["images"]["200"] >= 4
    assert answers["thumb"]["403"] >= 1


@pytest.fixture
def gaps(town: City) -> Iterator[ServedCity]:
    """A server with flat pictures, some of which are gone."""
    with served_app(partial(make_app, town, UploadOptions(width=512, flat=0.3, deleted=0.3))) as server:
        yield server


@pytest.mark.slow
def test_the_token_reaches_no_file_and_no_error(
    gaps: ServedCity, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write_city(tmp_path / "city.yaml", streetview="mapillary", mapillary_url=gaps.url, reach_m=80)
    monkeypatch.delenv("MAPILLARY_ACCESS_TOKEN", raising=False)
    with pytest.raises(ProviderError, match="MAPILLARY_ACCESS_TOKEN is not set"):
        open_city(name)
    monkeypatch.setenv("MAPILLARY_ACCESS_TOKEN", TOKEN)
    folder = tmp_path / "recorded"
    with opened_city(name, Access(record=folder)) as city:
        ids = city.street_map.panorama_ids() if city.street_map else ()
        views, gone = {}, []
        for pano_id in ids[:10]:
            try:
                views[pano_id] = city.streetview.view(pano_id, CAMERA).pixels
            except NoImagery as fault:
                gone.append(str(fault))
    assert views
    assert any("no longer" in words for words in gone)
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(TOKEN.encode() in body or b"&oh=" in body for body in written)
    monkeypatch.delenv("MAPILLARY_ACCESS_TOKEN")
    asked = gaps.stats()["total"]
    with opened_city(name, Access(replay=folder)) as city:
        assert city.street_map is not None
        assert city.street_map.panorama_ids() == ids
        for pano_id, pixels in views.items():
            assert np.array_equal(city.streetview.view(pano_id, CAMERA).pixels, pixels)
    assert gaps.stats()["total"] == asked


def test_a_refused_token_is_named(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Reply({"error": {"message": "Invalid OAuth 2.0 Access Token", "code": 190}}, 400)
    monkeypatch.setenv("MAPILLARY_ACCESS_TOKEN", TOKEN)
    with ScriptedService({"*": [refused]}) as service:
        name = write_city(
            tmp_path / "city.yaml", streetview="mapillary", mapillary_url=service.url, reach_m=80
        )
        with (
            opened_city(name, Access(cache="off")) as city,
            pytest.raises(ProviderError, match=r"Invalid OAuth 2\.0 Access Token.*MAPILLARY_ACCESS_TOKEN"),
        ):
            city.streetview.nearest(city.center)
    assert len(service.asked) == 1


@pytest.mark.parametrize(("metres", "used"), [(25.0, True), (35.0, False)])
def test_a_computed_position_far_from_the_measured_one_is_not_used_and_counted(
    metres: float, used: bool
) -> None:
    measured = LatLng(52.0, 5.0)
    computed = destination(measured, 90.0, metres)
    image = {
        "id": "1",
        "geometry": {"type": "Point", "coordinates": [measured.lng, measured.lat]},
        "computed_geometry": {"type": "Point", "coordinates": [computed.lng, computed.lat]},
        "captured_at": 1,
        "sequence": "s",
    }
    left_out = LeftOut()
    (read,) = Images.model_validate({"data": [image]}, context=partial(left_out.add, "Mapillary")).data
    assert read is not None
    assert shot_of(read).position == pytest.approx(computed if used else measured)
    assert [one.count for one in left_out.omissions()] == ([] if used else [1])
