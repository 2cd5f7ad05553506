"""Workers on a Ray cluster: actors that run episodes or hold a model each, and the desk, all plain classes.

The code and the data have to be on every node: virl, the benchmark's package, weights and data sets. Records
are written by the process that started the run alone.
"""

import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count as numbers
from pathlib import Path
from platform import node
from threading import Lock
from typing import Any

from virl.bench.engine.crew import Charge, Charged, Died, Ended, Event, FarLedger, Ready, Seat
from virl.bench.engine.work import Bench, EpisodeOutcome, Job, open_bench, reason_of
from virl.bench.episode import Episode, WorkerLost
from virl.bench.resources import ModelUse, OpenModel, Resources, Terms
from virl.bench.shared_models import Pace, Question
from virl.errors import BadInput, ModelUnavailable, VirlError
from virl.extras import module
from virl.money.ledger import Ledger
from virl.platform.perception.models import ModelResources, read_model
from virl.version import code_version

_MODEL_THREADS = 64
"""Requests that wait at a model at the same time, and go to it in batches. Chosen."""
MOST_STILLBORN = 3
"""Workers that may die before they are ready, over a run. Chosen."""

PATIENCE_S = 30.0
"""Seconds until it is told that the cluster has no room. Chosen."""

_LACKS = re.compile(r"No module named '([^']+)'")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Awaited:
    """The worker, seat and episode of an awaited reply."""

    worker: int
    seat: Seat = None
    episode: Episode | None = None
    """None while the worker opens its world."""


class ClusterCrew:
    """Actors of a cluster. One that dies is replaced, wherever there is room.

    One worker is started first: in its world the models are opened, and take their room; the others follow.

    Args:
        job: what they are told.
        count: episodes side by side; `None` for one on every CPU that is free.
        address: of the cluster, as `ray.init` takes it.
        book: file of the ledger, see `virl.money.book.Book`; kept on the node of this process.

    Raises:
        ModelUnavailable: Ray is not installed.
        BadInput: there is no such cluster.
    """

    def __init__(self, job: Job, count: int | None, address: str, book: Path | None) -> None:
        """Join the Ray cluster at `address`, if not joined yet, and hire the first of `count` workers."""
        self._ray = module("ray", extra="ray")
        self._job = job
        self._count = count
        self._is_ours = not self._ray.is_initialized()
        if self._is_ours:
            _connect(self._ray, address)
        self._seats = 1
        self._is_first = True
        self._workers: dict[int, Any] = {}
        self._awaited: dict[Any, _Awaited] = {}
        self._free: dict[int, set[Seat]] = {}
        self._worker_of: dict[Seat, int] = {}
        self._number = numbers()
        self._stillborn = 0
        self._heard = time.monotonic()
        self._desk = _desk(self._ray, job.terms, book)
        self._hire()

    def give(self, seat: Seat, episode: Episode) -> None:
        """Give an episode to a free seat."""
        worker = self._worker_of[seat]
        self._free[worker].remove(seat)
        reply = self._workers[worker].attempt.remote(episode)
        self._awaited[reply] = _Awaited(worker, seat, episode)

    def events(self, timeout_s: float) -> Sequence[Event]:
        """Return the events since the last call; wait for one, but no longer than `timeout_s`."""
        ready, _ = self._ray.wait(list(self._awaited), num_returns=1, timeout=timeout_s)
        if ready:
            ready, _ = self._ray.wait(list(self._awaited), num_returns=len(self._awaited), timeout=0)
            self._heard = time.monotonic()
        elif not any(place.episode for place in self._awaited.values()):
            self._tell_of_no_room()
        return [event for reply in ready if reply in self._awaited for event in self._hear(reply)]

    def dismiss(self) -> None:
        """Dismiss all workers. The models end with the desk, which owns them."""
        for actor in (*self._workers.values(), self._desk):
            self._ray.kill(actor)
        self._workers.clear()
        if self._is_ours:
            self._ray.shutdown()

    def _hire(self) -> None:
        """Start another worker, and await that it opens the benchmark."""
        number = next(self._number)
        threads = max(self._count or 1, 1) + 1  # one to open the world, which may still run when it is asked
        actor = self._ray.remote(Worker).options(num_cpus=1, max_concurrency=threads)
        self._workers[number] = actor.remote(self._job, self._desk)
        self._awaited[self._workers[number].open.remote(code_version())] = _Awaited(number)

    def _hear(self, reply: Any) -> list[Event]:
        """Return the events of a worker's reply: an episode's end, its free seats, or its loss."""
        place = self._awaited.pop(reply)
        errors = self._ray.exceptions
        try:
            said = self._ray.get(reply)
        except (errors.RayActorError, errors.WorkerCrashedError, errors.ObjectLostError) as fault:
            return self._lose(place, fault)
        except errors.RayError as fault:
            why = reason_of(fault)
            if place.episode is None:
                lost = WorkerLost(f"a worker failed while it opened the benchmark ({why}): see Ray's logs")
                raise _missing_module(fault) or lost from fault
            said = EpisodeOutcome(place.episode, "failed", reason=why, fault=type(fault).__name__)
        if isinstance(said, EpisodeOutcome):
            self._free[place.worker].add(place.seat)
            return [Ended(place.seat, said)]
        if said is not None:
            raise said.error()
        return self._free_seats(place.worker)

    def _free_seats(self, worker: int) -> list[Event]:
        """Free the seats of a worker that is ready."""
        if self._is_first:
            self._is_first = False
            room = int(self._ray.available_resources().get("CPU", 0))
            wanted = self._count or room + 1
            more = max(0, min(wanted - 1, room))
            self._seats = -(-wanted // (more + 1))
            for _ in range(more):
                self._hire()
        seats: list[Seat] = [(worker, number) for number in range(self._seats)]
        self._free[worker] = set(seats)
        self._worker_of |= dict.fromkeys(seats, worker)
        return [Ready(seat) for seat in seats]

    def _lose(self, place: _Awaited, fault: Exception) -> list[Event]:
        """Drop a worker that died: its free seats, and those at an episode, whose replies fail."""
        why = reason_of(fault)
        if place.worker not in self._workers:
            return [Died(place.seat, why)] if place.episode else []
        if place.episode is None:
            self._stillborn += 1
            if lacking := _missing_module(fault):
                raise lacking
            if self._stillborn >= MOST_STILLBORN:
                raise WorkerLost(f"workers die while they open the benchmark ({why}): see Ray's logs")
        free: set[Seat] = self._free.pop(place.worker, set())
        self._replace(place.worker)
        told: list[Event] = [Died(seat, why) for seat in free]
        return [*told, Died(place.seat, f"its worker died ({why})")] if place.episode else told

    def _replace(self, worker: int) -> None:
        """End a worker at once, and hire another in its place."""
        self._ray.kill(self._workers.pop(worker))  # one that is only out of reach must not go on
        self._hire()

    def _tell_of_no_room(self) -> None:
        """Warn that no worker is ready, if nothing was heard for a while."""
        if time.monotonic() - self._heard > PATIENCE_S:
            self._heard = time.monotonic()
            _log.warning(
                "no worker is ready yet: the cluster has %s free; a worker needs 1 CPU, and each model what "
                "its file asks for",
                self._ray.available_resources(),
            )


def _connect(ray: Any, address: str) -> None:
    """Join a Ray cluster; raises BadInput with advice if that fails."""
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.AuthenticationError) as fault:
        why = getattr(fault, "message", "") or reason_of(fault)  # Ray's own advice is a paragraph
        raise BadInput(
            f"cannot join a Ray cluster at {address!r} ({why}): start one with `ray start --head`; if it "
            "wants a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
        ) from fault


def _desk(ray: Any, terms: Terms, book: Path | None) -> Any:
    """Start the desk on the node of this process, where the budget's book is."""
    here = ray.get_runtime_context().get_node_id()
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
    actor = ray.remote(BudgetActor).options(
        num_cpus=0, max_concurrency=_MODEL_THREADS, scheduling_strategy=strategy
    )
    return actor.remote(terms, book.resolve() if book else None)


@dataclass(frozen=True, slots=True)
class RemoteFault:
    """A `VirlError` of another process, in words: not every one of them can be sent."""

    kind: type[VirlError]
    text: str

    def error(self) -> VirlError:
        """Return the error to raise here."""
        return self.kind(self.text)


class Worker:
    """An actor that runs episodes, several at once in threads."""

    def __init__(self, job: Job, desk: Any) -> None:
        """Keep the job, and `desk`, the actor that keeps the budget; open nothing yet."""
        self._job = job
        self._desk = desk
        self._bench: Bench | None = None

    def open(self, version: str) -> RemoteFault | None:
        """Open the world; what is wrong if it cannot be.

        Args:
            version: of virl on the machine that started the run.
        """
        if other := _other_version(version):
            return other
        ray = module("ray", extra="ray")
        is_paced = self._job.terms.requests_per_second is not None
        resources = Resources(
            self._job.terms,
            FarLedger(lambda charge: ray.get(self._desk.charge.remote(charge))),
            reserve=(lambda: float(ray.get(self._desk.reserve.remote()))) if is_paced else None,
            open_elsewhere=lambda use: _open_far(ray, self._desk, use),
            objects=self._job.objects,
        )
        try:
            self._bench = open_bench(self._job, resources)
        except Exception as fault:  # noqa: BLE001 - told to the run, which ends
            return _to_remote(fault)
        return None

    def attempt(self, episode: Episode) -> EpisodeOutcome:
        """Run an episode, in one of the threads.

        Raises:
            WorkerLost: the worker is not open yet.
        """
        if self._bench is None:
            raise WorkerLost("a worker was used before it was open")
        return self._bench.attempt(episode)


class Model:
    """An actor that holds a model, and batches what is asked of it at the same time."""

    def __init__(self, terms: Terms, use: ModelUse) -> None:
        """Prepare the resources of an actor that serves one model."""
        self._use = use
        self._resources = Resources(replace(terms, workers=_MODEL_THREADS))

    def name(self, version: str) -> str | RemoteFault:
        """Return the name of a recognizer; checks that the model can be opened, by this version of virl."""
        if other := _other_version(version):
            return other
        try:
            return self._resources.share_model(self._use).name
        except VirlError as fault:
            return _to_remote(fault)

    def ask(self, question: Question, items: Sequence[Any]) -> Sequence[Any] | RemoteFault:
        """Ask the model a question about items, as `virl.bench.shared_models.Asked` does."""
        try:
            return list(self._resources.share_model(self._use).ask(question, items))
        except VirlError as fault:
            return _to_remote(fault)


class BudgetActor:
    """The one actor that all workers know: the models, the budget and the turns of a run."""

    def __init__(self, terms: Terms, book: Path | None) -> None:
        """Open the ledger and the pace that all workers share; `book` is the file of what was spent."""
        self._terms = terms
        self._ledger = Ledger(terms.budget_usd, book=book)
        self._pace = Pace(terms.requests_per_second or 1.0)
        self._models: dict[ModelUse, Any] = {}
        self._lock = Lock()

    def model(self, use: ModelUse, needs: ModelResources) -> Any:
        """Return the actor that holds a model; started when it is first asked for."""
        with self._lock:
            if use not in self._models:
                ray = module("ray", extra="ray")
                actor = ray.remote(Model).options(
                    num_cpus=needs.cpus,
                    num_gpus=needs.gpus,
                    max_concurrency=_MODEL_THREADS,
                    max_restarts=-1,
                    max_task_retries=-1,  # a model forgets nothing: asking it twice does no harm
                )
                self._models[use] = actor.remote(self._terms, use)
            return self._models[use]

    def charge(self, charge: Charge) -> Charged:
        """Do with the run's budget what a worker asks."""
        return charge.made_to(self._ledger)

    def reserve(self) -> float:
        """Reserve a turn, and return the seconds to wait for it."""
        return self._pace.reserve()


def _open_far(ray: Any, desk: Any, use: ModelUse) -> OpenModel:
    """Open a model that another actor holds."""
    needs = read_model(use.role, use.name).resources
    actor = ray.get(desk.model.remote(use, needs))

    def check_reply(reply: Any) -> Any:
        """Return the reply of an actor; raises its error if it replied with a fault."""
        said = ray.get(reply)
        if isinstance(said, RemoteFault):
            raise said.error()
        return said

    def ask(question: Question, items: Sequence[Any]) -> Sequence[Any]:
        """Return the results of a question about items, as the actor of the model answers it."""
        results: Sequence[Any] = check_reply(actor.ask.remote(question, items))
        return results

    return OpenModel(ask, check_reply(actor.name.remote(code_version())))


def _other_version(wanted: str) -> RemoteFault | None:
    """Return what is wrong if this node has another virl than the machine that started the run."""
    if code_version() == wanted:
        return None
    return RemoteFault(
        BadInput,
        f"the cluster's node {node()} has virl {code_version()}, and the run was started by {wanted}: "
        "install the same on every node",
    )


def _missing_module(fault: Exception) -> BadInput | None:
    """Return what is wrong if a node cannot import a module, which Ray tells in the text of its errors."""
    found = _LACKS.search(str(fault))
    if found is None:
        return None
    return BadInput(
        f"a node of the cluster has no module {found[1]!r}: install what is installed here on every node, in "
        "the environment of its Ray"
    )


def _to_remote(fault: Exception) -> RemoteFault:
    """Return a fault as it travels between processes: its kind and reason."""
    if not isinstance(fault, VirlError):
        fault = _missing_module(fault) or fault
    kind = next((kind for kind in (ModelUnavailable, BadInput) if isinstance(fault, kind)), VirlError)
    return RemoteFault(kind, reason_of(fault))
