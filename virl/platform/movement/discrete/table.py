"""Every state that a walker can be in, numbered, and where each action leads from it.

On a graph of L links these are 3 L states and the given starts:

- number `link`: has come over the link;
- number `L + link`: has turned on the spot and faces the link;
- number `2 L + link`: has come over the link and then stopped or got nowhere, so stands and faces the same
  but came from nowhere, which tells at crossings;
- the starts, where they are none of these.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.geo import Floats, Ints
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.actions import Action
from virl.platform.movement.discrete.rules import TOUCHDOWN, VELMA, Rules, WalkState
from virl.platform.movement.discrete.vectorised import (
    ASK,
    States,
    touchdown_arrival,
    touchdown_destinations,
    velma_arrival,
    velma_destinations,
)

ACTIONS = tuple(Action)
"""Actions by their number, which is their column in a table."""

_VECTORISED = {
    VELMA.step: (velma_arrival, velma_destinations),
    TOUCHDOWN.step: (touchdown_arrival, touchdown_destinations),
}


@dataclass(frozen=True, slots=True, eq=False)
class TransitionTable:
    """The states of a graph under some rules, and the steps between them. Made by `build_table`.

    The first index of each array is the number of a state, the second that of an action in `ACTIONS`.
    """

    graph: NavigationGraph
    rules: Rules
    node: Ints
    """Shape (states,)."""
    heading: Floats
    """Degrees clockwise from north, [0, 360), shape (states,)."""
    came_from: Ints
    """The node before, -1 where there is none, shape (states,)."""
    after: NDArray[np.int32]
    """State after each action as it is, shape (states, 5)."""
    carried: NDArray[np.int8]
    """Action that validation makes of each action, shape (states, 5)."""
    validated: NDArray[np.int32]
    """State after each action once validated, shape (states, 5)."""

    def __len__(self) -> int:
        return len(self.node)

    def state(self, number: int) -> WalkState:
        """The state with a number."""
        came_from = int(self.came_from[number])
        return WalkState(
            int(self.node[number]), float(self.heading[number]), came_from if came_from >= 0 else None
        )

    def number(self, state: WalkState) -> int:
        """The number of a state.

        Raises:
            BadInput: the table does not have it: it should have been among the starts.
        """
        came_from = -1 if state.came_from is None else state.came_from
        count = len(self.graph.target)
        links = self.graph.links(state.node if came_from < 0 else came_from)
        first = links.start + (count if came_from < 0 else 0)
        for near in (slice(first, first + links.stop - links.start), slice(2 * count, None)):
            alike = (self.node[near] == state.node) & (self.heading[near] == state.heading)
            found = np.flatnonzero(alike & (self.came_from[near] == came_from))
            if len(found):
                return int(near.start + found[0])
        raise BadInput(f"{state} is not in the transition table: give it as a start when building it")


def build_table(
    graph: NavigationGraph, rules: Rules = VELMA, starts: Sequence[WalkState] = ()
) -> TransitionTable:
    """Works out every step that can be taken on a graph.

    Args:
        graph: where to walk.
        rules: what actions do: the transition function of VELMA or of Touchdown, with any validation that
            looks at nothing but how many links leave a node.
        starts: states to know besides those that walking leads to, as a rule those where episodes begin.

    Raises:
        BadInput: the rules have another transition function, or a start stands at no node.
    """
    if rules.step not in _VECTORISED:
        raise BadInput(f"no transition table for {rules.name}'s rules: use velma's or touchdown's")
    arrival, destinations = _VECTORISED[rules.step]
    states = _number_states(graph, arrival, starts)
    found = destinations(graph, states) if len(graph.target) else dict.fromkeys(ACTIONS, states.paused)
    after = np.stack([found[action] for action in ACTIONS], axis=1).astype(np.int32)
    for number, column in zip(*np.nonzero(after == ASK), strict=True):
        after[number, column] = _ask(graph, rules, states, int(number), ACTIONS[column])
    carried = _validation(graph, rules)[graph.degree[states.node]]
    validated = np.take_along_axis(after, carried.astype(np.intp), axis=1)
    return TransitionTable(
        graph, rules, states.node, states.heading, states.came_from, after, carried, validated
    )


def _number_states(
    graph: NavigationGraph, arrival: Callable[[NavigationGraph], Floats], starts: Sequence[WalkState]
) -> States:
    """All states in the order of their numbers."""
    for start in starts:
        inside = 0 <= start.node < len(graph) and 0 <= (start.came_from or 0) < len(graph)
        if not (inside and isfinite(start.heading)):
            raise BadInput(f"a walk cannot start at {start}: the graph has {len(graph)} nodes")
    links = len(graph.target)
    source = np.repeat(np.arange(len(graph)), graph.degree)
    faced = arrival(graph) if links else graph.heading
    states = (state for start in starts for state in (replace(start, came_from=None), start))
    extra = {state: 3 * links + index for index, state in enumerate(dict.fromkeys(states))}
    came_from = [-1 if state.came_from is None else state.came_from for state in extra]
    paused = np.arange(3 * links + len(extra))
    paused[:links] = paused[2 * links : 3 * links]
    paused[3 * links :] = [extra[replace(state, came_from=None)] for state in extra]
    nowhere = np.full(2 * links, -1)
    return States(
        node=np.concatenate([graph.target, source, graph.target, np.array([s.node for s in extra], int)]),
        heading=np.concatenate([faced, graph.heading, faced, np.array([s.heading for s in extra], float)]),
        came_from=np.concatenate([source, nowhere, np.array(came_from, int)]),
        paused=paused,
    )


def _ask(graph: NavigationGraph, rules: Rules, states: States, number: int, action: Action) -> int:
    """The number of the state that the plain function leads to, from a crossing just come to."""
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
    """What validation makes of each action, by the number of links that leave, shape (degree + 1, 5)."""
    carried = np.zeros((int(graph.degree.max()) + 1, len(ACTIONS)), np.int8)
    for degree, node in zip(*np.unique(graph.degree, return_index=True), strict=True):
        state = WalkState(int(node), 0.0)
        carried[degree] = [ACTIONS.index(rules.validate(graph, state, action)) for action in ACTIONS]
    return carried
