"""Which failures of an episode may pass, so that it is worth another try."""

from virl.errors import (
    BudgetExceeded,
    ModelShut,
    ModelUnavailable,
    ProviderError,
    RequestRefused,
    RunStopped,
    VirlError,
)

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
