"""Episodes of a benchmark, what comes of them and is kept of them, and which of their failures may pass."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from virl.errors import ModelUnavailable, ProviderError, RequestRefused, VirlError

Data = Mapping[str, Any]
"""A plain JSON object."""
Picture = bytes | Callable[[], bytes]
"""A picture's encoded bytes, or a function that makes them."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One item of a benchmark for one model, such as a question or a route, independent of all others."""

    case: str
    """Name of the question or task, such as a route's id: unique within a city, the same for each model."""
    city: str
    """Name of the city, or of the data set and its split, in which the episode takes place."""
    model: str
    """Name of the model or agent that is compared."""
    payload: Data = field(default_factory=dict)
    """Plain JSON that `Benchmark.run` needs for the episode."""
    attribution: str = ""
    """Names that pages with the episode have to credit, if its data set names any; else empty."""

    @property
    def id(self) -> str:
        """Id that is unique within a run, made of model, city and case."""
        return f"{self.model}/{self.city}/{self.case}"


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """The result of an episode: data from which it is scored, pictures and cost."""

    data: Data
    """Plain JSON from which the episode is scored, and whatever its page shows."""
    files: Mapping[str, Picture] = field(default_factory=dict)
    """Pictures by file name, such as `{"view-0.jpg": ...}`, or functions that make them.

    The functions are called only if pictures are kept (see `virl.bench.records.jpeg`)."""
    cost: Mapping[str, float] = field(default_factory=dict)
    """Amounts by name, such as `{"requests": 3, "usd": 0.01}` (see `virl.bench.resources.cost_of`)."""
    failure: VirlError | None = None
    """Error of a failed episode that is scored all the same; `None` if the episode did not fail.

    A walk whose model gave no usable reply did not arrive. It is run again on `--resume`."""


@dataclass(frozen=True, slots=True)
class Record:
    """The record that a run keeps of an episode: status, data for the scores, files, cost and failure."""

    id: str
    case: str
    city: str
    model: str
    status: Literal["done", "failed"]
    data: Data = field(default_factory=dict)
    """Plain JSON of the result; empty if the episode failed and is not scored."""
    files: tuple[str, ...] = ()
    """Paths of the episode's pictures, relative to the run's folder."""
    cost: Mapping[str, float] = field(default_factory=dict)
    attempts: int = 1
    """Number of tries, from 1."""
    seconds: float = 0.0
    """Seconds that the last try took."""
    reason: str = ""
    """Reason of the failure in one line; empty if there was none."""
    fault: str = ""
    """Name of the failure's error class, such as `"ProviderError"`; empty if there was none."""

    @property
    def is_scored(self) -> bool:
        """Return whether the episode counts in the scores: it is done, or failed with data."""
        return self.status == "done" or bool(self.data)


_PASSING_STATUSES = frozenset({408, 425, 429})


class TryAgain(VirlError):
    """The error of an episode that failed for a cause that may pass, so that it is tried again."""


class CannotTry(VirlError):
    """The error of an episode that its data makes impossible, such as a route without a start."""


class WorkerLost(VirlError):
    """The error of an episode whose worker process died."""


def may_pass(fault: BaseException) -> bool:
    """Return whether the cause of an episode's error may pass, so that another try may succeed.

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
