"""Navigators from viewpoint to viewpoint that read no instruction, to measure others against."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from virl.geo import signed_turn
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.actions import Action
from virl.platform.movement.discrete.rules import WalkState
from virl.platform.movement.instruction.base import Move

MOVES = 5
"""After which forward and random stop: the random agent of Anderson et al. 2018 (R2R) does so."""
AHEAD_DEG = 90.0  # chosen: a way that leads back is not ahead


@dataclass(frozen=True, slots=True)
class RouteNavigator:
    """Walks a path that it was given, and stops at its end."""

    name: str
    graph: NavigationGraph
    path: Sequence[int]
    """Node numbers, each linked with the one before; the start first."""

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """The moves of a walk; the instruction is not read."""
        del instruction
        state = start
        for node in self.path[1:]:
            state = _go(self.graph, state, node)
            yield _moved(self.graph, state)
        yield _stop(state)


@dataclass(frozen=True, slots=True)
class ForwardNavigator:
    """Goes on by the link nearest to its heading, and stops after five moves or where nothing lies ahead."""

    graph: NavigationGraph
    name: str = "forward"

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """The moves of a walk; the instruction is not read."""
        del instruction
        state = start
        for _ in range(MOVES):
            links = self.graph.links(state.node)
            turns = np.abs(signed_turn(state.heading, self.graph.heading[links]))
            if not turns.size or turns.min() > AHEAD_DEG:
                break
            state = _go(self.graph, state, int(self.graph.target[links][turns.argmin()]))
            yield _moved(self.graph, state)
        yield _stop(state)


@dataclass(frozen=True, slots=True)
class RandomNavigator:
    """Takes any link, five times. What it draws depends on the seed, the start and the instruction alone."""

    graph: NavigationGraph
    seed: int = 0
    name: str = "random"

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """The moves of a walk; the instruction is a part of the seed."""
        draw = random.Random(f"{self.seed} {self.graph.ids[start.node]} {instruction}")
        state = start
        for _ in range(MOVES):
            ways = self.graph.target[self.graph.links(state.node)].tolist()
            if not ways:
                break
            state = _go(self.graph, state, draw.choice(ways))
            yield _moved(self.graph, state)
        yield _stop(state)


def _go(graph: NavigationGraph, state: WalkState, node: int) -> WalkState:
    links = graph.links(state.node)
    way = links.start + graph.target[links].tolist().index(node)
    return WalkState(node, float(graph.heading[way]), state.node)


def _moved(graph: NavigationGraph, state: WalkState) -> Move:
    return Move(graph.ids[state.node], state)


def _stop(state: WalkState) -> Move:
    return Move(Action.STOP.value, WalkState(state.node, state.heading))
