"""The actors of a run on a Ray cluster: those that run episodes, those that hold a model, and the desk.

They are plain classes; `virl.bench.engine.cluster` starts them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from virl.bench.benchmark import Episode
from virl.bench.engine.charges import Charge, Charged, FarLedger
from virl.bench.engine.work import Bench, EpisodeOutcome, Job, open_bench, reason_of
from virl.bench.faults import WorkerLost
from virl.bench.pace import Pace
from virl.bench.resources import ModelUse, OpenModel, Resources, Terms
from virl.bench.shared import Question
from virl.errors import BadInput, ModelUnavailable, VirlError
from virl.money.ledger import Ledger
from virl.platform.perception.models import ModelResources, read_model
from virl.platform.perception.weights import module

MODEL_THREADS = 64
"""Requests that wait at a model at the same time, and go to it in batches. Chosen."""


@dataclass(frozen=True, slots=True)
class RemoteFault:
    """A `VirlError` of another process, in words: not every one of them can be sent."""

    kind: type[VirlError]
    text: str

    def error(self) -> VirlError:
        """The error to raise here."""
        return self.kind(self.text)


class Worker:
    """An actor that runs episodes, several at once in threads."""

    def __init__(self, job: Job, desk: Any) -> None:
        self._job = job
        self._desk = desk
        self._bench: Bench | None = None

    def open(self) -> RemoteFault | None:
        """Open the world; what is wrong if it cannot be."""
        ray = module("ray", extra="ray")
        is_paced = self._job.terms.requests_per_second is not None
        resources = Resources(
            self._job.terms,
            FarLedger(lambda charge: ray.get(self._desk.charge.remote(charge))),
            reserve=(lambda: float(ray.get(self._desk.reserve.remote()))) if is_paced else None,
            open_elsewhere=lambda use: _open_far(ray, self._desk, use),
        )
        try:
            self._bench = open_bench(self._job, resources)
        except Exception as fault:  # noqa: BLE001 - told to the run, which ends
            return _fault(fault)
        return None

    def attempt(self, episode: Episode) -> EpisodeOutcome:
        """Run an episode, in one of the threads."""
        if self._bench is None:
            raise WorkerLost("a worker was used before it was open")
        return self._bench.attempt(episode)


class Model:
    """An actor that holds a model, and batches what is asked of it at the same time."""

    def __init__(self, terms: Terms, use: ModelUse) -> None:
        self._use = use
        self._resources = Resources(replace(terms, workers=MODEL_THREADS))

    def name(self) -> str | RemoteFault:
        """Of a recognizer; checks that the model can be opened."""
        try:
            return self._resources.shared(self._use).name
        except VirlError as fault:
            return _fault(fault)

    def ask(self, question: Question, items: Sequence[Any]) -> Sequence[Any] | RemoteFault:
        """As `virl.bench.shared.Asked`."""
        try:
            return list(self._resources.shared(self._use).ask(question, items))
        except VirlError as fault:
            return _fault(fault)


class Desk:
    """The one actor that all workers know: the models, the budget and the turns of a run."""

    def __init__(self, terms: Terms, book: Path | None) -> None:
        self._terms = terms
        self._ledger = Ledger(terms.budget_usd, book=book)
        self._pace = Pace(terms.requests_per_second or 1.0)
        self._models: dict[ModelUse, Any] = {}
        self._lock = Lock()

    def model(self, use: ModelUse, needs: ModelResources) -> Any:
        """The actor that holds a model; started when it is first asked for."""
        with self._lock:
            if use not in self._models:
                ray = module("ray", extra="ray")
                actor = ray.remote(Model).options(
                    num_cpus=needs.cpus,
                    num_gpus=needs.gpus,
                    max_concurrency=MODEL_THREADS,
                    max_restarts=-1,
                    max_task_retries=-1,  # a model forgets nothing: asking it twice does no harm
                )
                self._models[use] = actor.remote(self._terms, use)
            return self._models[use]

    def charge(self, charge: Charge) -> Charged:
        """Do with the run's budget what a worker asks."""
        return charge.made_to(self._ledger)

    def reserve(self) -> float:
        """As `virl.bench.pace.Pace.reserve`."""
        return self._pace.reserve()


def _open_far(ray: Any, desk: Any, use: ModelUse) -> OpenModel:
    """A model that another actor holds."""
    needs = read_model(use.role, use.name).resources
    actor = ray.get(desk.model.remote(use, needs))

    def checked(reply: Any) -> Any:
        said = ray.get(reply)
        if isinstance(said, RemoteFault):
            raise said.error()
        return said

    def ask(question: Question, items: Sequence[Any]) -> Sequence[Any]:
        results: Sequence[Any] = checked(actor.ask.remote(question, items))
        return results

    return OpenModel(ask, checked(actor.name.remote()))


def _fault(fault: Exception) -> RemoteFault:
    kind = next((kind for kind in (ModelUnavailable, BadInput) if isinstance(fault, kind)), VirlError)
    return RemoteFault(kind, reason_of(fault))
