"""Decides step by step from what has been seen: no look ahead on the map."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp

from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.actions import Action
from virl.platform.movement.discrete.oracle import action_towards
from virl.platform.movement.discrete.rules import VELMA, WalkState
from virl.platform.movement.instruction.base import Decision, Move
from virl.platform.movement.instruction.follower.explain import explain
from virl.platform.movement.instruction.follower.parameters import Parameters
from virl.platform.movement.instruction.follower.plan import FollowerPlan
from virl.platform.movement.instruction.follower.setting_out import ways_out
from virl.platform.movement.instruction.follower.sight import StopSight
from virl.platform.movement.instruction.follower.streets import OutgoingLink, Streets

SPARE = 3
"""Actions kept back when a return is planned: to turn around, to turn once, to stop."""
UNREACHABLE = 10_000


class SeenLinks:
    """The links of visited nodes. The graph is read at the node given to `stand` only."""

    def __init__(self, graph: NavigationGraph) -> None:
        self._graph = graph
        self._ways: dict[int, tuple[OutgoingLink, ...]] = {}

    def stand(self, node: int) -> bool:
        """Looks around at a node; returns whether it is new."""
        if node in self._ways:
            return False
        links = self._graph.links(node)
        targets, headings = self._graph.target[links].tolist(), self._graph.heading[links].tolist()
        self._ways[node] = tuple(
            OutgoingLink(to, heading) for to, heading in zip(targets, headings, strict=True)
        )
        return True

    def ways(self, node: int) -> Sequence[OutgoingLink] | None:
        """The links of a node, `None` where the walker has not stood."""
        return self._ways.get(node)

    def path(self, source: int, target: int) -> list[int] | None:
        """A shortest way over visited nodes, in links, both ends included; the target need not be visited."""
        before = {source: source}
        queue = deque([source])
        while queue:
            node = queue.popleft()
            if node == target:
                path = [node]
                while path[-1] != source:
                    path.append(before[path[-1]])
                return path[::-1]
            for way in self._ways.get(node, ()):
                if way.to not in before:
                    before[way.to] = node
                    queue.append(way.to)
        return None

    def beside(self, node: int) -> set[int]:
        """Nodes that a link is known to join to a visited node, itself included."""
        near = {node} | {way.to for way in self._ways.get(node, ())}
        return near | {other for other, ways in self._ways.items() if any(way.to == node for way in ways)}


@dataclass
class EmbodiedWalk:
    """One walk. At each step it weighs stopping at the best end seen so far against each way not seen yet.

    It goes on where a walk that explains the text might, and comes back if what it finds there explains it
    less well.
    """

    graph: NavigationGraph
    plan: FollowerPlan
    start: WalkState
    oriented: bool
    parameters: Parameters
    max_actions: int
    usual: tuple[float, float] | None = None
    sight: StopSight | None = None
    _seen: SeenLinks = field(init=False)

    def __post_init__(self) -> None:
        self._seen = SeenLinks(self.graph)
        self._seen.stand(self.start.node)
        self._yaw = float(self.graph.yaw[self.start.node])

    def choose(self, moves: Sequence[Move]) -> Decision:
        """The next action."""
        for move in moves[-2:]:
            self._seen.stand(move.state.node)
        state = moves[-1].state if moves else self.start
        goal, reason = self._goal(state, self.max_actions - len(moves))
        path = self._seen.path(state.node, goal) if goal is not None else None
        if path is None or len(path) < 2:
            return Decision(Action.STOP, reason)
        return Decision(action_towards(self.graph, state, path[1], VELMA), reason)

    def _goal(self, state: WalkState, left: int) -> tuple[int | None, str]:
        """Where to go: a way not seen yet, or the best end; `None` where there is neither."""
        p, streets = self.parameters, Streets(self._seen)
        starts = ways_out(streets, self.start, self.plan.orient, self._yaw, self.oriented, p)
        found = explain(streets, self.plan, p, self.max_actions + SPARE, starts, self.usual)
        stop, weight = self._best_end(found.ends)
        away = {node: self._steps(state.node, node) for node in found.frontier}
        onward = max(away, key=lambda node: found.frontier[node] * exp(-away[node] / p.far), default=None)
        if onward is None:
            return stop, "nothing left to see"
        if stop is None:
            return onward, "no end seen so far fits the text"
        can_return = away[onward] + self._steps(stop, onward) + SPARE <= left
        if found.frontier[onward] > (p.explore if can_return else p.commit) * weight:
            if found.frontier[onward] >= weight:
                return onward, "a way not seen yet fits the text better than any end seen"
            return (
                onward,
                "to see more" if can_return else "too few actions left to come back to the best end",
            )
        return stop, "the likeliest end"

    def _best_end(self, ends: dict[int, float]) -> tuple[int | None, float]:
        here = [node for node in ends if self._seen.ways(node) is not None]
        if self.sight:
            ends = {**ends, **{node: ends[node] * self.sight.gain(node) for node in here}}
        sums = {node: ends[node] for node in here}
        if self.parameters.neighbours:
            sums = {node: sum(ends.get(near, 0.0) for near in self._seen.beside(node)) for node in here}
        best = max(here, key=lambda node: (sums[node], ends[node]), default=None)
        return (None, 0.0) if best is None or sums[best] <= 0.0 else (best, sums[best])

    def _steps(self, source: int, target: int) -> int:
        path = self._seen.path(source, target)
        return len(path) - 1 if path else UNREACHABLE
