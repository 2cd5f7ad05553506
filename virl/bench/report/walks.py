"""The page of walks: every episode on its map, to step through."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from virl.bench.benchmark import PageHead
from virl.bench.episode import Record
from virl.bench.report.episodes import End, ShownEpisode, ShownMove, write_episodes_page
from virl.bench.walks import WalkScores
from virl.platform.graph import NavigationGraph

FILE = "episodes.html"
TITLE = "Step through every episode on its map"

_LEGEND = (
    "The gold path is green, the path walked orange. Choose an episode on the left; the slider and the list "
    "go through its decisions."
)


def write_walks_page(
    path: Path,
    head: PageHead,
    records: Sequence[Record],
    graphs: Mapping[str, NavigationGraph],
    *,
    about: str,
    success: str,
    figures: Callable[[WalkScores], Mapping[str, str]],
) -> None:
    """Write the page of a run.

    Args:
        path: of the HTML file.
        head: its head.
        records: of `virl.bench.walks.run_walk`.
        graphs: where they were walked, by `scan`.
        about: what the map shows.
        success: the metric that says whether the target was reached.
        figures: some of the metrics as they are shown.
    """
    shown = [
        _shown(record, graphs[record.data["scan"]], success, figures)
        if record.data
        else _skipped(record, graphs)
        for record in records
    ]
    write_episodes_page(path, replace(head, about=f"{head.about} {about} {_LEGEND}"), graphs, shown)


def _skipped(record: Record, graphs: Mapping[str, NavigationGraph]) -> ShownEpisode:
    return ShownEpisode(record.case, "", (), (), "failed", next(iter(graphs)), f"not walked: {record.reason}")


def _shown(
    record: Record,
    graph: NavigationGraph,
    success: str,
    figures: Callable[[WalkScores], Mapping[str, str]],
) -> ShownEpisode:
    data = record.data
    moves = zip(data["actions"], data["states"], data["decisions"], strict=True)
    return ShownEpisode(
        record.case,
        data["instruction"],
        tuple(graph.number(node) for node in data["gold"]),
        tuple(graph.number(node) for node in data["pano_path"]),
        _end(record, success),
        data["scan"],
        note=record.reason,
        figures=figures(data["scores"]),
        moves=tuple(
            ShownMove(
                action,
                graph.number(node),
                told.get("asked", ""),
                told.get("reason", ""),
                tuple(told.get("refused", ())),
            )
            for action, (node, _), told in moves
        ),
    )


def _end(record: Record, success: str) -> End:
    if record.status == "failed":
        return "failed"
    return "reached" if record.data["scores"][success] else "missed"
