"""How well walks explain a plan: a sum over all walks from a start, street by street."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp

from virl.platform.navigators.follower.clauses import End, FollowerPlan
from virl.platform.navigators.follower.model import (
    Endings,
    Parameters,
    count_chance,
    hint_fit,
    ordinal_weights,
    pass_fit,
    turn_fit,
)
from virl.platform.navigators.follower.streets import Exit, Segment, Streets, straight_on

FLOOR = 1e-4
"""Least likelihood of a walk, as a share of that of the best one of the same length.
Chosen: a tenth of it takes twice the time and changes no result on map2seq_seen/dev."""
NEAR = 2
"""Largest number of links from the start to a crossing at which a walk is said to start. Measured."""
PAIR = 7
"""Largest number of links between two lights of a double crossing; chosen: Manhattan's widest streets."""
FAR = 40
"""Number up to which links since a crossing are counted; chosen: beyond any phrase."""

State = tuple[Segment, int, int, int]
"""(segment entered, legs done, crossings counted on the leg, links since the last crossing)."""


@dataclass(frozen=True, slots=True)
class Start:
    """A first segment of a walk, with the likelihood of setting out on it."""

    segment: Segment
    """First segment of the walk."""
    weight: float
    """Likelihood of setting out this way, relative to the other starts."""
    actions: int
    """Number of actions before the first step along the segment, such as turns."""
    is_free: bool = False
    """True if the start's direction is open: a crossing close by may be where the walk sets out."""


@dataclass(slots=True)
class Visit:
    """The sum of all walks that come to one state after one number of actions."""

    weight: float = 0.0
    """Likelihood of all these walks together."""
    best: float = 0.0
    """Likelihood of the likeliest of these walks."""
    before: "tuple[int, State] | None" = None
    """Number of actions and state before, on the likeliest walk; `None` at a start."""

    def add(self, weight: float, best: float, before: "tuple[int, State] | None") -> None:
        """Add walks that come to the same state after as many actions.

        Args:
            weight: likelihood of the walks together.
            best: that of the likeliest.
            before: number of actions and state before, of the likeliest; `None` at the start.
        """
        self.weight += weight
        if best > self.best:
            self.best, self.before = best, before


@dataclass
class Explanation:
    """Likelihoods of where the walks that fit a plan end, or leave the known map."""

    ends: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """Likelihood of the walks that end at a node, by the node's number."""
    frontier: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """Likelihood of the walks that go on beyond an unvisited node, by the node's number."""
    _best: dict[int, tuple[float, int, State, int]] = field(default_factory=dict)
    visits: list[dict[State, Visit]] = field(default_factory=list)

    def path(self, end: int) -> list[int]:
        """Return the numbers of the nodes of the likeliest walk to an end."""
        _, time, state, links = self._best[end]
        parts = [state[0].nodes[: links + 1]]
        before = self.visits[time][state].before
        while before is not None:
            time, state = before
            parts.append(state[0].nodes[:-1])
            before = self.visits[time][state].before
        return [node for part in reversed(parts) for node in part]

    def add_end(self, node: int, weight: float, best: float, walk: tuple[int, State, int]) -> None:
        """Add walks that end at a node, by their joint likelihood and that of the likeliest.

        Args:
            node: where they end.
            weight: likelihood of the walks together.
            best: that of the likeliest.
            walk: the likeliest: actions, state, links along its segment.
        """
        self.ends[node] += weight
        if best > self._best.get(node, (0.0,))[0]:
            self._best[node] = (best, *walk)


def explain(
    streets: Streets,
    plan: FollowerPlan,
    parameters: Parameters,
    horizon: int,
    starts: Sequence[Start],
    usual: tuple[float, float] | None = None,
) -> Explanation:
    """Return where the walks that fit a plan end, or those that fit as many of its first legs as possible.

    Args:
        streets: what is known of the map.
        plan: what the text asks for.
        parameters: the numbers of the model.
        horizon: actions of the longest walk.
        starts: the ways to set out.
        usual: mean and standard deviation of the links of a data set's walks; `None` without them.
    """
    found = Explanation()
    for legs in range(len(plan.legs), -1, -1):
        cut = plan if legs == len(plan.legs) else replace(plan, legs=plan.legs[:legs], end=End("open", 0))
        found = _Explainer(streets, cut, parameters, horizon, usual).explain(starts)
        if found.ends or found.frontier:
            break
    return found


@dataclass(frozen=True, slots=True)
class _Crossing:
    """The crossing at the end of a segment, with the ways on from there."""

    exits: tuple[Exit, ...]
    straight: Exit
    """Way on that counts as straight ahead."""
    told: float
    """Probability, 0 to 1, that people count this crossing."""
    onward: tuple[tuple[Exit, float], ...]
    """(way on, factor for taking it where the text says nothing of it) of all ways on."""


class _Explainer:
    """A search over all walks from the starts, by number of actions, for those that fit a plan."""

    def __init__(
        self,
        streets: Streets,
        plan: FollowerPlan,
        parameters: Parameters,
        horizon: int,
        usual: tuple[float, float] | None,
    ) -> None:
        self._streets, self._legs, self._p = streets, plan.legs, parameters
        self._horizon, self._usual = horizon, usual
        self._endings = Endings(plan.end, parameters)
        self._weights = [
            ordinal_weights(leg.ordinal, leg.sureness, leg.remarks, parameters) for leg in plan.legs
        ]
        self._weights.append(self._endings.weights)
        self._hints = [*(dict(leg.hints) for leg in plan.legs), dict(plan.end.hints)]
        self._hopes = [
            {
                number: sum(share for at, share in weights.items() if at >= number)
                for number in range(max(weights) + 1)
            }
            for weights in self._weights
        ]
        self._crossings: dict[Segment, _Crossing] = {}
        self._set_out: set[State] = set()
        self._near: set[State] = set()
        self._result = Explanation(visits=[{} for _ in range(horizon + 2)])

    def explain(self, starts: Sequence[Start]) -> Explanation:
        """Return the likely ends of walks from the starts, within the horizon of actions."""
        for start in starts:
            state: State = (start.segment, 0, 0, 0)
            if len(self._streets.links.ways(start.segment.nodes[0]) or ()) <= 2:
                self._set_out.add(state)
                if start.is_free and start.segment.steps <= NEAR:
                    self._near.add(state)
            self._add(start.actions, state, Visit(1.0, 1.0), start.weight, None)
        for time in range(self._horizon + 1):
            layer = self._result.visits[time]
            hopes = {
                state: visit.weight * self._hopes[state[1]].get(state[2], 0.0)
                for state, visit in layer.items()
            }
            # What is hopeless beside the best is dropped: with each crossing there are more walks.
            least = FLOOR * max(hopes.values(), default=0.0)
            for state, visit in layer.items():
                if hopes[state] > least:
                    self._advance(time, state, visit)
        return self._result

    def _add(
        self, time: int, state: State, walks: Visit, factor: float, before: tuple[int, State] | None
    ) -> None:
        """Add walks to a state after `time` actions, their likelihood times a factor."""
        if factor > 0.0 and time <= self._horizon:
            there = self._result.visits[time].setdefault(state, Visit())
            there.add(walks.weight * factor, walks.best * factor, before)

    def _advance(self, time: int, state: State, visit: Visit) -> None:
        """Lead the walks in a state on to the next crossing: they end, turn or go on there."""
        segment, leg, number, since = state
        if leg == len(self._legs):
            self._add_ends(time, state, visit)
        if not segment.known:
            self._result.frontier[segment.nodes[-1]] += visit.weight * self._share_beyond(state)
            return
        arrival = time + segment.steps
        crossing = self._find_crossing(segment)
        if arrival >= self._horizon or crossing is None:
            return
        table = self._p.separate
        new = 1.0 if state in self._set_out else table[min(segment.steps, len(table)) - 1]
        last = self._hints[leg].get(number)
        is_second = last is not None and last.is_pair and not since and segment.steps <= PAIR
        if is_second:
            new = min(new, self._p.pair_separate)
        told, straight = crossing.told, crossing.straight
        onward = min(since + segment.steps, FAR)
        hint = self._hints[leg].get(number + 1)
        fit = 1.0
        if hint is not None:
            fit = hint_fit(hint, since + segment.steps, crossing.exits, self._p)
            new = max(new, self._p.near_separate) if hint.gap == "near" else new
            told = max(told, self._p.shape_told) if hint.kind else told
        passing = [
            (number + 1, 0, fit * new * told),
            (number, onward, new * (1.0 - told)),
            (number, int(is_second), 1.0 - new),
        ]
        turning = self._turn_weight(leg, number, new, fit)
        begin = (time, state)
        for way, ease in crossing.onward:
            if turning:
                turned = turning * turn_fit(self._legs[leg], way, crossing.exits, self._p)
                self._add(arrival + 1, (way.segment, leg + 1, 0, 0), visit, turned, begin)
            # A turn is an action of its own.
            late = arrival + (way is not straight)
            for count, links, share in passing:
                self._add(late, (way.segment, leg, count, links), visit, ease * share, begin)
            if state in self._near and way is not straight:
                self._add(late, (way.segment, leg, number, 0), visit, self._p.near_turn, begin)

    def _find_crossing(self, segment: Segment) -> _Crossing | None:
        """Return the crossing at the end of a segment; `None` where no way leads on."""
        if segment not in self._crossings:
            exits = self._streets.exits(segment)
            if not exits:
                return None
            straight = straight_on(exits)
            onward = tuple((way, pass_fit(way, straight, exits, self._p)) for way in exits)
            self._crossings[segment] = _Crossing(
                exits, straight, count_chance(exits, straight, self._p), onward
            )
        return self._crossings[segment]

    def _turn_weight(self, leg: int, number: int, new: float, fit: float) -> float:
        """Return the factor for turning at the next crossing, after `number` crossings on the leg."""
        if leg == len(self._legs):
            return 0.0
        weights = self._weights[leg]
        return fit * new * weights.get(number + 1, 0.0) + (1.0 - new) * weights.get(number, 0.0)

    def _add_ends(self, time: int, state: State, visit: Visit) -> None:
        """Add the ends of the walks in a state at each node of their segment."""
        segment = state[0]
        last = segment.steps + segment.known
        for links, share in enumerate(self._shares(state)[:last]):
            if links and share > 0.0 and time + links < self._horizon:
                gain = share * self._length_factor(time + links - len(self._legs))
                walk = time, state, links
                self._result.add_end(segment.nodes[links], visit.weight * gain, visit.best * gain, walk)

    def _shares(self, state: State) -> Sequence[float]:
        """Return the probability of each node of the segment as the end, expected ones where unseen."""
        segment, _, number, since = state
        if not segment.known:
            return self._endings.unseen(segment.steps, number, since)
        crossing = self._find_crossing(segment)
        told = crossing.told if crossing else 1.0
        return self._endings.block(segment.steps, number, since, told)

    def _share_beyond(self, state: State) -> float:
        """Return the probability that a walk which leaves the known map still fits the plan later.

        That is a turn or an end at a later crossing, or an end further down this block.
        """
        segment, leg, number, _ = state
        later = sum(share for at, share in self._weights[leg].items() if at > number)
        if leg < len(self._legs):
            return later
        return later + sum(self._shares(state)[segment.steps :])

    def _length_factor(self, links: int) -> float:
        """Return the factor for a walk of so many links by their usual number, 1 if none is given."""
        if self._usual is None:
            return 1.0
        mean, deviation = self._usual
        return exp(-0.5 * ((links - mean) / deviation) ** 2)
