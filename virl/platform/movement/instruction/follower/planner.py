"""Plans on the whole map: the end whose walks best explain the text, and the best walk to it."""

from collections.abc import Mapping, Sequence

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
from virl.platform.movement.instruction.follower.streets import MapLinks, Streets


class MapPlanner:
    """Finds walks on a graph. Keeps what it read of the streets, so one planner serves many episodes."""

    def __init__(self, graph: NavigationGraph, parameters: Parameters) -> None:
        self._graph, self._p = graph, parameters
        self._links = MapLinks(graph)
        self._streets = Streets(self._links)

    def path(
        self,
        plan: FollowerPlan,
        start: WalkState,
        *,
        oriented: bool,
        horizon: int,
        usual: tuple[float, float] | None = None,
        sight: StopSight | None = None,
    ) -> list[int]:
        """The nodes of the walk to take, its start included; only that where no walk explains the plan."""
        yaw = float(self._graph.yaw[start.node])
        starts = ways_out(self._streets, start, plan.orient, yaw, oriented, self._p)
        found = explain(self._streets, plan, self._p, horizon, starts, usual)
        if not found.ends:
            return [start.node]
        return found.path(self._best_end(sight.weighed(found.ends) if sight else found.ends))

    def _best_end(self, ends: Mapping[int, float]) -> int:
        """The likeliest end, or that whose neighbours, both ways, are together with it."""
        sums = dict(ends)
        if self._p.neighbours:
            for node, weight in ends.items():
                for way in self._links.ways(node):
                    if way.to in sums and node not in (other.to for other in self._links.ways(way.to)):
                        sums[way.to] += weight
                    sums[node] += ends.get(way.to, 0.0)
        return max(ends, key=lambda node: (sums[node], ends[node]))


def along(graph: NavigationGraph, path: Sequence[int], start: WalkState, moves: Sequence[Move]) -> Decision:
    """The next action of a walk along a path; stops at its end, or where the walk has left it."""
    nodes = [start.node, *(move.state.node for move in moves if move.state.came_from is not None)]
    done = len(nodes)
    if done >= len(path) or nodes != list(path[:done]):
        return Decision(Action.STOP, "the likeliest end")
    state = moves[-1].state if moves else start
    action = action_towards(graph, state, path[done], VELMA)
    return Decision(action, "the next step of the walk that fits the text best")
