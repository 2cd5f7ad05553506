"""Kills, faults, jumping clocks and full disks, for hours or for seconds: nothing may be lost.

`make soak KILLS=200 SEED=7`, or `python tests/chaos/soak.py --kills 200 --seed 7 --report figures.md`.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from chaos.ends import COST_FAULTS, FREE, End, differences, end_of, has_failed_episodes
from chaos.jobs import Job, agent_jobs, chosen, other_jobs
from chaos.world import LONGEST_S, Process, World, can_mount, opened_world, prepare, small_disk

MOST_KILLS = 5
"""Of one run, after which it may end."""
MOST_TRIES = 5
"""Of a run that no kill meets."""
CLOCK = "0,10800,-172800,86400"
"""Seconds by which the clock jumps: hours on, days back."""


@dataclass
class Figures:
    """What was counted of a job."""

    runs: int = 0
    kills: int = 0
    identical: int = 0
    paid_twice: int = 0
    """Requests that the server answered a second time, without those that it served free."""
    agreeing: int = 0
    """Runs whose result tells the cost that stands in the book."""
    faulty: int = 0
    """Runs whose provider failed in a tenth of its replies."""
    jumping: int = 0
    """Runs whose clock jumped."""
    seconds: int = 0
    """Second processes that met the first one on its folder."""
    disks: int = 0
    """Times that a disk was full."""
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Whole:
    """A run without an interruption."""

    end: End
    first_s: float
    """Seconds until its folder held something."""
    seconds: float


class Soak:
    """Runs jobs, kills them and compares their ends.

    Args:
        world: where.
        chance: decides when what happens.
    """

    def __init__(self, world: World, chance: random.Random) -> None:
        self._world = world
        self._chance = chance
        self._number = 0
        self.figures: dict[str, Figures] = {}
        self._wholes: dict[str, Whole] = {}

    @property
    def kills(self) -> int:
        """So far."""
        return sum(one.kills for one in self.figures.values())

    def run(self, job: Job, *, full_disk: bool = False) -> None:
        """One run of a job, killed a few times or on a disk that is full, and continued to its end."""
        if job.name not in self._wholes:
            self._wholes[job.name] = self._whole(job)
        figures = self.figures.setdefault(job.name, Figures())
        figures.runs += 1
        before = len(figures.faults)
        if full_disk:
            with self._home() as home:
                self._fill_disk(job, home, figures)
        else:
            kills = figures.kills
            for _ in range(MOST_TRIES):  # a run that was too quick for its kill is made again
                with self._home() as home:
                    self._kill(job, home, figures)
                if figures.kills > kills or len(figures.faults) > before:
                    break
            else:
                figures.faults.append(f"none of {MOST_TRIES} runs met a kill")
        new = figures.faults[before:]
        figures.agreeing += not any(fault.startswith(COST_FAULTS) for fault in new)
        figures.identical += len(figures.faults) == before

    def _home(self) -> "tempfile.TemporaryDirectory[str]":
        self._number += 1
        return tempfile.TemporaryDirectory(prefix=f"{self._number}-", dir=self._world.home)

    def _whole(self, job: Job) -> Whole:
        with self._home() as name:
            home = Path(name)
            out, process = self._start(job, home, home / "out", again=False)
            first = None
            while process.wait(0.05) is None:
                if first is None and out.exists() and any(out.iterdir()):
                    first = time.monotonic() - process.started
                if time.monotonic() - process.started > LONGEST_S:
                    process.kill()
            seconds = time.monotonic() - process.started
            if (code := process.wait(0)) != 0:
                raise RuntimeError(f"{job.name} ends with {code} by itself: {process.said()}")
            end = end_of(out)
            if end.faults:
                raise RuntimeError(f"{job.name}, uninterrupted: {'; '.join(end.faults)}")
            return Whole(end, min(first or seconds / 2, seconds * 0.9), seconds)

    def _start(
        self, job: Job, home: Path, out: Path, *, again: bool, faulty: bool = False, **more: str
    ) -> tuple[Path, Process]:
        if job.template and not out.exists():
            shutil.copytree(self._world.data / job.template, out)
        environment = self._world.environment(home / "cache", faulty=faulty, **more)
        command = job.command(out, self._world.data, again=again)
        return out, Process(command, environment, home / "log.txt")

    def _kill(self, job: Job, name: str, figures: Figures) -> None:
        home, whole = Path(name), self._wholes[job.name]
        out = home / "out"
        faulty = job.is_paid and self._chance.random() < 0.25
        jumps = {"CHAOS_CLOCK": CLOCK} if self._chance.random() < 0.25 else {}
        wanted = self._chance.randint(2, MOST_KILLS)
        figures.faulty += faulty
        figures.jumping += bool(jumps)
        self._world.server.reset()
        killed = 0
        for _ in range(4 * MOST_KILLS):
            plan = dict(jumps)
            after = LONGEST_S
            if killed < wanted:
                if self._chance.random() < 0.4:  # at a write
                    plan["CHAOS_KILL_AT"] = str(round(60 ** self._chance.random()))
                    plan["CHAOS_FOLDERS"] = f"{out}:{home / 'cache'}"
                else:
                    span = max(whole.seconds - whole.first_s, 0.3)
                    after = 0.8 * whole.first_s + span * self._chance.random()
            again = job.has_begun(out)
            _, process = self._start(job, home, out, again=again, faulty=faulty, **plan)
            if again and self._chance.random() < 0.1:
                self._second(job, home, out, process, figures)
            code = process.wait(after)
            if code is None:
                code = -9 if process.kill() else process.wait(0)
            if not process.ends_alone(10.0):
                figures.faults.append("children went on after the kill")
            # A killed worker is replaced as often as an episode is tried; then the command says: resume.
            is_cut = code == 0 and "CHAOS_KILL_AT" in plan and has_failed_episodes(out)
            if code == -9 or is_cut:
                killed += 1
                figures.kills += 1
            elif code != 0:
                figures.faults.append(f"exit code {code}: {process.said()[-400:]}")
                return
            else:
                break
        else:
            figures.faults.append("it never ended")
            return
        figures.faults += differences(whole.end, end_of(out))
        if job.is_paid and not faulty:
            repeated: dict[str, int] = self._world.server.stats()["repeated"]
            figures.paid_twice += sum(count for one, count in repeated.items() if one not in FREE)

    def _second(self, job: Job, home: Path, out: Path, first: Process, figures: Figures) -> None:
        """A second process on the same folder while the first one runs: one of them must be refused."""
        if not job.is_resumed or first.wait(1.0) is not None:
            return
        (home / "second").mkdir(exist_ok=True)
        environment = self._world.environment(home / "cache")
        second = Process(job.command(out, self._world.data, again=True), environment, home / "second/log.txt")
        code = second.wait(LONGEST_S)
        figures.seconds += code == 2
        if code not in (0, 2) or "Traceback" in second.said():
            figures.faults.append(f"a second run ends with {code}: {second.said()[-300:]}")

    def _fill_disk(self, job: Job, name: str, figures: Figures) -> None:
        home, whole = Path(name), self._wholes[job.name]
        disk_folder = home / "disk"
        size = 4096 * self._chance.randint(4, 40)
        with small_disk(disk_folder, size) as disk:
            out = disk_folder / "out"
            for again in (False, True, True):
                try:
                    _, process = self._start(job, home, out, again=again and job.has_begun(out))
                except OSError:  # the template does not fit
                    disk.grow()
                    shutil.rmtree(out, ignore_errors=True)
                    continue
                code = process.wait(LONGEST_S)
                if code == 0:
                    break
                figures.disks += 1
                said = process.said()
                if code != 2 or "Traceback" in said or "virl: " not in said:
                    figures.faults.append(f"full disk of {size} bytes: exit code {code}: {said[-400:]}")
                disk.grow()
            else:
                figures.faults.append("it did not go on after there was room")
                return
            figures.faults += differences(whole.end, end_of(out))


def soak(
    home: Path,
    kills: int,
    seed: int,
    names: Sequence[str] = (),
    *,
    disks: int = 1,
    tell: bool = True,
    report: Path | None = None,
) -> Soak:
    """Kill the jobs in turn until there are so many kills, each at least once.

    Args:
        home: a folder for everything.
        kills: how many at least.
        seed: of all that is left to chance.
        names: of the jobs; by default all.
        disks: full disks for each job, where disks can be mounted.
        tell: whether each run is printed.
        report: a file for the figures, written anew after each run.
    """
    began = time.monotonic()
    with opened_world(home) as world:
        jobs = chosen([*agent_jobs(world.data), *other_jobs()], names)
        prepare(world, [job.name for job in jobs])
        work = Soak(world, random.Random(seed))
        rounds = 0
        while work.kills < kills or rounds == 0:
            for job in jobs:
                is_for_disk = rounds < disks and can_mount()
                for full_disk in (False, True) if is_for_disk else (False,):
                    started = time.monotonic()
                    work.run(job, full_disk=full_disk)
                    if tell:
                        _tell(job, work, time.monotonic() - started, full_disk=full_disk)
                    if report:
                        report.write_text(table(work, seed, time.monotonic() - began))
                if rounds and work.kills >= kills:
                    break
            rounds += 1
        return work


def _tell(job: Job, work: Soak, seconds: float, *, full_disk: bool) -> None:
    one = work.figures[job.name]
    what = "full disk" if full_disk else "kills"
    sys.stdout.write(
        f"{job.name}, {what}: {one.kills} kills, {one.identical} of {one.runs} identical, {seconds:.0f} s\n"
    )
    for fault in one.faults:
        sys.stdout.write(f"    {fault}\n")
    sys.stdout.flush()


def faults_of(work: Soak) -> dict[str, list[str]]:
    """What was lost or differs, by job."""
    return {name: one.faults for name, one in work.figures.items() if one.faults}


_COLUMNS = {
    "runs": "runs",
    "kills": "kills",
    "identical": "identical ends",
    "paid_twice": "requests paid twice",
    "agreeing": "cost = book",
    "faulty": "runs with faults",
    "jumping": "with clock jumps",
    "seconds": "second processes refused",
    "disks": "full disks met",
}


def table(work: Soak, seed: int, seconds: float) -> str:
    """The figures as Markdown."""
    lines = [f"| job | {' | '.join(_COLUMNS.values())} |", "| --- " * (len(_COLUMNS) + 1) + "|"]
    total: Counter[str] = Counter()
    for name, one in work.figures.items():
        row = {column: int(getattr(one, column)) for column in _COLUMNS}
        total.update(row)
        lines.append(f"| {name} | {' | '.join(map(str, row.values()))} |")
    lines.append(f"| all | {' | '.join(str(total[column]) for column in _COLUMNS)} |")
    lines.append(f"\nSeed {seed}, {seconds / 60:.0f} minutes.")
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line; exit code 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how many at least")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run; by default a new one")
    parser.add_argument("--jobs", nargs="*", default=(), help="names of jobs; by default all")
    parser.add_argument("--disks", type=int, default=1, help="full disks for each job")
    parser.add_argument("--report", type=Path, help="a file for the figures, as Markdown")
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    sys.stdout.write(f"seed {seed}\n")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="soak-") as home:
        work = soak(Path(home), options.kills, seed, options.jobs, disks=options.disks, report=options.report)
    sys.stdout.write(table(work, seed, time.monotonic() - started))
    return int(bool(faults_of(work)))


if __name__ == "__main__":
    sys.exit(main())
