"""A local server that speaks as Overpass and Nominatim do, over real HTTP.

with OverpassServer([Answer(town_xml())]) as server: ...

Each query is met by the next answer of the script; the last one is repeated.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from loopback import LoopbackServer, Quiet

SOUTH, WEST, NORTH, EAST = 60.165, 24.93, 60.175, 24.95
BOX = f"{SOUTH},{WEST},{NORTH},{EAST}"
"""About 1.2 km2."""
FREE = "Connected as: 1\nCurrent time: 2026-11-22T10:00:00Z\nRate limit: 2\n2 slots available now.\n"
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6" generator="Overpass API 0.7.62.8">\n'
    "<note>The data included in this document is from www.openstreetmap.org.</note>\n"
    '<meta osm_base="2026-11-22T10:00:00Z"/>\n\n'
    f'  <bounds minlat="{SOUTH}" minlon="{WEST}" maxlat="{NORTH}" maxlon="{EAST}"/>\n\n'
)


def taken(seconds: int) -> str:
    """The status of a server whose slots are taken."""
    return (
        "Connected as: 1\nCurrent time: 2026-11-22T10:00:00Z\nRate limit: 2\n"
        f"Slot available after: 2026-11-22T10:00:00Z, in {seconds} seconds.\n"
        f"Slot available after: 2026-11-22T10:00:00Z, in {seconds + 60} seconds.\n"
    )


@dataclass(frozen=True)
class Answer:
    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    promised: int = 0
    """Bytes that the headers promise beyond the body."""


@dataclass(frozen=True)
class Request:
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    """By lower-case name."""


def town_xml(end: str = "</osm>\n", remark: str = "") -> str:
    """Two streets, one of which leaves the box by 3 km, a house with a bakery, and a town's node."""
    nodes = [
        *((60.170, 24.932), (60.170, 24.940), (60.170, 24.948), (60.170, 25.005), (60.173, 24.940)),
        *((60.1702, 24.941), (60.1702, 24.942), (60.1704, 24.942), (60.1704, 24.941)),
    ]
    tagged = {
        (60.17025, 24.9415): {"shop": "bakery", "name": "Pågen & Sons"},
        (60.1705, 24.9401): {"place": "town", "name": "Kylä", "population": "1 234"},
    }
    return (
        HEAD
        + "".join(_node(number, at) for number, at in enumerate(nodes, 1))
        + "".join(_node(number, at, **tags) for number, (at, tags) in enumerate(tagged.items(), 90))
        + _way(1, (1, 2, 3, 4), highway="residential", name="Long Street")
        + _way(2, (2, 5), highway="residential", name="Side Street")
        + _way(3, (6, 7, 8, 9, 6), building="yes")
        + (f"<remark> {remark} </remark>\n" if remark else "")
        + end
    )


def _node(number: int, at: tuple[float, float], **tags: str) -> str:
    return f'  <node id="{number}" lat="{at[0]}" lon="{at[1]}">{_tags(tags)}</node>\n'


def _way(number: int, nodes: Sequence[int], **tags: str) -> str:
    refs = "".join(f'<nd ref="{node}"/>' for node in nodes)
    return f'  <way id="{number}">{refs}{_tags(tags)}</way>\n'


def _tags(tags: Mapping[str, str]) -> str:
    return "".join(f'<tag k="{key}" v="{text.replace("&", "&amp;")}"/>' for key, text in tags.items())


def match(name: str, *, half: float = 0.004, kind: str = "town") -> dict[str, object]:
    """A place as Nominatim words it."""
    lat, lng = 60.17, 24.94
    return {
        "place_id": 1,
        "licence": "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright",
        "osm_type": "node",
        "osm_id": 2,
        "lat": str(lat),
        "lon": str(lng),
        "category": "place",
        "type": kind,
        "place_rank": 16,
        "importance": 0.5,
        "addresstype": kind,
        "name": name,
        "display_name": f"{name}, Finland",
        "boundingbox": [str(lat - half), str(lat + half), str(lng - 2 * half), str(lng + 2 * half)],
    }


class OverpassServer(LoopbackServer):
    """Gives `script` at `/api/interpreter`, `status` at `/api/status`, and `places` at `/search`."""

    def __init__(
        self, script: Sequence[Answer], status: Sequence[str] = (FREE,), places: object = ()
    ) -> None:
        self.requests: list[Request] = []
        requests, script, states = self.requests, list(script), list(status)

        class Handler(Quiet, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                headers = {name.lower(): text for name, text in self.headers.items()}
                requests.append(Request(parts.path, parse_qs(parts.query), headers))
                answer = self._answer(parts.path)
                body = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
                self.send_response(answer.status)
                for name, text in answer.headers.items():
                    self.send_header(name, text)
                self.send_header("content-length", str(len(body) + answer.promised))
                self.end_headers()
                with suppress(ConnectionError):  # the client does not read to the end
                    self.wfile.write(body)

            def _answer(self, path: str) -> Answer:
                if path == "/api/status":
                    return Answer(states.pop(0) if len(states) > 1 else states[0])
                if path == "/api/interpreter":
                    return script.pop(0) if len(script) > 1 else script[0]
                return Answer(json.dumps(places)) if path == "/search" else Answer(status=404)

        super().__init__(Handler)

    @property
    def url(self) -> str:
        return f"http://{self.host}/api/interpreter"

    @property
    def queries(self) -> list[str]:
        """In Overpass QL."""
        return [one.query["data"][0] for one in self.requests if one.path == "/api/interpreter"]
