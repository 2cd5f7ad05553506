"""Walks the episodes that are left, scores them, and writes what came of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from virl.platform.episodes import Episode

from ..records import Record, Records, record_all, versions, write_results
from ..tables import Row, summarize, table
from .page import write_page
from .trial import Agent, Options, Scores, Trial
from .walks import Walk, skipped_record, take_walk, walk_record


def run(trial: Trial, agent: Agent, settings: Mapping[str, Any], options: Options, console: Console) -> None:
    """Let an agent walk every episode that has no record yet, and write `results.json` and the page.

    An episode whose model failed is walked again when the run is resumed.

    Args:
        trial: the episodes.
        agent: who walks.
        settings: what the records depend on, besides the agent's own settings.
        options: where to, and how many side by side.
        console: for the progress and the results.
    """
    settings = {**settings, **agent.settings}
    with Records.open(options.out, settings, options.resume) as records:
        if records.cut:
            console.print(records.cut, highlight=False, markup=False)
        for identity, reason in trial.faults.items():
            if identity not in records.done:
                records.append(skipped_record(identity, reason))
        record_all(
            records,
            [(episode,) for episode in trial.episodes.values() if not _is_done(records, episode)],
            lambda episode: _walk(trial, agent, episode),
            workers=options.workers,
            console=console,
            title=agent.name,
        )
        done = [records.done[identity] for identity in (*trial.episodes, *trial.faults)]
    _report(trial, agent, settings, options, done, console)


def _is_done(records: Records, episode: Episode) -> bool:
    record = records.done.get(episode.id)
    return record is not None and record["status"] != "failed"


def _walk(trial: Trial, agent: Agent, episode: Episode) -> Record:
    """One episode from start to score."""
    navigator, mind = agent.open(episode)
    walk = take_walk(navigator, episode.instruction, trial.start(episode))
    exchanges = mind.ledger.take() if mind else ()
    return walk_record(trial.graph(episode), episode, walk, _score(trial, episode, walk), exchanges)


def _score(trial: Trial, episode: Episode, walk: Walk) -> Scores:
    scores = trial.score(episode, walk.path())
    return scores | dict.fromkeys(trial.successes, 0.0) if walk.status == "failed" else scores


def _report(
    trial: Trial,
    agent: Agent,
    settings: Mapping[str, Any],
    options: Options,
    records: Sequence[Record],
    console: Console,
) -> None:
    scored = [record for record in records if record["status"] != "skipped"]
    means = summarize([record["scores"] for record in scored])
    rows = [Row(agent.name, means, f"{len(scored)} episodes"), *trial.published]
    notes = [f"data: {trial.source}", *_notes(records)]
    payload = {
        "title": trial.title,
        "agent": agent.name,
        "settings": settings,
        "versions": versions("langchain", "langchain-core"),
        "episodes": {status: _count(records, status) for status in ("walked", "failed", "skipped")},
        "metrics": {key: interval._asdict() for key, interval in means.items()},
        "cost": _total_cost(records),
        "notes": notes,
        "published": [{"name": row.name, "note": row.note} | dict(row.values) for row in trial.published],
    }
    results = write_results(options.out, payload)
    page = write_page(options.out, trial, rows, notes, records)
    console.print(table(trial.title, trial.columns, rows))
    for note in notes:
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    console.print(f"results: {results}\npage: {page}", highlight=False, markup=False, soft_wrap=True)


def _notes(records: Sequence[Record]) -> list[str]:
    """What a reader of the means has to know."""
    notes = []
    for status, told in (
        ("failed", "failed, as the model gave no usable reply; they count as not completed"),
        ("skipped", "were skipped and count nowhere"),
    ):
        concerned = [record for record in records if record["status"] == status]
        if concerned:
            first = concerned[0]
            notes.append(f"{len(concerned)} episodes {told}; the first, {first['id']}: {first['reason']}")
    lost = sum(None in record.get("scores", {}).values() for record in records)
    if lost:
        notes.append(f"{lost} walks ended where no way leads to the target; mean distances leave them out")
    refused = sum(
        len(decision.get("refused", ())) for record in records for decision in record.get("decisions", ())
    )
    if refused:
        notes.append(f"{refused} replies of the model named nothing that was possible")
    return notes


def _total_cost(records: Sequence[Record]) -> dict[str, float]:
    costs = [record["cost"] for record in records if "cost" in record]
    return {name: sum(cost[name] for cost in costs) for name in (costs[0] if costs else ())}


def _count(records: Sequence[Record], status: str) -> int:
    return sum(record["status"] == status for record in records)
