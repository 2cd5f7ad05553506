"""The turns of an instruction in their order, each at the crossing that it counts: for rules that read text.

They know how far they have come, and where a map is told in words, how far the next crossing is.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from virl.platform.movers.discrete.actions import Action
from virl.platform.navigators.follower.clauses import End, FollowerPlan
from virl.platform.navigators.follower.model import (
    TIED,
    TYPICAL_BLOCK,
    Parameters,
    block_shares,
    default_parameters,
    offsets,
)
from virl.platform.navigators.follower.reading import understand

SAME_CROSSING = 2
"""Largest number of steps between two crossings that count as one; tuned on map2seq_seen dev."""


@dataclass(frozen=True, slots=True)
class WalkProgress:
    """The progress of a walk along the plan of its instruction."""

    turns: int = 0
    """Number of turns taken so far."""
    passed: int = 0
    """Number of crossings reached since the last turn."""
    since: int = 0
    """Number of steps since the last crossing or turn."""
    ahead: int | None = None
    """Number of steps from the last crossing or turn to the next crossing; `None` without a map."""
    at_crossing: bool = False
    """True if the last step came to a crossing."""

    def forward(self) -> "WalkProgress":
        """Return the progress after one step forward."""
        return replace(self, since=self.since + 1, at_crossing=False)

    def next_crossing(self, ahead: int | None) -> "WalkProgress":
        """Return the progress on arrival at a crossing, with `ahead` steps straight on to the next one."""
        # A wide crossing is several nodes; the first one of a walk is new, however near it is.
        is_new = self.since > SAME_CROSSING or (not self.passed and not self.turns)
        return replace(self, passed=self.passed + is_new, since=0, ahead=ahead, at_crossing=True)

    def after_turn(self, ahead: int | None) -> "WalkProgress":
        """Return the progress after a turn, with the steps to the next crossing; `None` if unknown."""
        return WalkProgress(self.turns + 1, 0, 0, ahead)


@lru_cache(maxsize=64)
def plan_in_order(instruction: str) -> FollowerPlan:
    """Return the plan of an instruction, which is parsed only once."""
    return understand(instruction)


def next_in_order(plan: FollowerPlan, progress: WalkProgress) -> Action:
    """Return the next action of a plan: forward, the next turn at its crossing, or the stop."""
    if progress.turns < len(plan.legs):
        leg = plan.legs[progress.turns]
        if progress.at_crossing and progress.passed >= leg.ordinal:
            return Action.LEFT if leg.side == "left" else Action.RIGHT
        return Action.FORWARD
    if progress.turns > len(plan.legs) or _has_arrived(plan.end, progress, default_parameters()):
        return Action.STOP
    return Action.FORWARD


def _has_arrived(end: End, progress: WalkProgress, p: Parameters) -> bool:
    """Return whether a walk on the plan's last street has come to the plan's end."""
    if end.kind == "before" and progress.ahead is not None and progress.passed == end.passed:
        return progress.since >= progress.ahead + _likeliest(offsets(end, p))
    if end.kind in ("in", "before"):
        return progress.passed > end.passed
    if progress.passed != end.passed:
        return progress.passed > end.passed
    shares = (
        offsets(end, p)
        if end.kind in TIED
        else dict(enumerate(block_shares(end, progress.ahead or TYPICAL_BLOCK, p)))
    )
    return progress.since >= _likeliest(shares)


def _likeliest(shares: dict[int, float]) -> int:
    """Return the number of steps whose probability, with its neighbours' added, is greatest."""
    return max(shares, key=lambda links: sum(shares.get(links + near, 0.0) for near in (-1, 0, 1)))
