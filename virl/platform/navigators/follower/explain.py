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
"""Share of the best walk's likelihood up to which walks of the same length are dropped.
Chosen: a tenth of it takes twice the time and changes no result on map2seq_seen/dev."""
NEAR = 2
"""Largest number of links from the start to a crossing that may be where the walk sets out; measured."""
PAIR = 7
"""Largest number of links between two lights of a double crossing; chosen: Manhattan's widest streets."""
FAR = 40
"""Number of links since the last crossing, above which no more are counted; chosen: beyond any phrase."""

State = tuple[Segment, int, int, int]
"""(segment entered, legs done, crossings counted on this leg, links from the last one to the segment)."""


@dataclass(frozen=True, slots=True)
class Start:
    """A first segment of a walk, with the likelihood of setting out on it."""

    segment: Segment
    """First segment of the walk."""
    weight: float
    """Likelihood of setting out this way, relative to the other starts."""
    actions: int
    """Number of actions, such as turns, before the first step along the segment."""
    is_free: bool = False
    """True if the first crossing, where within `NEAR` links, may be where the walk really sets out."""


@dataclass(slots=True)
class Visit:
    """The walks that come to one state after the same number of actions, added up."""

    weight: float = 0.0
    """Likelihood of all walks that come to the state, added up."""
    best: float = 0.0
    """Likelihood of the likeliest walk that comes to the state."""
    before: "tuple[int, State] | None" = None
    """Number of actions and state before, on the likeliest walk; `None` at a start."""


@dataclass
class Explanation:
    """Likelihoods of where the walks that fit a plan end, or leave the known map."""

    ends: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """Likelihood of the walks that end at a node, by the node's number."""
    frontier: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """Likelihood of the walks that go on beyond an unvisited node, by the node's number."""
    likeliest: dict[int, tuple[float, int, State, int]] = field(default_factory=dict)
    """(likelihood, number of actions, state, links on its segment) of the likeliest walk to each node."""
    visits: list[dict[State, Visit]] = field(default_factory=list)
    """Walks that come to each state, by the number of their actions."""

    def path(self, end: int) -> list[int]:
        """Return the nodes, by number, of the likeliest walk to an end, from its start."""
        _, time, state, links = self.likeliest[end]
        parts = [state[0].nodes[: links + 1]]
        before = self.visits[time][state].before
        while before is not None:
            time, state = before
            parts.append(state[0].nodes[:-1])
            before = self.visits[time][state].before
        return [node for part in reversed(parts) for node in part]


def explain(
    streets: Streets,
    plan: FollowerPlan,
    parameters: Parameters,
    horizon: int,
    starts: Sequence[Start],
    usual: tuple[float, float] | None = None,
) -> Explanation:
    """Return where walks that fit a plan, or else its first legs alone, end within `horizon` actions.

    Args:
        streets: streets that are known.
        plan: turns and stop that the text asks for.
        parameters: numbers of the model.
        horizon: largest number of actions of a walk.
        starts: segments on which the walk may set out.
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
    chance: float
    """Probability that people count this crossing when they pass it."""
    onward: tuple[tuple[Exit, float], ...]
    """(way on, factor for taking it where the text says nothing of it) for each way on."""


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
        """Prepare a search for walks of at most `horizon` actions; `usual` is (mean, deviation) of links."""
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
        """Return where walks from the starts end, or leave the known map, within the horizon."""
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
        """Add walks that come from `before` to a state after `time` actions, likelihood times `factor`."""
        if factor > 0.0 and time <= self._horizon:
            there = self._result.visits[time].setdefault(state, Visit())
            there.weight += walks.weight * factor
            if walks.best * factor > there.best:
                there.best, there.before = walks.best * factor, before

    def _advance(self, time: int, state: State, visit: Visit) -> None:
        """Lead walks in a state after `time` actions to the next crossing and on; note where they end."""
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
        chance, straight = crossing.chance, crossing.straight
        onward = min(since + segment.steps, FAR)
        hint = self._hints[leg].get(number + 1)
        fit = 1.0
        if hint is not None:
            fit = hint_fit(hint, since + segment.steps, crossing.exits, self._p)
            new = max(new, self._p.near_separate) if hint.gap == "near" else new
            chance = max(chance, self._p.shape_told) if hint.kind else chance
        passing = [
            (number + 1, 0, fit * new * chance),
            (number, onward, new * (1.0 - chance)),
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
        """Return a leg's factor for a turn at the next crossing, which counts as new with chance `new`."""
        if leg == len(self._legs):
            return 0.0
        weights = self._weights[leg]
        return fit * new * weights.get(number + 1, 0.0) + (1.0 - new) * weights.get(number, 0.0)

    def _add_ends(self, time: int, state: State, visit: Visit) -> None:
        """Add the walks in a state, after `time` actions, that end at a node of the state's segment."""
        segment = state[0]
        last = segment.steps + segment.known
        for links, share in enumerate(self._shares(state)[:last]):
            if links and share > 0.0 and time + links < self._horizon:
                gain = share
                if self._usual is not None:
                    mean, deviation = self._usual
                    gain *= exp(-0.5 * ((time + links - len(self._legs) - mean) / deviation) ** 2)
                node, best = segment.nodes[links], visit.best * gain
                self._result.ends[node] += visit.weight * gain
                if best > self._result.likeliest.get(node, (0.0,))[0]:
                    self._result.likeliest[node] = (best, time, state, links)

    def _shares(self, state: State) -> Sequence[float]:
        """Return an end's chance at each node of a state's segment; a mean over lengths if not seen whole."""
        segment, _, number, since = state
        if not segment.known:
            return self._endings.unseen(segment.steps, number, since)
        crossing = self._find_crossing(segment)
        chance = crossing.chance if crossing else 1.0
        return self._endings.block(segment.steps, number, since, chance)

    def _share_beyond(self, state: State) -> float:
        """Return the probability that a walk which leaves the known map still fits the plan later.

        That is a turn or an end at a later crossing, or an end further down this block.
        """
        segment, leg, number, _ = state
        later = sum(share for at, share in self._weights[leg].items() if at > number)
        if leg < len(self._legs):
            return later
        return later + sum(self._shares(state)[segment.steps :])
