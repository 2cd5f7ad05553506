"""Walks the episodes that are left, scores them, and writes what came of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.metrics.street import score_paths, score_walks
from benchmarks.records import Record, Records, record_all, versions, write_results
from benchmarks.tables import Column, Interval, Row, summarize, table
from benchmarks.touchdown.agents import Agent
from benchmarks.touchdown.dataset import Data, Selection
from benchmarks.touchdown.page import write_page
from benchmarks.touchdown.published import published_rows
from benchmarks.touchdown.walks import Walk, skipped_record, take_walk, walk_record
from virl.platform.episodes import Episode
from virl.platform.movement.discrete.start import start_state

COLUMNS = (
    Column("tc", "TC %", percent=True, digits=1),
    Column("spd", "SPD", digits=1),
    Column("kpa", "KPA %", percent=True, digits=1),
    Column("kpa_published", "KPA % (as published)", percent=True, digits=1),
    Column("nDTW", "nDTW"),
    Column("SDTW", "SDTW"),
    Column("CLS", "CLS"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is made; none of this changes what a record holds."""

    out: Path
    workers: int = 1
    resume: bool = False


def run(data: Data, chosen: Selection, agent: Agent, options: Options, console: Console) -> None:
    """Let an agent walk every episode that has no record yet, and write `results.json` and the page."""
    settings = {"selection": _plain(asdict(chosen)), "source": data.source, "agent": agent.settings}
    with Records.open(options.out, settings, options.resume) as records:
        if records.cut:
            console.print(records.cut, highlight=False)
        for identity, reason in data.faults.items():
            if identity not in records.done:
                records.append(skipped_record(identity, reason))
        left = [(episode,) for identity, episode in data.episodes.items() if identity not in records.done]
        record_all(
            records,
            left,
            lambda episode: _walk(data, chosen, agent, episode),
            workers=options.workers,
            console=console,
            title=agent.name,
        )
        done = [records.done[identity] for identity in (*data.episodes, *data.faults)]
    _report(data, chosen, agent, options.out, settings, done, console)


def _walk(data: Data, chosen: Selection, agent: Agent, episode: Episode) -> Record:
    """One episode from start to score."""
    navigator, mind = agent.open(episode)
    walk = take_walk(navigator, episode.instruction, start_state(data.graph, episode, chosen.dataset))
    exchanges = mind.ledger.take() if mind else ()
    return walk_record(data.graph, episode, walk, score_walk(data, episode, walk), exchanges)


def score_walk(data: Data, episode: Episode, walk: Walk) -> dict[str, float | None]:
    """The metrics of one walk; `None` for the SPD where no way leads from its end to the target.

    A walk that failed has not completed its task, wherever it stood.
    """
    nodes = walk.path(), [data.graph.number(node) for node in episode.path]
    street, paths = score_walks(data.graph, [nodes])[0], score_paths(data.graph, [nodes])[0]
    scores: dict[str, float | None] = asdict(street) | asdict(paths)
    if not np.isfinite(street.spd):
        scores["spd"] = None
    if walk.status == "failed":
        scores |= {"tc": 0.0, "SDTW": 0.0}
    return scores


def _report(
    data: Data,
    chosen: Selection,
    agent: Agent,
    out: Path,
    settings: Mapping[str, Any],
    records: Sequence[Record],
    console: Console,
) -> None:
    scored = [record for record in records if record["status"] != "skipped"]
    means = _means([record["scores"] for record in scored])
    notes = _notes(data, records)
    row = Row(agent.name, means, f"{len(scored)} episodes")
    published = published_rows(chosen.dataset, chosen.scenario, chosen.split) if data.is_published else []
    title = f"{chosen.dataset}, {chosen.scenario} {chosen.split}"
    payload = {
        "title": title,
        "agent": agent.name,
        "settings": settings,
        "versions": versions("langchain", "langchain-core"),
        "episodes": {status: _count(records, status) for status in ("walked", "failed", "skipped")},
        "metrics": {key: interval._asdict() for key, interval in means.items()},
        "cost": _total_cost(records),
        "notes": notes,
        "published": [{"name": row.name, "note": row.note} | dict(row.values) for row in published],
    }
    results = write_results(out, payload)
    page = write_page(out, title, data, agent.name, COLUMNS, [row, *published], notes, records)
    console.print(table(title, COLUMNS, [row, *published]))
    for note in notes:
        console.print(note, highlight=False)
    console.print(f"results: {results}\npage: {page}", highlight=False)


def _means(scores: Sequence[Mapping[str, float | None]]) -> dict[str, Interval]:
    means: dict[str, Interval] = {}
    for column in COLUMNS:
        values = [{column.key: value} for score in scores if (value := score[column.key]) is not None]
        if values:
            means |= summarize(values)
    return means


def _notes(data: Data, records: Sequence[Record]) -> list[str]:
    """What a reader of the means has to know."""
    notes = [f"data: {data.source}"]
    for status, told in (
        ("failed", "failed, as the model gave no usable reply; they count as not completed"),
        ("skipped", "were skipped and count nowhere"),
    ):
        concerned = [record for record in records if record["status"] == status]
        if concerned:
            first = concerned[0]
            notes.append(f"{len(concerned)} episodes {told}; the first, {first['id']}: {first['reason']}")
    lost = sum(record["scores"]["spd"] is None for record in records if "scores" in record)
    if lost:
        notes.append(f"{lost} walks ended where no way leads to the target; the SPD leaves them out")
    refused = sum(
        len(decision.get("refused", ())) for record in records for decision in record.get("decisions", ())
    )
    if refused:
        notes.append(f"{refused} replies named no possible action; each was asked again")
    return notes


def _total_cost(records: Sequence[Record]) -> dict[str, float]:
    costs = [record["cost"] for record in records if "cost" in record]
    return {name: sum(cost[name] for cost in costs) for name in (costs[0] if costs else ())}


def _count(records: Sequence[Record], status: str) -> int:
    return sum(record["status"] == status for record in records)


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in fields.items()}
