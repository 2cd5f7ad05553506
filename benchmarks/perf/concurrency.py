"""How much faster are episodes that wait for a language model side by side than one by one?

    python -m benchmarks.perf.concurrency [--episodes 64] [--questions 3] [--delay 0.5] [--limited 0.05]

A server on this machine takes the place of the model: it answers after the delay, says 429 to a share of the
requests, and also to those that come faster than `--rate` a second. The episodes are run by the engine of
`virl bench`, first in one thread, then in one each; no reply is cached. Two questions of an episode follow
each other, as the steps of a walk do.
"""

import argparse
import json
import random
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rich.console import Console

from virl.bench.benchmark import (
    Benchmark,
    BenchOptions,
    Episode,
    EpisodeResult,
    Metric,
    Record,
    Scores,
    Tally,
)
from virl.bench.resources import Resources, Terms, cost_of
from virl.bench.run import Engine, run_benchmark
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text

REPLY = "1. a corner\n2. a red door"
SLACK = 1.1  # requests a second over the rate that the server lets pass, as clocks differ; chosen


class Options(BenchOptions):
    """How much is asked."""

    cities: tuple[str, ...] = ("nowhere",)
    models: tuple[str, ...] = ("openai:test",)
    episodes: int = 64
    questions: int = 3


@dataclass(slots=True)
class Service:
    """What the server has seen."""

    delay_s: float
    limited: float
    """Share of requests that are refused."""
    rate: float
    """Requests a second that it takes."""
    url: str = ""
    answered: int = 0
    refused: int = 0
    too_fast: int = 0
    """Of those refused: came faster than the rate."""
    under_way: int = 0
    most_under_way: int = 0
    _random: random.Random = field(default_factory=lambda: random.Random(0))
    _recent: deque[float] = field(default_factory=deque)
    _lock: Any = field(default_factory=threading.Lock)

    def admit(self) -> bool:
        """Whether a request is answered; counts it."""
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
        """A request has been dealt with."""
        with self._lock:
            self.under_way -= 1


def episodes(options: Options, _: Resources) -> Sequence[Episode]:
    """Walks that ask."""
    return [
        Episode(f"walk {number}", city, model, {"questions": options.questions})
        for model in options.models
        for city in options.cities
        for number in range(options.episodes)
    ]


def prepare(options: Options, resources: Resources) -> Resources:
    """The minds, opened before the clock of an episode starts."""
    for model in options.models:
        resources.mind(model)
    return resources


def run(episode: Episode, world: Resources) -> EpisodeResult:
    """Ask one question after the other."""
    mind = world.mind(episode.model)
    prompt = load_prompt("velma-landmarks", Text)
    replies = [
        mind.ask(prompt, instruction=f"{episode.case}, part {part}: go on to the red door.", refused=0)
        for part in range(episode.payload["questions"])
    ]
    return EpisodeResult(
        {"answered": sum(reply.text == REPLY for reply in replies), "asked": len(replies)},
        cost=cost_of(mind.ledger.take()),
    )


def score(records: Sequence[Record], _: Options) -> Scores:
    """The share of questions that got their answer."""
    tallies = [
        Tally(record.case, float(record.data["answered"]), float(record.data["asked"])) for record in records
    ]
    return Scores({"answered": tallies})


BENCHMARK = Benchmark(
    name="concurrency",
    title="Waiting for a language model",
    about="Whether every question of many episodes side by side gets its answer.",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    metrics=(Metric("answered", "answered"),),
)


@contextmanager
def served(delay_s: float, limited: float, rate: float) -> Iterator[Service]:
    """A server that speaks the chat completions format, as long as the context is open."""
    service = Service(delay_s, limited, rate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service))
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()


def measure(service: Service, options: Options, workers: int) -> tuple[float, Any]:
    """Run the episodes; seconds with reports and all, and the results."""
    terms = Terms(base_url=service.url, requests_per_second=service.rate)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        engine = Engine("threads", workers, terms=terms)
        started = time.perf_counter()
        run_benchmark(
            "benchmarks.perf.concurrency:BENCHMARK", options, out, Console(quiet=True), engine=engine
        )
        seconds = time.perf_counter() - started
        return seconds, json.loads((out / "results.json").read_text())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--questions", type=int, default=3)
    parser.add_argument("--delay", type=float, default=0.5, help="seconds until a reply")
    parser.add_argument("--limited", type=float, default=0.05, help="share of requests refused with 429")
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second that the server takes")
    chosen = parser.parse_args()
    options = Options(episodes=chosen.episodes, questions=chosen.questions)
    with served(0.0, 0.0, 1e6) as service:
        measure(service, Options(episodes=2), 2)  # imports, which are not counted
    times = []
    for workers in (1, chosen.episodes):
        with served(chosen.delay, chosen.limited, chosen.rate) as service:
            seconds, results = measure(service, options, workers)
        times.append(seconds)
        (row,) = results["rows"]
        print(
            f"{workers} side by side: {seconds:.1f} s; {row['episodes']['done']} episodes done, "
            f"{row['episodes']['failed']} failed; {service.answered} requests answered of "
            f"{options.episodes * options.questions} asked, {service.refused} refused "
            f"({service.too_fast} for their rate), up to {service.most_under_way} at once"
        )
    print(f"{times[0] / times[1]:.1f} times faster")


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            is_admitted = service.admit()
            if is_admitted:
                time.sleep(service.delay_s)
            service.leave()
            body = _COMPLETION if is_admitted else _REFUSAL
            self.send_response(200 if is_admitted else 429)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    return Handler


_REFUSAL = json.dumps({"error": {"message": "too many requests", "type": "error", "code": None}}).encode()
_COMPLETION = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "test",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
).encode()

if __name__ == "__main__":
    main()
