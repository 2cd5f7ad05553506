"""A person who follows an instruction on a navigation graph, by the rules that agents walk by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virl.platform.city.graph import NavigationGraph, panorama_at
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Choice, Step
from virl.platform.movers.discrete.actions import MAX_ACTIONS, VELMA, Action, WalkState
from virl.platform.movers.discrete.oracle import action_towards
from virl.platform.navigators.instruction.base import Decision, Move, act

HUMAN = "human"
"""The name of people's results, and of the decider in them."""


@dataclass(frozen=True)
class HumanNavigator:
    """A navigator that goes where whoever steers the walk goes (`steered_by`), a panorama at a time.

    Each move takes the actions that lead there under VELMA's rules, turns included, and they count as an
    agent's do. Validation holds, too: who walks into a dead end stays in it.

    Args:
        graph: where it walks.
        opening: actions taken before the first decision (`OPENING` of the data set).
        max_actions: the limit of a walk, opening included.
    """

    graph: NavigationGraph
    opening: Sequence[Action] = ()
    max_actions: int = MAX_ACTIONS

    @property
    def name(self) -> str:
        """The name of its results: `"human"`."""
        return HUMAN

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk; it ends where the person stops, or at the limit."""
        onward: list[tuple[int, str]] = []

        def choose(moves: Sequence[Move]) -> Decision:
            state = moves[-1].state if moves else start
            if not onward or onward[-1][0] == state.node:
                choice = self._step(instruction, state, len(moves)).choice
                if choice.link is None:
                    return Decision(Action.STOP, choice.reason)
                onward.append((self.graph.number(choice.link.pano_id), choice.reason))
            node, reason = onward[-1]
            return Decision(action_towards(self.graph, state, node, VELMA), reason)

        return act(self.graph, start, choose, opening=self.opening, max_actions=self.max_actions)

    def _step(self, instruction: str, state: WalkState, actions: int) -> Step:
        """Return the step at which a person is asked, at a state after so many actions."""
        here = panorama_at(self.graph, state.node)
        return Step(
            actions,
            Pose(here.id, state.heading),
            here,
            0.0,
            lambda: Choice(None, "nobody plays"),
            task=instruction,
        )
