"""A trip: the order of the errands, its legs, and what the order given would have taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from pydantic import BaseModel, ConfigDict

from virl.agent.agent import Agent
from virl.errors import NoRoute
from virl.geo import Floats, LatLng
from virl.platform.maps import Maps, PanoramaMaps, Route, TravelMode
from virl.routines.errands.finding import ErrandStop, Task
from virl.routines.errands.order import Order, Times
from virl.routines.errands.search import best_order

ORDER = "order"
"""Topic of the note on the order."""
AS_GOOD_S = 0.5  # chosen: for less than half a second nobody changes the order given


class TripLeg(BaseModel):
    """The way from one stop to the next."""

    model_config = ConfigDict(frozen=True)

    seconds: float
    metres: float
    path: tuple[LatLng, ...]


class Trip(BaseModel):
    """An order of the stops, and what it takes."""

    model_config = ConfigDict(frozen=True)

    order: tuple[int, ...]
    """Numbers of the stops as given, from 0."""
    seconds: float
    bound: float
    """No order takes fewer seconds: proven."""
    legs: tuple[TripLeg, ...]
    """To each stop, and to the end where that is fixed."""
    seconds_given: float | None
    """Of the order given; `None` if no way leads through it."""
    metres_given: float | None

    @property
    def metres(self) -> float:
        """Of all legs."""
        return sum(leg.metres for leg in self.legs)

    @property
    def is_shortest(self) -> bool:
        """Whether it is proven that no order takes less."""
        return Order(self.order, self.seconds, self.bound).is_shortest


@dataclass(frozen=True, slots=True)
class PlannedWays:
    """Maps that know the legs of a trip and ask for nothing else."""

    maps: Maps
    known: Mapping[tuple[LatLng, LatLng], Route]

    def geocode(self, address: str) -> LatLng:
        """As `Maps.geocode`."""
        return self.maps.geocode(address)

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """As `Maps.route`; for a leg of the trip, as it was planned."""
        here, *_, there = stops
        planned = self.known.get((here, there)) if len(stops) == 2 else None
        return planned or self.maps.route(stops, mode)

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """As `Maps.travel_times`."""
        return self.maps.travel_times(origins, destinations, mode)


def plan_trip(agent: Agent, task: Task) -> Trip:
    """Find the best order from one matrix of travel times; one found before a kill stays.

    Raises:
        NoRoute: no order leads through all stops.
    """
    if noted := agent.run.noted(ORDER, "best"):
        return Trip.model_validate(noted.data)
    trip = _plan(agent.city.maps, task)
    agent.run.note(ORDER, "best", _told(task, trip), data=trip.model_dump(mode="json"))
    return trip


def goals_of(task: Task, trip: Trip) -> list[ErrandStop]:
    """Where the trip leads, in its order."""
    return [*(task.stops[number] for number in trip.order), *([task.end] if task.end else [])]


def ways_of(agent: Agent, task: Task, trip: Trip) -> Maps:
    """The maps of a city with the legs of a trip known, unless they know the way along panoramas."""
    if isinstance(agent.city.maps, PanoramaMaps):
        return agent.city.maps
    stands = [task.start.stand, *(goal.stand for goal in goals_of(task, trip))]
    known = {
        pair: Route(tuple(LatLng(*position) for position in leg.path), leg.metres, leg.seconds)
        for pair, leg in zip(pairwise(stands), trip.legs, strict=True)
    }
    return PlannedWays(agent.city.maps, known)


def _plan(maps: Maps, task: Task) -> Trip:
    mode = task.errands.travel
    stops = [task.start, *task.stops, *([task.end] if task.end else [])]
    stands = [stop.stand for stop in stops]
    matrix = maps.travel_times(stands, stands, mode)
    times = times_between(matrix, len(task.stops))
    given = tuple(range(len(task.stops)))
    best, as_given = best_order(times, task.errands.search_seconds), times.along(given)
    if not np.isfinite(best.seconds):
        _refuse(stops, matrix, mode)
    if as_given <= best.seconds + AS_GOOD_S:
        best = Order(given, as_given, best.bound)
    last = [len(stops) - 1] if task.end else []
    numbers = [0, *(number + 1 for number in best.stops), *last]
    legs = [
        _leg(maps.route([stands[here], stands[there]], mode), matrix[here, there])
        for here, there in pairwise(numbers)
    ]
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
    """The times of a trip from a matrix over its start, its stops, and its end where that is fixed.

    Args:
        matrix: seconds, shape (1 + stops, 1 + stops), or one more each with an end.
        stops: how many there are.
    """
    inner = slice(1, 1 + stops)
    has_end = len(matrix) > 1 + stops
    arrive = matrix[inner, -1] if has_end else np.zeros(stops)
    return Times(matrix[0, inner], matrix[inner, inner], arrive)


def _leg(route: Route, seconds: float) -> TripLeg:
    return TripLeg(seconds=float(seconds), metres=route.distance, path=route.path)


def _refuse(stops: Sequence[ErrandStop], matrix: Floats, mode: TravelMode) -> None:
    """Name two stops that no way joins.

    Raises:
        NoRoute: always.
    """
    here, there = np.argwhere(~np.isfinite(matrix))[0].tolist()
    raise NoRoute(
        f"no way leads {mode} from {stops[here].title} to {stops[there].title}: remove one of them, "
        "or change `travel`"
    )


def _told(task: Task, trip: Trip) -> str:
    names = " - ".join(goal.title for goal in goals_of(task, trip))
    return f"{trip.seconds / 60:.0f} min, {trip.metres:.0f} m: {names}."
