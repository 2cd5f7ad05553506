"""A trip: the order of the errands, its legs, and what the order given would have taken.

The order comes from a local search, then a proof by integer programming that nothing is shorter. The search
alone is good; the proof closes what is left of the gap. It is the classic one for the travelling salesman
(Dantzig, Fulkerson and Johnson 1954): every place is entered and left once, solved by HiGHS through SciPy,
and wherever the answer falls into separate rounds, a constraint that forbids them is added.

Times need not be the same both ways, and may be infinite where no way leads. One form holds all ends: `leave`
are the seconds from the start to each stop, `between` those from stop to stop, and `arrive` those from each
stop to the end, which are all 0 where the end is open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from virl.agent.agent import Agent
from virl.errors import NoRoute
from virl.files.json_reading import JsonRecord
from virl.geo.globe import Floats, Ints, LatLng
from virl.platform.city.maps import Maps, PanoramaMaps, Route, TravelMode
from virl.routines.errands.finding import ErrandStop, Task

EXACT_STOPS = 12
"""Most stops for which all orders are considered (Held and Karp 1962); with more, good ones are searched."""
_LONGEST_PIECE = 3  # stops moved together (Or 1976)
_LEAST_GAIN_S = 1e-6  # a move that gains less is rounding
ORDER = "order"
"""Topic under which the journal keeps its note on the trip's order."""
AS_GOOD_S = 0.5  # chosen: for less than half a second nobody changes the order given


class TripLeg(JsonRecord):
    """The way from one stop to the next: its seconds, metres, and positions along it."""

    seconds: float
    metres: float
    path: tuple[LatLng, ...]


class Trip(JsonRecord):
    """A planned order of the stops with its length and time."""

    order: tuple[int, ...]
    """Indices of the stops, from 0, in visiting order."""
    seconds: float
    bound: float
    """Proven lower bound on the seconds of any order."""
    legs: tuple[TripLeg, ...]
    """Legs to each stop, and to the end if that is fixed."""
    seconds_given: float | None
    """Seconds of the order given by the user; `None` if no way leads through it."""
    metres_given: float | None

    @property
    def metres(self) -> float:
        """Metres of all legs together."""
        return sum(leg.metres for leg in self.legs)

    @property
    def is_shortest(self) -> bool:
        """Return whether the order is proven to be the fastest, to a hundredth of a second."""
        return self.seconds <= self.bound + 0.01


def plan_trip(agent: Agent, task: Task) -> Trip:
    """Return the fastest trip through all stops, in their order if demanded; planned once and noted.

    Raises:
        NoRoute: no order leads through all stops.
    """
    if noted := agent.run.find_note(ORDER, "best"):
        return Trip.model_validate(noted.data)
    trip = _plan_trip(agent.city.maps, task)
    names = " - ".join(goal.title for goal in goals_of(task, trip))
    agent.run.note(
        ORDER,
        "best",
        f"{trip.seconds / 60:.0f} min, {trip.metres:.0f} m: {names}.",
        data=trip.model_dump(mode="json"),
    )
    return trip


@dataclass(frozen=True, slots=True)
class Times:
    """Travel times in seconds between the start, n stops and the end; `inf` where no way leads."""

    leave: Floats
    """Seconds from the start to each stop, shape (n,)."""
    between: Floats
    """Seconds from each stop (row) to each stop (column), shape (n, n)."""
    arrive: Floats
    """Seconds from each stop to the end, shape (n,); zeros for an open end."""

    def __len__(self) -> int:
        """Return the number of stops, without start and end."""
        return len(self.leave)

    def seconds_along(self, order: Sequence[int]) -> float:
        """Return the seconds of visiting the stops in an order, from start to end."""
        stops = np.asarray(order, np.int64)
        legs = self.between[stops[:-1], stops[1:]]
        return float(self.leave[stops[0]] + legs.sum() + self.arrive[stops[-1]])


@dataclass(frozen=True, slots=True)
class StopOrder:
    """An order of stops with its seconds, and a proven lower bound on the seconds of any order."""

    stops: tuple[int, ...]
    seconds: float
    """Seconds of the order; `inf` if no order leads through all stops."""
    bound: float
    """Proven lower bound on the seconds of any order."""


def exact_order(times: Times) -> StopOrder:
    """Return the fastest order of at least one stop, by dynamic programming over sets of visited stops.

    Time and memory double with each stop: 13 take a tenth of a second.
    """
    count = len(times)
    fastest = np.full((1 << count, count), np.inf)  # to have visited a set, and to stand at its last stop
    before = np.full((1 << count, count), -1, np.int64)
    fastest[1 << np.arange(count), np.arange(count)] = times.leave
    everything = (1 << count) - 1
    holds = (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(bool)
    # As binary numbers, sets come after all of their subsets.
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
    # Back from the last stop; nothing (-1) comes before the first.
    while (previous := int(before[visited, order[-1]])) >= 0:
        visited ^= 1 << order[-1]
        order.append(previous)
    order.reverse()
    seconds = times.seconds_along(order)
    return StopOrder(tuple(order), seconds, seconds)


@dataclass(frozen=True, slots=True)
class PlannedWays:
    """Maps that answer routes between a trip's stops from its legs, and pass on other requests."""

    maps: Maps
    known: Mapping[tuple[LatLng, LatLng], Route]

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address, by the wrapped maps."""
        return self.maps.geocode(address)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the route through stops; between two stops of the trip the planned leg."""
        here, *_, there = stops
        planned = self.known.get((here, there)) if len(stops) == 2 else None
        return planned or self.maps.route(stops, mode)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return the seconds between positions, by the wrapped maps."""
        return self.maps.travel_times(origins, destinations, mode)


def goals_of(task: Task, trip: Trip) -> list[ErrandStop]:
    """Return the stops in the trip's order, followed by its end if that is fixed."""
    return [*(task.stops[number] for number in trip.order), *([task.end] if task.end else [])]


def ways_of(agent: Agent, task: Task, trip: Trip) -> Maps:
    """Return the city's maps, made to answer with the trip's legs; unchanged if they find ways by panoramas.

    Args:
        agent: agent who runs the errands.
        task: the errands' stops.
        trip: the planned trip through them.
    """
    if isinstance(agent.city.maps, PanoramaMaps):
        return agent.city.maps
    stands = [task.start.stand, *(goal.stand for goal in goals_of(task, trip))]
    known = {
        pair: Route(tuple(LatLng(*position) for position in leg.path), leg.metres, leg.seconds)
        for pair, leg in zip(pairwise(stands), trip.legs, strict=True)
    }
    return PlannedWays(agent.city.maps, known)


def _plan_trip(maps: Maps, task: Task) -> Trip:
    """Return the fastest trip through the stops; in the order given if demanded or as fast.

    `NoRoute` is raised if no order leads through all stops.
    """
    mode = task.errands.travel
    stops = [task.start, *task.stops, *([task.end] if task.end else [])]
    stands = [stop.stand for stop in stops]
    matrix = maps.travel_times(stands, stands, mode)
    times = times_between(matrix, len(task.stops))
    given = tuple(range(len(task.stops)))
    best, as_given = best_order(times, task.errands.search_seconds), times.seconds_along(given)
    if not np.isfinite(as_given if task.demands.in_order else best.seconds):
        here, there = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise NoRoute(
            f"no way leads {mode} from {stops[here].title} to {stops[there].title}: remove one of them, "
            "or change `travel`"
        )
    # An order of the user's own that is as good stays as it is.
    if task.demands.in_order or as_given <= best.seconds + AS_GOOD_S:
        best = StopOrder(given, as_given, best.bound)
    last = [len(stops) - 1] if task.end else []
    numbers = [0, *(number + 1 for number in best.stops), *last]
    legs = []
    for here, there in pairwise(numbers):
        route = maps.route([stands[here], stands[there]], mode)
        # The order was chosen by the seconds of the matrix, so the legs have them, too.
        seconds = float(matrix[here, there])
        legs.append(TripLeg(seconds=seconds, metres=route.distance, path=route.path))
    metres_given = None
    if best.stops == given:
        metres_given = sum(leg.metres for leg in legs)
    elif np.isfinite(as_given):
        metres_given = maps.route(stands, mode).distance
    return Trip(
        order=best.stops,
        seconds=best.seconds,
        bound=best.bound,
        legs=tuple(legs),
        seconds_given=as_given if np.isfinite(as_given) else None,
        metres_given=metres_given,
    )


def times_between(matrix: Floats, stops: int) -> Times:
    """Return the times in a matrix of seconds, ordered as the start, `stops` stops, and the end if fixed."""
    inner = slice(1, 1 + stops)
    has_end = len(matrix) > 1 + stops
    # Without a fixed end, ending at any stop is free.
    arrive = matrix[inner, -1] if has_end else np.zeros(stops)
    return Times(matrix[0, inner], matrix[inner, inner], arrive)


def best_order(times: Times, seconds: float) -> StopOrder:
    """Return the fastest order of stops; of more than 12, the best found in `seconds` of search."""
    return (
        exact_order(times) if len(times) <= EXACT_STOPS else prove_order(times, local_search(times), seconds)
    )


def local_search(times: Times) -> StopOrder:
    """Return a fast order: the best of three orders, each improved until no single move helps.

    Moves take a piece of up to three stops elsewhere, either way round, or turn a longer piece around.
    """
    finite, given = _finite(times), list(range(len(times)))
    nearest = [int(finite.leave.argmin())]  # the order that always visits the nearest stop next
    while left := [stop for stop in given if stop not in nearest]:
        nearest.append(min(left, key=lambda stop: finite.between[nearest[-1], stop]))
    inserted: list[int] = []  # the order in which each stop in turn was inserted where it costs least
    for stop in given:
        places = [[*inserted[:at], stop, *inserted[at:]] for at in range(len(inserted) + 1)]
        inserted = min(places, key=finite.seconds_along)
    orders = (_improve(finite, order) for order in (nearest, inserted, given))
    best = min(orders, key=finite.seconds_along)
    # Improved with finite times in place of infinite ones, so the true time may still be infinite.
    return StopOrder(tuple(best), times.seconds_along(best), 0.0)


def prove_order(times: Times, order: StopOrder, seconds: float) -> StopOrder:
    """Return `order`, or a faster one found, with the lower bound that is proven in `seconds` of search.

    Args:
        times: travel times between the stops.
        order: good order of the stops.
        seconds: most seconds for the search.
    """
    finite, count = _finite(times), len(times) + 1
    # As a round trip: place 0 is start and end, the stops follow.
    costs = np.zeros((count, count))
    costs[0, 1:], costs[1:, 0], costs[1:, 1:] = times.leave, times.arrive, times.between
    # A place may follow any from which a way leads there, but never itself.
    may = np.isfinite(costs) & ~np.eye(len(costs), dtype=bool)
    until = monotonic() + seconds
    ones, each = np.ones(count), np.eye(count)
    # Each place is left and entered once, and no two places form a loop.
    once = csr_array(np.vstack([np.kron(each, ones), np.kron(ones, each)]))
    constraints = [LinearConstraint(once, 1, 1)]
    constraints += [_no_round(count, [a, b]) for a in range(count) for b in range(a)]
    bound = 0.0
    best = list(order.stops)
    while (left := until - monotonic()) > 0:
        answer = milp(
            np.where(may, costs, 0.0).ravel(),
            integrality=np.ones(costs.size),
            bounds=Bounds(0, may.astype(float).ravel()),
            constraints=constraints,
            options={"time_limit": left, "mip_rel_gap": 0.0},
        )
        lower = answer.get("mip_dual_bound")
        if lower is not None and np.isfinite(lower):
            bound = max(bound, float(lower))
        if answer.x is None or answer.status != 0:
            break
        # The solver's zeros and ones are so but for rounding.
        following = np.asarray(answer.x).reshape(costs.shape).argmax(axis=1)
        links = csr_array((np.ones(count), (np.arange(count), following)), shape=costs.shape)
        rounds, labels = connected_components(links, directed=False)
        if rounds == 1:
            path = [int(following[0])]
            while onward := int(following[path[-1]]):
                path.append(onward)
            best = min(([place - 1 for place in path], best), key=finite.seconds_along)
            break
        # Only rounds that the solver comes to are forbidden: there are too many to list them all.
        closed = (np.flatnonzero(labels == label).tolist() for label in range(rounds))
        constraints += [_no_round(count, places) for places in closed]
    found = times.seconds_along(best)
    return StopOrder(tuple(best), found, min(bound, found) if np.isfinite(found) else bound)


def _no_round(count: int, places: Sequence[int]) -> LinearConstraint:
    """Return the constraint that no closed round leads through only the `places`, indices below `count`."""
    inside = np.zeros((count, count))
    inside[np.ix_(places, places)] = 1.0
    return LinearConstraint(csr_array(inside.reshape(1, -1)), -np.inf, len(places) - 1.0)


def _finite(times: Times) -> Times:
    """Return travel times in which a missing way takes longer than all others together, to be used last."""
    parts = (times.leave, times.between, times.arrive)
    longest = sum(float(part[np.isfinite(part)].sum()) for part in parts) + 1.0
    leave, between, arrive = (np.where(np.isfinite(part), part, longest) for part in parts)
    return Times(leave, between, arrive)


def _improve(times: Times, order: list[int]) -> list[int]:
    """Return an order of stops, changed by the best single moves until none saves time."""
    seconds, moves = times.seconds_along(order), _moves(len(order))
    stops = np.asarray(order, np.int64)
    while True:
        moved = stops[moves]
        after = (
            times.leave[moved[:, 0]]
            + times.between[moved[:, :-1], moved[:, 1:]].sum(axis=1)
            + times.arrive[moved[:, -1]]
        )
        best = int(after.argmin())
        if after[best] >= seconds - _LEAST_GAIN_S:
            return [int(stop) for stop in stops]
        stops, seconds = moved[best], float(after[best])


def _moves(count: int) -> Ints:
    """Return the orders one move away (a piece reversed or shifted), as old indices, shape (moves, count)."""
    order = list(range(count))
    moves = []
    for begin in range(count):
        for end in range(begin + 1, count + 1):
            piece, rest = order[begin:end], [*order[:begin], *order[end:]]
            moves.append([*order[:begin], *reversed(piece), *order[end:]])
            for at in range(len(rest) + 1) if len(piece) <= _LONGEST_PIECE else ():
                moves += [[*rest[:at], *turned, *rest[at:]] for turned in (piece, piece[::-1])]
    # Different moves may give the same order.
    return np.unique(np.array(moves, np.int64), axis=0)
