"""How many requests `virl serve google` answers a second, by endpoint, and how long each waits.

    python -m benchmarks.perf.serve [--city virlton] [--at LAT,LNG] [--clients 50] [--seconds 3] [--json]
    python -m benchmarks.perf.serve --minutes 10 [--clients 10]

Each endpoint is asked alone. The table has its requests a second, the times below which 50 and 99 of 100
answers come, in milliseconds, and the milliseconds of processor time that the server took for each: these say
more on a busy machine. The last lines are metadata for 5 clients while 4 others ask for new tiles, and
the memory of the server. The server runs in a process of its own; the clients share the processors with it.

With `--minutes`, the clients ask for everything in turn, a tenth of it new tiles and a tenth new pictures.
Each minute has a line: requests, the memory of the server at its end, and the most it ever took.
"""

import json
import os
import subprocess  # nosec B404
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from itertools import count, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from virl.geo.globe import LatLng, destination

from .figures import Figures, command, figures

CENTER = LatLng(41.25, -38.75)
PATIENCE_S = 120


@dataclass(frozen=True)
class Request:
    """A request to the server: path, query, body and headers."""

    path: str
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(self, to: HTTPConnection) -> bytes:
        """Send the request over a connection, and return the whole answer.

        Raises:
            RuntimeError: the status is not 200.
        """
        target = f"{self.path}?{urlencode({**self.query, 'key': 'k'})}"
        method, body = ("GET", None) if self.body is None else ("POST", json.dumps(self.body))
        to.request(method, target, body, dict(self.headers))
        answer = to.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{self.path}: status {answer.status}: {content[:200]!r}")
        return content


Ask = Callable[[int], Request]


def main() -> None:
    """Measure the server's rates, or its memory over minutes, and print them."""
    parser = command(__doc__)
    parser.add_argument("--city", default="virlton", help="what is served")
    parser.add_argument("--at", default=CENTER, type=position_of, help="where in it, as LAT,LNG")
    parser.add_argument("--clients", type=int, default=50, help="how many ask at once")
    parser.add_argument("--seconds", type=float, default=3, help="how long each endpoint is asked")
    parser.add_argument("--minutes", type=int, default=0, help="ask for everything in turn for so long")
    options = parser.parse_args()
    with figures(options) as found, serve_town(options.city, options.at) as town:
        if options.minutes:
            _endure(found, town, options.clients, options.minutes)
        else:
            _measure(found, town, options.clients, options.seconds)


@dataclass(frozen=True)
class LoadedTown:
    """A town that a process of its own serves, with ids and addresses to ask for."""

    url: str
    process: int
    center: LatLng
    panoramas: Sequence[str]
    """Ids of panoramas around the centre."""
    addresses: Sequence[str]

    def panorama(self, number: int) -> str:
        """Return the id of a panorama by number; numbers repeat only after all ids are used."""
        return self.panoramas[number % len(self.panoramas)]

    def processor_s(self) -> float:
        """Return the seconds of processor time that the server has taken so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serve_town(city: str, center: LatLng) -> Iterator[LoadedTown]:
    """Yield a town around `center` that a process of its own serves until the block ends.

    Raises:
        SystemExit: no panorama is near the centre.
    """
    server = [sys.executable, "-m", "virl", "serve", "google", "--city", city, "--port", "0"]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # nosec B603
        try:
            url = next(iter(process.stdout or ())).split()[-1]
            town = LoadedTown(url, process.pid, center, panoramas(url, center), addresses(url, center))
            if not town.panoramas:
                raise SystemExit(f"serve: no panorama of {city} near {center}: give a position with --at")
            ask_once(url, view(town, 42))  # compiles and builds what pictures need
            yield town
        finally:
            process.terminate()


def panoramas(url: str, center: LatLng) -> list[str]:
    """Return the ids of the panoramas around the centre, asked of the server."""
    where, session, found = spots(center), session_of(url), dict[str, None]()
    for _ in range(60):
        locations = [{"lat": at.lat, "lng": at.lng} for at in islice(where, 100)]
        body = {"locations": locations, "radius": 50}
        reply = ask_once(url, Request("/v1/streetview/panoIds", {"session": session}, body))
        found |= dict.fromkeys(filter(None, json.loads(reply)["panoIds"]))
    return list(found)


def addresses(url: str, center: LatLng) -> list[str]:
    """Return the addresses around the centre, asked of the server."""
    asked = (Request("/maps/api/geocode/json", {"latlng": str_of(at)}) for at in islice(spots(center), 60))
    replies = (json.loads(ask_once(url, one))["results"] for one in asked)
    return [results[0]["formatted_address"] for results in replies if results]


def _measure(found: Figures, town: LoadedTown, clients: int, seconds: float) -> None:
    """Record and print the rate, latency and memory of a server, by endpoint and mixed."""
    found.show(f"{'endpoint':34}{'a second':>10}{'p50 ms':>10}{'p99 ms':>10}{'CPU ms':>10}")
    found["endpoints"] = {}
    for name, ask in endpoints(town).items():
        _show(found, name, _measure_load(town, ask, clients, seconds))
    _measure_mixed(found, town, seconds)
    now, most = memory_mb(town.process, "VmRSS"), memory_mb(town.process, "VmHWM")
    found["memory_mb"] = {"now": now, "at most": most}
    found.show(f"memory: {now} MB, {most} MB at most")


def _endure(found: Figures, town: LoadedTown, clients: int, minutes: int) -> None:
    """Record and print the server's memory, minute by minute, while all endpoints are asked in turn."""
    asks, first = list(endpoints(town).values()), 0
    asks.insert(1, partial(metadata, town))
    start = memory_mb(town.process, "VmRSS")
    found["minutes"], found["memory_mb at start"] = [], start
    found.show(f"{'minute':>6}{'requests':>10}{'memory MB':>11}{'at most MB':>12}")
    found.show(f"{0:6}{0:10}{start:11}")
    for minute in range(1, minutes + 1):
        times = _measure_load(town, partial(_in_turn, asks, first), clients, 60).times
        first += len(times)
        now, most = memory_mb(town.process, "VmRSS"), memory_mb(town.process, "VmHWM")
        found["minutes"].append({"requests": len(times), "memory_mb": now, "at most": most})
        found.show(f"{minute:6}{len(times):10}{now:11}{most:12}")


@dataclass(frozen=True)
class Measured:
    """The measurement of some requests: seconds of each, of all, and of the server's processor."""

    times: Sequence[float]
    """Seconds until each answer."""
    seconds: float
    """Seconds from the first request to the last answer."""
    processor_s: float
    """Seconds of processor time that the server took meanwhile."""


def _measure_load(town: LoadedTown, ask: Ask, clients: int, seconds: float) -> Measured:
    """Send requests from `clients` clients at once for `seconds` seconds; return the measurement."""
    numbers, times, start = count(), list[float](), time.perf_counter()
    taken = town.processor_s()

    def work() -> None:
        """Send one request after the other until the time is over."""
        with closing(connect(town.url)) as client:
            while time.perf_counter() < start + seconds:
                before = time.perf_counter()
                ask(next(numbers)).send(client)
                times.append(time.perf_counter() - before)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Measured(times, time.perf_counter() - start, town.processor_s() - taken)


def _in_turn(asks: Sequence[Ask], first: int, number: int) -> Request:
    """Return the request `number` steps after number `first`, where the kinds in `asks` take turns."""
    return asks[(first + number) % len(asks)]((first + number) // len(asks))


def _measure_mixed(found: Figures, town: LoadedTown, seconds: float) -> None:
    """Record metadata requests of 5 clients while 4 others ask for new tiles, for about `3 * seconds` s."""
    tiles = endpoints(town)["tile, new panoramas"]
    drawn: list[Measured] = []
    others = threading.Thread(
        target=lambda: drawn.append(_measure_load(town, lambda n: tiles(n + 5000), 4, 3 * seconds))
    )
    others.start()
    time.sleep(seconds / 2)
    beside = _measure_load(town, partial(metadata, town), 5, 2 * seconds)
    _show(found, "metadata, 5 clients, beside tiles", beside)
    others.join()
    _show(found, "tiles, 4 clients, beside metadata", drawn[0])


def session_of(url: str) -> str:
    """Return a new session token of Map Tiles."""
    about = {"mapType": "streetview", "language": "en-US", "region": "US"}
    return str(json.loads(ask_once(url, Request("/v1/createSession", body=about)))["session"])


def endpoints(town: LoadedTown) -> dict[str, Ask]:
    """Return {name of the endpoint: function from a number to a request}."""
    session, legacy, whole = session_of(town.url), "/maps/api", {"X-Goog-FieldMask": "*"}
    known = list(islice(spots(town.center), 500))
    center = {"latitude": town.center.lat, "longitude": town.center.lng}
    circle = {"circle": {"center": center, "radius": 400}}
    return {
        "metadata": partial(metadata, town),
        "geocode": lambda n: Request(
            f"{legacy}/geocode/json", {"address": town.addresses[n % len(town.addresses)]}
        ),
        "tiles metadata": lambda n: Request(
            "/v1/streetview/metadata", {"session": session, "panoId": town.panorama(n)}
        ),
        "legacy nearby": lambda n: Request(
            f"{legacy}/place/nearbysearch/json", {"location": str_of(known[n % 500]), "radius": 200}
        ),
        "searchNearby, mask *": lambda _: Request(
            "/v1/places:searchNearby", body={"locationRestriction": circle}, headers=whole
        ),
        "searchText, mask *": lambda _: Request(
            "/v1/places:searchText", body={"textQuery": "restaurant"}, headers=whole
        ),
        "directions": lambda n: Request(
            f"{legacy}/directions/json",
            {"origin": str_of(town.center), "destination": str_of(known[n % 500]), "mode": "walking"},
        ),
        "picture 640": partial(view, town),
        "tile, new panoramas": lambda n: Request(
            f"/v1/streetview/tiles/3/{n % 8}/2", {"session": session, "panoId": town.panorama(n * 7)}
        ),
    }


def ask_once(url: str, request: Request) -> bytes:
    """Return the answer to one request over a connection of its own."""
    with closing(connect(url)) as client:
        return request.send(client)


def connect(url: str) -> HTTPConnection:
    """Return a connection to the server at `url`, which stays open."""
    return HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_S)


def metadata(town: LoadedTown, number: int) -> Request:
    """Return a request for the Street View Static metadata of the panorama with a number."""
    return Request("/maps/api/streetview/metadata", {"pano": town.panorama(number)})


def view(town: LoadedTown, number: int) -> Request:
    """Return a request for a Street View Static picture of the panorama with a number."""
    seen = {"pano": town.panorama(number), "size": "640x640", "heading": number % 360}
    return Request("/maps/api/streetview", seen)


def spots(center: LatLng) -> Iterator[LatLng]:
    """Yield positions around a centre without end, within 600 m."""
    return (destination(center, 137.5 * number, 20 * (number % 30)) for number in count())


def position_of(text: str) -> LatLng:
    """Return the position in a text LAT,LNG."""
    lat, lng = map(float, text.split(","))
    return LatLng(lat, lng)


def str_of(position: LatLng) -> str:
    """Return a position as text, as requests take it."""
    return f"{position.lat:.6f},{position.lng:.6f}"


def _show(found: Figures, name: str, seen: Measured) -> None:
    """Record and print a line of the table: rate, latencies and processor time."""
    ordered, rate = sorted(seen.times), len(seen.times) / seen.seconds
    p50, p99 = (1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in (0.5, 0.99))
    each = 1000 * seen.processor_s / len(ordered)
    found["endpoints"][name] = {"a second": rate, "p50 ms": p50, "p99 ms": p99, "CPU ms": each}
    found.show(f"{name:34}{rate:10.1f}{p50:10.0f}{p99:10.0f}{each:10.2f}")


def memory_mb(process: int, field: str) -> int:
    """Return the megabytes of memory of a process: now (field `VmRSS`) or at most (`VmHWM`)."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(field))


if __name__ == "__main__":
    main()
