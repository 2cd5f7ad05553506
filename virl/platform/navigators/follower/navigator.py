"""The follower: walks by an instruction with no model and no images.

Where a user has pictures, a spotter tells which of the names that the text gives with its stop are seen where
the walk may end.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import exp, isnan

from virl.geo.globe import signed_float_turn
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.streetview import Pose
from virl.platform.movers.discrete.actions import MAX_ACTIONS, VELMA, Action, WalkState
from virl.platform.movers.discrete.oracle import action_towards
from virl.platform.navigators.follower.clauses import FollowerPlan, OrientClause
from virl.platform.navigators.follower.explain import Explanation, Start, explain
from virl.platform.navigators.follower.model import Parameters, default_parameters
from virl.platform.navigators.follower.reading import understand
from virl.platform.navigators.follower.streets import MapLinks, OutgoingLink, Segment, Streets
from virl.platform.navigators.instruction.base import Decision, Move, act
from virl.platform.navigators.tourist.spotting import LandmarkSpotter
from virl.platform.navigators.velma.prompt import LandmarkExtractor

SEEN = 20.0
"""Factor on the likelihood of a walk's end at which the landmark is seen with the full score of 1.

Names are read from some 20 m at most. Chosen on the export of Virlton."""
MOST_LOOKS = 24
"""Largest number of possible ends that are looked at on a whole map, the likeliest first; chosen."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_STOP = re.compile(r"\b(?:stop|stopping|end|destination|arrive)\b", re.IGNORECASE)
_TOO_FAR = re.compile(r"too far|\bif you (?:reach|see|get to|pass)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sight:
    """A spotter and a finder of names, by which a follower looks for landmarks at the end of its walk.

    Args:
        graph: whose panoramas are looked at.
        spotter: tells which of some names are seen there, by signs or by a model.
        landmarks: the names in an instruction.
    """

    graph: NavigationGraph
    spotter: LandmarkSpotter
    landmarks: LandmarkExtractor

    def search_at_stop(self, instruction: str) -> "StopSight | None":
        """Return a search for the names that a text gives with its stop; `None` if it gives none there."""
        names = names_at_stop(instruction, self.landmarks(instruction))
        return StopSight(self.graph, self.spotter, names) if names else None


@dataclass(slots=True)
class StopSight:
    """A search for landmarks by name at possible ends of a walk, which looks at each panorama once.

    Raises:
        NoImagery: there is no view of a panorama.
    """

    graph: NavigationGraph
    spotter: LandmarkSpotter
    names: Sequence[str]
    _gains: dict[int, float] = field(default_factory=dict)

    def gain(self, node: int) -> float:
        """Return the factor for an end of the walk at a node: 1 if no name is seen there, up to `SEEN`."""
        if node not in self._gains:
            seen = self.spotter.spot(Pose(self.graph.ids[node], 0.0), self.names, thorough=True)
            self._gains[node] = 1.0 + (SEEN - 1.0) * max((one.score for one in seen), default=0.0)
        return self._gains[node]

    def weigh(self, ends: Mapping[int, float]) -> dict[int, float]:
        """Return the likelihoods of ends by node, the `MOST_LOOKS` largest multiplied by their `gain`."""
        likeliest = sorted(ends, key=lambda node: -ends[node])[:MOST_LOOKS]
        return {**ends, **{node: ends[node] * self.gain(node) for node in likeliest}}


def names_at_stop(instruction: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return which `names` are in the last sentence that says stop, else in the one before; may be empty."""
    sentences = [one for one in _SENTENCE.split(instruction) if one.strip() and not _TOO_FAR.search(one)]
    stops = [number for number, one in enumerate(sentences) if _STOP.search(one)]
    last = stops[-1] if stops else len(sentences) - 1
    for told in reversed(sentences[max(last - 1, 0) : last + 1]):
        if found := tuple(name for name in names if name.lower() in told.lower()):
            return found
    return ()


_SPARE = 3
"""Number of actions kept back for a return to an end: to turn around, to turn once, to stop."""
_UNREACHABLE = 10_000
"""Number of steps that stands for a node which no way leads to."""


@dataclass(frozen=True)
class Follower:
    """A navigator that follows instructions by a grammar and a graph of streets, under VELMA's rules.

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
        """Name of the navigator in results, such as `follower --map --prior`, with its spotter's name."""
        seen = f", {self.sight.spotter.name}" if self.sight else ""
        return "follower" + " --map" * self.use_map + " --prior" * self.use_prior + seen

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk to its stop or the limit; every text, with sense or not, gives a walk."""
        plan = understand(instruction)
        sight = self.sight.search_at_stop(instruction) if self.sight else None
        choose: Callable[[Sequence[Move]], Decision] = (
            partial(self._follow_path, self._plan_path(plan, start, sight), start)
            if self.use_map
            else EmbodiedWalk(self, plan, start, sight).choose
        )
        return act(self.graph, start, choose, opening=self.opening, max_actions=self.max_actions)

    @property
    def usual_links(self) -> tuple[float, float] | None:
        """(mean, standard deviation) of the links of a data set's routes; `None` without the prior."""
        if not self.use_prior:
            return None
        return self.parameters.prior_links if self.oriented else self.parameters.prior_links_touchdown

    @cached_property
    def _streets(self) -> Streets:
        """Streets of the whole graph, read once for all walks."""
        return Streets(MapLinks(self.graph))

    def _plan_path(self, plan: FollowerPlan, start: WalkState, sight: StopSight | None) -> list[int]:
        """Return node numbers from the start on, as the plan says; the start alone if no walk fits."""
        found = _explain_from(self, self._streets, plan, start, self.max_actions)
        if not found.ends:
            return [start.node]
        return found.path(self._best_end(sight.weigh(found.ends) if sight else found.ends))

    def _best_end(self, ends: Mapping[int, float]) -> int:
        """Return the node of the likeliest end, with neighbours' likelihood if `parameters.neighbours`."""
        sums, links = dict(ends), self._streets.links
        if self.parameters.neighbours:
            for node, weight in ends.items():
                for way in links.ways(node) or ():
                    # Neighbours are so in both directions: a one-way link counts for its end too.
                    if way.to in sums and node not in (other.to for other in links.ways(way.to) or ()):
                        sums[way.to] += weight
                    sums[node] += ends.get(way.to, 0.0)
        return max(ends, key=lambda node: (sums[node], ends[node]))

    def _follow_path(self, path: Sequence[int], start: WalkState, moves: Sequence[Move]) -> Decision:
        """Return the next action along a path of nodes; the stop at its end, or where the walk left it."""
        nodes = [start.node, *(move.state.node for move in moves if move.state.came_from is not None)]
        done = len(nodes)
        if done >= len(path) or nodes != list(path[:done]):
            return Decision(Action.STOP, "the likeliest end")
        state = moves[-1].state if moves else start
        action = action_towards(self.graph, state, path[done], VELMA)
        return Decision(action, "the next step of the walk that fits the text best")


class SeenLinks:
    """The links of the nodes that a walker has stood at, the only ones that it may read from the graph."""

    def __init__(self, graph: NavigationGraph) -> None:
        """Begin with no node of the graph visited."""
        self._graph = graph
        self._ways: dict[int, tuple[OutgoingLink, ...]] = {}

    def stand(self, node: int) -> None:
        """Read the links of a node that the walker stands at, unless they are read already."""
        if node in self._ways:
            return
        links = self._graph.links(node)
        targets, headings = self._graph.target[links].tolist(), self._graph.heading[links].tolist()
        self._ways[node] = tuple(map(OutgoingLink, targets, headings))

    def ways(self, node: int) -> Sequence[OutgoingLink] | None:
        """Return the links of a node; `None` if it is not visited."""
        return self._ways.get(node)

    def path(self, source: int, target: int) -> list[int] | None:
        """Return the nodes of a shortest way over visited nodes, both ends included; `None` without one."""
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

    def joined_nodes(self, node: int) -> set[int]:
        """Return the nodes that a seen link joins to a visited node, in either direction, itself included."""
        near = {node} | {way.to for way in self._ways.get(node, ())}
        return near | {other for other, ways in self._ways.items() if any(way.to == node for way in ways)}


@dataclass
class EmbodiedWalk:
    """A walk without a map, which at each step weighs the best end seen against each unseen way.

    It goes on where a walk that explains the text might, and comes back if what it finds there explains it
    less well.
    """

    follower: Follower
    """Navigator whose graph, numbers and limits hold for the walk."""
    plan: FollowerPlan
    start: WalkState
    sight: StopSight | None
    """Search for landmarks at possible ends; `None` for a walk without pictures."""
    _seen: SeenLinks = field(init=False)

    def __post_init__(self) -> None:
        """Stand at the start, with nothing else of the graph seen."""
        self._seen = SeenLinks(self.follower.graph)
        self._seen.stand(self.start.node)

    def choose(self, moves: Sequence[Move]) -> Decision:
        """Return the next action, with its reason, after the moves of the walk so far."""
        for move in moves[-2:]:
            self._seen.stand(move.state.node)
        state = moves[-1].state if moves else self.start
        goal, reason = self._goal(state, self.follower.max_actions - len(moves))
        path = self._seen.path(state.node, goal) if goal is not None else None
        if path is None or len(path) < 2:
            return Decision(Action.STOP, reason)
        return Decision(action_towards(self.follower.graph, state, path[1], VELMA), reason)

    def _goal(self, state: WalkState, left: int) -> tuple[int | None, str]:
        """Return (node of an unseen way or best end to go to, else `None`; reason); `left`: actions left."""
        p, horizon = self.follower.parameters, self.follower.max_actions + _SPARE
        found = _explain_from(self.follower, Streets(self._seen), self.plan, self.start, horizon)
        stop, weight = self._best_end(found.ends)
        away = {node: self._steps(state.node, node) for node in found.frontier}
        onward = max(away, key=lambda node: found.frontier[node] * exp(-away[node] / p.far), default=None)
        if onward is None:
            return stop, "nothing left to see"
        if stop is None:
            return onward, "no end seen so far fits the text"
        can_return = away[onward] + self._steps(stop, onward) + _SPARE <= left
        if found.frontier[onward] > (p.explore if can_return else p.commit) * weight:
            if found.frontier[onward] >= weight:
                return onward, "a way not seen yet fits the text better than any end seen"
            late = "too few actions left to come back to the best end"
            return onward, "to see more" if can_return else late
        return stop, "the likeliest end"

    def _best_end(self, ends: dict[int, float]) -> tuple[int | None, float]:
        """Return (likeliest visited end, its likelihood, perhaps with its neighbours'), or (`None`, 0)."""
        here = [node for node in ends if self._seen.ways(node) is not None]
        if self.sight:
            ends = {**ends, **{node: ends[node] * self.sight.gain(node) for node in here}}
        sums = {node: ends[node] for node in here}
        if self.follower.parameters.neighbours:
            sums = {node: sum(ends.get(near, 0.0) for near in self._seen.joined_nodes(node)) for node in here}
        best = max(here, key=lambda node: (sums[node], ends[node]), default=None)
        return (None, 0.0) if best is None or sums[best] <= 0.0 else (best, sums[best])

    def _steps(self, source: int, target: int) -> int:
        """Return the number of links on a shortest way between visited nodes; `_UNREACHABLE` without one."""
        path = self._seen.path(source, target)
        return len(path) - 1 if path else _UNREACHABLE


def _explain_from(
    follower: Follower, streets: Streets, plan: FollowerPlan, start: WalkState, horizon: int
) -> Explanation:
    """Return where walks from a start, on known streets, that fit a plan end within `horizon` actions."""
    # Read where the walker has stood: without a map it may know nothing else of the graph.
    yaw = float(follower.graph.yaw[start.node])
    starts = _ways_out(streets, start, plan.orient, yaw, follower)
    return explain(streets, plan, follower.parameters, horizon, starts, follower.usual_links)


def _ways_out(
    streets: Streets, start: WalkState, orient: OrientClause, yaw: float, follower: Follower
) -> list[Start]:
    """Return segments to set out on, weighted by text and traffic; if `follower.oriented`, the one ahead.

    `yaw` is the heading of the capturing car at the start, degrees, hence the traffic's; `nan` if unknown.
    """
    p = follower.parameters
    segments = streets.starts(start.node)
    if follower.oriented and segments:
        ahead = min(segments, key=lambda segment: abs(signed_float_turn(start.heading, segment.headings[0])))
        return [Start(ahead, 1.0, 0)]
    return [
        Start(
            segment,
            _traffic_weight(segment, orient, yaw, p) * _crossing_weight(segment, segments, orient, p),
            actions=0 if segment.headings[0] == start.heading else 1,
            is_free=True,
        )
        for segment in segments
    ]


def _traffic_weight(segment: Segment, orient: OrientClause, yaw: float, p: Parameters) -> float:
    """Return the chance of setting out along a segment, by the traffic's heading `yaw`; 0.5 if `nan`."""
    if isnan(yaw):
        return 0.5
    along = p.traffic_untold
    if orient.traffic is not None:
        along = p.with_traffic if orient.traffic else 1.0 - p.against_traffic
    return along if abs(signed_float_turn(yaw, segment.headings[0])) < 90.0 else 1.0 - along


def _crossing_weight(
    segment: Segment, segments: Sequence[Segment], orient: OrientClause, p: Parameters
) -> float:
    """Return a segment's factor, by whether its crossing is the one to face; 0.5 if nothing tells."""
    if orient.crossing is None or len(segments) != 2 or not all(other.known for other in segments):
        return 0.5
    nearer = segment.steps == min(other.steps for other in segments)
    return p.crossing_told if nearer == orient.crossing else 1.0 - p.crossing_told
