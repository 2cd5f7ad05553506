"""The script in a real browser."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from headless import chromium, needs_chromium

from virl.geo import globe
from virl.platform.city.city import City
from virl.serve.city_server import ServedCity
from virl.serve.google import ServeOptions
from virl.serve.google.server import serve_city

pytestmark = [pytest.mark.browser, needs_chromium]

HERE = "vt-00042"
PAGE = """<!doctype html><div id="view" style="width: 320px; height: 240px"></div><script>
window.seen = [];
window.denied = false;
window.gm_authFailure = () => { window.denied = true; };
window.begin = (options) => new Promise((done) => {
  window.panorama = new google.maps.StreetViewPanorama(document.getElementById("view"), options);
  for (const name of ["pano_changed", "position_changed", "links_changed", "pov_changed", "status_changed"]) {
    panorama.addListener(name, () => {
      seen.push(name);
      if (name === "status_changed") done();
    });
  }
});
window.until = (name, work) => new Promise((done) => {
  google.maps.event.addListenerOnce(panorama, name, done);
  work();
});
window.state = () => ({
  pano: panorama.getPano(), links: panorama.getLinks(), status: panorama.getStatus(), pov: panorama.getPov(),
  position: panorama.getPosition()?.toJSON(), seen: window.seen,
  arrows: [...document.querySelectorAll("path[role=button]")].map((path) => path.getAttribute("transform")),
});
window.loaded = new Promise((done) => { window.ready = done; });
</script><script async src="SERVER/maps/api/js?key=KEY&callback=ready&loading=async"></script>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture(scope="module")
def keyed(city: City) -> Iterator[ServedCity]:
    with serve_city(city, ServeOptions(key="right")) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as chrome:
        chrome.set_script_timeout(20)
        yield chrome


@pytest.fixture
def show(browser: Any, keyed: ServedCity, tmp_path: Path) -> Iterator[Any]:
    """Opens the page, which comes from another origin than the script, with a key."""
    pages = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    Thread(target=pages.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def show(key: str) -> Any:
        page = PAGE.replace("SERVER", keyed.url).replace("KEY", key)
        (tmp_path / "index.html").write_text(page)
        browser.get(f"http://127.0.0.1:{pages.server_port}/index.html")
        return browser

    yield show
    pages.shutdown()
    pages.server_close()


def run(browser: Any, script: str, *values: object) -> Any:
    """Await some JavaScript in the page; `$0` stands for the first value."""
    for index in range(len(values)):
        script = script.replace(f"${index}", f"values[{index}]")
    wrapped = f"""const values = [...arguments], done = values.pop();
      (async () => {{ await window.loaded; {script} }})().then(done, (fault) => done(String(fault)));"""
    return browser.execute_async_script(wrapped, *values)


def test_a_panorama_tells_of_itself_and_moves(show: Any, city: City) -> None:
    browser = show("right")
    start = city.streetview.panorama(HERE)
    state = run(browser, "await begin({pano: $0, pov: {heading: 90, pitch: 0}}); return state();", HERE)
    assert (state["status"], state["pano"]) == ("OK", HERE)
    assert state["position"] == {"lat": start.position.lat, "lng": start.position.lng}
    assert [(link["pano"], link["heading"]) for link in state["links"]] == [
        (link.pano_id, link.heading) for link in start.links
    ]
    assert state["seen"][-3:] == ["position_changed", "links_changed", "status_changed"]
    turns = [float(text.removeprefix("rotate(").removesuffix(")")) for text in state["arrows"]]
    for turn, link in zip(turns, start.links, strict=True):
        assert abs(globe.signed_turn(turn + 90, link.heading)) < 1e-6

    click = 'document.querySelector("path[role=button]").dispatchEvent(new MouseEvent("click"))'
    state = run(browser, f'await until("links_changed", () => {click}); return state();')
    assert state["pano"] == start.links[0].pano_id
    assert state["pov"] == {"heading": 90, "pitch": 0}

    back = {"lat": start.position.lat, "lng": start.position.lng}
    state = run(
        browser, 'await until("links_changed", () => panorama.setPosition($0)); return state();', back
    )
    assert state["pano"] == HERE
    state = run(
        browser, 'await until("status_changed", () => panorama.setPano("not-there")); return state();'
    )
    assert state["status"] == "ZERO_RESULTS"
    run(browser, 'await document.querySelector("#view img").decode();')  # no view is left for another test


def test_it_draws_the_view(show: Any, keyed: ServedCity) -> None:
    browser = show("right")
    keyed.reset()
    script = """await begin({pano: $0}); const image = document.querySelector("#view img");
      await image.decode(); return [image.naturalWidth, image.naturalHeight];"""
    assert run(browser, script, HERE) == [320, 240]
    counted = keyed.stats()["good"]
    assert (counted["js_panorama"], counted["js_view"]) == (1, 1)


def test_the_service_and_the_library(show: Any, city: City) -> None:
    browser = show("right")
    script = """const { StreetViewService } = await google.maps.importLibrary("streetView");
      const { data } = await new StreetViewService().getPanorama({location: $0, radius: 30});
      const missing = await new StreetViewService().getPanorama({pano: "no"}).catch((fault) => fault.code);
      return [data.location.pano, data.location.latLng.lat(), data.tiles.worldSize.width, missing];"""
    nearest = city.streetview.nearest(city.center, 30)
    assert nearest is not None
    position = {"lat": city.center.lat, "lng": city.center.lng}
    assert run(browser, script, position) == [nearest.id, nearest.position.lat, 4096, "ZERO_RESULTS"]


def test_a_wrong_key_is_told_to_the_page(show: Any) -> None:
    browser = show("wrong")
    assert run(browser, "await begin({pano: $0}); return [denied, panorama.getStatus()];", HERE) == [
        True,
        "UNKNOWN_ERROR",
    ]


def test_a_map_holds_the_panorama(show: Any) -> None:
    script = """
      const map = new google.maps.Map(document.getElementById("view"), {center: {lat: 1, lng: 2}, zoom: 14});
      await begin({pano: $0});
      map.setStreetView(panorama);
      const same = map.getStreetView() === panorama;
      return {same, center: map.getCenter().toJSON(), zoom: map.getZoom()};"""
    assert run(show("right"), script, HERE) == {"same": True, "center": {"lat": 1, "lng": 2}, "zoom": 14}
