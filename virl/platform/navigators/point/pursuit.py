"""Going after the goals of a plan: which link to take, what is reached and what is given up."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from virl.geo.globe import LatLng, destination, distance, signed_turn
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Panorama
from virl.platform.navigators.point.plan import Goal, PointPlan

DETOUR = 5.0  # a goal may cost so many times the straight way to it,
DETOUR_M = 200.0  # and so many metres more; both chosen

_log = logging.getLogger(__name__)
_GOAL = ""
"""The node that every panorama is joined to in a straight line; no panorama has this id."""


@dataclass(frozen=True, slots=True)
class DestinationOutcome:
    """A destination, whether it was reached, and why or why not."""

    destination: LatLng
    reached: bool
    reason: str


class Pursuit:
    """A search for the goals of a plan one after the other, which gives up those out of reach.

    Args:
        plan: the goals.
        arrive: metres from a goal within which it is reached.
    """

    def __init__(self, plan: PointPlan, arrive: float) -> None:
        self.outcomes = {
            number: DestinationOutcome(plan.destinations[number], reached=False, reason=reason)
            for number, reason in plan.unplanned
        }
        """The outcomes by the number of the destination."""
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
        """End of the walk so far: destinations reached, and why not the others."""
        missed = [
            f"{number + 1}: {outcome.reason}"
            for number, outcome in sorted(self.outcomes.items())
            if not outcome.reached
        ]
        count = len(self._destinations)
        reason = "; ".join([f"{count - len(missed)} of {count} destinations reached", *missed])
        return Outcome("missed" if missed else "arrived", reason)

    def arrive(self, here: Panorama) -> float:
        """Record a panorama come to, mark goals reached there, and return metres from the one before.

        Returns:
            Metres from the panorama before.
        """
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

    def next_link(self, goal: Goal, toward: float, links: Sequence[Link]) -> Link | None:
        """Return the link to take for the current goal; `None` to give it up.

        Args:
            goal: of the moment.
            toward: heading of the straight way to it, degrees.
            links: those that leave the panorama arrived at last.

        Returns:
            `None` if the goal is given up, for the next one to be the goal.

        Raises:
            RuntimeError: the pursuit has not arrived anywhere yet.
        """
        here = self._here
        if here is None:
            raise RuntimeError("a pursuit begins by arriving somewhere")
        self._explored.see(here, links)
        if self._budget < 0:
            self._give_up(here, "not reached within a bearable distance")
            return None
        for link in links:
            if link.pano_id == goal.pano_id:
                return link
        straightest = min(links, key=lambda link: abs(signed_turn(toward, link.heading)), default=None)
        if straightest is not None and straightest.pano_id not in self._visited:
            return straightest
        # Straight on was tried for this goal already: ask all links seen.
        onward = self._explored.way_on(here.id, goal.position, self._visited)
        if onward is None:
            self._give_up(here, "no link seen leads there")
        return onward

    def be_led(self) -> None:
        """Start anew for the goal at the next panorama, which a user or other decider chose."""
        self._led = True

    def end(self, reason: str) -> None:
        """Give up all goals that are left."""
        while self._left:
            self._end_goal(reached=False, reason=reason)

    def _give_up(self, here: Panorama, reason: str) -> None:
        """Give up the current goal for a reason, and start for the next one."""
        self._end_goal(reached=False, reason=reason)
        self._start_goal(here)
        self._mark_reached(here)

    def _mark_reached(self, here: Panorama) -> None:
        """Mark the goals that are reached at a panorama, and start for the next one."""
        while (goal := self.goal) and self._is_at(here, goal):
            reason = "reached"
            if goal.destination is not None:
                away = distance(here.position, self._destinations[goal.destination])
                reason = f"reached: its panorama is {away:.0f} m from it"
            self._end_goal(reached=True, reason=reason)
            self._start_goal(here)

    def _is_at(self, here: Panorama, goal: Goal) -> bool:
        """Return whether a panorama is the goal's, or within `arrive` metres of it."""
        return here.id == goal.pano_id or distance(here.position, goal.position) <= self._arrive

    def _end_goal(self, *, reached: bool, reason: str) -> None:
        """End the current goal, and record the outcome of its destination, if it is one."""
        goal = self._left.pop()
        if goal.destination is not None:
            self.outcomes[goal.destination] = DestinationOutcome(
                self._destinations[goal.destination], reached, reason
            )
        elif not reached:
            _log.info("a corner at %s is left out: %s", goal.position, reason)

    def _leave_out_corners(self, here: Panorama) -> None:
        """Drop the next corners that lie farther from the next destination than the walker does."""
        end = next((goal for goal in reversed(self._left) if goal.destination is not None), None)
        while end and (goal := self.goal) and goal.destination is None:
            if distance(goal.position, end.position) < distance(here.position, end.position):
                return
            self._end_goal(reached=False, reason="passed on another way")

    def _start_goal(self, here: Panorama) -> None:
        """Start for the current goal at a panorama, with a new limit of metres."""
        # Only within one goal is a panorama not to be visited twice: the next goal may lead back.
        self._visited = {here.id}
        if self.goal is not None:
            self._budget = DETOUR * distance(here.position, self.goal.position) + DETOUR_M


class Explored:
    """Visited panoramas and the links that leave them."""

    def __init__(self) -> None:
        self._graph: nx.DiGraph[str] = nx.DiGraph()
        self._positions: dict[str, LatLng] = {}

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
        """Return the link to take towards a position, by known links and straight on; `None` without one.

        That is the one with the fewest metres along links seen to it and on in a straight line.

        Args:
            here: where to leave from; a panorama stood at.
            goal: the position to come to.
            visited: panoramas that do not promise anything any more.

        Returns:
            `None` where all ends of links that lead from here are visited.
        """

        def metres(start: str, end: str, edge: Mapping[str, Link]) -> float | None:
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
