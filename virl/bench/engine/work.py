"""One episode, tried until it is done, has failed for good, or the budget is spent."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from math import inf
from typing import Any, Literal

from virl.bench.benchmark import AnyBenchmark, BaseOptions, find_benchmark
from virl.bench.episode import Episode, EpisodeResult, Record, may_pass
from virl.bench.records import FOLDER, slug
from virl.bench.resources import Resources, Terms
from virl.bugs import without_secrets
from virl.errors import BudgetExceeded, ModelShut, RunStopped, VirlError
from virl.money.book import Paid
from virl.money.ledger import Ledger, account
from virl.plain_text import plain_lines, shorten
from virl.retry import RetryPolicy
from virl.settings.model import check_settings
from virl.traces.spans import span

FIRST_WAIT_S = 1.0
"""Seconds before an episode's second try, doubled with each further one. Chosen: minds retry too."""

LONGEST_REASON = 300
"""Most characters of a failure's reason; a longer one is shortened. Chosen."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A benchmark's name, options and settings that all workers of a run share; can be sent to processes."""

    benchmark: str
    """Name of the benchmark for `virl.bench.benchmark.find_benchmark`."""
    options: dict[str, Any]
    """The benchmark's options as JSON."""
    terms: Terms
    attempts: int = 3
    """Most tries of an episode whose failure may pass."""
    first_wait_s: float = FIRST_WAIT_S
    pictures: bool = True
    """True if the pictures of episodes are kept."""
    objects: Mapping[str, object] = field(default_factory=dict)
    """Cities, minds and models that a program passed as objects, by the names that options use for them."""


@dataclass(frozen=True, slots=True)
class EpisodeOutcome:
    """The outcome of one episode after all its tries: status, result, pictures, failure and cost."""

    episode: Episode
    status: Literal["done", "failed", "unpaid"]
    """Status; `unpaid` if the budget was spent first, so that the episode waits for `--resume`."""
    result: EpisodeResult | None = None
    """Result without its pictures; `None` if the episode gave none."""
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    """Pictures as encoded bytes, by file name."""
    attempts: int = 1
    seconds: float = 0.0
    reason: str = ""
    fault: str = ""
    shut: bool = False
    """True if the model's server refuses all requests, so that no further episode is started."""
    paid: Paid = field(default_factory=Paid)
    """Sums that the episode has paid by the run's ledger, failed and interrupted tries included."""
    may_retry: bool = False
    """True if the last try failed for a cause that may pass, so that another may succeed."""
    wait: None = None
    """Seconds that a server asks to wait before the next try; an episode knows of none."""

    def record(self, files: tuple[str, ...]) -> Record:
        """Return the outcome as a record; `files` are paths of pictures, relative to the run's folder."""
        episode, result = self.episode, self.result
        return Record(
            episode.id,
            episode.case,
            episode.city,
            episode.model,
            "done" if self.status == "done" else "failed",
            data=result.data if result else {},
            files=files,
            cost={**(result.cost if result else {}), **booked_cost(self.paid)},
            attempts=self.attempts,
            seconds=round(self.seconds, 3),
            reason=self.reason,
            fault=self.fault,
        )


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark with its cities and models open, as one process holds it to run episodes."""

    benchmark: AnyBenchmark
    world: Any
    job: Job
    ledger: Ledger

    def attempt(self, episode: Episode) -> EpisodeOutcome:
        """Run an episode, up to `Job.attempts` times while its failure may pass, and return its outcome."""
        traced = {
            "virl.benchmark": self.benchmark.name,
            "virl.episode.id": episode.id,
            "virl.city": episode.city,
            "virl.model": episode.model,
        }
        title = f"episode {self.benchmark.name}"
        with account(f"{FOLDER}/{slug(episode.id)}") as own, span(title, traced) as told:
            tries = count(1)
            policy = RetryPolicy(self.job.attempts - 1, self.job.first_wait_s, longest_wait=inf)
            last = policy.run(
                lambda: self._try(episode, next(tries)),
                lambda outcome: outcome,
                tell=lambda _, pause: _log.debug("%s: again in %.1f s", episode.id, pause),
            )
            outcome = replace(last, paid=self.ledger.payments(own))
            told.tell({"virl.cost_usd": outcome.paid.usd, "virl.status": outcome.status})
            if outcome.fault:
                told.fail(outcome.fault)
        return outcome

    def _try(self, episode: Episode, number: int) -> EpisodeOutcome:
        """Run an episode once, as its try `number` from 1, and return the outcome of this try."""
        started = time.perf_counter()
        try:
            result = self.benchmark.run(episode, self.world)
            # as it reads from a file: scores are the same in this run and in a report of it
            data, cost = json.loads(json.dumps([result.data, result.cost], allow_nan=False))
            kept = EpisodeResult(data, cost=cost)
            files = result.files.items() if self.job.pictures else ()
            pictures = {name: made if isinstance(made, bytes) else made() for name, made in files}
        except Exception as fault:  # noqa: BLE001 - recorded: one episode must not end the run
            _log.debug("%s, try %d", episode.id, number, exc_info=True)
            unpaid = isinstance(fault, BudgetExceeded | RunStopped)
            return EpisodeOutcome(
                episode,
                "unpaid" if unpaid else "failed",
                attempts=number,
                seconds=time.perf_counter() - started,
                reason=reason_of(fault),
                fault="" if unpaid else type(fault).__name__,
                shut=isinstance(fault, ModelShut),
                may_retry=not unpaid and may_pass(fault),
            )
        ended = EpisodeOutcome(episode, "done", kept, pictures, number, time.perf_counter() - started)
        if result.failure is None:
            return ended
        why, kind = reason_of(result.failure), type(result.failure).__name__
        return replace(ended, status="failed", reason=why, fault=kind)


def booked_cost(paid: Paid) -> dict[str, float]:
    """Return sums of the ledger as an episode's cost by name, such as `usd`; empty if no request was sent."""
    requests = sum(paid.sent.values())
    if not (paid.calls or requests):
        return {}
    cost = {"requests": paid.calls, "input_tokens": paid.input_tokens, "output_tokens": paid.output_tokens}
    return {name: float(count) for name, count in (cost | {"map_requests": requests}).items()} | {
        "usd": paid.usd
    }


def open_bench(job: Job, resources: Resources) -> Bench:
    """Return a job's benchmark with its cities and models opened from `resources`.

    Raises:
        VirlError: something the user can mend.
    """
    benchmark = find_benchmark(job.benchmark)
    options: BaseOptions = check_settings(
        job.options, benchmark.options, source=f"options of {job.benchmark}"
    )
    return Bench(benchmark, benchmark.prepare(options, resources), job, resources.ledger)


def reason_of(fault: BaseException) -> str:
    """Return an error as one line of at most `LONGEST_REASON` characters, without API keys.

    The last line is kept of what is too long: the text of an error of another process ends with its cause.
    """
    text = str(fault) if isinstance(fault, VirlError) else f"{type(fault).__name__}: {fault}"
    lines = [
        " ".join(line.split()) for line in plain_lines(without_secrets(text)).splitlines() if line.strip()
    ]
    reason = " ".join(lines)
    if len(reason) <= LONGEST_REASON or len(lines) == 1:
        return shorten(reason, LONGEST_REASON)
    cause = shorten(lines[-1], LONGEST_REASON * 2 // 3)
    return f"{shorten(reason, LONGEST_REASON - len(cause) - 1)} {cause}"
