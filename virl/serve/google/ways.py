"""Ways between stops, with their legs and steps, for both routing APIs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from virl.errors import NoRoute
from virl.geo import LatLng, bearing, compass_word, distance, signed_turn
from virl.platform.maps import SPEED_M_S, Maps, TravelMode
from virl.serve.work import end_if_client_left

Ways = list[list[tuple[float, float] | None]]
"""Metres and seconds from every origin to every destination; `None` where there is no way."""

TURN_DEG = 30.0  # a smaller change of heading is no turn; chosen


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of a way: a step between two turns, or a leg between two stops."""

    path: tuple[LatLng, ...]
    metres: float
    seconds: float
    instruction: str = ""
    maneuver: str = ""
    """In lower case with hyphens, such as `turn-left`; empty for the first step."""


@dataclass(frozen=True, slots=True)
class RouteLeg:
    """The way from one stop to the next."""

    whole: Stretch
    steps: tuple[Stretch, ...]


def legs_between(maps: Maps, stops: Sequence[LatLng], mode: TravelMode) -> list[RouteLeg] | None:
    """The legs of the shortest way through stops in their order, or `None` if there is none."""
    legs = []
    for here, there in pairwise(stops):
        try:
            route = maps.route([here, there], mode)
        except NoRoute:
            return None
        whole = Stretch(route.path, route.distance, route.duration)
        legs.append(RouteLeg(whole, tuple(_steps(route.path, SPEED_M_S[mode]))))
    return legs


def matrix(maps: Maps, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode) -> Ways:
    """The ways from every origin to every destination."""
    starts = [index for index, stop in enumerate(origins) if _is_on_map(maps, stop)]
    ends = [index for index, stop in enumerate(destinations) if _is_on_map(maps, stop)]
    cells: Ways = [[None] * len(destinations) for _ in origins]
    if starts and ends:
        times = maps.travel_times([origins[i] for i in starts], [destinations[j] for j in ends], mode)
        for row, i in enumerate(starts):
            for column, j in enumerate(ends):
                seconds = float(times[row, column])
                if seconds < float("inf"):
                    cells[i][j] = seconds * SPEED_M_S[mode], seconds
    return cells


def joined(stretches: Sequence[Stretch]) -> tuple[LatLng, ...]:
    """The path of several stretches, one after the other."""
    first, *others = stretches
    return first.path + tuple(position for stretch in others for position in stretch.path[1:])


def _is_on_map(maps: Maps, stop: LatLng) -> bool:
    end_if_client_left()
    try:
        maps.route([stop, stop])
    except NoRoute:
        return False
    return True


def _steps(path: tuple[LatLng, ...], speed: float) -> list[Stretch]:
    """The path cut where it turns."""
    bare = [path[0], *(there for here, there in pairwise(path) if distance(here, there) > 0.01)]
    if len(bare) == 1:
        return [Stretch((path[0], path[-1]), 0.0, 0.0, "Arrive", "")]
    headings = [bearing(here, there) for here, there in pairwise(bare)]
    turns = [signed_turn(before, after) for before, after in pairwise(headings)]
    cuts = [0, *(index + 1 for index, turn in enumerate(turns) if abs(turn) > TURN_DEG), len(bare) - 1]
    steps = []
    for start, end in pairwise(cuts):
        part = tuple(bare[start : end + 1])
        metres = sum(distance(here, there) for here, there in pairwise(part))
        side = "" if start == 0 else "right" if turns[start - 1] > 0 else "left"
        said = f"Turn <b>{side}</b>" if side else f"Head <b>{compass_word(headings[0])}</b>"
        steps.append(Stretch(part, metres, metres / speed, said, side and f"turn-{side}"))
    return steps
