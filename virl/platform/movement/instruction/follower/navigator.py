"""The follower: walks by an instruction with no model and no images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.actions import Action
from virl.platform.movement.discrete.oracle import action_towards
from virl.platform.movement.discrete.rules import VELMA, WalkState
from virl.platform.movement.instruction.base import MAX_ACTIONS, Decision, Move, act
from virl.platform.movement.instruction.follower.embodied import EmbodiedWalk
from virl.platform.movement.instruction.follower.explain import explain
from virl.platform.movement.instruction.follower.parameters import Parameters, default_parameters
from virl.platform.movement.instruction.follower.plan import FollowerPlan
from virl.platform.movement.instruction.follower.reading import understand
from virl.platform.movement.instruction.follower.setting_out import ways_out
from virl.platform.movement.instruction.follower.sight import Sight, StopSight
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


@dataclass(frozen=True)
class Follower:
    """Follows instructions by a grammar and a reading of streets, under VELMA's rules.

    Described in `docs/explanation/follower.md`.

    Args:
        graph: where it walks. Without `use_map` it is read only at the node where the walker stands.
        use_map: whether to plan on the whole graph; else it decides from what it has seen.
        use_prior: whether to prefer walks as long as the data set's routes are. Off unless asked for.
        oriented: whether walks start facing the right way, as Map2seq's do and Touchdown's do not.
        opening: actions taken before the first decision (`OPENING` of the data set).
        parameters: the numbers of the model.
        max_actions: the limit of a walk, opening included.
        sight: what it looks with for the landmark at its stop; `None` for a follower without pictures.
    """

    graph: NavigationGraph
    use_map: bool = False
    use_prior: bool = False
    oriented: bool = False
    opening: Sequence[Action] = ()
    parameters: Parameters = field(default_factory=default_parameters)
    max_actions: int = MAX_ACTIONS
    sight: Sight | None = None

    @property
    def name(self) -> str:
        """What its results are called, such as `follower --map --prior`, with how it sees."""
        seen = f", {self.sight.spotter.name}" if self.sight else ""
        return "follower" + " --map" * self.use_map + " --prior" * self.use_prior + seen

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """The moves of a walk; it ends with a stop or at the limit. Any text is walked by."""
        plan = understand(instruction)
        sight = self.sight.of_stop(instruction) if self.sight else None
        if self.use_map:
            path = self._planner.path(
                plan,
                start,
                oriented=self.oriented,
                horizon=self.max_actions,
                usual=self._usual,
                sight=sight,
            )

            def choose(moves: Sequence[Move]) -> Decision:
                return along(self.graph, path, start, moves)
        else:
            choose = EmbodiedWalk(
                self.graph, plan, start, self.oriented, self.parameters, self.max_actions, self._usual, sight
            ).choose
        return act(self.graph, start, choose, opening=self.opening, max_actions=self.max_actions)

    @cached_property
    def _planner(self) -> MapPlanner:
        return MapPlanner(self.graph, self.parameters)

    @property
    def _usual(self) -> tuple[float, float] | None:
        if not self.use_prior:
            return None
        return self.parameters.prior_links if self.oriented else self.parameters.prior_links_touchdown
