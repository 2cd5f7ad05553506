"""What is run and killed: every agent, a benchmark of each kind, and the commands that write data."""

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from virl.agent.character_file import agent_names

T = TypeVar("T")

HTTP, MADE = "virlton-http", "virlton"

TRIMS = {
    "hiro": ("limits.steps=4",),
    "rx399": ("limits.steps=8",),
    "aria": ("recommend.candidates=3",),
    "ling": ("limits.steps=8",),
    "diego": ("day.activities=2",),
    "iris": ("limits.steps=5",),
    "noor": ("preview.to=95 Station Street",),
}
"""What makes a run of an agent short, as `--set` takes it."""

TRUTH = frozenset({"rx399", "imani", "vivek", "mira", "otto", "noor"})
"""Agents that need what only a made city has: its ground truth, or homes for rent."""


@dataclass(frozen=True)
class Job:
    """A command that is killed and continued."""

    name: str
    arguments: tuple[str, ...]
    """With `OUT` where the folder stands, and `DATA` where prepared data lie."""
    is_resumed: bool = True
    """Whether it is continued with `--resume`; else by the same command."""
    is_paid: bool = False
    """Whether it asks a provider over HTTP."""
    template: str = ""
    """What its folder holds when it begins, as a name in the prepared data."""

    def has_begun(self, out: Path) -> bool:
        """Whether there is something to continue."""
        return any((out / name).is_file() for name in ("journal.jsonl", "records.jsonl"))

    def command(self, out: Path, data: Path, *, again: bool) -> list[str]:
        """The command line, after `virl`."""
        filled = [one.replace("OUT", str(out)).replace("DATA", str(data)) for one in self.arguments]
        return [*filled, "--resume"] if again and self.is_resumed else filled


def agent_jobs(data: Path) -> list[Job]:
    """A job for every agent, decided by rules."""
    return [_agent_job(name, data) for name in agent_names()]


def _agent_job(name: str, data: Path) -> Job:
    fields = [*TRIMS.get(name, ())]
    if name == "imani":
        fields.append(f"region={data / 'corner.txt'}")
    sets = [part for field in fields for part in ("--set", field)]
    city = MADE if name in TRUTH else HTTP
    return Job(name, ("run", name, "--city", city, "--out", "OUT", "--quiet", *sets), is_paid=city == HTTP)


def _bench(name: str, *options: str, is_paid: bool = False) -> Job:
    return Job(f"bench {name}", ("bench", name, "--out", "OUT", *options), is_paid=is_paid)


def other_jobs() -> list[Job]:
    """A benchmark of each kind, and the commands that write data."""
    town = ("--city", MADE)
    middle = (*town, "--data", "DATA")
    return [
        _bench("place-localization", *middle, "--limit", "3", "--model", "sign-detector"),
        _bench("place-vqa", *middle, "--limit", "6", "--model", "signs"),
        _bench("vln", *middle, "--limit", "2", "--model", "oracle"),
        _bench("touchdown", "--data", "DATA/touchdown", "--agent", "follower", "--limit", "12"),
        _bench("r2r", "--data", "DATA/r2r", "--agent", "shortest", "--limit", "12"),
        _bench("counting", *town, "--routes", "1", "--regions", "0", "--draws", "1"),
        _bench(
            "exploration", *town, "--starts", "2", "--max-steps", "3", "--policy", "hiro", "--workers", "2"
        ),
        _bench("agents", *town, "--agent", "peng", "--limit", "2", "--workers", "2"),
        Job("data export", ("data", "export", "--out", "OUT", "--episodes", "30"), is_resumed=False),
        Job(
            "data export r2r",
            ("data", "export", "--out", "OUT", "--format", "r2r", "--episodes", "10"),
            is_resumed=False,
        ),
        Job(
            "collect",
            ("collect", "places", "--city", HTTP, "--region", "DATA/corner.txt", "--out", "OUT"),
            is_resumed=False,
            is_paid=True,
        ),
        Job("narrate", ("narrate", "OUT"), is_resumed=False, template="walk"),
    ]


def dealt(names: Sequence[T]) -> T:
    """One of these, by the seed of CI: each has its turn from run to run."""
    return random.Random(os.environ.get("TOWNS_SEED")).choice(names)


def chosen(jobs: Sequence[Job], names: Sequence[str]) -> list[Job]:
    """The jobs of these names; all if none are given."""
    return [job for job in jobs if not names or job.name in names]
