"""The order of stops that takes the least time, from a start, to an end that may be open.

Times need not be the same both ways, and may be infinite where no way leads. One form holds all ends: `leave`
are the seconds from the start to each stop, `between` those from stop to stop, and `arrive` those from each
stop to the end, which are all 0 where the end is open.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from virl.geo.globe import Floats

EXACT_STOPS = 12
"""Up to so many stops every order is considered (Held and Karp 1962); more are searched."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds between a start, some stops and an end; `inf` where no way leads.

    Args:
        leave: from the start to each stop, shape (n,).
        between: from stop to stop, shape (n, n).
        arrive: from each stop to the end, shape (n,); zeros for an open end.
    """

    leave: Floats
    between: Floats
    arrive: Floats

    def __len__(self) -> int:
        return len(self.leave)

    def seconds_along(self, order: Sequence[int]) -> float:
        """Return the seconds of an order of the stops, from the start to the end."""
        stops = np.asarray(order, np.int64)
        legs = self.between[stops[:-1], stops[1:]]
        return float(self.leave[stops[0]] + legs.sum() + self.arrive[stops[-1]])


@dataclass(frozen=True, slots=True)
class Order:
    """An order of stops."""

    stops: tuple[int, ...]
    seconds: float
    """`inf` if no order leads through all."""
    bound: float
    """No order takes less: proven."""

    @property
    def is_shortest(self) -> bool:
        """Return whether it is proven that no order is shorter, but for a hundredth of a second."""
        return self.seconds <= self.bound + 0.01


def exact_order(times: Times) -> Order:
    """Return the shortest order, by dynamic programming over the sets of stops visited.

    Args:
        times: of one stop at least. Time and memory double with each stop: 13 take a tenth of a second.
    """
    count = len(times)
    fastest = np.full((1 << count, count), np.inf)  # to have visited a set, and to stand at its last stop
    before = np.full((1 << count, count), -1, np.int64)
    fastest[1 << np.arange(count), np.arange(count)] = times.leave
    everything = (1 << count) - 1
    holds = (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(bool)
    for visited in range(1, everything):
        inside, outside = holds[visited].nonzero()[0], (~holds[visited]).nonzero()[0]
        onward = fastest[visited, inside, None] + times.between[inside[:, None], outside]
        best = onward.argmin(axis=0)
        after = visited | 1 << outside
        fastest[after, outside] = onward[best, np.arange(len(outside))]
        before[after, outside] = inside[best]
    last = int(np.argmin(fastest[everything] + times.arrive))
    order = [last]
    visited = everything
    while (previous := int(before[visited, order[-1]])) >= 0:
        visited ^= 1 << order[-1]
        order.append(previous)
    order.reverse()
    seconds = times.seconds_along(order)
    return Order(tuple(order), seconds, seconds)
