"""How well a model walks a split, greedily: task completion first, and how many replies were no action."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from virl.bench.metrics.street import score_walks
from virl.bench.statistics import mean_with_interval

from .walking import Rollout, TrainingRoute, Walks
from .writer import GreedyWriter


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The walks of a model on a split."""

    episodes: int
    tc: float
    """Task completion, [0, 1]; a walk cut off at a limit can complete the task, as in VELMA's code."""
    tc_low: float
    """The ends of its 95 % bootstrap interval."""
    tc_high: float
    spd: float | None
    """Mean shortest path distance in links; `None` if no way leads from the end of some walk."""
    kpa: float
    kpa_published: float
    decisions: int
    """Actions that the model was asked for."""
    invalid: int
    """Replies that named no action."""
    stopped: int
    """Walks that ended with a stop."""
    too_long: int
    """Walks whose text grew beyond the cutoff."""
    tokens: int
    """Fed to the model."""


def evaluate(
    walks: Walks,
    routes: Sequence[TrainingRoute],
    writer: GreedyWriter,
    advance: Callable[[], None] = lambda: None,
) -> tuple[Evaluation, list[Rollout]]:
    """Let a model walk episodes.

    Args:
        walks: how episodes are walked and told.
        routes: the episodes, at least one.
        writer: the model, in evaluation mode; a new one.
        advance: called as each walk ends.
    """
    rollouts = []
    for route in routes:
        rollouts.append(walks.roll_out(route, writer))
        advance()
    scores = score_walks(
        walks.graph,
        [
            (
                [state.node for state in rollout.states],
                [walks.graph.number(node) for node in route.episode.path],
            )
            for route, rollout in zip(routes, rollouts, strict=True)
        ],
    )
    tc, low, high = mean_with_interval([score.tc for score in scores])
    spd = math.fsum(score.spd for score in scores) / len(scores)
    found = Evaluation(
        episodes=len(routes),
        tc=tc,
        tc_low=low,
        tc_high=high,
        spd=spd if math.isfinite(spd) else None,
        kpa=math.fsum(score.kpa for score in scores) / len(scores),
        kpa_published=math.fsum(score.kpa_published for score in scores) / len(scores),
        decisions=sum(len(rollout.moves) - len(walks.opening) for rollout in rollouts),
        invalid=sum(len(rollout.invalid) for rollout in rollouts),
        stopped=sum(rollout.stopped for rollout in rollouts),
        too_long=sum(rollout.too_long for rollout in rollouts),
        tokens=writer.fed,
    )
    return found, rollouts
