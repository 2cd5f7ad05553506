"""Counts the walks that are left, and writes what came of all of them."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks.counting.count import Task, count_walk, world_of
from benchmarks.counting.matching import RADIUS_M, VIRL_RANGE_M
from benchmarks.counting.page import write_page
from benchmarks.counting.report import section_data, sections
from benchmarks.counting.trip import LEAST_PIXELS, LEAST_SEEN, REACH_M
from benchmarks.counting.walks import Walk, choose_walks
from benchmarks.records import Record, Records, versions, write_results
from benchmarks.runner import run_jobs
from benchmarks.tables import table

TITLE = "Counting"


def run(
    task: Task, routes: int, regions: int, out: Path, console: Console, *, workers: int, resume: bool
) -> None:
    """Count every walk that has no record yet, and write `results.json` and the page.

    Args:
        task: what is counted.
        routes: how many routes.
        regions: how many regions.
        out: folder of the run.
        console: for the progress and the results.
        workers: how many processes.
        resume: whether to go on with a run that is there.

    Raises:
        BadInput: the task is none, or `out` holds another run.
        UnknownName: there is no such city, model or memory settings.
        ModelUnavailable: a model is missing.
    """
    walks = choose_walks(world_of(task).city, routes, regions, task.seed)
    settings = {"task": asdict(task), "routes": routes, "regions": regions}
    with Records.open(out, settings, resume) as records:
        if records.cut:
            console.print(records.cut, highlight=False, markup=False)
        jobs = [(task, walk) for walk in walks if walk.id not in records.done]
        for record in run_jobs(count_walk, jobs, workers=workers, console=console, title="walks"):
            records.append(record)
        done = [records.done[walk.id] for walk in walks]
    _report(task, settings, walks, done, out, console)


def _report(
    task: Task,
    settings: dict[str, object],
    walks: Sequence[Walk],
    records: Sequence[Record],
    out: Path,
    console: Console,
) -> None:
    shown = sections(records, task.conditions)
    notes = _notes(task, records)
    payload = {
        "title": TITLE,
        "settings": settings,
        "constants": {
            "reach_m": REACH_M,
            "least_seen": LEAST_SEEN,
            "least_pixels": LEAST_PIXELS,
            "radius_m": RADIUS_M,
            "virl_range_m": VIRL_RANGE_M,
        },
        "versions": versions("opencv-python-headless", "shapely"),
        "walks": [asdict(walk) for walk in walks],
        "sections": [section_data(section) for section in shown],
        "notes": notes,
    }
    results = write_results(out, payload)
    page = write_page(out, TITLE, shown, notes, records)
    for section in shown:
        made = table(section.title, section.columns, section.rows)
        made.columns[0].header, made.columns[0].no_wrap = "", True
        console.print(made)
    for note in notes:
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    console.print(f"results: {results}\npage: {page}", highlight=False, markup=False, soft_wrap=True)


def _notes(task: Task, records: Sequence[Record]) -> list[str]:
    """What a reader of the numbers has to know."""
    looks = sum(len(record["walked"]) for record in records)
    required = sum(len(record["required"]) for record in records)
    active, first = (
        sum(record["sightings"][eyes] for record in records) for eyes in ("active", "first look")
    )
    return [
        f"{len(records)} walks through {task.city}, {looks} looks around for {', '.join(task.things)}",
        f"{required} things to be found; {active} sightings with active detection, {first} without",
        f"detector {task.detector}, seed {task.seed}; published rows: real streets, one route a city",
    ]
