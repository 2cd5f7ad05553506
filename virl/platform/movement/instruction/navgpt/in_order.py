"""NavGPT's rules where a map is told: the turns of the instruction in their order.

Earlier steps may be left out of a question, so each thought says how far the walk has come, and the next one
goes on from there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from virl.platform.movement.discrete.actions import Action
from virl.platform.movement.instruction.follower.plan import FollowerPlan
from virl.platform.movement.instruction.in_order import WalkProgress, next_in_order

BACK_DEG, STRAIGHT_DEG = 150.0, 30.0  # turns of more lead back, and of less straight on; chosen

_WAY = re.compile(r"(?P<side>left|right) (?P<angle>[\d.]+),.*?(?:; map: .* in (?P<steps>\d+) steps)?$")
_DONE = re.compile(r"Done: (\d+) turns, then (\d+) crossings, then (\d+) steps of (\d+)\.")


@dataclass(frozen=True, slots=True)
class ViewpointTold:
    """A viewpoint to walk to."""

    viewpoint: str
    turn: float
    """Degrees, positive to the right."""
    steps: int | None
    """To the next crossing that way, where a map tells it."""


def ways_told(told: Mapping[str, str]) -> list[ViewpointTold]:
    """The viewpoints of an observation, by what it says of each."""
    return [
        ViewpointTold(
            name,
            float(found["angle"]) * (-1 if found["side"] == "left" else 1),
            int(found["steps"]) if found["steps"] else None,
        )
        for name, where in told.items()
        if (found := _WAY.match(where))
    ]


def is_mapped(ways: Sequence[ViewpointTold]) -> bool:
    """Whether a map is told."""
    return any(way.steps is not None for way in ways)


def next_way(
    plan: FollowerPlan, thought: str, ways: Sequence[ViewpointTold]
) -> tuple[ViewpointTold | None, str]:
    """The way to take, `None` at the end, and the thought that goes with it.

    Args:
        plan: of the instruction.
        thought: of the step before; empty at the start.
        ways: that lead on from here, the way back included.
    """
    straight = min(ways, key=lambda way: abs(way.turn), default=None)
    if straight is None:
        return None, "No way leads on."
    done = _DONE.search(thought)
    if done is None:
        progress = WalkProgress(ahead=straight.steps)
    else:
        turns, passed, since, ahead = map(int, done.groups())
        progress = WalkProgress(turns, passed, since, ahead or None)
        if len(ways) > 2:
            progress = progress.crossing(straight.steps)
    action = next_in_order(plan, progress)
    if action is Action.STOP:
        return None, "This is where the instruction ends."
    aside = _on_side(ways, action)
    way = aside or straight
    progress = (progress.turned(aside.steps) if aside else progress).forward()
    told = f"{progress.turns} turns, then {progress.passed} crossings, then {progress.since} steps"
    return way, f"Done: {told} of {progress.ahead or 0}."


def _on_side(ways: Sequence[ViewpointTold], action: Action) -> ViewpointTold | None:
    """The way to a side whose turn is nearest to a right angle; `None` where none leads there."""
    sign = {Action.LEFT: -1, Action.RIGHT: 1}.get(action, 0)
    fit = [way for way in ways if STRAIGHT_DEG < sign * way.turn < BACK_DEG]
    return min(fit, key=lambda way: abs(abs(way.turn) - 90.0), default=None)
