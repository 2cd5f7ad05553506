"""All agents with all movers in a dense town: faults and kills change nothing of what a run ends with.

`make soak JOBS="helsinki hiro"`, or `python tests/chaos/crossing.py --jobs "hiro links" --report figures.md`.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from chaos.dense_town import crossing_jobs, opened_town
from chaos.ends import FREE, End, differences, end_of
from chaos.jobs import Job
from chaos.world import Process, World
from real_data import real_data

KILLS = 3
LONGEST_S = 1200.0
MOST_TRIES = 4
"""Of a run that ends before it was killed so often."""


@dataclass
class Row:
    """What was seen of an agent with a mover."""

    ended: str = ""
    steps: int = 0
    requests: int = 0
    usd: float = 0.0
    faulty_usd: float = 0.0
    met: int = 0
    """Faults that the server drew."""
    killed_usd: float = 0.0
    kills: int = 0
    paid_twice: int = 0
    """Paid requests that the server answered again after a kill."""
    faults: list[str] = field(default_factory=list)


class Crossing:
    """Runs a job as it is, with faults, and with kills.

    Args:
        world: where.
        chance: decides when what is killed.
    """

    def __init__(self, world: World, chance: random.Random) -> None:
        self._world = world
        self._chance = chance
        self.rows: dict[str, Row] = {}

    def run(self, job: Job, *, faulty: bool = True, kills: int = KILLS) -> Row:
        """All that is done to a job."""
        row = self.rows[job.name] = Row()
        with self._home() as home:
            out = Path(home) / "out"
            whole = self._whole(job, Path(home), row)
            if whole is None:
                return row
            events = _events(out)
        if faulty:
            with self._home() as home:
                self._faulty(job, Path(home), row, whole)
        for _ in range(MOST_TRIES if kills else 0):
            row.kills = 0
            with self._home() as home:
                self._killed(job, Path(home), row, whole, events, kills)
            if row.kills == kills or row.faults:
                break
        else:
            if kills:
                row.faults.append(f"none of {MOST_TRIES} runs met {kills} kills")
        return row

    def _home(self) -> "tempfile.TemporaryDirectory[str]":
        return tempfile.TemporaryDirectory(dir=self._world.home, ignore_cleanup_errors=True)

    def _start(self, job: Job, home: Path, *, again: bool = False, faulty: bool = False) -> Process:
        environment = self._world.environment(home / "cache", faulty=faulty)
        command = job.command(home / "out", self._world.data, again=again)
        return Process(command, environment, home / "log.txt")

    def _whole(self, job: Job, home: Path, row: Row) -> End | None:
        process = self._start(job, home)
        if not self._ends_well(process, row, "clean"):
            return None
        result = json.loads((home / "out/result.json").read_text())
        whole = end_of(home / "out")
        row.faults += [f"clean: {fault}" for fault in whole.faults]
        row.ended, row.steps = _told(result), result["steps"]
        row.requests, row.usd = sum(whole.sent.values()), whole.usd
        return whole

    def _faulty(self, job: Job, home: Path, row: Row, whole: End) -> None:
        self._world.flaky.reset()
        if not self._ends_well(self._start(job, home, faulty=True), row, "faults"):
            return
        end = end_of(home / "out")
        row.met = sum(self._world.flaky.stats()["faults"].values())
        row.faulty_usd = end.usd
        row.faults += [f"faults: {fault}" for fault in differences(whole, end)]

    def _killed(self, job: Job, home: Path, row: Row, whole: End, events: int, kills: int) -> None:
        out = home / "out"
        self._world.server.reset()
        for number in range(kills):
            process = self._start(job, home, again=job.has_begun(out))
            first = events * number // kills
            target = first + self._chance.randint(1, max(events // kills, 1))
            if not _wait(process, lambda least=target: _events(out) >= least, self._chance.random() * 0.5):
                if process.wait(0) != 0:
                    row.faults.append(f"kills: exit code {process.wait(0)}: {process.said()[-400:]}")
                return
            row.kills += process.kill()
            if not process.ends_alone(15.0):
                row.faults.append("kills: children went on after the kill")
        if not self._ends_well(self._start(job, home, again=job.has_begun(out)), row, "kills"):
            return
        end = end_of(out)
        row.killed_usd = end.usd
        repeated: dict[str, int] = self._world.server.stats()["repeated"]
        row.paid_twice = sum(count for one, count in repeated.items() if one not in FREE)
        row.faults += [f"kills: {fault}" for fault in differences(whole, end)]
        if row.paid_twice > kills:
            row.faults.append(f"kills: {row.paid_twice} requests were paid twice")

    def _ends_well(self, process: Process, row: Row, what: str) -> bool:
        code = process.wait(LONGEST_S)
        if code is None:
            process.kill()
        if not process.ends_alone(10.0):
            row.faults.append(f"{what}: children went on after the end")
        if code != 0:
            row.faults.append(f"{what}: exit code {code}: {process.said()[-400:]}")
        return code == 0


def _wait(process: Process, happened: Callable[[], bool], then: float) -> bool:
    """Wait until something has happened and some seconds more; whether the process is alive."""
    until = time.monotonic() + LONGEST_S
    while process.wait(0.02) is None and time.monotonic() < until:
        if happened():
            return process.wait(then) is None
    return False


def _events(out: Path) -> int:
    """Lines of all journals of a run, those of consulted agents included."""
    return sum(path.read_bytes().count(b"\n") for path in out.rglob("journal.jsonl"))


def _told(result: dict[str, object]) -> str:
    place = result.get("place")
    return f"{result['status']}: {place['name']}" if isinstance(place, dict) else str(result["status"])


def cross(
    world: World,
    jobs: Sequence[Job],
    seed: int,
    *,
    faulty: bool = True,
    kills: int = KILLS,
    tell: bool = True,
    report: Path | None = None,
) -> Crossing:
    """Do it to each job in turn.

    Args:
        world: where.
        jobs: what is run.
        seed: of the times of the kills.
        faulty: whether each is run with faults.
        kills: how often each is killed.
        tell: whether each job is printed.
        report: a file for the figures, written anew after each job.
    """
    work = Crossing(world, random.Random(seed))
    for job in jobs:
        started = time.monotonic()
        row = work.run(job, faulty=faulty, kills=kills)
        if tell:
            told = "".join(f"    {fault}\n" for fault in row.faults)
            sys.stdout.write(f"{_line(job.name, row)} {time.monotonic() - started:.0f} s\n{told}")
            sys.stdout.flush()
        if report:
            report.write_text(table(work))
    return work


def table(work: Crossing) -> str:
    """The figures as Markdown."""
    columns = "agent", "mover", "end", "steps", "requests", "$", "faults met", "$", "same", "kills", "$"
    columns += "paid twice", "same"
    lines = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
    return "\n".join([*lines, *(_line(name, row) for name, row in work.rows.items())]) + "\n"


def _line(name: str, row: Row) -> str:
    agent, _, mover = name.partition(" ")
    faults, kills = (
        "no" if any(one.startswith((what, "clean")) for one in row.faults) else "yes"
        for what in ("faults", "kills")
    )
    clean = f"| {agent} | {mover} | {row.ended} | {row.steps} | {row.requests} | {row.usd:.3f} "
    faulty = f"| {row.met} | {row.faulty_usd:.3f} | {faults} "
    return f"{clean}{faulty}| {row.kills} | {row.killed_usd:.3f} | {row.paid_twice} | {kills} |"


def faults_of(work: Crossing) -> dict[str, list[str]]:
    """What was lost or differs, by job."""
    return {name: row.faults for name, row in work.rows.items() if row.faults}


def main() -> int:
    """The command line; exit code 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the times of the kills")
    parser.add_argument(
        "--jobs", nargs="*", default=(), help="such as `hiro links`, or `hiro`; by default all"
    )
    parser.add_argument("--odd", action="store_true", help="with every oddity of the server")
    parser.add_argument("--only-clean", action="store_true", help="neither faults nor kills")
    parser.add_argument("--report", type=Path, help="a file for the figures, as Markdown")
    options = parser.parse_args()
    extract = real_data("osm") / "helsinki.osm.pbf"
    with (
        tempfile.TemporaryDirectory(prefix="crossing-") as home,
        opened_town(Path(home), extract, odd=options.odd) as world,
    ):
        jobs = [
            job
            for job in crossing_jobs(world.data)
            if not options.jobs or {job.name, *job.name.split()} & set(options.jobs)
        ]
        how = {"faulty": False, "kills": 0} if options.only_clean else {}
        work = cross(world, jobs, options.seed, report=options.report, **how)
    return int(bool(faults_of(work)))


if __name__ == "__main__":
    sys.exit(main())
