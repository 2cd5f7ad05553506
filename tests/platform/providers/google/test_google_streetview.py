import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from served_google import Google, google_over

from virl.errors import BadInput, NoImagery, NoStreetView, ProviderError
from virl.geo import globe
from virl.platform.city.city import City
from virl.platform.city.streetview import Attitude, Camera, Panorama, View
from virl.platform.providers.google.city_file import GoogleOptions, Imagery
from virl.platform.providers.google.streetview import GoogleStreetView
from virl.platform.providers.google.tiles import SERVICE, Capture
from virl.platform.providers.http.replies import read_body
from virl.platform.providers.pictures.projection import (
    equirectangular,
    perspective,
    sample_points,
    sampled_tiles,
)

# As Google's page on street-view tiles shows a reply, with our numbers.
METADATA = {
    "panoId": "Xy12_-abc",
    "lat": 40.748,
    "lng": -73.985,
    "originalLat": 40.74801,
    "originalLng": -73.98499,
    "heading": 94.35,
    "tilt": 88.4,
    "roll": 1.7,
    "imageWidth": 13312,
    "imageHeight": 6656,
    "tileWidth": 512,
    "tileHeight": 512,
    "date": "2024-05",
    "copyright": "Somebody",
    "links": [{"panoId": "next", "heading": -85.5, "text": "W 34th St"}],
}


@pytest.fixture
def fresh(google: Google) -> Google:
    """A client that remembers nothing, and a server that has counted nothing."""
    google.server.reset()
    google.http.ledger.take()
    return google.reopened()


def here(city: City) -> Panorama:
    found = city.streetview.nearest(city.center)
    assert found is not None
    return found


def usd_of(google: Google) -> float:
    """Dollars since the last time, of the shared way to Google."""
    return google.http.ledger.take().usd


def tiles_seen(camera: Camera, attitude: Attitude, width: int, tile: int) -> set[tuple[int, int]]:
    """Return the tiles of a panorama `width` pixels wide that a camera's pixels are sampled from."""
    height = width // 2
    return sampled_tiles(*sample_points(attitude, camera, width, height), width, height, tile)


def as_google(city: City) -> GoogleStreetView:
    assert isinstance(city.streetview, GoogleStreetView)
    return city.streetview


def test_panoramas_are_those_of_the_city_itself(virlton: City, fresh: Google) -> None:
    seen = here(fresh.city)
    for _ in range(8):
        own = virlton.streetview.panorama(seen.id)
        assert seen.position == own.position
        assert seen.date == own.date
        assert seen.heading == pytest.approx(own.heading)
        assert [link.pano_id for link in seen.links] == [link.pano_id for link in own.links]
        for link, own_link in zip(seen.links, own.links, strict=True):
            assert link.heading == pytest.approx(own_link.heading)
            assert link.distance == pytest.approx(own_link.distance, abs=1e-3)
        seen = fresh.city.streetview.panorama(seen.links[-1].pano_id)


def test_relocation_is_free_and_metadata_is_asked_once_for_each_panorama(fresh: Google) -> None:
    first = here(fresh.city)
    assert fresh.asked() == {
        "static_metadata": 1,
        "tiles_session": 1,
        "tiles_metadata": 1 + len(first.links),
    }
    assert here(fresh.city) == first
    assert fresh.asked() == {"static_metadata": 1}
    assert usd_of(fresh) == 0


def test_a_walk_asks_for_one_panorama_a_step_where_the_street_goes_straight_on(fresh: Google) -> None:
    pose, heading, asked = here(fresh.city), 90.0, 0
    fresh.asked()
    for _ in range(12):
        onward = min(pose.links, key=lambda link: abs(globe.signed_turn(heading, link.heading)))
        pose, heading = fresh.city.streetview.panorama(onward.pano_id), onward.heading
        requests = fresh.asked()
        assert set(requests) <= {"tiles_metadata"}
        assert requests.get("tiles_metadata", 0) <= max(len(pose.links) - 1, 0)
        asked += requests.get("tiles_metadata", 0)
    assert asked >= 10
    assert fresh.server.stats()["repeated"] == {}


@pytest.mark.slow
def test_many_positions_cost_one_request_for_each_hundred(virlton: City, fresh: Google) -> None:
    positions = [globe.destination(virlton.center, 7.0 * i, 0.4 * i) for i in range(201)]
    found = as_google(fresh.city).nearest_many(positions, 20)
    requests = fresh.asked()
    assert requests["tiles_pano_ids"] == 3
    assert "static_metadata" not in requests
    expected = [virlton.streetview.nearest(position, 20) for position in positions]
    assert [one and one.id for one in found] == [one and one.id for one in expected]
    assert None in found
    assert usd_of(fresh) == pytest.approx(3 * 0.002)
    with pytest.raises(BadInput, match="radius"):
        as_google(fresh.city).nearest_many(positions, 0)
    assert as_google(fresh.city).nearest_many([]) == []


@pytest.mark.slow
def test_small_views_are_thumbnails_unless_that_is_not_wanted(virlton: City, fresh: Google) -> None:
    start, camera = here(fresh.city), Camera(123.4, 12.0, 90.0, 600, 250)
    own = virlton.streetview.view(start.id, camera)  # the first picture takes seconds
    fresh.asked()
    fresh.http.ledger.take()
    view = fresh.city.streetview.view(start.id, camera)
    assert fresh.asked() == {"tiles_thumbnail": 1}
    assert fresh.http.ledger.take().usd == 0.002
    assert fresh.city.capabilities.cheap_view == (600, 250)
    assert np.array_equal(view.pixels, own.pixels)
    without = fresh.reopened(GoogleOptions(thumbnails=False))
    assert without.city.capabilities.cheap_view is None
    without.city.streetview.view(start.id, camera)
    assert fresh.asked()["static_image"] == 1


@pytest.mark.slow
def test_static_views_are_what_the_city_renders(virlton: City, fresh: Google) -> None:
    start = here(fresh.city)
    fresh.asked()
    camera = Camera(123.4, 5.5, 71.3, 320, 260)
    view = fresh.city.streetview.view(start.id, camera)
    assert fresh.asked() == {"static_image": 1}
    assert np.array_equal(view.pixels, virlton.streetview.view(start.id, camera).pixels)
    with pytest.raises(BadInput, match=r"640x640 .* `imagery: tiles`"):
        fresh.city.streetview.view(start.id, Camera(0, width=800, height=600))
    assert fresh.asked() == {}


@pytest.mark.slow
def test_tiled_views_fetch_each_tile_once_and_only_when_it_is_seen(virlton: City, google: Google) -> None:
    tiled = google.reopened(GoogleOptions(imagery="tiles", zoom=2)).city.streetview
    start = virlton.streetview.nearest(virlton.center)
    assert start is not None
    google.asked()
    ahead = Camera(start.heading, 0, 60, 400, 300)
    view = tiled.view(start.id, ahead)
    asked = google.asked()
    assert asked["tiles_tile"] == 4, "the middle of a panorama of 4x2 tiles"
    own = virlton.streetview.view(start.id, ahead).pixels
    assert np.abs(view.pixels.astype(int) - own).mean() < 6
    assert np.array_equal(tiled.view(start.id, ahead).pixels, view.pixels)
    assert google.asked() == {}
    tiled.view(start.id, Camera(start.heading + 180, 0, 60, 800, 600))
    assert google.asked() == {"tiles_tile": 4}
    for heading in range(0, 360, 45):
        tiled.view(start.id, Camera(heading, 30, 90, 100, 100))
    assert google.asked() == {}


def test_a_refused_session_is_renewed(fresh: Google) -> None:
    start = here(fresh.city)
    tiles = as_google(fresh.city)._tiles
    tiles._session = "long-gone"
    fresh.asked()
    assert tiles.capture(start.id).id == start.id
    assert fresh.asked() == {"tiles_metadata": 2, "tiles_session": 1}
    tiles._ends = time.time() + 1
    tiles.capture(start.id)
    assert fresh.asked() == {"tiles_metadata": 1, "tiles_session": 1}


class Faded:
    """Virlton's street view after all pictures were taken away."""

    def __init__(self, city: City) -> None:
        self.nearest, self.panorama = city.streetview.nearest, city.streetview.panorama

    def view(self, pano_id: str, camera: Camera) -> View:
        raise NoImagery(f"no picture of {pano_id} through {camera}")


@pytest.mark.slow
@pytest.mark.parametrize("imagery", ["static", "tiles"])
def test_no_picture_and_no_panorama_are_told_apart(virlton: City, imagery: Imagery) -> None:
    start = here(virlton)
    with google_over(replace(virlton, streetview=Faded(virlton)), GoogleOptions(imagery=imagery)) as faded:
        with pytest.raises(NoImagery, match=start.id):
            faded.city.streetview.view(start.id, Camera(0))
        with pytest.raises(NoStreetView, match="not-there"):
            faded.city.streetview.view("not-there", Camera(0))


def test_a_link_to_a_panorama_that_has_gone_is_not_there(
    fresh: Google, monkeypatch: pytest.MonkeyPatch
) -> None:
    streetview = as_google(fresh.city)
    start = here(fresh.city)
    gone, capture = start.links[0].pano_id, streetview._capture

    def without_one(pano_id: str) -> Capture:
        return capture("not-there" if pano_id == gone else pano_id)

    monkeypatch.setattr(streetview, "_capture", without_one)
    assert streetview.panorama(start.id).links == start.links[1:]


def test_reads_metadata_as_google_writes_it() -> None:
    capture = read_body(Capture, METADATA, SERVICE)
    assert capture.id == "Xy12_-abc"
    assert capture.position == (40.748, -73.985)
    assert [(link.pano_id, link.heading) for link in capture.links] == [("next", 274.5)]
    assert capture.largest_zoom == 5
    assert [capture.size(zoom) for zoom in (0, 3, 5)] == [(416, 208), (3328, 1664), (13312, 6656)]
    with pytest.raises(ProviderError, match=r"Map Tiles API: .*panoId"):
        read_body(Capture, {"lat": 1, "lng": 2}, SERVICE)
    for field, value in (("tileWidth", 0), ("imageWidth", -4), ("imageHeight", 10**9)):
        with pytest.raises(ProviderError, match=field):
            read_body(Capture, METADATA | {field: value}, SERVICE)
    assert read_body(Capture, METADATA | {"heading": 1e999}, SERVICE).heading is None
    many = METADATA | {"links": [{"panoId": "a", "heading": 1}] * 101}
    assert len(read_body(Capture, many, SERVICE).links) == 100


cameras = st.builds(
    Camera,
    heading=st.floats(0, 359.99),
    pitch=st.floats(-90, 90),
    fov=st.floats(10, 120),
    width=st.integers(16, 60),
    height=st.integers(16, 60),
)


attitudes = st.builds(
    Attitude,
    heading=st.floats(0, 359),
    pitch=st.sampled_from([0.0, -7.5, 20.0]),
    roll=st.sampled_from([0.0, 4.0]),
)


@pytest.mark.slow
@given(camera=cameras, held=attitudes, width=st.sampled_from([64, 104, 208]))
def test_the_tiles_seen_are_all_that_a_view_needs(camera: Camera, held: Attitude, width: int) -> None:
    pixels = np.random.default_rng(1).integers(1, 256, (width // 2, width, 3), dtype=np.uint8)
    fetched = np.zeros_like(pixels)
    seen = tiles_seen(camera, held, width, 16)
    for x, y in seen:
        part = (slice(16 * y, 16 * y + 16), slice(16 * x, 16 * x + 16))
        fetched[part] = pixels[part]
    whole, needed = (perspective(equirectangular(one, attitude=held), camera) for one in (pixels, fetched))
    assert np.array_equal(whole, needed)


@pytest.mark.slow
def test_a_narrow_view_sees_few_tiles() -> None:
    assert len(tiles_seen(Camera(0, 0, 30), Attitude(), 3328, 512)) == 2
    assert len(tiles_seen(Camera(0, 90, 30), Attitude(), 3328, 512)) == 7
