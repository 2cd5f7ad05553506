"""The `point` navigator: to one or many destinations in order, along sub-goals.

Each step takes the link that leads straightest to the sub-goal, as in V-IRL. There an agent that ran into a
dead end went to and fro until the sub-goal was skipped. Here it remembers where it has been since it set out
for the sub-goal: where the straightest link leads back there, it makes for the end of a link seen but not
taken instead. So no circle is walked twice, and each sub-goal is found that the links lead to at a bearable
distance.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial

import networkx as nx
from shapely import LineString

from virl.errors import BadInput, NoRoute
from virl.geo.globe import LatLng, LocalFrame, bearing, destination, distance, signed_turn
from virl.platform.city.maps import Maps, TravelMode, walked_route
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Panorama, Pose, StreetView
from virl.platform.movers.base import Choice, Mover, Step
from virl.platform.movers.grid import relocate

RADIUS_M = 50.0  # Google's own where a request names none
"""Radius in metres within which a position gets the panorama nearest to it."""
BEND_M = 5.0  # corners that bend a route by less are no sub-goals; chosen: as near as arriving is
"""Distance in metres that a path may deviate from a straight line before it has a corner there."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A panorama to reach: that of a destination, or that of a corner of the route to one."""

    pano_id: str
    position: LatLng
    destination: int | None = None
    """Number of the destination, from 0; `None` for a corner on the way."""

    @property
    def title(self) -> str:
        """Name of the goal for sentences, such as `destination 2`."""
        return "the next corner" if self.destination is None else f"destination {self.destination + 1}"


@dataclass(frozen=True, slots=True)
class PointPlan:
    """The goals of a walk, in order, and the destinations that have none."""

    destinations: tuple[LatLng, ...]
    goals: tuple[Goal, ...]
    unplanned: tuple[tuple[int, str], ...] = ()
    """(number of a destination, from 0; reason) for each destination that cannot be reached."""


def plan_path(streetview: StreetView, positions: Sequence[LatLng], *, radius: float = RADIUS_M) -> PointPlan:
    """Return the plan of a walk to the panorama nearest to each position, within `radius` metres of it.

    Args:
        streetview: who relocates.
        positions: at least one.
        radius: metres within which a position has its panorama, in (0, 1000].

    Raises:
        BadInput: no position, or the radius is out of its range.
    """
    ends, unplanned = _find_ends(streetview, positions, radius)
    goals = tuple(Goal(one.id, one.position, number) for number, one in enumerate(ends) if one)
    return PointPlan(tuple(positions), goals, tuple(unplanned))


def plan_route(
    streetview: StreetView,
    maps: Maps,
    start: LatLng,
    destinations: Sequence[LatLng],
    *,
    mode: TravelMode = "walking",
    radius: float = RADIUS_M,
) -> PointPlan:
    """Return the plan of a walk along routes to a panorama within `radius` metres of each destination.

    Args:
        streetview: who relocates.
        maps: gives the routes, with one request for each destination.
        start: position where the walk begins.
        destinations: at least one, in the order to go to them.
        mode: way of travelling of the routes, where the maps know no way along panoramas.
        radius: metres within which a destination has its panorama, in (0, 1000].

    Raises:
        BadInput: no destination, or the radius is out of its range.
    """
    ends, unplanned = _find_ends(streetview, destinations, radius)
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
        # The walker will stand at the panorama, and not where the destination is.
        start = end.position
    return PointPlan(tuple(destinations), tuple(goals), tuple(sorted(unplanned)))


def _find_ends(
    streetview: StreetView, positions: Sequence[LatLng], radius: float
) -> tuple[Sequence[Panorama | None], list[tuple[int, str]]]:
    """Return (panorama near each position or `None`, (number, reason) of each position without one)."""
    if not positions:
        raise BadInput("a walk needs at least one destination")
    ends = relocate(streetview, positions, radius)
    pairs = enumerate(zip(ends, positions, strict=True))
    reason = f"no street view within {radius:g} m of"
    return ends, [(number, f"{reason} {where}") for number, (end, where) in pairs if end is None]


def _corners(streetview: StreetView, path: Sequence[LatLng], radius: float, before: str | None) -> list[Goal]:
    """Return goals at a path's bends, not its ends; drop repeats of a panorama in a row, from `before` on."""
    frame = LocalFrame(path[0])
    # Without its ends: the first is where the walk stands, the last a goal of its own.
    bends = LineString([frame.point(position) for position in path]).simplify(BEND_M).coords[1:-1]
    goals: list[Goal] = []
    for corner in relocate(streetview, [frame.position(*bend) for bend in bends], radius):
        if corner is not None and corner.id != before:
            goals.append(Goal(corner.id, corner.position))
            before = corner.id
    return goals


DETOUR = 5.0
"""Metres that may be walked for a goal, per metre of the straight line to it; chosen."""
DETOUR_M = 200.0
"""Metres that may be walked for a goal besides those of `DETOUR`; chosen."""

_log = logging.getLogger(__name__)
_GOAL = ""
"""Name of the node that stands for the goal, joined to every panorama in a straight line."""


@dataclass(frozen=True, slots=True)
class DestinationOutcome:
    """A destination with the result of the walk to it, and the reason for the result."""

    destination: LatLng
    reached: bool
    reason: str


class Pursuit:
    """A pursuit of a plan's goals, one after the other, which gives up those out of reach."""

    def __init__(self, plan: PointPlan, arrive: float) -> None:
        """Begin a pursuit that reaches goals within `arrive` metres; goals left unplanned have failed."""
        self.outcomes = {
            number: DestinationOutcome(plan.destinations[number], reached=False, reason=reason)
            for number, reason in plan.unplanned
        }
        """Results so far, by the number of the destination."""
        self._destinations = plan.destinations
        # Reversed, so that the goal of the moment is popped from the end.
        self._left = list(reversed(plan.goals))
        self._arrive = arrive
        self._here: Panorama | None = None
        self._explored = Explored()
        self._visited: set[str] = set()
        self._budget = 0.0
        self._led = False

    @property
    def goal(self) -> Goal | None:
        """Goal that comes next; `None` if none is left."""
        return self._left[-1] if self._left else None

    @property
    def outcome(self) -> Outcome:
        """Outcome of the walk so far: which destinations were reached, and why not the others."""
        missed = [
            f"{number + 1}: {outcome.reason}"
            for number, outcome in sorted(self.outcomes.items())
            if not outcome.reached
        ]
        count = len(self._destinations)
        reason = "; ".join([f"{count - len(missed)} of {count} destinations reached", *missed])
        return Outcome("missed" if missed else "arrived", reason)

    def arrive(self, here: Panorama) -> float:
        """Record the panorama that the walker comes to; return the metres from the one before, 0 at first."""
        before, self._here = self._here, here
        metres = distance(before.position, here.position) if before else 0.0
        self._budget -= metres
        self._visited.add(here.id)
        if self._led:
            self._led = False
            # Led elsewhere, the walker may have left the next corners behind.
            self._leave_out_corners(here)
            self._start_goal(here)
        elif before is None:
            self._start_goal(here)
        self._mark_reached(here)
        return metres

    def next_link(self, here: Panorama, links: Sequence[Link]) -> Link | None:
        """Return which link of a panorama to take to the current goal; `None` if the goal is given up."""
        goal = self._left[-1]
        self._explored.see(here, links)
        if self._budget < 0:
            self._give_up(here, "not reached within a bearable distance")
            return None
        for link in links:
            # Also where another link leads straighter: links bend.
            if link.pano_id == goal.pano_id:
                return link
        toward = bearing(here.position, goal.position)
        straightest = min(links, key=lambda link: abs(signed_turn(toward, link.heading)), default=None)
        if straightest is not None and straightest.pano_id not in self._visited:
            return straightest
        # Straight on was tried for this goal already: ask all links seen.
        onward = self._explored.way_on(here.id, goal.position, self._visited)
        if onward is None:
            self._give_up(here, "no link seen leads there")
        return onward

    def be_led(self) -> None:
        """Expect a panorama that somebody else chose: the search for the goal starts anew there."""
        self._led = True

    def end(self, reason: str) -> None:
        """Give up all goals that are left, for one reason."""
        while self._left:
            self._end_goal(reached=False, reason=reason)

    def _give_up(self, here: Panorama, reason: str) -> None:
        """Give up the current goal for a reason, and begin with the next one from a panorama."""
        self._end_goal(reached=False, reason=reason)
        self._start_goal(here)
        self._mark_reached(here)

    def _mark_reached(self, here: Panorama) -> None:
        """Mark the next goals that are reached at a panorama, and begin with the one after them."""
        while (goal := self.goal) and (
            here.id == goal.pano_id or distance(here.position, goal.position) <= self._arrive
        ):
            reason = "reached"
            if goal.destination is not None:
                away = distance(here.position, self._destinations[goal.destination])
                reason = f"reached: its panorama is {away:.0f} m from it"
            self._end_goal(reached=True, reason=reason)
            self._start_goal(here)

    def _end_goal(self, *, reached: bool, reason: str) -> None:
        """End the current goal, and record the result if the goal is a destination and no corner."""
        goal = self._left.pop()
        if goal.destination is not None:
            self.outcomes[goal.destination] = DestinationOutcome(
                self._destinations[goal.destination], reached, reason
            )
        elif not reached:
            _log.info("a corner at %s is left out: %s", goal.position, reason)

    def _leave_out_corners(self, here: Panorama) -> None:
        """Drop the next corners that lie farther from the next destination than the walker."""
        end = next((goal for goal in reversed(self._left) if goal.destination is not None), None)
        while end and (goal := self.goal) and goal.destination is None:
            if distance(goal.position, end.position) < distance(here.position, end.position):
                return
            self._end_goal(reached=False, reason="passed on another way")

    def _start_goal(self, here: Panorama) -> None:
        """Begin with the current goal from a panorama, with a new limit of metres."""
        # Only within one goal is a panorama not to be visited twice: the next goal may lead back.
        self._visited = {here.id}
        if self.goal is not None:
            self._budget = DETOUR * distance(here.position, self.goal.position) + DETOUR_M


@dataclass
class Explored:
    """A graph of visited panoramas and the links seen there."""

    _graph: "nx.DiGraph[str]" = field(default_factory=nx.DiGraph)
    _positions: dict[str, LatLng] = field(default_factory=dict)

    def see(self, panorama: Panorama, links: Iterable[Link]) -> None:
        """Record a panorama and the links that leave it."""
        self._positions[panorama.id] = panorama.position
        # `_GOAL` stands for any position: how far each panorama is from it is worked out when asked.
        self._graph.add_edge(panorama.id, _GOAL)
        for link in sorted(links, key=lambda one: -one.distance):  # of two to one panorama, the shorter stays
            end = destination(panorama.position, link.heading, link.distance)
            # A link tells its end roughly: of a panorama stood at, the own position stays.
            self._positions.setdefault(link.pano_id, end)
            self._graph.add_edge(panorama.id, link.pano_id, link=link)
            self._graph.add_edge(link.pano_id, _GOAL)

    def way_on(self, here: str, goal: LatLng, visited: Collection[str]) -> Link | None:
        """Return the first link to the unvisited panorama with the shortest way: by links, then straight on.

        Args:
            here: id of the visited panorama to leave from.
            goal: position to come to.
            visited: ids of panoramas from which no straight line counts.
        """

        def metres(start: str, end: str, edge: Mapping[str, Link]) -> float | None:
            """Return an edge's metres: of its link, or straight to the goal (`None`, barred, if visited)."""
            if end != _GOAL:
                return edge["link"].distance
            # networkx takes `None` for no edge.
            return None if start in visited else distance(self._positions[start], goal)

        try:
            way = nx.dijkstra_path(self._graph, here, _GOAL, weight=metres)
        except nx.NetworkXNoPath:
            return None
        link: Link | None = None if way[1] == _GOAL else self._graph.edges[here, way[1]]["link"]
        return link


ARRIVE_M = 5.0  # V-IRL's
"""Distance in metres from a goal at which it counts as reached."""


@dataclass
class PointNavigator:
    """A navigator to the destinations of a plan, in their order.

    Raises:
        BadInput: `max_steps` is below 0, or `arrive` not above 0.
    """

    streetview: StreetView
    mover: Mover
    """Mover that lists the links that leave a pose, and moves along them."""
    plan: PointPlan
    """Goals of the walk, by `plan_route` or `plan_path`."""
    _: KW_ONLY
    max_steps: int
    """Number of moves after which the walk ends."""
    arrive: float = ARRIVE_M
    """Metres from a goal within which it counts as reached."""

    def __post_init__(self) -> None:
        """Check the limits, and begin with no goal reached."""
        if self.max_steps < 0:
            raise BadInput(f"a limit of {self.max_steps} steps: must be 0 or more")
        if not self.arrive > 0:
            raise BadInput(f"arriving within {self.arrive:g} m: must be above 0")
        self._pursuit = Pursuit(self.plan, self.arrive)

    @property
    def outcomes(self) -> tuple[DestinationOutcome, ...]:
        """Results for the destinations so far, in their order; those still ahead are left out."""
        return tuple(outcome for _, outcome in sorted(self._pursuit.outcomes.items()))

    def walk(self, start: Pose, trail: Sequence[str] = (), steered: Collection[int] = ()) -> Iterator[Step]:
        """Yield steps to the plan's goals, on from `trail` (ids), where others chose at steps `steered`.

        Args:
            start: where the walk begins or goes on.
            trail: ids of the panoramas walked before, the oldest first, where a walk is resumed.
            steered: numbers of the steps of the trail at which somebody else decided.
        """
        pursuit = self._pursuit = Pursuit(self.plan, self.arrive)
        # Played through, so that the pursuit knows what it had seen, visited and given up.
        for number, pano_id in enumerate(trail):
            here = self.streetview.panorama(pano_id)
            pursuit.arrive(here)
            if number in steered:
                pursuit.be_led()
            else:
                self._decide(here, pursuit)
        pose = start
        for index in range(len(trail), self.max_steps + 1):
            here = self.streetview.panorama(pose.pano_id)
            metres = pursuit.arrive(here)
            step = Step(
                index,
                pose,
                here,
                metres,
                partial(self._choose, here, index, pursuit),
                ways=partial(self.mover.links, pose),
                steered=lambda _: pursuit.be_led(),
                last=index == self.max_steps,
            )
            yield step
            link = step.choice.link
            if link is None:
                return
            pose = self.mover.take(Pose(here.id, link.heading), link)

    def _choose(self, here: Panorama, index: int, pursuit: Pursuit) -> Choice:
        """Return the choice at step number `index`, or the walk's end at the limit of steps."""
        if index == self.max_steps and pursuit.goal is not None:
            limit = Outcome("limit", limit=self.max_steps, what="steps")
            pursuit.end(limit.sentence)
            return Choice.end(limit.with_detail(pursuit.outcome.sentence))
        return self._decide(here, pursuit)

    def _decide(self, here: Panorama, pursuit: Pursuit) -> Choice:
        """Return the choice of the link towards the first goal that can be approached; give up the others."""
        while pursuit.goal is not None:
            goal = pursuit.goal
            # Facing the goal: a hybrid mover asks its grid where no listed link leads that way.
            facing = Pose(here.id, bearing(here.position, goal.position))
            link = pursuit.next_link(here, self.mover.links(facing))
            if link is not None:
                metres = distance(here.position, goal.position)
                return Choice(link, f"{goal.title} is {metres:.0f} m away")
        return Choice.end(pursuit.outcome)
