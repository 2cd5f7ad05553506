"""Repeated tries after failures that may pass: after a pause that doubles, or as long as the server asks."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from re import fullmatch
from typing import Protocol, TypeVar, cast

from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_attempt

T = TypeVar("T")


class FailedTry(Protocol):
    """A failed try: whether and when another may follow."""

    @property
    def may_retry(self) -> bool:
        """Return whether another try may succeed."""
        ...

    @property
    def wait(self) -> float | None:
        """Return the seconds that the server asks to wait before the next try; `None` if it does not say."""
        ...


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A limit on repeated tries, with growing pauses between them."""

    further: int
    """Most tries after the first."""
    first_wait: float
    """Seconds of the pause before the second try; doubles with each further one."""
    longest_wait: float
    """Upper bound on a pause in seconds; a server that asks for longer ends the tries."""
    sleep: Callable[[float], None] = time.sleep
    """Function that sleeps for a number of seconds."""
    chance: Callable[[], float] = lambda: 1.0
    """Function that returns the share, [0, 1], of a pause's second half to wait, such as at random."""

    def run(
        self,
        attempt: Callable[[], T],
        failure: Callable[[T], FailedTry | None],
        *,
        tell: Callable[[T, float], None],
        tried: int = 0,
    ) -> T:
        """Run `attempt`, again while its `failure` may pass and tries are left; return the last outcome.

        Args:
            attempt: the function; its exceptions end the tries.
            failure: returns the failure that an outcome stands for; `None` for a success.
            tell: called before each pause, with the outcome and the seconds of the pause.
            tried: the number of tries made before, which count.
        """

        def may_pass(outcome: T) -> bool:
            """Return whether a failed try may be repeated, after at most `longest_wait` seconds."""
            failed = failure(outcome)
            return failed is not None and failed.may_retry and (failed.wait or 0.0) <= self.longest_wait

        def last_outcome(state: RetryCallState) -> T:
            """Return the outcome of the latest try."""
            return cast("T", state.outcome and state.outcome.result())

        def pause(state: RetryCallState) -> float:
            """Return the seconds of the next pause: as the server asks, else doubled and randomized."""
            failed = failure(last_outcome(state))
            # The server knows best when it takes the next request.
            if failed and failed.wait is not None:
                return failed.wait
            doubled = self.first_wait * 2.0 ** (tried + state.attempt_number - 1)
            # By chance, so that clients that failed together do not all come back together.
            return min(doubled, self.longest_wait) * (0.5 + 0.5 * self.chance())

        return Retrying(
            retry=retry_if_result(may_pass),
            stop=stop_after_attempt(1 + self.further - tried),
            wait=pause,
            sleep=self.sleep,
            before_sleep=lambda state: tell(last_outcome(state), state.upcoming_sleep),
            retry_error_callback=last_outcome,
        )(attempt)


def asked_wait(retry_after: str | None) -> float | None:
    """Return the seconds to wait by a `Retry-After` header, a number or a date; `None` without either."""
    if retry_after is None:
        return None
    if fullmatch(r"\s*\d{1,9}(\.\d+)?\s*", retry_after):
        return float(retry_after)
    try:
        when = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    # HTTP dates are in GMT, also where a server leaves the zone out.
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
