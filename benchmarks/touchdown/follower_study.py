"""`python -m benchmarks.touchdown.follower_study`: what each rule is worth, and what goes wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from virl.bench.metrics.paths import path_of, task_completion
from virl.bench.statistics import mean_with_interval
from virl.cli.guard import add_guard
from virl.console import SafeConsole
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.movers.discrete.task import OPENING, start_state
from virl.platform.navigators.follower.model import Parameters, default_parameters
from virl.platform.navigators.follower.navigator import Follower
from virl.platform.navigators.follower.reading import understand
from virl.platform.providers.graph.touchdown import Dataset

from .dataset import Data, Scenario, Selection, open_data

ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "crossings of several nodes are merged": {"separate": (1.0,)},
    "crossings may go unmentioned": {
        "named_further": 0.0,
        "named_further_remark": 0.0,
        "further": 0.0,
        "further_remark": 0.0,
        "fewer_least": 0.0,
        "fewer": 0.0,
        "counted_fourway": 1.0,
    },
    "each landmark named puts the turn or end further on": {
        "named_further_remark": 0.0,
        "further_remark": 0.0,
        "remark": 0.0,
    },
    "crossings right after another, and long blocks": {"near_separate": 0.0, "gap_least": 1.0},
    "the shape of a crossing, where the text tells it": {"other_shape": 1.0, "shape_told": 0.0},
    "of two ways ahead, either is straight on": {"bear_spread": 0.01, "bear": 0.05},
    "side streets and Ts may go uncounted": {"counted_side": 1.0, "counted_tee": 1.0},
    "turns and bends may go unmentioned": {
        "bear": 0.0,
        "untold_turn": 0.0,
        "forced_turn": 0.0,
        "forced_bend": 0.0,
    },
    "the outermost way is the turn": {"not_outermost": 1.0, "rough_not_outermost": 1.0},
    "stop phrases place the end": {"stop_phrases": False},
    "the end is picked with its neighbours": {"neighbours": False},
    "long blocks hold more ends": {"block_pull": 0.0},
    "traffic flows the way the car drove": {
        "with_traffic": 0.5,
        "against_traffic": 0.5,
        "traffic_untold": 0.5,
    },
    "a walk may set out from a crossing close by": {"near_turn": 0.0},
    "looks further, and may return (embodied only)": {"explore": 4.0},
}
"""Rules of the follower, each with the parameters that switch it off."""


class Failure(StrEnum):
    """The reason why a walk did not end at its target; members in the order in which they are tested."""

    START = "set out the wrong way"
    ROUTE = "left the gold path at a crossing"
    LIMIT = "ran out of actions on the right way"
    STOP = "right street, wrong place on it"


@dataclass(frozen=True, slots=True)
class FollowerOutcome:
    """The outcome of the follower on one episode."""

    failure: Failure | None
    phrase: str
    """Kind of phrase that tells where to stop, as the grammar read it."""

    @property
    def is_complete(self) -> bool:
        """Return whether the walk ended at its target or beside it."""
        return self.failure is None


def try_out(data: Data, dataset: Dataset, follower: Follower) -> list[FollowerOutcome]:
    """Return the follower's outcome on each episode of the data.

    Args:
        data: with the episodes.
        dataset: whose rules hold.
        follower: that walks.
    """
    return [_outcome_of(data.graph, episode, dataset, follower) for episode in data.episodes.values()]


def follower_for(
    graph: NavigationGraph,
    dataset: Dataset,
    parameters: Parameters,
    *,
    use_map: bool,
    use_prior: bool = False,
) -> Follower:
    """Return the follower as the benchmark runs it on a data set, with these parameters.

    Args:
        graph: links between the panoramas.
        dataset: whose rules hold.
        parameters: of the follower.
        use_map: whether it knows the map.
        use_prior: whether it knows usual lengths.
    """
    return Follower(
        graph,
        use_map=use_map,
        use_prior=use_prior,
        oriented=dataset == "map2seq",
        opening=OPENING[dataset],
        parameters=parameters,
    )


def switch_off(rule: str, parameters: Parameters) -> Parameters:
    """Return the parameters with a rule of `ABLATIONS` switched off."""
    return parameters.model_copy(update=dict(ABLATIONS[rule]))


def completion(outcomes: Sequence[FollowerOutcome]) -> float:
    """Return the task completion over outcomes, percent."""
    return 100.0 * sum(outcome.is_complete for outcome in outcomes) / len(outcomes)


def _outcome_of(
    graph: NavigationGraph, episode: InstructionEpisode, dataset: Dataset, follower: Follower
) -> FollowerOutcome:
    """Return how the follower ends an episode, and the kind of phrase that tells where to stop."""
    start = start_state(graph, episode, dataset)
    moves = list(follower.walk(episode.instruction, start))
    walked = path_of([start.node, *(move.state.node for move in moves)])
    gold = [graph.number(node) for node in episode.path]
    phrase = understand(episode.instruction).end.kind
    if task_completion(graph, walked[-1], gold[-1]):
        return FollowerOutcome(None, phrase)
    return FollowerOutcome(_failure_of(graph, walked, gold, has_stopped=moves[-1].action == "stop"), phrase)


def _failure_of(
    graph: NavigationGraph, walked: Sequence[int], gold: Sequence[int], *, has_stopped: bool
) -> Failure:
    """Return the reason why a walk that did not reach its target failed."""
    steps, taken = list(pairwise(gold)), set(pairwise(walked))
    if steps and steps[0] not in taken:
        return Failure.START
    # Only the last crossing is asked for: who leaves it rightly has found the street, by whatever way.
    crossings = [index for index, node in enumerate(gold[:-1]) if graph.degree[node] > 2]
    last = crossings[-1] if crossings else 0
    if last < len(steps) and steps[last] not in taken:
        return Failure.ROUTE
    return Failure.STOP if has_stopped else Failure.LIMIT


def completion_table(name: str, parts: Mapping[str, Sequence[FollowerOutcome]]) -> Table:
    """Return a table of the task completion on several splits, with 95 % bootstrap intervals."""
    table = Table("split", "episodes", "TC %", "95 %", title=name)
    for split, outcomes in parts.items():
        mean, low, high = mean_with_interval([float(outcome.is_complete) for outcome in outcomes])
        table.add_row(split, str(len(outcomes)), f"{100 * mean:.1f}", f"{100 * low:.1f} to {100 * high:.1f}")
    return table


def failure_table(name: str, outcomes: Sequence[FollowerOutcome]) -> Table:
    """Return a table of the shares of failures, and of task completion by kind of stop phrase."""
    table = Table("what", "episodes", "%", title=f"{name}: failures, and TC by stop phrase")
    failures = Counter(outcome.failure for outcome in outcomes if outcome.failure)
    for failure, count in failures.most_common():
        table.add_row(failure.value, str(count), f"{100 * count / len(outcomes):.1f}")
    table.add_section()
    for phrase, count in Counter(outcome.phrase for outcome in outcomes).most_common():
        share = completion([outcome for outcome in outcomes if outcome.phrase == phrase])
        table.add_row(f"TC where the stop phrase is `{phrase}`", str(count), f"{share:.1f}")
    return table


def _ablation_table(name: str, whole: float, parts: Mapping[str, float]) -> Table:
    """Return a table of the task completion with all rules (`whole`) and without each one, in percent."""
    table = Table("without the rule", "TC %", "change", title=f"{name}: ablation")
    table.add_row("(whole)", f"{whole:.1f}", "")
    for rule, value in parts.items():
        table.add_row(rule, f"{value:.1f}", f"{value - whole:+.1f}")
    return table


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
@add_guard()
def study(
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data. By default, your installed data.")
    ] = None,
    dataset: Annotated[Dataset, typer.Option(help="Data set of the instructions.")] = "map2seq",
    scenario: Annotated[
        Scenario, typer.Option(help="Scenario: which part of the city is for training.")
    ] = "seen",
    split: Annotated[str, typer.Option(help="Split of the scenario.")] = "dev",
    limit: Annotated[int | None, typer.Option(help="Use only the first N episodes.", min=1)] = None,
    use_map: Annotated[bool, typer.Option("--map", help="Plan on the map.")] = False,
    use_prior: Annotated[
        bool, typer.Option("--prior", help="Use the lengths of the data set's routes.")
    ] = False,
    ablate: Annotated[bool, typer.Option("--ablate", help="Switch off each rule in turn.")] = False,
) -> None:
    """Print TC, failure classes and, if asked for, the ablation table of the follower on a split."""
    _print_study(Selection(data, dataset, scenario, split, None, limit), use_map, use_prior, ablate)


def _print_study(chosen: Selection, use_map: bool, use_prior: bool, ablate: bool) -> None:
    """Print completion and failures of the follower, and, with `ablate`, the worth of each rule."""
    console, data = SafeConsole(), open_data(chosen)

    def outcomes_with(parameters: Parameters) -> list[FollowerOutcome]:
        """Return the outcomes of the follower with these parameters."""
        follower = follower_for(data.graph, chosen.dataset, parameters, use_map=use_map, use_prior=use_prior)
        return try_out(data, chosen.dataset, follower)

    parameters = default_parameters()
    name = Follower(data.graph, use_map=use_map, use_prior=use_prior).name
    title = f"{name}, {chosen.dataset} {chosen.scenario} {chosen.split}"
    outcomes = outcomes_with(parameters)
    console.print(completion_table(title, {"all": outcomes, **_split_halves(outcomes)}))
    console.print(failure_table(title, outcomes))
    if ablate:
        parts = {rule: completion(outcomes_with(switch_off(rule, parameters))) for rule in ABLATIONS}
        console.print(_ablation_table(title, completion(outcomes), parts))


def _split_halves(outcomes: Sequence[FollowerOutcome]) -> dict[str, Sequence[FollowerOutcome]]:
    """Return the outcomes of even and of odd episodes, by name; empty for a single episode."""
    return {"even episodes": outcomes[::2], "odd episodes": outcomes[1::2]} if len(outcomes) > 1 else {}


if __name__ == "__main__":
    app(prog_name="python -m benchmarks.touchdown.follower_study")
