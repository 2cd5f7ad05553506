"""Navigators that understand no instruction: forward, random, gold, shortest, and one that a person steers.

They bound what others are measured against: forward and random from below, gold and the shortest path to the
true goal from above. These two know the answer of one episode, so they are made for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from virl.platform.city.graph import NavigationGraph, panorama_at
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Choice, Step
from virl.platform.movers.discrete.actions import MAX_ACTIONS, TOUCHDOWN, VELMA, Action, Rules, WalkState
from virl.platform.movers.discrete.oracle import Oracle, action_towards, gold_actions
from virl.platform.navigators.instruction.base import Decision, Move, act

STOP_AFTER = 40
"""Number of panoramas, start included, at which forward and random stop (as published)."""


@dataclass(frozen=True, slots=True)
class ForwardNavigator:
    """A navigator that goes forward, and stops after a number of panoramas."""

    graph: NavigationGraph
    opening: Sequence[Action] = ()
    """Actions taken before the first decision (`OPENING` of the data set)."""
    rules: Rules = VELMA
    stop_after: int = STOP_AFTER
    """Number of panoramas to pass before stopping, the start included."""

    name: ClassVar[str] = "forward"
    """Name of the navigator in results."""

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves straight ahead; the instruction is not read."""
        del instruction

        def choose(moves: Sequence[Move]) -> Decision:
            """Return the decision to go forward, or to stop after `stop_after` panoramas."""
            return Decision(Action.STOP if _count_passed(moves) >= self.stop_after else Action.FORWARD)

        return act(self.graph, start, choose, rules=self.rules, opening=self.opening)


@dataclass(frozen=True, slots=True)
class RandomNavigator:
    """A navigator that draws forward, left or right at crossings, and stops after some panoramas.

    At a panorama that three or more links leave, having come to it or started there, each of the three has
    the probability 1/3; after a turn and everywhere else it goes forward. The draws of a walk depend on the
    seed, the start and the instruction alone, so walks may run in any order.
    """

    graph: NavigationGraph
    opening: Sequence[Action] = ()
    """Actions taken before the first decision (`OPENING` of the data set)."""
    rules: Rules = VELMA
    stop_after: int = STOP_AFTER
    """Number of panoramas to pass before stopping, the start included."""
    seed: int = 0

    name: ClassVar[str] = "random"
    """Name of the navigator in results."""

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield random moves; the instruction is a part of the random numbers' seed."""
        draw = Random(f"{self.seed} {self.graph.ids[start.node]} {start.heading} {instruction}")

        def choose(moves: Sequence[Move]) -> Decision:
            """Return a random action at crossings, forward between them, or the stop."""
            if _count_passed(moves) >= self.stop_after:
                return Decision(Action.STOP)
            state = moves[-1].state if moves else start
            links = self.graph.links(state.node)
            has_turned = bool(moves) and state.came_from is None
            if has_turned or links.stop - links.start < 3:
                return Decision(Action.FORWARD)
            return Decision(draw.choice((Action.FORWARD, Action.LEFT, Action.RIGHT)))

        return act(self.graph, start, choose, rules=self.rules, opening=self.opening)


@dataclass(frozen=True, slots=True)
class GoldNavigator:
    """A navigator that walks an episode's gold path to its end, without a limit on the number of actions."""

    graph: NavigationGraph
    path: Sequence[str]
    """Ids of the panoramas of the gold path, start and target included."""
    rules: Rules = VELMA

    name: ClassVar[str] = "gold"
    """Name of the navigator in results."""

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves along the gold path; the instruction is not read.

        Raises:
            BadInput: the path follows no link of the graph, or cannot be walked by these rules.
            NoStreetView: the graph does not have a panorama of the path.
        """
        del instruction
        actions = gold_actions(self.graph, self.path, start.heading, self.rules)
        # Unvalidated: validation would hold the walk in a dead end that the path passes through.
        free = replace(self.rules, validate=TOUCHDOWN.validate)
        return act(
            self.graph,
            start,
            lambda moves: Decision(actions[len(moves)]),
            rules=free,
            max_actions=len(actions),
        )


@dataclass(frozen=True, slots=True)
class ShortestPathNavigator:
    """A navigator by the fewest links to the true goal, under the same validation and limit as other agents.

    What it misses no agent could reach: starts in a dead end, and goals that are too far.
    """

    graph: NavigationGraph
    target: str
    """Id of the panorama to reach."""
    opening: Sequence[Action] = ()
    """Actions taken before the first decision (`OPENING` of the data set)."""
    rules: Rules = VELMA
    max_actions: int = MAX_ACTIONS

    name: ClassVar[str] = "shortest"
    """Name of the navigator in results."""

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a shortest way to the target; the instruction is not read.

        Raises:
            NoStreetView: the graph does not have the target.
        """
        del instruction
        oracle = Oracle(self.graph, [self.target], self.rules, turn_at_forks=False)

        def choose(moves: Sequence[Move]) -> Decision:
            """Return the next action of a shortest way to the target."""
            return Decision(oracle.action(moves[-1].state if moves else start))

        return act(
            self.graph, start, choose, rules=self.rules, opening=self.opening, max_actions=self.max_actions
        )


def _count_passed(moves: Sequence[Move]) -> int:
    """Return the number of panoramas passed in a walk's moves, the start included."""
    return 1 + sum(move.state.came_from is not None for move in moves)


HUMAN = "human"
"""Name, in results, of both the agent and the decider of walks that a person steers."""


@dataclass(frozen=True)
class HumanNavigator:
    """A navigator that does what the person who steers the walk chooses (`steered_by`).

    Each move takes the actions that lead there under VELMA's rules, turns included, and they count as an
    agent's do. Validation holds, too: who walks into a dead end stays in it.
    """

    graph: NavigationGraph
    opening: Sequence[Action] = ()
    """Actions taken before the first decision (`OPENING` of the data set)."""
    max_actions: int = MAX_ACTIONS
    """Largest number of actions of a walk, those of the opening included."""

    name: ClassVar[str] = HUMAN
    """Name of the navigator in results."""

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk that a person steers; it ends where the person stops, or at the limit."""
        onward: list[tuple[int, str]] = []

        def choose(moves: Sequence[Move]) -> Decision:
            """Return the next action towards the panorama that the person chose, or the stop."""
            state = moves[-1].state if moves else start
            if not onward or onward[-1][0] == state.node:
                here = panorama_at(self.graph, state.node)
                pose, end = Pose(here.id, state.heading), Choice(None, "nobody plays")
                step = Step(len(moves), pose, here, 0.0, lambda: end, task=instruction)
                choice = step.choice
                if choice.link is None:
                    return Decision(Action.STOP, choice.reason)
                onward.append((self.graph.number(choice.link.pano_id), choice.reason))
            node, reason = onward[-1]
            return Decision(action_towards(self.graph, state, node, VELMA), reason)

        return act(self.graph, start, choose, opening=self.opening, max_actions=self.max_actions)
