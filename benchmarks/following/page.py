"""The page of a run: its table, and every episode on its map."""

from collections.abc import Sequence
from pathlib import Path

from virl.bench.report.episodes import Outcome, ShownEpisode, ShownMove, Summary, write_episodes_page

from ..records import Record
from ..tables import Row, cell_text
from .trial import Trial

PAGE = "episodes.html"


def write_page(
    out: Path, trial: Trial, rows: Sequence[Row], notes: Sequence[str], records: Sequence[Record]
) -> Path:
    """Write `episodes.html` into the folder of a run, and give its path."""
    summary = Summary(
        f"{trial.title}: {rows[0].name}",
        f"{trial.about} The gold path is green, the path walked orange. Choose an episode on the left; the "
        "slider and the list go through its decisions.",
        ("agent", *(column.heading for column in trial.columns)),
        tuple(
            (
                f"{row.name}\n{row.note}",
                *(cell_text(row.values.get(column.key), column) for column in trial.columns),
            )
            for row in rows
        ),
        tuple(notes),
    )
    path = out / PAGE
    write_episodes_page(path, summary, trial.graphs, [_shown(trial, record) for record in records])
    return path


def _shown(trial: Trial, record: Record) -> ShownEpisode:
    episode = trial.episodes.get(record["id"])
    if episode is None:
        scan = next(iter(trial.graphs))
        return ShownEpisode(record["id"], "", (), (), "failed", scan, f"skipped: {record['reason']}")
    graph = trial.graph(episode)
    moves = zip(record["actions"], record["states"], record["decisions"], strict=True)
    return ShownEpisode(
        record["id"],
        episode.instruction,
        tuple(graph.number(node) for node in episode.path),
        tuple(graph.number(node) for node in record["pano_path"]),
        _outcome(trial, record),
        episode.scan,
        note=record.get("reason", ""),
        figures=trial.figures(record["scores"]),
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


def _outcome(trial: Trial, record: Record) -> Outcome:
    if record["status"] == "failed":
        return "failed"
    return "reached" if record["scores"][trial.success] else "missed"
