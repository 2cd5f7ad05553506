"""Instruction following as episodes of a benchmark: an agent walks a graph node by node, and is scored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from virl.bench.benchmark import Metric, Scores, Shown, ShownPoint, Tally
from virl.bench.episode import CannotTry, Episode, EpisodeResult, Record
from virl.bench.metrics.paths import path_of
from virl.bench.resources import cost_of
from virl.errors import MindFailed
from virl.geo.globe import LatLng
from virl.mind.base import Mind
from virl.money.book import Exchange
from virl.pages.numbers import count_noun
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.movers.discrete.actions import WalkState
from virl.platform.navigators.instruction.base import InstructionNavigator, Move
from virl.resources import data_home

UserPath = Annotated[Path, AfterValidator(lambda path: path.expanduser().resolve())]
"""A path as an option, made absolute, so that a run can be resumed from any folder."""

WalkScores = dict[str, float | None]
"""The metrics of one walk by key; `None` for an infinite one, such as a distance without a way."""

_DECIMALS = 7  # of degrees: a centimetre


@dataclass(frozen=True, slots=True)
class WalkingAgent:
    """An agent that walks along instructions, with the name under which its results appear."""

    name: str
    """Name under which the agent's results appear, such as `"follower --map"`."""
    open: Callable[[InstructionEpisode], tuple[InstructionNavigator, Mind | None]]
    """Function from an episode to the navigator that walks it, and the mind it asks, or `None`."""


@dataclass(frozen=True, slots=True)
class WalkWorld:
    """The data that all walks of a run share: agent, graphs, instructions and scoring."""

    agent: WalkingAgent
    name: str
    """Name of the data and its split, used as `Episode.city`."""
    folder: Path
    """Folder of the data."""
    source: str
    """Sentence on the data for readers of the report."""
    graphs: Mapping[str, NavigationGraph]
    """Graphs by the `scan` of the episodes; a city's only graph has the name `""`."""
    ids: Sequence[str]
    """Ids of all episodes in file order, then the keys of lines or entries that cannot be read."""
    instructions: Mapping[str, InstructionEpisode]
    """Episodes that can be tried, by id."""
    faults: Mapping[str, str]
    """Reasons why episodes cannot be tried, by id, or by line or entry of the file if unreadable."""
    start: Callable[[InstructionEpisode], WalkState]
    score: Callable[[InstructionEpisode, Sequence[int]], WalkScores]
    """Function from an episode and the nodes walked to its metrics."""
    successes: Sequence[str]
    """Keys of the metrics that are 0 for a failed walk, wherever it ended."""
    attribution: str = ""
    """Names that pages with the data have to credit; may be empty."""


def walk_episodes(world: WalkWorld) -> list[Episode]:
    """Return a benchmark episode for each instruction, those that cannot be walked included."""
    return [
        Episode(identity, world.name, world.agent.name, attribution=world.attribution)
        for identity in world.ids
    ]


def run_walk(episode: Episode, world: WalkWorld) -> EpisodeResult:
    """Walk one instruction with the agent; the result counts as failed if the model gives no usable reply.

    Raises:
        CannotTry: the data makes the episode impossible.
    """
    if episode.case in world.faults:
        raise CannotTry(world.faults[episode.case])
    given = world.instructions[episode.case]
    navigator, mind = world.agent.open(given)
    graph, start = world.graphs[given.scan], world.start(given)
    moves: list[Move] = []
    failure: MindFailed | None = None
    try:
        moves.extend(navigator.walk(given.instruction, start))  # keeps the moves before a failure
    except MindFailed as fault:
        failure = fault
    path = path_of([start.node, *(move.state.node for move in moves)])
    scores = world.score(given, path)
    if failure:
        scores |= dict.fromkeys(world.successes, 0.0)
    data = {
        "folder": str(world.folder),
        "source": world.source,
        "scan": given.scan,
        "instruction": given.instruction,
        "gold": list(given.path),
        "start": [graph.ids[start.node], _whole_if_possible(start.heading)],
        "actions": [move.action for move in moves],
        "states": [[graph.ids[move.state.node], _whole_if_possible(move.state.heading)] for move in moves],
        "pano_path": [graph.ids[node] for node in path],
        "decisions": [_decision(move) for move in moves],
        "scores": scores,
        "line": [_rounded_position(graph, node) for node in path],
        "target": _rounded_position(graph, graph.number(given.target)),
    }
    exchanges = mind.ledger.take_asked() if mind else ()
    return EpisodeResult(data, cost=_exchange_cost(exchanges), failure=failure)


def _decision(move: Move) -> dict[str, object]:
    """Return what a move's action alone does not say: `asked`, `reason` and `refused`, without empty ones."""
    told = {"asked": move.asked, "reason": move.reason, "refused": list(move.refused)}
    return {name: value for name, value in told.items() if value}


def _exchange_cost(exchanges: Sequence[Exchange]) -> Mapping[str, float]:
    """Return the cost of a mind's exchanges by name, and counts `questions` and `cached`; {} without any."""
    if not exchanges:
        return {}
    cached = sum(exchange.cached for exchange in exchanges)
    return {**cost_of(exchanges), "questions": float(len(exchanges)), "cached": float(cached)}


def _whole_if_possible(heading: float) -> float | int:
    """Return a heading in degrees as an integer if it is whole, else unchanged."""
    return int(heading) if float(heading).is_integer() else heading


def _rounded_position(graph: NavigationGraph, node: int) -> list[float]:
    """Return a node's [latitude, longitude], degrees rounded to about a centimetre."""
    return [round(angle, _DECIMALS) for angle in graph.position(node)]


def as_walked(record: object) -> object:
    """Return the `data` of an episode's record, with its case as `id`; anything else unchanged."""
    if isinstance(record, dict) and isinstance(record.get("data"), dict) and "case" in record:
        return record["data"] | {"id": record["case"]}
    return record


def score_records(
    records: Sequence[Record],
    options: object,  # noqa: ARG001 - as the contract says
    *,
    metrics: Sequence[Metric],
) -> Scores:
    """Return the tallies of `metrics` from the scores that records of walks hold, with notes.

    Args:
        records: of episodes that did not fail.
        options: not used.
        metrics: to take out of the scores.
    """
    scored = [(record.case, record.data["scores"]) for record in records]
    tallies = {
        metric.key: [
            Tally(case, scores[metric.key]) for case, scores in scored if scores[metric.key] is not None
        ]
        for metric in metrics
    }
    return Scores(tallies, notes=tuple(_walk_notes(records)))


def _shown_source(source: str) -> str:
    """Return the path of a data set as pages show it: without the folder that all data sets are in."""
    path, home = Path(source), data_home().resolve()
    return path.relative_to(home).as_posix() if path.is_relative_to(home) else source


def _walk_notes(records: Sequence[Record]) -> list[str]:
    """Return notes for readers on the data, failed walks, unreachable ends and refused replies."""
    notes = list(dict.fromkeys(f"data: {_shown_source(record.data['source'])}" for record in records))
    failed = [record for record in records if record.status == "failed"]
    if failed:
        notes.append(
            f"{count_noun(len(failed), 'episode')} failed, as the model gave no usable reply, and count as "
            f"not completed; the first, {failed[0].case}: {failed[0].reason}"
        )
    lost = sum(None in record.data["scores"].values() for record in records)
    if lost:
        notes.append(
            f"{count_noun(lost, 'walk')} ended where no path leads to the target; "
            "mean distances do not include them"
        )
    refused = sum(
        len(decision.get("refused", ())) for record in records for decision in record.data["decisions"]
    )
    if refused:
        notes.append(f"{count_noun(refused, 'reply', 'replies')} of the model named no possible action")
    return notes


def show_walk(record: Record, *, success: str, figures: Callable[[WalkScores], Mapping[str, str]]) -> Shown:
    """Return the contents of a walk's page, coloured by metric `success`, with `figures` of its metrics.

    Args:
        record: of a walk.
        success: the metric that says whether the target was reached.
        figures: some of the metrics as they are shown.
    """
    data = record.data
    reached = data["scores"][success]
    ended = f"failed: {record.reason}" if record.status == "failed" else "reached" if reached else "missed"
    return Shown(
        ended,
        float(reached),
        data["instruction"],
        tuple(figures(data["scores"]).items()),
        decisions=tuple(
            (action, _describe_decision(decision))
            for action, decision in zip(data["actions"], data["decisions"], strict=True)
        ),
        points=(ShownPoint(LatLng(*data["target"]), float(reached), record.case, "goal"),),
        path=tuple(LatLng(*position) for position in data["line"]),
    )


def _describe_decision(decision: Mapping[str, Any]) -> str:
    """Return a recorded decision as one line: what was asked, refused replies and the reason."""
    parts = [f"asked: {decision['asked']}"] if "asked" in decision else []
    parts += [f"refused: {reply}" for reply in decision.get("refused", ())]
    return "; ".join([*parts, *([decision["reason"]] if "reason" in decision else [])])
