"""The actions of an agent that knows the way: the gold actions of a path, and the oracle of any state.

The oracle is the one that VELMA's response-based learning asks for labels (section 4.2 and its published
code). Both work under any `Rules`, on what the actions do, unvalidated: validation keeps VELMA's agents in a
dead end for good.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from virl.errors import BadInput
from virl.geo.globe import signed_turn
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.hops import NO_WAY, Hops
from virl.platform.movers.discrete.actions import VELMA, Action, Rules, WalkState

FORK_TURN_DEG = 45.0
"""Least turn, degrees, onto the path's next link for which the oracle turns first at a fork of 3 ways."""


class Oracle:
    """An oracle that gives the next action along a known path from any state, on the path or off it.

    Args:
        graph: where the walk goes.
        path: ids of the panoramas, start and target included. A link that is missing from the graph is
            walked around, by a shortest path to the target.
        rules: what actions do.
        turn_at_forks: as for `action_towards`; the published oracle does, the published gold actions do not.

    Raises:
        BadInput: the path is empty.
        NoStreetView: the graph does not have a panorama of the path.
    """

    def __init__(
        self,
        graph: NavigationGraph,
        path: Sequence[str],
        rules: Rules = VELMA,
        *,
        turn_at_forks: bool = True,
    ) -> None:
        """Take a path of panorama ids; with `turn_at_forks`, turn first where the path bends at a fork."""
        if not path:
            raise BadInput("an empty path leads nowhere: the oracle needs at least the target")
        self._graph, self._rules, self._turn_at_forks = graph, rules, turn_at_forks
        self._path = [graph.number(node) for node in path]

    def action(self, state: WalkState, visits: int = 1) -> Action:
        """Return the next action on the path, or on a way to its end, at a node's `visits`-th visit, from 1.

        The number of visits, this one included, tells which way to go on where the path comes by more than
        once. The action is `STOP` at the end of the path, and where no way leads to the target.
        """
        onward = self._next_node(state.node, visits)
        if onward is None:
            return Action.STOP
        return action_towards(self._graph, state, onward, self._rules, turn_at_forks=self._turn_at_forks)

    def actions(self, states: Iterable[WalkState]) -> list[Action]:
        """Return the oracle's action at each state of a walk, which begins at its first state."""
        visits: dict[int, int] = {}
        found: list[Action] = []
        before: int | None = None
        for state in states:
            # A turn on the spot is no further visit.
            if state.node != before:
                visits[state.node] = visits.get(state.node, 0) + 1
            before = state.node
            found.append(self.action(state, visits[state.node]))
        return found

    def _next_node(self, node: int, visits: int) -> int | None:
        """Return the node, by number, to go to from a node at its `visits`-th visit; `None` to stop."""
        stands = [index for index, other in enumerate(self._path) if other == node]
        targets = self._graph.target[self._graph.links(node)]
        if stands:
            index = stands[min(visits, len(stands)) - 1]
            if index == len(self._path) - 1:
                return None
            if self._path[index + 1] in targets:
                return self._path[index + 1]
        hops = self._hops(0, targets)
        ways = hops != NO_WAY
        return int(targets[ways][hops[ways].argmin()]) if ways.any() else None

    @cached_property
    def _hops(self) -> Hops:
        """Function that returns the number of links from any node to the path's last node."""
        return Hops(self._graph, [self._path[-1]])


def gold_actions(
    graph: NavigationGraph, path: Sequence[str], heading: float, rules: Rules = VELMA
) -> list[Action]:
    """Return the actions that walk a path, at first facing `heading` degrees, and stop at its last panorama.

    Args:
        graph: where the walk goes.
        path: ids of the panoramas, start and target included.
        heading: where the walk faces at the start, degrees clockwise from north (`start_state` has that of
            an episode).
        rules: what actions do.

    Raises:
        BadInput: the path is empty, follows no link of the graph, or no actions of these rules walk it.
        NoStreetView: the graph does not have a panorama of the path.
    """
    if not path:
        raise BadInput("an empty path has no gold actions")
    nodes = [graph.number(node) for node in path]
    state = WalkState(nodes[0], heading)
    actions: list[Action] = []
    for node, onward in pairwise(nodes):
        if onward not in graph.target[graph.links(node)]:
            raise BadInput(f"the gold path follows no link from {graph.ids[node]} to {graph.ids[onward]}")
        # A turn to each link, and the move: with more, these rules do not lead there.
        for _ in range(int(graph.degree[node]) + 1):
            actions.append(action_towards(graph, state, onward, rules))
            state = rules.step(graph, state, actions[-1])
            if state.node != node:
                break
        if state.node != onward:
            raise BadInput(
                f"no actions lead from {graph.ids[node]} to {graph.ids[onward]} by {rules.name}'s rules"
            )
    return [*actions, Action.STOP]


def walk_states(
    graph: NavigationGraph, start: WalkState, actions: Iterable[Action], rules: Rules = VELMA
) -> list[WalkState]:
    """Return the states of a walk: the start, then the one after each action, carried out unvalidated.

    Args:
        graph: links between the panoramas.
        start: first state of the walk.
        actions: actions as they are carried out.
        rules: effects of actions.
    """
    states = [start]
    for action in actions:
        states.append(rules.step(graph, states[-1], action))
    return states


def action_towards(
    graph: NavigationGraph,
    state: WalkState,
    onward: int,
    rules: Rules = VELMA,
    *,
    turn_at_forks: bool = False,
) -> Action:
    """Return the action that moves or turns to neighbour `onward`; `turn_at_forks`: at forks turn first.

    Tried in the order of VELMA's code: forward, turn around, left, right; where none of them does it, the
    turn of left and right that ends nearer to the link.

    Args:
        graph: where the walk goes.
        state: where the walker stands and faces.
        onward: number of a node that a link leads to from there.
        rules: what actions do.
        turn_at_forks: at a crossing of three ways, turn first where forward turns by `FORK_TURN_DEG` or more.
    """
    links = graph.links(state.node)
    wanted = graph.heading[links][graph.target[links] == onward]
    turn = np.abs(signed_turn(state.heading, wanted)).min()
    turn_first = turn_at_forks and links.stop - links.start == 3 and turn >= FORK_TURN_DEG
    if not turn_first and rules.step(graph, state, Action.FORWARD).node == onward:
        return Action.FORWARD
    facing: dict[Action, float] = {}
    for action in (Action.TURN_AROUND, Action.LEFT, Action.RIGHT):
        if action in rules.actions:
            facing[action] = rules.step(graph, state, action).heading
            if facing[action] in wanted:
                return action
    left, right = (np.abs(signed_turn(facing[side], wanted)).min() for side in (Action.LEFT, Action.RIGHT))
    return Action.LEFT if left <= right else Action.RIGHT
