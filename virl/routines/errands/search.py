"""The order of many stops: a local search, then a proof by integer programming that nothing is shorter.

The search alone is good; the proof closes what is left of the gap. It is the classic one for the travelling
salesman (Dantzig, Fulkerson and Johnson 1954): every place is entered and left once, solved by HiGHS through
SciPy, and wherever the answer falls into separate rounds, a constraint that forbids them is added.
"""

from collections.abc import Iterator, Sequence
from time import monotonic

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import connected_components

from virl.geo import Floats, Ints
from virl.routines.errands.order import EXACT_STOPS, Order, Times, exact_order

LONGEST_PIECE = 3  # stops moved together (Or 1976)
LEAST_GAIN_S = 1e-6  # a move that gains less is rounding


def best_order(times: Times, seconds: float) -> Order:
    """The shortest order of stops, as far as it is found within a time.

    Args:
        times: between a start, one stop at least, and an end.
        seconds: of search, for more than `EXACT_STOPS` stops.
    """
    if len(times) <= EXACT_STOPS:
        return exact_order(times)
    searched = local_search(times)
    return proven(times, searched, seconds)


def local_search(times: Times) -> Order:
    """A short order: the best of nearest-neighbour and insertion, improved until no move helps.

    Moves take a piece of up to three stops elsewhere, either way round, or turn a longer piece around.
    """
    finite = _finite(times)
    best = min((_improved(finite, start) for start in _starts(finite)), key=finite.along)
    return Order(tuple(best), times.along(best), 0.0)


def proven(times: Times, order: Order, seconds: float) -> Order:
    """A given order, or a shorter one, with the bound that was proven within a time."""
    finite = _finite(times)
    costs = _as_round(times)
    may = np.isfinite(costs) & ~np.eye(len(costs), dtype=bool)
    until = monotonic() + seconds
    cuts = _Cuts(len(costs))
    bound = 0.0
    best = list(order.stops)
    while (left := until - monotonic()) > 0:
        answer = milp(
            np.where(may, costs, 0.0).ravel(),
            integrality=np.ones(costs.size),
            bounds=Bounds(0, may.astype(float).ravel()),
            constraints=cuts.constraints,
            options={"time_limit": left, "mip_rel_gap": 0.0},
        )
        lower = answer.get("mip_dual_bound")
        if lower is not None and np.isfinite(lower):
            bound = max(bound, float(lower))
        if answer.x is None or answer.status != 0:
            break
        following = np.asarray(answer.x).reshape(costs.shape).argmax(axis=1)
        rounds = _rounds(following)
        if len(rounds) == 1:
            best = min((_path(following), best), key=finite.along)
            break
        cuts.forbid(rounds)
    found = times.along(best)
    return Order(tuple(best), found, min(bound, found) if np.isfinite(found) else bound)


class _Cuts:
    """The constraints of the programme: each place is left and entered once, and no round is closed early."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._inside: list[Floats] = []
        self._most: list[float] = []
        ones, each = np.ones(count), np.eye(count)
        self._once = csr_array(np.vstack([np.kron(each, ones), np.kron(ones, each)]))
        for a in range(count):
            for b in range(a):
                self._add([a, b])

    @property
    def constraints(self) -> list[LinearConstraint]:
        """As SciPy takes them."""
        cuts = vstack([csr_array(row) for row in self._inside])
        return [LinearConstraint(self._once, 1, 1), LinearConstraint(cuts, -np.inf, self._most)]

    def forbid(self, rounds: Sequence[Sequence[int]]) -> None:
        """Let no order hold one of these rounds again."""
        for places in rounds:
            self._add(places)

    def _add(self, places: Sequence[int]) -> None:
        inside = np.zeros((self._count, self._count))
        inside[np.ix_(places, places)] = 1.0
        self._inside.append(inside.reshape(1, -1))
        self._most.append(len(places) - 1.0)


def _finite(times: Times) -> Times:
    """The times with one longer than all together wherever there is no way, so that it is taken last."""
    parts = (times.leave, times.between, times.arrive)
    longest = sum(float(part[np.isfinite(part)].sum()) for part in parts) + 1.0
    leave, between, arrive = (np.where(np.isfinite(part), part, longest) for part in parts)
    return Times(leave, between, arrive)


def _as_round(times: Times) -> Floats:
    """Costs of a round: place 0 is the start and the end in one, the stops follow."""
    count = len(times)
    costs = np.zeros((count + 1, count + 1))
    costs[0, 1:], costs[1:, 0], costs[1:, 1:] = times.leave, times.arrive, times.between
    return costs


def _rounds(following: Sequence[int]) -> list[list[int]]:
    count = len(following)
    links = csr_array((np.ones(count), (np.arange(count), following)), shape=(count, count))
    number, labels = connected_components(links, directed=False)
    return [np.flatnonzero(labels == label).tolist() for label in range(number)]


def _path(following: Sequence[int]) -> list[int]:
    """The stops of a round, in order."""
    path, here = [], int(following[0])
    while here:
        path.append(here - 1)
        here = int(following[here])
    return path


def _starts(times: Times) -> Iterator[list[int]]:
    yield _nearest(times)
    yield _inserted(times)
    yield list(range(len(times)))


def _nearest(times: Times) -> list[int]:
    order = [int(times.leave.argmin())]
    left = set(range(len(times))) - set(order)
    while left:
        order.append(min(left, key=lambda stop: times.between[order[-1], stop]))
        left.remove(order[-1])
    return order


def _inserted(times: Times) -> list[int]:
    """Each stop in turn where it costs least."""
    order: list[int] = []
    for stop in range(len(times)):
        places = [[*order[:at], stop, *order[at:]] for at in range(len(order) + 1)]
        order = min(places, key=times.along)
    return order


def _improved(times: Times, order: list[int]) -> list[int]:
    seconds, moves = times.along(order), _moves(len(order))
    stops = np.asarray(order, np.int64)
    while True:
        moved = stops[moves]
        after = (
            times.leave[moved[:, 0]]
            + times.between[moved[:, :-1], moved[:, 1:]].sum(axis=1)
            + times.arrive[moved[:, -1]]
        )
        best = int(after.argmin())
        if after[best] >= seconds - LEAST_GAIN_S:
            return [int(stop) for stop in stops]
        stops, seconds = moved[best], float(after[best])


def _moves(count: int) -> Ints:
    """Every move as the places that the stops come from, shape (moves, count)."""
    order = list(range(count))
    moves = []
    for begin in range(count):
        for end in range(begin + 1, count + 1):
            piece, rest = order[begin:end], [*order[:begin], *order[end:]]
            moves.append([*order[:begin], *reversed(piece), *order[end:]])
            for at in range(len(rest) + 1) if len(piece) <= LONGEST_PIECE else ():
                moves += [[*rest[:at], *turned, *rest[at:]] for turned in (piece, piece[::-1])]
    return np.unique(np.array(moves, np.int64), axis=0)
