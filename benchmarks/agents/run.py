"""Runs the cases that are left, and writes what came of all of them."""

import importlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.agents.measure import Measure, Part
from benchmarks.records import Record, Records, versions, write_results
from benchmarks.runner import run_jobs
from benchmarks.tables import Column, Interval, cell_text
from virl.errors import BadInput, VirlError
from virl.platform.city import City
from virl.platform.providers import open_city

PARTS = ("peng", "aria", "vivek", "ling", "ling_paper", "diego")
CASES = "cases"


@dataclass(frozen=True, slots=True)
class Task:
    """What is measured."""

    city: str
    agents: tuple[str, ...]
    seed: int
    limit: int | None = None


def part_of(agent: str) -> Part:
    """The part of an agent: its module beside this one."""
    part: Part = importlib.import_module(f"benchmarks.agents.{agent}")
    return part


def run(task: Task, out: Path, console: Console, *, workers: int, resume: bool) -> None:
    """Let every case that has no record yet be lived, and write `results.json`.

    A case that failed is lived again when the run is resumed.

    Args:
        task: what is measured.
        out: folder of the run.
        console: for the progress and the results.
        workers: how many processes.
        resume: whether to go on with a run that is there.

    Raises:
        BadInput: the city's truth is not known, or `out` holds another run.
        UnknownName: there is no such city.
    """
    city = _city(task.city)
    cases = {agent: part_of(agent).cases(city, task.seed)[: task.limit] for agent in task.agents}
    with Records.open(out, {"city": task.city, "seed": task.seed}, resume) as records:
        if records.cut:
            console.print(records.cut, highlight=False, markup=False)
        jobs = [
            (agent, task.city, case, task.seed, out / CASES)
            for agent, ids in cases.items()
            for case in ids
            if _is_left(records, agent, case)
        ]
        for record in run_jobs(live_case, jobs, workers=workers, console=console, title="cases"):
            records.append(record)
        done = {agent: [records.done[f"{agent}/{case}"] for case in ids] for agent, ids in cases.items()}
    _report(task, done, out, console)


def live_case(agent: str, city: str, case: str, seed: int, folder: Path) -> Record:
    """One case from start to truth; what goes wrong is written down, not raised."""
    began = time.perf_counter()
    identity = f"{agent}/{case}"
    try:
        came = part_of(agent).run(_city(city), case, seed, folder / agent / case)
    except VirlError as fault:
        return {"id": identity, "status": "failed", "reason": str(fault)}
    return {"id": identity, "status": "done", "seconds": time.perf_counter() - began} | came


@cache
def _city(name: str) -> City:
    """Once a process."""
    city = open_city(name)
    if city.truth is None:
        raise BadInput(f"{name}: what is true of it is not known: choose a made city, such as virlton")
    return city


def _is_left(records: Records, agent: str, case: str) -> bool:
    record = records.done.get(f"{agent}/{case}")
    return record is None or record["status"] == "failed"


def _report(task: Task, done: dict[str, list[Record]], out: Path, console: Console) -> None:
    lived = {agent: [one for one in records if one["status"] == "done"] for agent, records in done.items()}
    measures = [
        measure for agent, records in lived.items() if records for measure in part_of(agent).measures(records)
    ]
    failed = [record for records in done.values() for record in records if record["status"] == "failed"]
    notes = [f"{len(failed)} cases failed and count nowhere"] if failed else []
    notes += [f"{record['id']}: {record['reason']}" for record in failed]
    results = write_results(
        out,
        {
            "task": asdict(task),
            "versions": versions("langchain"),
            "measures": [_data(measure) for measure in measures],
            "failed": notes,
        },
    )
    console.print(table(measures))
    for note in notes:
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    console.print(f"results: {results}", highlight=False, markup=False, soft_wrap=True)


def table(measures: Sequence[Measure]) -> Table:
    """The measures as a table."""
    shown = Table(box=SIMPLE_HEAD, caption="below a mean: its 95 % interval", pad_edge=False)
    for heading, side in (("agent", "left"), ("measure", "left"), ("value", "right"), ("cases", "right")):
        shown.add_column(heading, justify="right" if side == "right" else "left")
    shown.add_column("wanted")
    for one in measures:
        column = Column("", "", percent=one.percent, digits=one.digits)
        shown.add_row(one.agent, one.what, cell_text(one.value, column), str(one.cases), one.target)
    return shown


def _data(measure: Measure) -> dict[str, object]:
    value = measure.value
    shown = value._asdict() if isinstance(value, Interval) else value
    return asdict(measure) | {"value": shown}
