"""The `region` navigator: to every panorama of a polygon, by a short tour of positions and not by links.

The tour is open and found by fast-tsp's Lin-Kernighan search, which finds closed tours over a symmetric
matrix of 16 bit integers. One node more makes an open tour of a closed one: it lies at the start, and equally
far from all other points, so that every good closed tour leaves the start's side of it and comes back to it
from the last point, at a constant cost.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path

import fast_tsp
import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput, NoStreetView
from virl.geo.globe import Floats, Ints, LatLng, LocalFrame, bearing, distance
from virl.geo.region import Region
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Panorama, Pose, StreetView
from virl.platform.movers.base import Choice, Step
from virl.platform.movers.grid import RELOCATE_RADIUS_M
from virl.platform.navigators.survey import (
    SPACING_M,
    Ordered,
    Progress,
    RegionSurvey,
    SurveyedPanorama,
    survey,
)

MAX_TOGETHER = 10_000
"""Largest number of points in one distance matrix; more are split. Chosen: 200 MB, twice in the solver."""
_LARGEST = np.iinfo(np.uint16).max


def path_length(points: Floats, order: Ints) -> float:
    """Return the length in metres of the open path through points (metres, shape (n, 2)) in an order."""
    return float(np.hypot(*np.diff(points[order], axis=0).T).sum())


def nearest_neighbour(points: Floats) -> Ints:
    """Return the order of points (metres, shape (n, 2)) from number 0 on, always to the nearest one left."""
    x, y = points.T.copy()
    order = np.zeros(len(points), np.int64)
    for step in range(1, len(points)):
        here = order[step - 1]
        east, north = x[here], y[here]
        # What is visited is infinitely far from now on.
        x[here] = np.inf
        order[step] = np.argmin((x - east) ** 2 + (y - north) ** 2)
    return order


def shortest_tour(positions: Sequence[LatLng], seconds: float | None = None) -> list[int]:
    """Return indexes, 0 first, of a short path through all positions; `None` sets the search time by count.

    Never longer than from each to the nearest one left. Up to 19 positions the path is the shortest, but for
    the rounding of distances to 1/65535 of the largest. The search cannot be seeded: of long tours, two runs
    find different ones of nearly one length. Keep the order where it has to be the same again. Positions may
    lie some 20 km apart at most, for which a flat map is exact enough.

    Raises:
        BadInput: `seconds` is not above 0.
    """
    if seconds is not None and not seconds > 0:
        raise BadInput(f"a tour search of {seconds:g} seconds: must be above 0")
    if len(positions) < 3:
        return list(range(len(positions)))
    lat, lng = np.array(positions, float).T
    points = np.stack(LocalFrame(positions[0]).to_metres(lat, lng), axis=1)
    budget = seconds_for(len(points)) if seconds is None else seconds
    searched = _open_path(points, budget, MAX_TOGETHER)
    best = min((searched, nearest_neighbour(points)), key=lambda order: path_length(points, order))
    return [int(number) for number in best]


def seconds_for(count: int) -> float:
    """Return the seconds to search for a tour of `count` points: 0.9 for 200, 16.5 for 8,000.

    Chosen once: ten times as much gains about one percent at 8,000, less below; docs/explanation/movement.md
    has the figures.
    """
    return 0.5 + count / 500


def _open_path(points: Floats, seconds: float, together: int) -> Ints:
    """Return the order of a short path from point 0, by searches of parts of at most `together` points."""
    if len(points) <= together:
        return _solve(points, seconds)
    # The part with the start comes first, as the path through the parts has to begin there.
    parts = sorted(_split(points, np.arange(len(points)), together), key=lambda part: 0 not in part)
    middles = np.array([points[part].mean(axis=0) for part in parts])
    path = np.empty(0, np.int64)
    for number in _solve(middles, seconds_for(len(middles))):
        part = parts[number]
        if len(path):  # at the point nearest to the end of the path so far
            begin = int(np.argmin(np.hypot(*(points[part] - points[path[-1]]).T)))
        else:
            begin = int(np.argmin(part))
        part = np.r_[part[begin], np.delete(part, begin)]
        path = np.r_[path, part[_solve(points[part], seconds * len(part) / len(points))]]
    return path


def _split(points: Floats, part: Ints, together: int) -> list[Ints]:
    """Return the points numbered in `part` as pieces of at most `together`, halved across the longer side."""
    if len(part) <= together:
        return [part]
    # A cut across the longer side gives the most compact parts.
    longer = int(np.argmax(np.ptp(points[part], axis=0)))
    part = part[np.argsort(points[part, longer], kind="stable")]
    return [piece for half in np.array_split(part, 2) for piece in _split(points, half, together)]


def _solve(points: Floats, seconds: float) -> Ints:
    """Return the order of a short path through points from number 0, by fast-tsp within `seconds`."""
    count = len(points)
    if count < 3:
        return np.arange(count)
    tour = np.array(fast_tsp.find_tour(_matrix(points), seconds), np.int64)
    path = np.roll(tour, -int(np.argmax(tour == count)))[1:]  # what follows the additional node
    path = path if path[0] == 0 else path[::-1]
    return np.roll(path, -int(np.argmax(path == 0)))  # no turn, unless the search ended far too soon


def _matrix(points: Floats) -> NDArray[np.uint16]:
    """Return scaled distances between points; a last row and column, of an extra point, open the tour."""
    count = len(points)
    # The diagonal of all points is the longest possible distance.
    scale = _LARGEST / max(np.hypot(*np.ptp(points, axis=0)), 1e-9)
    matrix = np.full((count + 1, count + 1), _LARGEST, np.uint16)
    x, y = ((points - points.min(axis=0)) * scale).T.astype(np.float32)
    # Row by row: all differences at once would take many times the memory of the matrix.
    for row in range(count):
        matrix[row, :count] = np.rint(np.sqrt((x - x[row]) ** 2 + (y - y[row]) ** 2))
    matrix[count, count] = matrix[0, count] = matrix[count, 0] = 0
    return matrix


OrderFunction = Callable[[Sequence[LatLng]], Sequence[int]]
"""A function that returns the numbers of positions in the order to visit them, 0 first."""


@dataclass(eq=False)
class RegionNavigator:
    """A navigator to every panorama of a region that a search by position and links finds.

    With a `file` the panoramas found and the order of the walk are kept, so that a walk that was killed goes
    on as it began, and asks nothing twice. Without one, a resumed walk asks again and orders what is left.
    """

    streetview: StreetView
    region: Region
    _: KW_ONLY
    spacing: float = SPACING_M
    """Metres between the positions at which a panorama is sought, above 0."""
    radius: float = RELOCATE_RADIUS_M
    """Metres around a position within which its panorama lies, in (0, 1000]."""
    follow_links: bool = True
    """True if positions at the ends of links are asked for too."""
    file: Path | None = None
    """Path of the survey file in which panoramas and orders are kept; `None` keeps nothing."""
    progress: Progress | None = None
    order: OrderFunction = shortest_tour
    skipped: dict[str, str] = field(default_factory=dict, init=False)
    """Reasons why panoramas found in the search could not be visited, by their ids."""
    _survey: RegionSurvey | None = field(default=None, init=False)

    def panoramas(self) -> tuple[SurveyedPanorama, ...]:
        """Return the panoramas of the region, in the order found; the first call searches for them.

        Raises:
            NoStreetView: there is none.
            BadInput: the spacing or the radius is out of its range, or the file is of another survey.
        """
        return tuple(self._find_survey().found.values())

    def walk(self, start: Pose, trail: Sequence[str] = (), steered: Collection[int] = ()) -> Iterator[Step]:
        """Yield steps to a region's panoramas, on from `trail` (ids), where others chose at steps `steered`.

        The first is the start if it lies in the region, else the first panorama of the region that a short
        walk from the start comes to. The link of a choice is a hop: its heading and metres lead straight
        to the next panorama, with or without a street.

        Args:
            start: where the walk begins or goes on.
            trail: ids of the panoramas walked before, the oldest first, where a walk is resumed.
            steered: numbers of the steps of the trail at which somebody else decided.

        Raises:
            NoStreetView: no panorama is in the region, or the start is none.
        """
        # What somebody else has led elsewhere follows no order that is kept.
        left = deque(self._new_order(start, trail) if steered else self._order_left(start, trail))
        before = self.streetview.panorama(trail[-1] if trail else start.pano_id)
        here = self._next_panorama(left)
        index = len(trail)
        while here is not None:
            hop = _hop(before, here)
            pose = start if here.id == start.pano_id else Pose(here.id, hop.heading)
            step = Step(index, pose, here, hop.distance, partial(self._choose, here, left))
            yield step
            if step.choice.link is None:
                return
            if step.decided_by:
                self._reorder(left, step.choice.link.pano_id)
            before, here, index = here, self.streetview.panorama(step.choice.link.pano_id), index + 1

    def _find_survey(self) -> RegionSurvey:
        """Return the survey of the region, made at the first call; raise `NoStreetView` if it is empty."""
        if self._survey is None:
            self._survey = survey(
                self.streetview,
                self.region,
                spacing=self.spacing,
                radius=self.radius,
                follow_links=self.follow_links,
                file=self.file,
                progress=self.progress,
            )
        if not self._survey.found:
            asked = self._survey.relocated_count
            raise NoStreetView(
                f"no street view at any of {asked} positions in the region: choose another region"
            )
        return self._survey

    def _order_left(self, start: Pose, trail: Sequence[str]) -> list[str]:
        """Return ids of the panoramas left to visit after a trail, in a stored order or else a new one."""
        known = self._find_survey()
        for order in reversed(known.store.orders):
            if not trail and order.start == start.pano_id:
                return list(order.ids)
            rest = order.ids.index(start.pano_id) if trail and start.pano_id in order.ids else 0
            # The order of the trail does not matter: what is left is the same.
            if rest and set(trail) <= set(order.ids[:rest]):
                return list(order.ids[rest:])
        return self._new_order(start, trail)

    def _new_order(self, start: Pose, trail: Sequence[str]) -> list[str]:
        """Return ids of the panoramas left to visit in a new order, which is stored."""
        known = self._find_survey()
        left = [one for one in known.found.values() if one.id not in {*trail, start.pano_id}]
        here = self.streetview.panorama(start.pano_id)
        tour = self.order([here.position, *(one.position for one in left)])
        ids = [left[number - 1].id for number in tour[1:]]
        if trail or start.pano_id in known.found:
            ids.insert(0, start.pano_id)
        # Kept before the first step: the search cannot be seeded, and a killed walk goes on as it began.
        known.store.add(Ordered(start=start.pano_id, ids=tuple(ids)))
        return ids

    def _reorder(self, left: deque[str], here: str) -> None:
        """Sort the panoramas left to visit, in place, into a tour from panorama `here`, which is dropped."""
        found, position = self._find_survey().found, self.streetview.panorama(here).position
        rest = [found[pano_id] for pano_id in left if pano_id != here and pano_id in found]
        tour = self.order([position, *(one.position for one in rest)])
        left.clear()
        left.extend(rest[number - 1].id for number in tour[1:])

    def _next_panorama(self, left: deque[str]) -> Panorama | None:
        """Remove and return the first panorama left that exists, or `None`; note those gone in `skipped`."""
        while left:
            pano_id = left.popleft()
            try:
                return self.streetview.panorama(pano_id)
            except NoStreetView as fault:
                self.skipped[pano_id] = str(fault)
        return None

    def _choose(self, here: Panorama, left: deque[str]) -> Choice:
        """Return the choice of the next panorama, taken off the tour `left`, or of the walk's end."""
        following = self._next_panorama(left)
        if following is None:
            return Choice.end(Outcome("finished", "every panorama of the region is visited"))
        return Choice(_hop(here, following), f"the tour leads on; {len(left) + 1} panoramas to visit")


def _hop(here: Panorama, there: Panorama) -> Link:
    """Return a straight link between two panoramas, whether or not a street joins them."""
    return Link(there.id, bearing(here.position, there.position), distance(here.position, there.position))
