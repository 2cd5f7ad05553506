"""Walks by a transition table: every state of a walker, numbered, and where each action leads from it.

On a graph of L links these are 3 L states and the given starts:

- number `link`: has come over the link;
- number `L + link`: has turned on the spot and faces the link;
- number `2 L + link`: has come over the link and then stopped or got nowhere, so stands and faces the same
  but came from nowhere, which tells at crossings;
- the starts, where they are none of these.

It is built with the transition functions of `actions` over arrays, which agree with the plain ones to the
last bit. What happens on arrival at a crossing under VELMA's rules is left to the plain function.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.geo.globe import Floats, Ints, signed_turn
from virl.platform.city.graph import NavigationGraph
from virl.platform.movers.discrete.actions import TOUCHDOWN, VELMA, Action, Rules, WalkState

_ASK = -1
"""Stand-in number for a next state that only the rules' own function, `rules.step`, can compute."""


@dataclass(frozen=True, slots=True)
class States:
    """Many walk states as arrays of one length, by the states' numbers."""

    node: Ints
    """Number of the node at which each state stands."""
    heading: Floats
    """Direction that each state faces, degrees clockwise from north."""
    came_from: Ints
    """Number of the node before each state, -1 without one."""
    paused: Ints
    """Number of the state that each becomes by pausing: the same node and heading, but no node before."""


Destinations = dict[Action, Ints]
"""Number of the state after each state, arrays of shape (states,), by the action taken."""


def _touchdown_arrival(graph: NavigationGraph) -> Floats:
    """Return, for each link, the heading in degrees after walking it: that of the nearest link onward."""
    onward = graph.heading[_nearest_links(graph, graph.target, graph.heading)]
    return np.where(graph.degree[graph.target] > 0, onward, graph.heading)


def _velma_destinations(graph: NavigationGraph, states: States) -> Destinations:
    """Return each state's next state by action, under VELMA; `_ASK` for arrivals at crossings."""
    degree, arrived = graph.degree[states.node], states.came_from >= 0
    stuck, ask = arrived & (degree == 1), arrived & (degree > 2)
    nearest = _nearest_links(graph, states.node, states.heading)
    facing = _cheapest_links(graph, states.node, lambda link: graph.heading[link] != states.heading)
    faces = graph.heading[facing] == states.heading

    def unless_stuck(way: Ints) -> Ints:
        """Return states `way`, but the paused state on arrival in a dead end and `_ASK` at a crossing."""
        return np.where(ask, _ASK, np.where(stuck, states.paused, way))

    def turn(side: int) -> Ints:
        """Return, for each state, the number of the state after a turn right (side 1) or left (-1)."""
        beside = _first_beside(
            graph, states.node, states.heading, side, lambda link: graph.heading[link] == states.heading
        )
        return unless_stuck(_face_links(graph, np.where(degree > 2, beside, nearest)))

    forward = np.where(faces, facing, unless_stuck(nearest))
    return _complete(graph, states, {Action.FORWARD: forward, Action.LEFT: turn(-1), Action.RIGHT: turn(1)})


def _touchdown_destinations(graph: NavigationGraph, states: States) -> Destinations:
    """Return the states after each action by `TOUCHDOWN.step`."""
    facing = _nearest_links(graph, states.node, states.heading)

    def turn(side: int) -> Ints:
        """Return, for each state, the number of the state after a turn right (side 1) or left (-1)."""
        heading = graph.heading[facing]
        return _face_links(
            graph, _first_beside(graph, states.node, heading, side, lambda link: link == facing)
        )

    return _complete(graph, states, {Action.FORWARD: facing, Action.LEFT: turn(-1), Action.RIGHT: turn(1)})


ACTIONS = tuple(Action)
"""Actions by their number, which is also their column in a transition table."""

_VECTORISED = {
    VELMA.step: (lambda graph: graph.heading, _velma_destinations),
    TOUCHDOWN.step: (_touchdown_arrival, _touchdown_destinations),
}
"""(function for each link's heading on arrival, function for `Destinations`) of rules, by their `step`."""


@dataclass(frozen=True, slots=True, eq=False)
class TransitionTable:
    """All states of walkers on a graph, and the state after each action under some rules.

    The first index of each array is the number of a state, the second that of an action in `ACTIONS`.
    """

    graph: NavigationGraph
    rules: Rules
    node: Ints
    """Number of the node of each state, shape (states,)."""
    heading: Floats
    """Heading of each state, degrees clockwise from north, [0, 360), shape (states,)."""
    came_from: Ints
    """Number of the node before each state, -1 without one, shape (states,)."""
    after: NDArray[np.int32]
    """Number of the state after each action without validation, shape (states, 5)."""
    carried: NDArray[np.int8]
    """Number of the action carried out with validation for each action asked for, shape (states, 5)."""
    validated: NDArray[np.int32]
    """Number of the state after each action with validation, shape (states, 5)."""

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.node)

    def state(self, number: int) -> WalkState:
        """Return the state that has a number in this table."""
        came_from = int(self.came_from[number])
        return WalkState(
            int(self.node[number]), float(self.heading[number]), came_from if came_from >= 0 else None
        )

    def number(self, state: WalkState) -> int:
        """Return the number that a state has in this table.

        Raises:
            BadInput: the table does not have the state: it should have been among the starts.
        """
        came_from = -1 if state.came_from is None else state.came_from
        count = len(self.graph.target)
        links = self.graph.links(state.node if came_from < 0 else came_from)
        first = links.start + (count if came_from < 0 else 0)
        # Arrivals from one node, and the links faced at one, lie side by side; the rest is searched.
        for near in (slice(first, first + links.stop - links.start), slice(2 * count, None)):
            alike = (self.node[near] == state.node) & (self.heading[near] == state.heading)
            found = np.flatnonzero(alike & (self.came_from[near] == came_from))
            if len(found):
                return int(near.start + found[0])
        raise BadInput(f"{state} is not in the transition table: give it as a start when building it")


def build_table(
    graph: NavigationGraph, rules: Rules = VELMA, starts: Sequence[WalkState] = ()
) -> TransitionTable:
    """Return the transition table of a graph: the states that walks can reach, and what actions do there.

    Args:
        graph: links between the panoramas.
        rules: effects of actions: the transition function of VELMA or of Touchdown, with any validation that
            looks at nothing but how many links leave a node.
        starts: states to number besides those that walking leads to, as a rule those where episodes begin.

    Raises:
        BadInput: the rules have another transition function, or a start stands at no node.
    """
    if rules.step not in _VECTORISED:
        raise BadInput(f"no transition table for {rules.name}'s rules: use velma's or touchdown's")
    arrival, destinations = _VECTORISED[rules.step]
    states = _number_states(graph, arrival, starts)
    found = destinations(graph, states) if len(graph.target) else dict.fromkeys(ACTIONS, states.paused)
    after = np.stack([found[action] for action in ACTIONS], axis=1).astype(np.int32)
    for number, column in zip(*np.nonzero(after == _ASK), strict=True):
        after[number, column] = _state_after(graph, rules, states, int(number), ACTIONS[column])
    carried = _validation(graph, rules)[graph.degree[states.node]]
    validated = np.take_along_axis(after, carried.astype(np.intp), axis=1)
    return TransitionTable(
        graph, rules, states.node, states.heading, states.came_from, after, carried, validated
    )


def _number_states(
    graph: NavigationGraph, arrival: Callable[[NavigationGraph], Floats], starts: Sequence[WalkState]
) -> States:
    """Return all states that walks reach, `starts` last; `arrival` gives the heading after each link."""
    for start in starts:
        inside = 0 <= start.node < len(graph) and 0 <= (start.came_from or 0) < len(graph)
        if not (inside and isfinite(start.heading)):
            raise BadInput(f"a walk cannot start at {start}: the graph has {len(graph)} nodes")
    # Numbers: arrivals over each link, each link faced, arrivals as if from nowhere, then the starts.
    links = len(graph.target)
    source = np.repeat(np.arange(len(graph)), graph.degree)
    faced = arrival(graph) if links else graph.heading
    states = (state for start in starts for state in (replace(start, came_from=None), start))
    extra = {state: 3 * links + index for index, state in enumerate(dict.fromkeys(states))}
    came_from = [-1 if state.came_from is None else state.came_from for state in extra]
    paused = np.arange(3 * links + len(extra))
    # Who has arrived and then pauses stands as if come from nowhere; who faces a link stays so.
    paused[:links] = paused[2 * links : 3 * links]
    paused[3 * links :] = [extra[replace(state, came_from=None)] for state in extra]
    nowhere = np.full(2 * links, -1)
    return States(
        node=np.concatenate([graph.target, source, graph.target, np.array([s.node for s in extra], int)]),
        heading=np.concatenate([faced, graph.heading, faced, np.array([s.heading for s in extra], float)]),
        came_from=np.concatenate([source, nowhere, np.array(came_from, int)]),
        paused=paused,
    )


def _state_after(graph: NavigationGraph, rules: Rules, states: States, number: int, action: Action) -> int:
    """Return the number of the state after an action in state `number`, an arrival at a crossing."""
    node = int(states.node[number])
    state = WalkState(node, float(states.heading[number]), int(states.came_from[number]))
    after = rules.step(graph, state, action)
    moved = after.came_from is not None
    links = range(int(graph.first[node]), int(graph.first[node + 1]))
    return next(
        link if moved else len(graph.target) + link
        for link in links
        if graph.heading[link] == after.heading and (not moved or graph.target[link] == after.node)
    )


def _validation(graph: NavigationGraph, rules: Rules) -> NDArray[np.int8]:
    """Return the numbers of the actions carried out, as an array by [links at the node, action asked for]."""
    carried = np.zeros((int(graph.degree.max()) + 1, len(ACTIONS)), np.int8)
    # Validation looks at nothing but the degree, so that one node of each will do.
    for degree, node in zip(*np.unique(graph.degree, return_index=True), strict=True):
        state = WalkState(int(node), 0.0)
        carried[degree] = [ACTIONS.index(rules.validate(graph, state, action)) for action in ACTIONS]
    return carried


def _complete(graph: NavigationGraph, states: States, found: Destinations) -> Destinations:
    """Return `found` with stop and about-turn added; at nodes without links, all lead to the paused state."""
    behind = _nearest_links(graph, states.node, states.heading + 180)
    found = found | {Action.TURN_AROUND: _face_links(graph, behind), Action.STOP: states.paused}
    nowhere = graph.degree[states.node] == 0
    return {action: np.where(nowhere, states.paused, to) for action, to in found.items()}


def _face_links(graph: NavigationGraph, link: Ints) -> Ints:
    """Return the numbers of the states that face links, which are given by number."""
    return link + len(graph.target)


def _nearest_links(graph: NavigationGraph, node: Ints, heading: Floats) -> Ints:
    """Return, for each node and heading in degrees, the number of the node's link nearest to the heading."""
    return _cheapest_links(graph, node, lambda link: np.abs(signed_turn(heading, graph.heading[link])))


def _first_beside(
    graph: NavigationGraph,
    node: Ints,
    heading: Floats,
    side: int,
    left_out: Callable[[Ints], NDArray[np.bool_]],
) -> Ints:
    """Return each node's first link right (side 1) or left (-1) of a heading, degrees, except `left_out`."""

    def sweep(link: Ints) -> Floats:
        """Return the degrees, [0, 360), turned to the side from headings to links; `inf` if left out."""
        return np.where(left_out(link), np.inf, side * (graph.heading[link] - heading) % 360)

    return _cheapest_links(graph, node, sweep)


def _cheapest_links(
    graph: NavigationGraph, node: Ints, cost: Callable[[Ints], NDArray[np.float64 | np.bool_]]
) -> Ints:
    """Return the number of each node's first link of least cost; any number for a node without links."""
    last = len(graph.target) - 1
    best = np.minimum(graph.first[node], last)
    least = np.full(len(node), np.inf)
    # The nth links of all nodes at once: nodes are many, links of a node few.
    for nth in range(int(graph.degree.max())):
        link = np.minimum(graph.first[node] + nth, last)
        costs = np.where(nth < graph.degree[node], cost(link), np.inf)
        best = np.where(costs < least, link, best)
        least = np.minimum(costs, least)
    return best


_COLUMN = {action: column for column, action in enumerate(ACTIONS)}


class Walker:
    """A walker that actions move from state to state of a transition table.

    Raises:
        BadInput: the table does not have the start.
    """

    __slots__ = ("_after", "_carried", "_table", "number")

    number: int
    """Number of the walker's state in the table; may be set."""

    def __init__(self, table: TransitionTable, start: WalkState) -> None:
        """Begin in a state of the table."""
        self._table = table
        # a memory view gives plain integers three times as fast as an array does
        self._after, self._carried = table.validated.ravel().data, table.carried.ravel().data
        self.number = table.number(start)

    def __deepcopy__(self, _: dict[int, Any]) -> "Walker":
        """Return a separate walker on the same table, which never changes."""
        return Walker(self._table, self.state)

    @property
    def state(self) -> WalkState:
        """State of the walker: node, heading and the node before."""
        return self._table.state(self.number)

    def step(self, action: Action) -> Action:
        """Carry out an action as validation allows it, and return the action that was carried out."""
        cell = self.number * 5 + _COLUMN[action]
        self.number = self._after[cell]
        return ACTIONS[self._carried[cell]]


class WalkerBatch:
    """Many walkers on one transition table, moved together.

    Raises:
        BadInput: the table does not have one of the starts.
    """

    __slots__ = ("_table", "numbers")

    numbers: NDArray[np.int32]
    """Number of each walker's state in the table, shape (walkers,); may be set."""

    def __init__(self, table: TransitionTable, starts: Sequence[WalkState] | Ints) -> None:
        """Begin in states of the table, which are given as such or as numbers of shape (walkers,)."""
        self._table = table
        if not isinstance(starts, np.ndarray):
            starts = np.array([table.number(state) for state in starts], np.int64)
        if len(starts) and not 0 <= starts.min() <= starts.max() < len(table):
            raise BadInput(f"a walker starts in a state that is not in the table: it has {len(table)}")
        self.numbers = starts.astype(np.int32)

    def __len__(self) -> int:
        """Return the number of walkers."""
        return len(self.numbers)

    def state(self, walker: int) -> WalkState:
        """Return the state of a walker, by its index."""
        return self._table.state(int(self.numbers[walker]))

    def step(self, actions: NDArray[np.integer]) -> NDArray[np.int8]:
        """Carry out an action for each walker as validation allows it; return the actions carried out.

        All are numbers of actions in `ACTIONS`, shape (walkers,).

        Raises:
            BadInput: there are not as many actions as walkers, or one is no number of an action.
        """
        in_range = 0 <= actions.min(initial=0) <= actions.max(initial=0) < len(ACTIONS)
        if actions.shape != self.numbers.shape or not in_range:
            raise BadInput(f"{len(self)} walkers need {len(self)} actions from 0 to {len(ACTIONS) - 1}")
        cells = self.numbers * np.int32(len(ACTIONS)) + actions
        self.numbers = self._table.validated.ravel()[cells]
        return self._table.carried.ravel()[cells]
