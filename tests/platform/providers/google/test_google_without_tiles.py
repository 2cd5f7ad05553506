"""Keys without the Map Tiles API."""

import numpy as np
import pytest
from headless import needs_chromium
from served_google import MARKER_KEY

from virl.errors import BadInput, NoStreetView
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, Pose
from virl.platform.movers.grid import GridMover, Rings
from virl.platform.movers.open_mover import open_mover, planned_mover
from virl.platform.movers.web import WebSettings
from virl.platform.providers.google import city_file
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.settings import Keys, at_base_url, load_google_settings
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city


def without_tiles(url: str) -> GoogleHttp:
    settings = at_base_url(load_google_settings(), url).model_copy(update={"map_tiles": False})
    return GoogleHttp(settings, Keys(MARKER_KEY))


@pytest.mark.slow
def test_the_grid_walks_on_street_view_static_alone(virlton: City) -> None:
    with (
        serve_city(virlton, ServeOptions(lossless=True)) as server,
        without_tiles(server.url) as http,
    ):
        streetview = open_google("served", "Served", virlton.center, None, http).streetview
        start = streetview.nearest(virlton.center)
        true = virlton.streetview.nearest(virlton.center)
        assert start
        assert true
        assert (start.id, start.date, start.links) == (true.id, true.date, ())
        pose, mover = Pose(start.id, true.links[0].heading), GridMover(streetview, Rings())
        for _ in range(3):
            link = min(mover.links(pose), key=lambda one: abs(one.heading - pose.heading))
            pose = mover.take(pose, link)
        camera = Camera(pose.heading, width=64, height=64)
        seen = streetview.view(pose.pano_id, camera).pixels
        assert np.array_equal(seen, virlton.streetview.view(pose.pano_id, camera).pixels)
        assert streetview.nearest(LatLng(0.0, 0.0)) is None
        with pytest.raises(NoStreetView):
            streetview.panorama("no such panorama")
        asked = server.stats()["requests"]
    assert not [name for name in asked if "tile" in name.lower()], asked


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
def test_the_page_walks_on_street_view_static_alone(virlton: City, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", MARKER_KEY)
    with serve_city(virlton, ServeOptions()) as server, without_tiles(server.url) as http:
        city = open_google("served", "Served", virlton.center, None, http)
        true = virlton.streetview.nearest(virlton.center)
        assert true
        assert city.capabilities.panorama_page
        pose = Pose(true.id, true.links[0].heading)
        page = WebSettings.of_page(city.capabilities.panorama_page)
        with open_mover("web", city.streetview, web=page) as mover:
            for _ in range(3):
                links = mover.links(pose)
                truth = virlton.streetview.panorama(pose.pano_id).links
                assert {one.pano_id for one in links} == {one.pano_id for one in truth}
                pose = mover.take(pose, min(links, key=lambda one: abs(one.heading - pose.heading)))
        asked = server.stats()["requests"]
    assert pose.pano_id != true.id
    assert set(asked) <= {"js_panorama", "js_script", "js_view", "static_metadata"}, asked


def test_only_movers_that_need_no_links_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (planned_mover("tokyo").name, planned_mover("tokyo").works) == ("links", ())
    settings = load_google_settings().model_copy(update={"map_tiles": False})
    monkeypatch.setattr(city_file, "load_google_settings", lambda: settings)
    assert (planned_mover("tokyo").name, planned_mover("tokyo").works) == ("grid", ("grid", "web"))
    with pytest.raises(BadInput, match="mover 'links' does not work in tokyo"):
        planned_mover("tokyo", "links")
    assert planned_mover("virlton").name == "links"


def test_pictures_from_tiles_are_refused(virlton: City) -> None:
    with without_tiles("http://127.0.0.1:1") as http, pytest.raises(BadInput, match="imagery: tiles"):
        open_google("served", "Served", virlton.center, GoogleOptions(imagery="tiles"), http)
