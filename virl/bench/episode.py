"""Episodes of a benchmark, what comes of them and is kept of them, and which of their failures may pass."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from virl.errors import (
    BudgetExceeded,
    ModelShut,
    ModelUnavailable,
    ProviderError,
    RequestRefused,
    RunStopped,
    VirlError,
)

Data = Mapping[str, Any]
"""Plain JSON."""
Picture = bytes | Callable[[], bytes]
"""A picture's file, or what makes it."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One item of a benchmark for one model: a job that depends on no other."""

    case: str
    """Question or task, such as a place's or a route's id: the same for every model, so that models can be
    compared case by case. Unique within a city."""
    city: str
    """Place of the episode: a city, or a data set and its split."""
    model: str
    """Model or agent that is compared."""
    payload: Data = field(default_factory=dict)
    """Data that `run` needs, as plain JSON."""
    attribution: str = ""
    """Names that pages about it have to credit, if its `city` is a data set that says so."""

    @property
    def id(self) -> str:
        """Unique within a run."""
        return f"{self.model}/{self.city}/{self.case}"


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """The result of an episode."""

    data: Data
    """Data that it is scored by, as plain JSON; also whatever its page shows."""
    files: Mapping[str, Picture] = field(default_factory=dict)
    """Pictures of it by file name, such as `{"view-0.jpg": ...}`, or what makes them, which is called only
    where pictures are kept (see `virl.bench.records.jpeg`)."""
    cost: Mapping[str, float] = field(default_factory=dict)
    """Usage, such as `{"requests": 3, "usd": 0.01}` (see `virl.bench.resources.cost_of`)."""
    failure: VirlError | None = None
    """Reason of a failure that is scored all the same: a walk whose model gave no usable reply did
    not arrive. Such an episode is run again on `--resume`."""


@dataclass(frozen=True, slots=True)
class Record:
    """The part of an episode that a run keeps: status, data for the scores, files, cost and failure."""

    id: str
    case: str
    city: str
    model: str
    status: Literal["done", "failed"]
    data: Data = field(default_factory=dict)
    """Empty where it failed and is not scored."""
    files: tuple[str, ...] = ()
    """Paths of its pictures, relative to the run's folder."""
    cost: Mapping[str, float] = field(default_factory=dict)
    attempts: int = 1
    """Number of tries."""
    seconds: float = 0.0
    """Seconds of the last try."""
    reason: str = ""
    """Reason of the failure, in one line; empty if there is none."""
    fault: str = ""
    """The kind of that failure, such as `"ProviderError"`."""

    @property
    def is_scored(self) -> bool:
        """Return whether it counts in the scores: it is done, or failed with data."""
        return self.status == "done" or bool(self.data)


_PASSING_STATUSES = frozenset({408, 425, 429})


class TryAgain(VirlError):
    """The error of a benchmark whose episode failed for a cause that may pass."""


class CannotTry(VirlError):
    """The error of a benchmark for an episode that its data makes impossible, such as one without a start."""


class WorkerLost(VirlError):
    """The process that ran an episode died."""


def may_pass(fault: BaseException) -> bool:
    """Return whether another try may succeed.

    Yes for `TryAgain`, a worker that was lost, time-outs and broken connections, a provider that is out of
    reach, overloaded or asks for patience (no reply, HTTP 408, 425, 429 and 5xx), and a model that cannot be
    reached: one whose weights or key are missing is found before the first episode. No for all else, such
    as a request that a model's server refuses.
    """
    if isinstance(fault, ProviderError):
        status = fault.status
        return status is None or status >= 500 or status in _PASSING_STATUSES
    if isinstance(fault, RequestRefused):
        return False
    return isinstance(fault, (TryAgain, WorkerLost, ModelUnavailable, ConnectionError, TimeoutError))


def is_shut(fault: BaseException) -> bool:
    """Return whether no episode that asks the model can go well."""
    return isinstance(fault, ModelShut)


def is_unpaid(fault: BaseException) -> bool:
    """Return whether the budget or the player ends the run: the episode is neither done nor failed."""
    return isinstance(fault, BudgetExceeded | RunStopped)
