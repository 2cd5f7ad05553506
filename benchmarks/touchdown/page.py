"""The page of a run: its table, and every episode on the map."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages.episodes import Outcome, ShownEpisode, ShownMove, Summary, write_episodes_page
from benchmarks.records import Record
from benchmarks.tables import Column, Interval, Row
from benchmarks.touchdown.dataset import Data

PAGE = "episodes.html"


def write_page(
    out: Path,
    title: str,
    data: Data,
    agent: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    notes: Sequence[str],
    records: Sequence[Record],
) -> Path:
    """Write `episodes.html` into the folder of a run, and give its path."""
    summary = Summary(
        f"{title}: {agent}",
        "Episodes on the map: the gold path in green, the path walked in orange. "
        "Choose one on the left; the slider and the list go through its decisions.",
        ("agent", *(column.heading for column in columns), "note"),
        tuple((row.name, *(_cell(row, column) for column in columns), row.note) for row in rows),
        tuple(notes),
    )
    path = out / PAGE
    write_episodes_page(path, summary, {"": data.graph}, [_shown(data, record) for record in records])
    return path


def _cell(row: Row, column: Column) -> str:
    value = row.values.get(column.key)
    if value is None:
        return "-"
    scale = 100.0 if column.percent else 1.0
    if not isinstance(value, Interval):
        return f"{scale * value:.{column.digits}f}"
    mean, low, high = (f"{scale * number:.{column.digits}f}" for number in value)
    return f"{mean} ({low} to {high})"


def _shown(data: Data, record: Record) -> ShownEpisode:
    episode = data.episodes.get(record["id"])
    gold = tuple(data.graph.number(node) for node in episode.path) if episode else ()
    instruction = episode.instruction if episode else ""
    if record["status"] == "skipped" or episode is None:
        return ShownEpisode(
            record["id"], instruction, gold, (), "failed", note=f"skipped: {record['reason']}"
        )
    nodes = [data.graph.number(state[0]) for state in record["states"]]
    return ShownEpisode(
        record["id"],
        instruction,
        gold,
        tuple(data.graph.number(node) for node in record["pano_path"]),
        _outcome(record),
        note=record.get("reason", ""),
        figures=_figures(record),
        moves=tuple(
            ShownMove(
                action,
                node,
                told.get("asked", ""),
                told.get("reason", ""),
                tuple(told.get("refused", ())),
            )
            for action, node, told in zip(record["actions"], nodes, record["decisions"], strict=True)
        ),
    )


def _outcome(record: Record) -> Outcome:
    if record["status"] == "failed":
        return "failed"
    return "reached" if record["scores"]["tc"] else "missed"


def _figures(record: Record) -> dict[str, str]:
    scores = record["scores"]
    spd = "no way" if scores["spd"] is None else f"{scores['spd']:.0f}"
    return {"SPD": spd, "KPA": f"{scores['kpa']:.0%}", "nDTW": f"{scores['nDTW']:.2f}"}
