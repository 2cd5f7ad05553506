"""A stand-in for the Maps JavaScript API over a made street view, served on loopback."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from made_streets import MadeStreetView

REFUSED = "refused-key"

SCRIPT = """
(() => {
  const PANORAMAS = %(panoramas)s;
  class Panorama {
    constructor(element, options) {
      this.element = element; this.listeners = {}; this.links = null; this.pov = {heading: 0, pitch: 0};
    }
    addListener(name, handler) { (this.listeners[name] ||= []).push(handler); }
    tell(name) { for (const handler of this.listeners[name] || []) handler(); }
    getPano() { return this.pano; }
    getStatus() { return this.status; }
    getPosition() { return this.at && {lat: () => this.at.lat, lng: () => this.at.lng}; }
    getLinks() { return this.links; }
    getPov() { return this.pov; }
    setPov(pov) { this.pov = pov; this.draw(); this.tell("pov_changed"); }
    setPano(pano) {
      this.pano = pano; this.tell("pano_changed");
      setTimeout(() => {
        const found = PANORAMAS[pano];
        if (!%(known)s) { this.status = "UNKNOWN_ERROR"; this.tell("status_changed"); return; }
        this.status = found ? "OK" : "ZERO_RESULTS"; this.tell("status_changed");
        if (!found) return;
        this.links = found.links; this.tell("links_changed");
        setTimeout(() => { this.at = found; this.draw(); this.tell("position_changed"); }, 5);
      }, 5);
    }
    draw() {
      const names = "http://www.w3.org/2000/svg", svg = document.createElementNS(names, "svg");
      for (const link of (this.links || []).filter(Boolean)) {
        const path = document.createElementNS(names, "path"), turn = link.heading - this.pov.heading;
        path.setAttribute("role", "button");
        if (turn) path.setAttribute("transform", `rotate(${turn} 20 20) scale(2)`);
        path.addEventListener("click", () => this.setPano(link.pano));
        svg.append(path);
      }
      this.element.replaceChildren(svg);
    }
  }
  if (%(refused)s) return window.gm_authFailure();
  window.google = {maps: {StreetViewPanorama: Panorama}};
  window[%(callback)s]();
})();
"""


@contextmanager
def serve_maps_js(
    streets: MadeStreetView, names: list[str], broken: Sequence[str] = ()
) -> Iterator[tuple[str, list[str]]]:
    """The address of the script, and the queries it was asked with.

    Args:
        streets: what it shows.
        names: of all panoramas.
        broken: how the first scripts fail, one after the other: with a `status`, as `noise`, or by a
            panorama that answers `unknown`.
    """
    faults = list(broken)
    panoramas = {}
    for name in names:
        here = streets.panorama(name)
        links = [None, *({"pano": link.pano_id, "heading": link.heading - 360} for link in here.links)]
        panoramas[name] = {"lat": here.position.lat, "lng": here.position.lng, "links": links}
    queries: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = urlsplit(self.path)[2:4]
            queries.append(query)
            fault = faults.pop(0) if faults else ""
            given = parse_qs(query)
            values = {
                "panoramas": json.dumps(panoramas),
                "callback": json.dumps(given["callback"][0]),
                "known": json.dumps(fault != "unknown"),
                "refused": json.dumps(given.get("key") == [REFUSED]),
            }
            body = b"\x00noise(" if fault == "noise" else (SCRIPT % values).encode()
            self.send_response(503 if fault == "status" else 200 if path == "/maps/api/js" else 404)
            self.send_header("Content-Type", "text/javascript")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/maps/api/js", queries
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
