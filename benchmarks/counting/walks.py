"""Where the counting is done: routes that also come back, and regions, chosen by chance."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame, distance
from virl.geo.region import Region
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import LinksMover
from virl.platform.navigators.point import PointNavigator, plan_route
from virl.platform.navigators.region import RegionNavigator, nearest_neighbour

_Panoramas = Sequence[tuple[str, LatLng]]
"""Ids and positions of panoramas."""

WalkKind = Literal["one way", "there and back", "round", "region"]

ROUTES: tuple[WalkKind, ...] = ("one way", "there and back", "round")
"""Kinds of routes, taken in turn, as patrols come back across a street or round the block."""
LEG_M = (150.0, 300.0)  # from one stop of a route to the next, as the crow flies; chosen: a few blocks
SIDE_M = 250.0  # of a square region; chosen: some 10 blocks, 200 panoramas in Virlton
MIN_PANORAMAS = 100  # of a region; chosen: no region in the sea
MAX_STEPS = 500  # of a route; chosen: none should come near it
TRIES = 1000


@dataclass(frozen=True, slots=True)
class CountedWalk:
    """A walk along which things are counted: a route, or all of a region."""

    id: str
    kind: WalkKind
    start: str
    """Id of the panorama where the walk begins."""
    corners: tuple[LatLng, ...]
    """The route's stops in order, or the region's corners."""


def choose_walks(city: City, routes: int, regions: int, seed: int) -> list[CountedWalk]:
    """Return the first `routes` routes and `regions` regions of a seed in a city.

    Args:
        city: that lists its panoramas.
        routes: number.
        regions: number.
        seed: same seed, same walks.

    Raises:
        BadInput: the city cannot list its panoramas, or is too small for such walks.
    """
    panoramas = held_street_map(city).panorama_ids()
    everywhere = [(name, city.streetview.panorama(name).position) for name in panoramas]
    return [
        *(
            _draw_route(everywhere, number, random.Random(f"{seed} route {number}"))
            for number in range(routes)
        ),
        *(_region(everywhere, number, random.Random(f"{seed} region {number}")) for number in range(regions)),
    ]


def poses(city: City, walk: CountedWalk) -> Iterator[Pose]:
    """Yield the poses of an agent along a walk, the start first."""
    start = city.streetview.panorama(walk.start)
    if walk.kind == "region":
        navigator = RegionNavigator(city.streetview, Region(walk.corners), order=_nearest_first)
        steps = navigator.walk(Pose(start.id, start.heading))
    else:
        plan = plan_route(city.streetview, city.maps, start.position, walk.corners)
        mover = LinksMover(city.streetview)
        route = PointNavigator(city.streetview, mover, plan, max_steps=MAX_STEPS)
        steps = route.walk(Pose(start.id, start.heading))
    return (step.pose for step in steps)


def _draw_route(everywhere: _Panoramas, number: int, chance: random.Random) -> CountedWalk:
    """Return a random route, whose number decides its kind and name."""
    kind = ROUTES[number % len(ROUTES)]
    start, here = chance.choice(everywhere)
    first = _a_leg_away(everywhere, here, chance)
    stops = [first]
    if kind in {"one way", "round"}:
        stops.append(_a_leg_away(everywhere, first, chance))
    if kind in {"there and back", "round"}:
        stops.append(here)
    return CountedWalk(f"route-{number + 1:02d}", kind, start, tuple(stops))


def _a_leg_away(everywhere: _Panoramas, start: LatLng, chance: random.Random) -> LatLng:
    """Return a random position within `LEG_M` of `start`; raise BadInput if there is none."""
    for _ in range(TRIES):
        _, end = chance.choice(everywhere)
        if LEG_M[0] <= distance(start, end) <= LEG_M[1]:
            return end
    raise BadInput(
        f"the city is too small for routes of {LEG_M[0]:g} to {LEG_M[1]:g} m a leg: choose a larger one"
    )


def _region(everywhere: _Panoramas, number: int, chance: random.Random) -> CountedWalk:
    """Return a square region of side `SIDE_M` around a random panorama, named by its number."""
    lat, lng = np.array([position for _, position in everywhere]).T
    half = SIDE_M / 2
    for _ in range(TRIES):
        middle, position = chance.choice(everywhere)
        frame = LocalFrame(position)
        x, y = frame.to_metres(lat, lng)
        if np.count_nonzero((abs(x) <= half) & (abs(y) <= half)) >= MIN_PANORAMAS:
            corners = ((-half, -half), (half, -half), (half, half), (-half, half))
            square = tuple(frame.position(*corner) for corner in corners)
            return CountedWalk(f"region-{number + 1:02d}", "region", middle, square)
    raise BadInput(f"the city is too small for regions of {MIN_PANORAMAS} panoramas: choose a larger one")


def _nearest_first(positions: Sequence[LatLng]) -> list[int]:
    """Return V-IRL's order of a region's positions: always to the nearest one left."""
    frame = LocalFrame(positions[0])
    order: list[int] = nearest_neighbour(np.array([frame.point(one) for one in positions])).tolist()
    return order
