"""How many requests `virl serve google` answers a second, by endpoint, and how long each waits.

    python -m benchmarks.perf.serve [--clients 50] [--seconds 3] [--json]
    python -m benchmarks.perf.serve --minutes 10 [--clients 10]

Each endpoint is asked alone. The table has its requests a second, and the times below which 50 and 99 of 100
answers come, in milliseconds. The last lines are metadata for 5 clients while 4 others ask for new tiles, and
the memory of the server. The server runs in a process of its own; the clients share the processors with it.

With `--minutes`, the clients ask for everything in turn, a tenth of it new tiles and a tenth new pictures.
Each minute has a line: requests, the memory of the server at its end, and the most it ever took.
"""

import json
import subprocess  # nosec B404
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from virl.geo import LatLng, destination

from .figures import Figures, command, figures

CENTER = LatLng(41.25, -38.75)
PATIENCE_S = 120


@dataclass(frozen=True)
class Request:
    """What is asked."""

    path: str
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(self, to: HTTPConnection) -> bytes:
        """Ask, and read the whole answer."""
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
    """Measure and print."""
    parser = command(__doc__)
    parser.add_argument("--clients", type=int, default=50, help="how many ask at once")
    parser.add_argument("--seconds", type=float, default=3, help="how long each endpoint is asked")
    parser.add_argument("--minutes", type=int, default=0, help="ask for everything in turn for so long")
    options = parser.parse_args()
    with figures(options) as found:
        if options.minutes:
            _endure(found, options.clients, options.minutes)
        else:
            _measure(found, options.clients, options.seconds)


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """A server in a process of its own: its address and the process."""
    server = [sys.executable, "-m", "virl", "serve", "google", "--port", "0"]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # nosec B603
        try:
            url = next(iter(process.stdout or ())).split()[-1]
            answered(url, view(42))  # compiles and builds what pictures need
            yield url, process.pid
        finally:
            process.terminate()


def _measure(found: Figures, clients: int, seconds: float) -> None:
    with served() as (url, process):
        found.show(f"{'endpoint':34}{'a second':>10}{'p50 ms':>10}{'p99 ms':>10}")
        found["endpoints"] = {}
        for name, ask in endpoints(url).items():
            show(found, name, *measured(url, ask, clients, seconds))
        mixed(found, url, seconds)
        now, most = memory_mb(process, "VmRSS"), memory_mb(process, "VmHWM")
        found["memory_mb"] = {"now": now, "at most": most}
        found.show(f"memory: {now} MB, {most} MB at most")


def _endure(found: Figures, clients: int, minutes: int) -> None:
    """The memory of the server, minute by minute, while all is asked in turn."""
    with served() as (url, process):
        asks, first = list(endpoints(url).values()), 0
        asks.insert(1, metadata)
        start = memory_mb(process, "VmRSS")
        found["minutes"], found["memory_mb at start"] = [], start
        found.show(f"{'minute':>6}{'requests':>10}{'memory MB':>11}{'at most MB':>12}")
        found.show(f"{0:6}{0:10}{start:11}")
        for minute in range(1, minutes + 1):
            times, _ = measured(url, partial(in_turn, asks, first), clients, 60)
            first += len(times)
            now, most = memory_mb(process, "VmRSS"), memory_mb(process, "VmHWM")
            found["minutes"].append({"requests": len(times), "memory_mb": now, "at most": most})
            found.show(f"{minute:6}{len(times):10}{now:11}{most:12}")


def measured(url: str, ask: Ask, clients: int, seconds: float) -> tuple[list[float], float]:
    """The times of all answers, in seconds, and how long it took in all."""
    numbers, times, start = count(), [], time.perf_counter()

    def work() -> None:
        with closing(connected(url)) as client:
            while time.perf_counter() < start + seconds:
                before = time.perf_counter()
                ask(next(numbers)).send(client)
                times.append(time.perf_counter() - before)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, time.perf_counter() - start


def in_turn(asks: Sequence[Ask], first: int, number: int) -> Request:
    """The next request of each kind in turn."""
    return asks[(first + number) % len(asks)]((first + number) // len(asks))


def mixed(found: Figures, url: str, seconds: float) -> None:
    """Metadata for 5 clients while 4 ask for new tiles."""
    tiles = endpoints(url)["tile, new panoramas"]
    drawn: list[tuple[list[float], float]] = []
    others = threading.Thread(
        target=lambda: drawn.append(measured(url, lambda n: tiles(n + 5000), 4, 3 * seconds))
    )
    others.start()
    time.sleep(seconds / 2)
    show(found, "metadata, 5 clients, beside tiles", *measured(url, metadata, 5, 2 * seconds))
    others.join()
    show(found, "tiles, 4 clients, beside metadata", *drawn[0])


def endpoints(url: str) -> dict[str, Ask]:
    """What is asked, by name."""
    about = {"mapType": "streetview", "language": "en-US", "region": "US"}
    session = json.loads(answered(url, Request("/v1/createSession", body=about)))["session"]
    where = spots()
    known = [next(where) for _ in range(500)]
    circle = {"circle": {"center": {"latitude": CENTER.lat, "longitude": CENTER.lng}, "radius": 400}}
    whole = {"X-Goog-FieldMask": "*"}
    legacy = "/maps/api"
    return {
        "metadata": metadata,
        "geocode": lambda n: Request(
            f"{legacy}/geocode/json", {"address": f"{1 + 2 * (n % 40)} Station Street"}
        ),
        "tiles metadata": lambda n: Request(
            "/v1/streetview/metadata", {"session": session, "panoId": f"vt-{n % 3000:05d}"}
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
            {"origin": str_of(CENTER), "destination": str_of(known[n % 500]), "mode": "walking"},
        ),
        "picture 640": view,
        "tile, new panoramas": lambda n: Request(
            f"/v1/streetview/tiles/3/{n % 8}/2", {"session": session, "panoId": f"vt-{n * 7 % 3000:05d}"}
        ),
    }


def answered(url: str, request: Request) -> bytes:
    """The answer to one request."""
    with closing(connected(url)) as client:
        return request.send(client)


def connected(url: str) -> HTTPConnection:
    """A connection to the server, which is kept open."""
    return HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_S)


def metadata(number: int) -> Request:
    """Metadata of Street View Static."""
    return Request("/maps/api/streetview/metadata", {"pano": f"vt-{number % 3000:05d}"})


def view(number: int) -> Request:
    """A picture of Street View Static."""
    seen = {"pano": f"vt-{number % 3000:05d}", "size": "640x640", "heading": number % 360}
    return Request("/maps/api/streetview", seen)


def spots() -> Iterator[LatLng]:
    """Positions around the centre of the town."""
    return (destination(CENTER, 137.5 * number, 20 * (number % 30)) for number in count())


def str_of(position: LatLng) -> str:
    """A position as parameters have it."""
    return f"{position.lat:.6f},{position.lng:.6f}"


def show(found: Figures, name: str, times: list[float], seconds: float) -> None:
    """Keep and print a line of the table."""
    ordered = sorted(times)
    p50, p99 = (1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in (0.5, 0.99))
    found["endpoints"][name] = {"a second": len(times) / seconds, "p50 ms": p50, "p99 ms": p99}
    found.show(f"{name:34}{len(times) / seconds:10.1f}{p50:10.0f}{p99:10.0f}")


def memory_mb(process: int, field: str) -> int:
    """Megabytes of memory of a process, now (`VmRSS`) or at most (`VmHWM`)."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(field))


if __name__ == "__main__":
    main()
