"""Workers on a Ray cluster: actors that run episodes, hold a model each or keep the run's budget.

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

from virl.bench.engine.crew import Died, Ended, Event, LedgerReply, LedgerRequest, Ready, Slot, remote_ledger
from virl.bench.engine.work import Bench, EpisodeOutcome, Job, open_bench, reason_of
from virl.bench.episode import Episode, WorkerLost
from virl.bench.resources import ModelUse, OpenModel, Resources, Terms
from virl.bench.shared_models import ModelCall, Pace
from virl.errors import BadInput, ModelUnavailable, VirlError
from virl.extras import module
from virl.money.ledger import Ledger
from virl.platform.perception.models import read_model
from virl.platform.perception.registry import ModelResources
from virl.version import code_version

_MODEL_THREADS = 64
"""Most requests that the actor of a model accepts at once, to batch them. Chosen."""
MOST_STILLBORN = 3
"""Number of workers that die while they open the benchmark at which a run is given up. Chosen."""

PATIENCE_S = 30.0
"""Seconds without a ready worker after which a warning says that the cluster has no room. Chosen."""

_LACKS = re.compile(r"No module named '([^']+)'")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _PendingReply:
    """A call to a worker that has not returned yet: the worker's number, its slot and its episode."""

    worker: int
    slot: Slot = None
    episode: Episode | None = None
    """Episode that the worker runs; `None` while it opens its world."""


class ClusterCrew:
    """A crew of Ray actors on a cluster; an actor that dies is replaced, on any node with room.

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
        """Join Ray at `address`; start the first of `count` workers (`None`: all that fit); `book`: file."""
        self._ray = module("ray", extra="ray")
        self._job = job
        self._count = count
        self._is_ours = not self._ray.is_initialized()
        if self._is_ours:
            _connect(self._ray, address)
        self._slots = 1
        self._is_first = True
        self._workers: dict[int, Any] = {}
        self._pending: dict[Any, _PendingReply] = {}
        self._free: dict[int, set[Slot]] = {}
        self._worker_of: dict[Slot, int] = {}
        self._number = numbers()
        self._stillborn = 0
        self._heard = time.monotonic()
        self._budget_actor = _budget_actor(self._ray, job.terms, book)
        self._hire()

    def give(self, slot: Slot, episode: Episode) -> None:
        """Start an episode at a worker's free slot; returns at once."""
        worker = self._worker_of[slot]
        self._free[worker].remove(slot)
        reply = self._workers[worker].attempt.remote(episode)
        self._pending[reply] = _PendingReply(worker, slot, episode)

    def events(self, timeout_s: float) -> Sequence[Event]:
        """Return the events since the last call; wait at most `timeout_s` seconds, then return none."""
        ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=timeout_s)
        if ready:
            # Asked for all at once, Ray would wait for the slowest: this takes what is there by now.
            ready, _ = self._ray.wait(list(self._pending), num_returns=len(self._pending), timeout=0)
            self._heard = time.monotonic()
        elif (
            not any(place.episode for place in self._pending.values())
            and time.monotonic() - self._heard > PATIENCE_S
        ):
            self._heard = time.monotonic()
            _log.warning(
                "no worker is ready yet: the cluster has %s free; a worker needs 1 CPU, and each model what "
                "its file asks for",
                self._ray.available_resources(),
            )
        return [event for reply in ready if reply in self._pending for event in self._read_reply(reply)]

    def dismiss(self) -> None:
        """End all workers and the budget's actor with its models; shut Ray down if this crew joined it."""
        for actor in (*self._workers.values(), self._budget_actor):
            self._ray.kill(actor)
        self._workers.clear()
        if self._is_ours:
            self._ray.shutdown()

    def _hire(self) -> None:
        """Start one more worker, which begins to open the benchmark."""
        number = next(self._number)
        threads = max(self._count or 1, 1) + 1  # one to open the world, which may still run when it is asked
        actor = self._ray.remote(Worker).options(num_cpus=1, max_concurrency=threads)
        self._workers[number] = actor.remote(self._job, self._budget_actor)
        self._pending[self._workers[number].open.remote(code_version())] = _PendingReply(number)

    def _read_reply(self, reply: Any) -> list[Event]:
        """Return the events in a Ray reply: an episode that ended, slots now free, or slots lost."""
        place = self._pending.pop(reply)
        errors = self._ray.exceptions
        try:
            said = self._ray.get(reply)
        except (errors.RayActorError, errors.WorkerCrashedError, errors.ObjectLostError) as fault:
            return self._drop_worker(place, fault)
        except errors.RayError as fault:
            why = reason_of(fault)
            if place.episode is None:
                lost = WorkerLost(f"a worker failed while it opened the benchmark ({why}): see Ray's logs")
                raise _missing_module(fault) or lost from fault
            said = EpisodeOutcome(place.episode, "failed", reason=why, fault=type(fault).__name__)
        if isinstance(said, EpisodeOutcome):
            self._free[place.worker].add(place.slot)
            return [Ended(place.slot, said)]
        if said is not None:
            raise said.error()
        return self._free_slots(place.worker)

    def _free_slots(self, worker: int) -> list[Event]:
        """Return a `Ready` for each slot of an opened worker; after the first one, start the others."""
        if self._is_first:
            self._is_first = False
            room = int(self._ray.available_resources().get("CPU", 0))
            wanted = self._count or room + 1
            more = max(0, min(wanted - 1, room))
            # Rounded up: where the cluster has fewer CPUs than episodes, workers run several each.
            self._slots = -(-wanted // (more + 1))
            for _ in range(more):
                self._hire()
        slots: list[Slot] = [(worker, number) for number in range(self._slots)]
        self._free[worker] = set(slots)
        self._worker_of |= dict.fromkeys(slots, worker)
        return [Ready(slot) for slot in slots]

    def _drop_worker(self, place: _PendingReply, fault: Exception) -> list[Event]:
        """Replace the worker that died of `fault` in the call `place`; return a `Died` for each slot lost."""
        why = reason_of(fault)
        # A worker with several episodes is told dead once for each; the first call replaced it.
        if place.worker not in self._workers:
            return [Died(place.slot, why)] if place.episode else []
        if place.episode is None:
            self._stillborn += 1
            if lacking := _missing_module(fault):
                raise lacking
            if self._stillborn >= MOST_STILLBORN:
                raise WorkerLost(f"workers die while they open the benchmark ({why}): see Ray's logs")
        free: set[Slot] = self._free.pop(place.worker, set())
        self._ray.kill(self._workers.pop(place.worker))  # one that is only out of reach must not go on
        self._hire()
        told: list[Event] = [Died(slot, why) for slot in free]
        return [*told, Died(place.slot, f"its worker died ({why})")] if place.episode else told


def _connect(ray: Any, address: str) -> None:
    """Join the Ray cluster at an address; raise BadInput with advice if that fails."""
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.AuthenticationError) as fault:
        why = getattr(fault, "message", "") or reason_of(fault)  # Ray's own advice is a paragraph
        raise BadInput(
            f"cannot join a Ray cluster at {address!r} ({why}): start one with `ray start --head`; if it "
            "wants a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
        ) from fault


def _budget_actor(ray: Any, terms: Terms, book: Path | None) -> Any:
    """Start the Ray actor that keeps the run's budget on this node; `book` is the file of payments."""
    here = ray.get_runtime_context().get_node_id()
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
    actor = ray.remote(BudgetActor).options(
        num_cpus=0, max_concurrency=_MODEL_THREADS, scheduling_strategy=strategy
    )
    return actor.remote(terms, book.resolve() if book else None)


@dataclass(frozen=True, slots=True)
class RemoteFault:
    """An error of another process, as its class and text, since not each `VirlError` can be pickled."""

    kind: type[VirlError]
    text: str

    def error(self) -> VirlError:
        """Return the error of the other process, made anew to be raised in this one."""
        return self.kind(self.text)


class Worker:
    """A Ray actor that opens the benchmark and runs its episodes, several at once in threads."""

    def __init__(self, job: Job, budget_actor: Any) -> None:
        """Keep the job and `budget_actor`, the handle of the run's `BudgetActor`; opens nothing yet."""
        self._job = job
        self._budget_actor = budget_actor
        self._bench: Bench | None = None

    def open(self, version: str) -> RemoteFault | None:
        """Open the benchmark; return a fault if that fails or virl is not of this version, else `None`."""
        if other := _other_version(version):
            return other
        ray = module("ray", extra="ray")
        is_paced = self._job.terms.requests_per_second is not None
        resources = Resources(
            self._job.terms,
            remote_ledger(lambda charge: ray.get(self._budget_actor.charge.remote(charge))),
            reserve=(lambda: float(ray.get(self._budget_actor.reserve.remote()))) if is_paced else None,
            open_elsewhere=lambda use: _open_remote(ray, self._budget_actor, use),
            objects=self._job.objects,
        )
        try:
            self._bench = open_bench(self._job, resources)
        except Exception as fault:  # noqa: BLE001 - told to the run, which ends
            return _to_remote(fault)
        return None

    def attempt(self, episode: Episode) -> EpisodeOutcome:
        """Run an episode in one of the actor's threads, and return its outcome.

        Raises:
            WorkerLost: the worker is not open yet.
        """
        if self._bench is None:
            raise WorkerLost("a worker was used before it was open")
        return self._bench.attempt(episode)


class Model:
    """A Ray actor that holds one perception model and batches the requests of all workers."""

    def __init__(self, terms: Terms, use: ModelUse) -> None:
        """Prepare one model, named by role, name and city in `use`; its weights load at the first request."""
        self._use = use
        self._resources = Resources(replace(terms, workers=_MODEL_THREADS))

    def name(self, version: str) -> str | RemoteFault:
        """Return the name of a recognizer's embeddings, "" for other roles, or a fault of this node."""
        if other := _other_version(version):
            return other
        try:
            return self._resources.share_model(self._use).name
        except VirlError as fault:
            return _to_remote(fault)

    def ask(self, call: ModelCall, items: Sequence[Any]) -> Sequence[Any] | RemoteFault:
        """Return the results of one call of the model for `items`, one each, or the fault of the call."""
        try:
            return list(self._resources.share_model(self._use).ask(call, items))
        except VirlError as fault:
            return _to_remote(fault)


class BudgetActor:
    """The one Ray actor that all workers share: it holds the ledger, rate limit and actors of models."""

    def __init__(self, terms: Terms, book: Path | None) -> None:
        """Open the run's ledger and rate limit; `book` is the file of payments, `None` for none."""
        self._terms = terms
        self._ledger = Ledger(terms.budget_usd, book=book)
        self._pace = Pace(terms.requests_per_second or 1.0)
        self._models: dict[ModelUse, Any] = {}
        self._lock = Lock()

    def model(self, use: ModelUse, needs: ModelResources) -> Any:
        """Return the handle of the actor that holds a model; starts it, with the CPUs and GPUs of `needs`."""
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

    def charge(self, charge: LedgerRequest) -> LedgerReply:
        """Enter a worker's payment in the run's ledger, or sum up an account; return the reply."""
        return charge.apply_to(self._ledger)

    def reserve(self) -> float:
        """Reserve the next request to a mind, and return the seconds to wait before it."""
        return self._pace.reserve()


def _open_remote(ray: Any, budget_actor: Any, use: ModelUse) -> OpenModel:
    """Return the model that `use` names, held by a Ray actor, to which `budget_actor` gives the handle."""
    needs = read_model(use.role, use.name).resources
    actor = ray.get(budget_actor.model.remote(use, needs))

    def check_reply(reply: Any) -> Any:
        """Wait for an actor's reply and return it; raise the error if it is a `RemoteFault`."""
        said = ray.get(reply)
        if isinstance(said, RemoteFault):
            raise said.error()
        return said

    def ask(call: ModelCall, items: Sequence[Any]) -> Sequence[Any]:
        """Return the results of one call of the remote model for `items`, one each."""
        results: Sequence[Any] = check_reply(actor.ask.remote(call, items))
        return results

    return OpenModel(ask, check_reply(actor.name.remote(code_version())))


def _other_version(wanted: str) -> RemoteFault | None:
    """Return a fault if this node's virl has another version than `wanted`, else `None`."""
    if code_version() == wanted:
        return None
    return RemoteFault(
        BadInput,
        f"the cluster's node {node()} has virl {code_version()}, and the run was started by {wanted}: "
        "install the same on every node",
    )


def _missing_module(fault: Exception) -> BadInput | None:
    """Return a BadInput that names the Python module a node lacks, read from Ray's text; else `None`."""
    found = _LACKS.search(str(fault))
    if found is None:
        return None
    return BadInput(
        f"a node of the cluster has no module {found[1]!r}: install what is installed here on every node, in "
        "the environment of its Ray"
    )


def _to_remote(fault: Exception) -> RemoteFault:
    """Return an error as class and text, to be sent to another process."""
    if not isinstance(fault, VirlError):
        fault = _missing_module(fault) or fault
    kind = next((kind for kind in (ModelUnavailable, BadInput) if isinstance(fault, kind)), VirlError)
    return RemoteFault(kind, reason_of(fault))
