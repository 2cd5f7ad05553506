"""The transition functions of `rules` over arrays of states: what a `TransitionTable` is built with.

They give the numbers of states (see `table`) instead of states, and agree with the plain functions to the
last bit. What happens on arrival at a crossing under VELMA's rules is left to the plain function.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from virl.geo import Floats, Ints, signed_turn
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.actions import Action

ASK = -1
"""Stands for a destination that only the plain function knows."""


@dataclass(frozen=True, slots=True)
class States:
    """Many states as arrays of one length."""

    node: Ints
    heading: Floats
    came_from: Ints
    """-1 where there is none."""
    paused: Ints
    """Number of the state that stands and faces alike and came from nowhere."""


Destinations = dict[Action, Ints]
"""Number of the state that each action leads to, from every state."""


def velma_arrival(graph: NavigationGraph) -> Floats:
    """Where one faces who has come over each link: the way it led."""
    return graph.heading


def touchdown_arrival(graph: NavigationGraph) -> Floats:
    """Where one faces who has come over each link: the nearest way on."""
    onward = graph.heading[_nearest(graph, graph.target, graph.heading)]
    return np.where(graph.degree[graph.target] > 0, onward, graph.heading)


def velma_destinations(graph: NavigationGraph, states: States) -> Destinations:
    """`velma_step`, with `ASK` for arrivals at crossings."""
    degree, arrived = graph.degree[states.node], states.came_from >= 0
    stuck, ask = arrived & (degree == 1), arrived & (degree > 2)
    nearest = _nearest(graph, states.node, states.heading)
    facing = _least(graph, states.node, lambda link: graph.heading[link] != states.heading)
    faces = graph.heading[facing] == states.heading

    def unless_stuck(way: Ints) -> Ints:
        return np.where(ask, ASK, np.where(stuck, states.paused, way))

    def turn(side: int) -> Ints:
        beside = _beside(
            graph, states.node, states.heading, side, lambda link: graph.heading[link] == states.heading
        )
        return unless_stuck(_settled(graph, np.where(degree > 2, beside, nearest)))

    forward = np.where(faces, facing, unless_stuck(nearest))
    return _complete(graph, states, {Action.FORWARD: forward, Action.LEFT: turn(-1), Action.RIGHT: turn(1)})


def touchdown_destinations(graph: NavigationGraph, states: States) -> Destinations:
    """`touchdown_step`."""
    facing = _nearest(graph, states.node, states.heading)

    def turn(side: int) -> Ints:
        heading = graph.heading[facing]
        return _settled(graph, _beside(graph, states.node, heading, side, lambda link: link == facing))

    return _complete(graph, states, {Action.FORWARD: facing, Action.LEFT: turn(-1), Action.RIGHT: turn(1)})


def _complete(graph: NavigationGraph, states: States, found: Destinations) -> Destinations:
    """With the actions that both rules share, and with states that no link leaves."""
    behind = _nearest(graph, states.node, states.heading + 180)
    found = found | {Action.TURN_AROUND: _settled(graph, behind), Action.STOP: states.paused}
    nowhere = graph.degree[states.node] == 0
    return {action: np.where(nowhere, states.paused, to) for action, to in found.items()}


def _settled(graph: NavigationGraph, link: Ints) -> Ints:
    """Number of the state of one who has turned to face a link; that of having come over it is the link's."""
    return link + len(graph.target)


def _nearest(graph: NavigationGraph, node: Ints, heading: Floats) -> Ints:
    """The link of each node that is nearest to a heading."""
    return _least(graph, node, lambda link: np.abs(signed_turn(heading, graph.heading[link])))


def _beside(
    graph: NavigationGraph,
    node: Ints,
    heading: Floats,
    side: int,
    left_out: Callable[[Ints], NDArray[np.bool_]],
) -> Ints:
    """The first link of each node clockwise (side 1) or counter-clockwise (-1) of a heading."""

    def sweep(link: Ints) -> Floats:
        return np.where(left_out(link), np.inf, side * (graph.heading[link] - heading) % 360)

    return _least(graph, node, sweep)


def _least(
    graph: NavigationGraph, node: Ints, cost: Callable[[Ints], NDArray[np.float64 | np.bool_]]
) -> Ints:
    """The first link of each node with the least cost; where the node has no links, any."""
    last = len(graph.target) - 1
    best = np.minimum(graph.first[node], last)
    least = np.full(len(node), np.inf)
    for nth in range(int(graph.degree.max())):
        link = np.minimum(graph.first[node] + nth, last)
        costs = np.where(nth < graph.degree[node], cost(link), np.inf)
        best = np.where(costs < least, link, best)
        least = np.minimum(costs, least)
    return best
