"""Which panoramas a walk to some destinations goes by: the corners of a route, and the destinations."""

from collections.abc import Sequence
from dataclasses import dataclass

from shapely import LineString

from virl.errors import BadInput, NoRoute
from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.maps import Maps, TravelMode, walked_route
from virl.platform.city.streetview import Panorama, StreetView
from virl.platform.movers.grid import BatchStreetView

RADIUS_M = 50.0  # Google's own where a request names none
"""Metres within which a position has its panorama."""
BEND_M = 5.0  # corners that bend a route by less are no sub-goals; chosen: as near as arriving is
"""Metres that a path may deviate from a straight line before it has a corner there."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A panorama to reach: a destination, or a corner of the route to one."""

    pano_id: str
    position: LatLng
    destination: int | None = None
    """The number of the destination that ends here, from 0; `None` for a corner on the way."""

    @property
    def title(self) -> str:
        """Name of the goal in sentences."""
        return "the next corner" if self.destination is None else f"destination {self.destination + 1}"


@dataclass(frozen=True, slots=True)
class PointPlan:
    """Panoramas that a walk goes by, in order, and the destinations they stand for."""

    destinations: tuple[LatLng, ...]
    goals: tuple[Goal, ...]
    unplanned: tuple[tuple[int, str], ...] = ()
    """Destinations without a goal, each with its number, from 0, and the reason."""


def plan_path(streetview: StreetView, positions: Sequence[LatLng], *, radius: float = RADIUS_M) -> PointPlan:
    """Plan a walk to the panoramas nearest to explicit positions, each of them a destination.

    Args:
        streetview: who relocates.
        positions: at least one.
        radius: metres within which a position has its panorama, in (0, 1000].

    Raises:
        BadInput: no position, or the radius is out of its range.
    """
    ends = _ends(streetview, positions, radius)
    goals = tuple(Goal(one.id, one.position, number) for number, one in enumerate(ends) if one)
    return PointPlan(tuple(positions), goals, tuple(_without_imagery(ends, positions, radius)))


def plan_route(
    streetview: StreetView,
    maps: Maps,
    start: LatLng,
    destinations: Sequence[LatLng],
    *,
    mode: TravelMode = "walking",
    radius: float = RADIUS_M,
) -> PointPlan:
    """Plan a walk along routes: one request from each destination that can be reached to the next.

    Args:
        streetview: who relocates.
        maps: who knows the ways.
        start: where the walk begins.
        destinations: at least one, in the order to go to them.
        mode: of the routes, where the maps know no way along panoramas.
        radius: metres within which a destination has its panorama, in (0, 1000].

    Raises:
        BadInput: no destination, or the radius is out of its range.
    """
    ends = _ends(streetview, destinations, radius)
    unplanned = _without_imagery(ends, destinations, radius)
    goals: list[Goal] = []
    for number, end in enumerate(ends):
        if end is None:
            continue
        try:
            path = walked_route(maps, [start, end.position], mode).path
        except NoRoute as fault:
            unplanned.append((number, str(fault)))
            continue
        goals += _corners(streetview, path, radius, goals[-1].pano_id if goals else None)
        goals.append(Goal(end.id, end.position, number))
        start = end.position
    return PointPlan(tuple(destinations), tuple(goals), tuple(sorted(unplanned)))


def _ends(streetview: StreetView, positions: Sequence[LatLng], radius: float) -> Sequence[Panorama | None]:
    """Return the panorama nearest to each destination, within `radius` metres; `None` without one."""
    if not positions:
        raise BadInput("a walk needs at least one destination")
    return _relocate(streetview, positions, radius)


def _without_imagery(
    ends: Sequence[Panorama | None], positions: Sequence[LatLng], radius: float
) -> list[tuple[int, str]]:
    """Return the number of each destination without a panorama, and the reason."""
    reason = "no street view within {:g} m of {}"
    pairs = enumerate(zip(ends, positions, strict=True))
    return [(number, reason.format(radius, where)) for number, (end, where) in pairs if end is None]


def _corners(streetview: StreetView, path: Sequence[LatLng], radius: float, before: str | None) -> list[Goal]:
    """Return the panoramas at the corners of a path, its ends left out, none twice in a row."""
    frame = LocalFrame(path[0])
    bends = LineString([frame.point(position) for position in path]).simplify(BEND_M).coords[1:-1]
    goals: list[Goal] = []
    for corner in _relocate(streetview, [frame.position(*bend) for bend in bends], radius):
        if corner is not None and corner.id != before:
            goals.append(Goal(corner.id, corner.position))
            before = corner.id
    return goals


def _relocate(
    streetview: StreetView, positions: Sequence[LatLng], radius: float
) -> Sequence[Panorama | None]:
    """Return the panorama nearest to each position within `radius` metres, `None` without one."""
    if positions and isinstance(streetview, BatchStreetView):
        return streetview.nearest_many(positions, radius)
    return [streetview.nearest(position, radius) for position in positions]
