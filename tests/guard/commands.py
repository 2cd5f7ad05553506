"""Recordings of virl's own commands: runs of agents, and benchmarks."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from real_data import real_data

CHECKOUT = Path(__file__).parents[2]
AT_ONCE = 2
LONGEST_S = 600
NATURE = frozenset({"seconds", "started", "ended", "virl", "versions", "elapsed_s"})
"""Fields whose values differ between two runs by nature; blanked everywhere but in `data` and `answer`."""
HELSINKI = ("--city", "helsinki", "--at", "60.16985,24.94395")
PLACES = {"virlton": ("--city", "virlton"), "helsinki": HELSINKI}
BOUNDED = {"imani": 150}
"""Steps of the default run of agents that walk for hours by their own limits."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command with a folder of its own."""

    name: str
    arguments: tuple[str, ...]
    kept: tuple[str, ...]
    """Names of files that are recorded, wherever they lie in the folder."""


def agent_jobs() -> Iterator[Job]:
    """Give every agent in each place with each limit."""
    for file in sorted((CHECKOUT / "agents").glob("*.yaml")):
        for place, where in PLACES.items():
            for name, steps in (("default", BOUNDED.get(file.stem)), ("40", 40)):
                limit = ("--set", f"limits.steps={steps}") if steps else ()
                arguments = ("run", file.stem, *where, *limit, "--seed", "0", "--quiet")
                yield Job(f"{file.stem}-{place}-{name}", arguments, ("journal.jsonl", "result.json"))


def benchmark_jobs() -> Iterator[Job]:
    """Give Touchdown, R2R and benchmarks of a made city, with few episodes each."""
    sets = {
        "touchdown": ("touchdown", "12", f"data={real_data('touchdown')}"),
        "r2r-navgpt": ("r2r", "12", f"data={real_data('r2r')}", "agent=navgpt"),
        "vln": ("vln", "3", "cities=[virlton]"),
        "agents": ("agents", "3", "cities=[virlton]"),
    }
    for name, (benchmark, limit, *options) in sets.items():
        chosen = tuple(part for option in options for part in ("--set", option))
        arguments = ("bench", benchmark, "--limit", limit, "--workers", "1", *chosen)
        yield Job(name, arguments, ("records.jsonl", "results.json"))


def record_jobs(jobs: list[Job], folder: Path) -> None:
    """Run commands, two at a time, and keep their normalised files and refusals."""
    with TemporaryDirectory() as scratch, ThreadPoolExecutor(AT_ONCE) as pool:
        done = pool.map(lambda job: _record(job, folder / job.name, Path(scratch)), jobs)
        for number, (job, told) in enumerate(zip(jobs, done, strict=True), 1):
            print(f"[{number}/{len(jobs)}] {job.name}: {told}", flush=True)


def _record(job: Job, folder: Path, scratch: Path) -> str:
    run = scratch / job.name
    ran = subprocess.run(
        [sys.executable, "-m", "virl", *job.arguments, "--out", str(run)],
        cwd=CHECKOUT,
        env=environment(scratch) | {"VIRL_DATA": str(real_data("osm").parent)},
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line for line in ran.stderr.splitlines() if line.startswith("virl: ")]
    words = "\n".join(f"words: {_placed(line, run)}" for line in lines)
    (folder / "end.txt").write_text(f"exit status {ran.returncode}\n{words}\n")
    for file in [found for name in job.kept for found in run.rglob(name)]:
        kept = folder / file.relative_to(run)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(_normalised(_placed(file.read_text(), run), lines=file.suffix == ".jsonl"))
    return f"exit status {ran.returncode}"


def environment(scratch: Path) -> dict[str, str]:
    """Return the environment without virl's variables and keys, with an empty cache."""
    own = re.compile(r"VIRL_|.*(_API_KEY|_TOKEN|SIGNING_SECRET)$")
    left = {name: text for name, text in os.environ.items() if not own.match(name)}
    return left | {"VIRL_CACHE": str(scratch / "cache"), "COLUMNS": "500", "PYTHONHASHSEED": "0"}


def _placed(text: str, run: Path) -> str:
    """Return a text without names of folders of this machine."""
    for path, name in (
        (run, "RUN"),
        (run.parent, "SCRATCH"),
        (CHECKOUT.parent, "HERE"),
        (Path.home(), "HOME"),
    ):
        text = text.replace(str(path), name)
    return text


def _normalised(text: str, *, lines: bool) -> str:
    if lines:
        return "".join(
            json.dumps(_blanked(json.loads(one)), ensure_ascii=False) + "\n" for one in text.splitlines()
        )
    return json.dumps(_blanked(json.loads(text)), indent=1, ensure_ascii=False) + "\n"


def _blanked(value: Any) -> Any:
    """Return JSON without what differs by nature; the id of a run is that of its start record."""
    if isinstance(value, list):
        return [_blanked(one) for one in value]
    if not isinstance(value, dict):
        return value
    own = NATURE | {"id"} if value.get("kind") == "start" else NATURE
    return {
        name: "*" if name in own else one if name in {"data", "answer"} else _blanked(one)
        for name, one in value.items()
    }
