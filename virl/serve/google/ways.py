"""Ways between stops, with their legs and steps, for both routing APIs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from virl.errors import NoRoute
from virl.geo import LatLng
from virl.platform.maps import SPEED_M_S, Maps, TravelMode
from virl.serve.google.steps import Stretch, steps_of
from virl.serve.work import end_if_client_left

Ways = list[list[tuple[float, float] | None]]
"""Metres and seconds from every origin to every destination; `None` where there is no way."""


@dataclass(frozen=True, slots=True)
class RouteLeg:
    """The way from one stop to the next."""

    whole: Stretch
    steps: tuple[Stretch, ...]
    via: tuple[tuple[LatLng, int], ...] = ()
    """Positions that it passes through without a stop, and after which step each."""


def legs_between(
    maps: Maps, stops: Sequence[LatLng], mode: TravelMode, via: Collection[int] = ()
) -> list[RouteLeg] | None:
    """The legs of the shortest way through stops in their order, or `None` if there is none.

    Args:
        maps: of the city.
        stops: two or more.
        mode: of travel.
        via: the places in `stops` of those that are passed without a stop: no leg ends there.
    """
    legs: list[RouteLeg] = []
    for number, (here, there) in enumerate(pairwise(stops)):
        try:
            route = maps.route([here, there], mode)
        except NoRoute:
            return None
        whole = Stretch(route.path, route.distance, route.duration)
        leg = RouteLeg(whole, tuple(steps_of(route.path, route.streets, SPEED_M_S[mode])))
        legs.append(_through(legs.pop(), here, leg) if number in via else leg)
    return legs


def matrix(maps: Maps, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode) -> Ways:
    """The ways from every origin to every destination."""
    starts = [index for index, stop in enumerate(origins) if _is_on_map(maps, stop, mode)]
    ends = [index for index, stop in enumerate(destinations) if _is_on_map(maps, stop, mode)]
    cells: Ways = [[None] * len(destinations) for _ in origins]
    if starts and ends:
        times = maps.travel_times([origins[i] for i in starts], [destinations[j] for j in ends], mode)
        for row, i in enumerate(starts):
            for column, j in enumerate(ends):
                seconds = float(times[row, column])
                if seconds < float("inf"):
                    cells[i][j] = seconds * SPEED_M_S[mode], seconds
    return cells


def _through(before: RouteLeg, here: LatLng, after: RouteLeg) -> RouteLeg:
    """Two legs as one."""
    first, second = before.whole, after.whole
    path = joined([first, second])
    whole = Stretch(path, first.metres + second.metres, first.seconds + second.seconds)
    via = (*before.via, (here, len(before.steps) - 1))
    return RouteLeg(whole, before.steps + after.steps, via)


def joined(stretches: Sequence[Stretch]) -> tuple[LatLng, ...]:
    """The path of several stretches, one after the other."""
    first, *others = stretches
    return first.path + tuple(position for stretch in others for position in stretch.path[1:])


def _is_on_map(maps: Maps, stop: LatLng, mode: TravelMode) -> bool:
    end_if_client_left()
    try:
        maps.route([stop, stop], mode)
    except NoRoute:
        return False
    return True
