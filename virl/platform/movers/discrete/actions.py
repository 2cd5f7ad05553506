"""The actions of a discrete walk, and what each does: the rules of VELMA and of the original Touchdown.

Both rules are pure functions of a graph, a state and an action. Headings compare exactly, as the data sets
give them in whole degrees.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from virl.geo.globe import signed_float_turn
from virl.platform.city.graph import NavigationGraph

MAX_ACTIONS = 55  # VELMA's limit of actions an episode
"""Default limit of the number of actions in a walk; the forward that opens a Map2seq walk counts too."""


class Action(StrEnum):
    """An agent's action in one step of a walk."""

    FORWARD = "forward"
    LEFT = "left"
    RIGHT = "right"
    TURN_AROUND = "turn_around"
    STOP = "stop"


_WORDS = re.compile(r"[a-z]+")
_SYNONYMS = {
    "turnleft": Action.LEFT,
    "turnright": Action.RIGHT,
    "turnaround": Action.TURN_AROUND,
    "around": Action.TURN_AROUND,
}
_SYNONYMS |= {action.value.replace("_", ""): action for action in Action}


def parse_action(text: str) -> Action | None:
    """Return the action whose name a model's reply begins with; `None` if it begins with none.

    Case, numbers, punctuation and spaces around it do not matter: `" 12. Turn left."` is `LEFT`.
    """
    words = _WORDS.findall(text.lower())[:2]
    if words[:1] == ["turn"]:
        return _SYNONYMS.get("".join(words))
    return _SYNONYMS.get(words[0]) if words else None


@dataclass(frozen=True, slots=True)
class WalkState:
    """The state of a walker: the node, the heading, and the node that it came from."""

    node: int
    """Number of the node at which the walker stands."""
    heading: float
    """Direction that the walker faces, degrees clockwise from north, [0, 360)."""
    came_from: int | None = None
    """Number of the node that the last action left; `None` at the start and if that action did not move."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of discrete walks: the actions, what each does, and which are possible where."""

    name: str
    """Name of the rules in results and messages."""
    actions: tuple[Action, ...]
    """Actions that an agent may choose from."""
    step: Callable[[NavigationGraph, WalkState, Action], WalkState]
    """Function that returns the state after an action."""
    validate: Callable[[NavigationGraph, WalkState, Action], Action]
    """Function that returns the action asked for, or the one done instead if the node's links bar it."""


class _Exit(NamedTuple):
    """(heading, degrees clockwise from north; number of the target node) of a link that leaves a node."""

    heading: float
    target: int


def _velma_step(graph: NavigationGraph, state: WalkState, action: Action) -> WalkState:
    """Return the state after an action by VELMA's rules (section 3.1, appendix B, and its published code).

    Where three or more links leave, arriving and having turned differ: on arrival the link back is left out
    and `forward` is the middle one of the others; after a turn the agent faces a link, and `forward` takes
    it. Where the published code has no answer (a heading that no link has, without having arrived),
    `forward` takes the link nearest to the heading.
    """
    ways = _exits(graph, state.node)
    if action is Action.STOP or not ways:
        return WalkState(state.node, state.heading)
    if action is Action.TURN_AROUND:
        return _face(state, _nearest_exit(ways, state.heading + 180))
    facing = next((way for way in ways if way.heading == state.heading), None)
    if action is Action.FORWARD and facing:
        return _move(state, facing)
    # In a dead end just come to, nothing but turning around has an effect in VELMA's code.
    if len(ways) == 1 and state.came_from is not None:
        return WalkState(state.node, state.heading)
    ahead, left, right = _links_by_action(state, ways)
    if action is Action.FORWARD:
        return _move(state, ahead)
    return _face(state, left if action is Action.LEFT else right)


def _velma_validate(graph: NavigationGraph, state: WalkState, action: Action) -> Action:
    """Return the action VELMA carries out: forward for a turn at two links; stop or about-turn at one."""
    degree = int(graph.first[state.node + 1] - graph.first[state.node])
    if degree <= 1:
        return action if action in (Action.STOP, Action.TURN_AROUND) else Action.STOP
    if degree == 2 and action in (Action.LEFT, Action.RIGHT):
        return Action.FORWARD
    return action


def _links_by_action(state: WalkState, ways: list[_Exit]) -> tuple[_Exit, _Exit, _Exit]:
    """Return the links that the actions (forward, left, right) take or face in a state, by VELMA's rules."""
    if len(ways) <= 2:
        way = _nearest_exit(ways, state.heading)
        return way, way, way
    arrived = state.came_from is not None and any(way.target != state.came_from for way in ways)
    if arrived:
        return _links_on_arrival(state, ways)
    others = [way for way in ways if way.heading != state.heading]
    return _nearest_exit(ways, state.heading), *_ways_beside(state.heading, others or ways)


def _links_on_arrival(state: WalkState, ways: list[_Exit]) -> tuple[_Exit, _Exit, _Exit]:
    """Return the links for the actions (forward, left, right) at a crossing that the walker just came to."""
    # By the turn in [-180, 180): straight back is left, as in VELMA's published code.
    rest = sorted(
        (way for way in ways if way.target != state.came_from),
        key=lambda way: (way.heading - state.heading + 180.0) % 360.0 - 180.0,
    )
    middle = len(rest) // 2
    # Of an even number of ways none is in the middle: the straighter of the two there.
    ahead = rest[middle] if len(rest) % 2 else _nearest_exit(rest[middle - 1 : middle + 1], state.heading)
    if len(ways) == 3 or len(rest) == 1:
        return ahead, rest[0], rest[-1]
    return ahead, *_ways_beside(ahead.heading, [way for way in rest if way is not ahead])


def _ways_beside(heading: float, ways: list[_Exit]) -> tuple[_Exit, _Exit]:
    """Return (first of `ways` counter-clockwise, first of them clockwise) from a heading in degrees."""
    left = min(ways, key=lambda way: (heading - way.heading) % 360)
    right = min(ways, key=lambda way: (way.heading - heading) % 360)
    return left, right


def _touchdown_step(graph: NavigationGraph, state: WalkState, action: Action) -> WalkState:
    """Return the state after an action by the original Touchdown's rules (Chen et al. 2019; VELMA Table 4).

    `forward` takes the link that the agent faces and then faces the link nearest to the old heading; `left`
    and `right` turn to the next link, the way back included. There is no `turn_around`; asking for it turns
    to the link nearest to the way back.
    """
    ways = _exits(graph, state.node)
    if action is Action.STOP or not ways:
        return WalkState(state.node, state.heading)
    facing = _nearest_exit(ways, state.heading)
    if action is Action.FORWARD:
        onward = _exits(graph, facing.target)
        heading = _nearest_exit(onward, facing.heading).heading if onward else facing.heading
        return WalkState(facing.target, heading, state.node)
    if action is Action.TURN_AROUND:
        return _face(state, _nearest_exit(ways, state.heading + 180))
    others = [way for way in ways if way is not facing]
    if not others:
        return _face(state, facing)
    left, right = _ways_beside(facing.heading, others)
    return _face(state, left if action is Action.LEFT else right)


def _touchdown_validate(graph: NavigationGraph, state: WalkState, action: Action) -> Action:
    """Return the action asked for: under Touchdown's rules all are possible everywhere."""
    del graph, state
    return action


def _exits(graph: NavigationGraph, node: int) -> list[_Exit]:
    """Return the links that leave a node, in the graph's order."""
    links = graph.links(node)
    return list(map(_Exit, graph.heading[links].tolist(), graph.target[links].tolist()))


def _nearest_exit(ways: list[_Exit], heading: float) -> _Exit:
    """Return the link of `ways` whose heading is nearest to `heading`, degrees."""
    return min(ways, key=lambda way: abs(signed_float_turn(heading, way.heading)))


def _move(state: WalkState, way: _Exit) -> WalkState:
    """Return the state after moving along a link."""
    return WalkState(way.target, way.heading, state.node)


def _face(state: WalkState, way: _Exit) -> WalkState:
    """Return the state after turning to face a link."""
    return WalkState(state.node, way.heading)


VELMA = Rules("velma", tuple(Action), _velma_step, _velma_validate)
TOUCHDOWN = Rules(
    "touchdown",
    (Action.FORWARD, Action.LEFT, Action.RIGHT, Action.STOP),
    _touchdown_step,
    _touchdown_validate,
)
