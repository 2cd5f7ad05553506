"""How much faster are VLN episodes that wait for a language model side by side than one by one?

    python -m benchmarks.perf.concurrency [--episodes 64] [--steps 10] [--delay 0.5] [--limited 0.05] [--json]

A server on this machine takes the place of the model: it says to walk on, after the delay, says 429 to a
share of the requests, and also to those that come faster than `--rate` a second. The episodes are walks
through Virlton, run by the engine of `virl bench`, first in one thread, then in one each; no reply is cached.
Each walk asks for the landmarks of its directions and then for one action after the other.
"""

import json
import random
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from virl import __version__
from virl.bench.resources import Terms
from virl.bench.run import Engine, Part, run_benchmark
from virl.console import SafeConsole
from virl.datasets.collect.dataset import (
    FORMAT,
    PANORAMAS,
    PLACES,
    ROUTES,
    Card,
    KeyPoint,
    RouteRow,
    Rows,
    write_card,
)
from virl.geo.globe import destination
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.platform.providers import open_city

from ..vln.definition import Options
from .figures import command, figures

CITY = "virlton"
VLN = "benchmarks.vln.definition:BENCHMARK"
DIRECTIONS = "Walk on to the red door."
REPLIES = {
    "WalkAction": {"action": "forward", "direction": None, "sentence": 1, "reason": "the street leads on"},
    "LandmarkNames": {"names": []},
}
"""Replies of the stand-in model, by the type of reply asked for."""
SLACK = 1.1  # requests a second over the rate that the server lets pass, as clocks differ; chosen
AHEAD_M = 200.0  # from a start to what is called its destination; no walk comes there


@dataclass(slots=True)
class Service:
    """The state of the stand-in model server: its limits, and what it has answered."""

    delay_s: float
    limited: float
    """Share of requests refused at random."""
    rate: float
    """Most requests a second that it accepts."""
    url: str = ""
    answered: int = 0
    refused: int = 0
    too_fast: int = 0
    """Number of requests refused because they came faster than the rate."""
    under_way: int = 0
    most_under_way: int = 0
    _random: random.Random = field(default_factory=lambda: random.Random(0))
    _recent: deque[float] = field(default_factory=deque)
    _lock: Any = field(default_factory=threading.Lock)

    def admit(self) -> bool:
        """Return whether a request that has come is answered rather than refused; counts it."""
        with self._lock:
            now = time.monotonic()
            self._recent.append(now)
            while self._recent[0] < now - 1:
                self._recent.popleft()
            is_too_fast = len(self._recent) > self.rate * SLACK
            is_refused = is_too_fast or self._random.random() < self.limited
            self.too_fast += is_too_fast
            self.refused += is_refused
            self.answered += not is_refused
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            return not is_refused

    def leave(self) -> None:
        """Count a request as finished."""
        with self._lock:
            self.under_way -= 1


def write_routes(folder: Path, city: City, count: int) -> None:
    """Write a data set of `count` walks from random panoramas to a spot that none of them reaches.

    Args:
        folder: of the data set.
        city: of the walks.
        count: number of walks.
    """
    routes = Rows(folder / ROUTES, RouteRow)
    drawn = random.Random(0).sample(list(held_street_map(city).panorama_ids()), count)
    for number, pano_id in enumerate(drawn):
        start = city.streetview.panorama(pano_id)
        goal = destination(start.position, 0.0, AHEAD_M)
        link = start.links[0]
        at = {"lat": start.position.lat, "lng": start.position.lng, "heading": link.heading}
        routes.add(
            RouteRow(
                id=f"walk-{number}",
                place_id="door",
                place_name="the red door",
                place_lat=goal.lat,
                place_lng=goal.lng,
                heading=link.heading,
                pano_ids=(pano_id, link.pano_id),
                metres=link.distance,
                instruction=DIRECTIONS,
                instruction_paper=DIRECTIONS,
                key_points=(KeyPoint(kind="start", pano_id=pano_id, turn="front", **at),),
            )
        )
    for name in (PLACES, PANORAMAS):
        (folder / name).touch()
    card = Card(
        format=FORMAT,
        city=CITY,
        title=city.title,
        provider="offline",
        virl=__version__,
        collected="",
        region=(),
        terms="",
        settings={},
        counts={},
        requests={},
        usd=0.0,
    )
    write_card(folder, card)


@contextmanager
def serve_replies(delay_s: float, limited: float, rate: float) -> Iterator[Service]:
    """Yield the state of a local server that speaks the chat completions format, until the block ends.

    Args:
        delay_s: seconds until each answer.
        limited: share of requests that are refused with status 429.
        rate: requests a second that are accepted.
    """
    service = Service(delay_s, limited, rate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(service))
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()


def measure(service: Service, options: Options, workers: int, limit: int | None = None) -> tuple[float, Any]:
    """Run the benchmark's episodes; return (seconds with reports, contents of `results.json`).

    Args:
        service: that answers.
        options: of the benchmark.
        workers: at a time.
        limit: number of episodes; `None` for all.
    """
    terms = Terms(base_url=service.url, requests_per_second=service.rate)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        engine, part = Engine("threads", workers, terms=terms), Part(limit=limit)
        started = time.perf_counter()
        run_benchmark(VLN, options, out, SafeConsole(quiet=True), engine=engine, part=part)
        seconds = time.perf_counter() - started
        return seconds, json.loads((out / "results.json").read_text())


def main() -> None:
    """Measure the episodes one by one and side by side, and print the speed-up."""
    parser = command(__doc__)
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--steps", type=int, default=10, help="actions in each walk")
    parser.add_argument("--delay", type=float, default=0.5, help="seconds before each reply")
    parser.add_argument(
        "--limited", type=float, default=0.05, help="share of requests that the server refuses with 429"
    )
    parser.add_argument(
        "--rate", type=float, default=200.0, help="requests per second that the server accepts"
    )
    chosen = parser.parse_args()
    with figures(chosen) as found, tempfile.TemporaryDirectory() as data:
        write_routes(Path(data) / CITY, open_city(CITY), chosen.episodes)
        options = Options(models=("oracle",), mind="openai:test", data=data, max_steps=chosen.steps)
        with serve_replies(0.0, 0.0, 1e6) as service:
            measure(service, options, 2, limit=2)  # imports, which are not counted
        times = []
        for workers in (1, chosen.episodes):
            with serve_replies(chosen.delay, chosen.limited, chosen.rate) as service:
                seconds, results = measure(service, options, workers)
            times.append(seconds)
            done = sum(row["episodes"]["done"] for row in results["rows"][:1])
            failed = sum(row["episodes"]["failed"] for row in results["rows"][:1])
            found[f"{workers} side by side"] = {
                "seconds": seconds,
                "done": done,
                "failed": failed,
                "answered": service.answered,
                "refused": service.refused,
            }
            found.show(
                f"{workers} side by side: {seconds:.1f} s; {done} episodes done, {failed} failed; "
                f"{service.answered} requests answered, {service.refused} refused "
                f"({service.too_fast} for their rate), up to {service.most_under_way} at once"
            )
        found["times_faster"] = times[0] / times[1]
        found.show(f"{times[0] / times[1]:.1f} times faster")


def _make_handler(service: Service) -> type[BaseHTTPRequestHandler]:
    """Return the HTTP handler of the stand-in model server, which delays and refuses by `service`."""

    class Handler(BaseHTTPRequestHandler):
        """A handler of requests for chat completions."""

        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Answer a request after the service's delay, or refuse it with status 429."""
            asked = self.rfile.read(int(self.headers.get("content-length", 0)))
            is_admitted = service.admit()
            if is_admitted:
                time.sleep(service.delay_s)
            service.leave()
            body = _completion(asked) if is_admitted else _REFUSAL
            self.send_response(200 if is_admitted else 429)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Print nothing."""

    return Handler


_REFUSAL = json.dumps({"error": {"message": "too many requests", "type": "error", "code": None}}).encode()


def _completion(asked: bytes) -> bytes:
    """Return the reply to a request's body, as chat completion of the type that it asks for."""
    kind = next(name for name in REPLIES if name.encode() in asked)
    message = {"role": "assistant", "content": json.dumps(REPLIES[kind])}
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "test",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
    ).encode()


if __name__ == "__main__":
    main()
