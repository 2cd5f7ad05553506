"""Runs of agents in towns, without a key: how each ends, and how many seconds of a core it takes."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 900.0
"""Seconds after which a run is ended and counts as a fault."""
WORDLESS = ("No decision or move is left",)
"""Beginnings of reasons that say nothing about a task."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run of an agent in a town."""

    agent: str
    town: str
    is_invented: bool
    fault: str
    """The reason why this is no proper end; empty for one that is."""
    seconds: float
    """Seconds that it took of a core: a busy machine does not lengthen them."""
    outcome: str = ""
    told: str = ""
    """Its result in words, or the error."""

    @property
    def says_nothing(self) -> bool:
        """Whether the result has no word of the task."""
        return self.told.startswith(WORDLESS)

    @property
    def row(self) -> str:
        """Its row in the table."""
        told = f"**{self.fault}** {self.told}" if self.fault else self.told
        told = " ".join(told.replace("|", "/").split())[:240]
        life = "invented" if self.is_invented else "mapped"
        return f"| {self.town} | {life} | {self.agent} | {self.seconds:.0f} | {self.outcome} | {told} |"


def end_of_run(
    agent: str, town: str, options: Sequence[str], home: Path, *, is_invented: bool, steps: int | None = None
) -> Ended:
    """Run an agent in a town; its folder and the cache lie in `home`.

    Args:
        agent: its name.
        town: name of the town in the table.
        options: options of the command that name the town.
        home: a folder.
        is_invented: whether life is invented.
        steps: limit of moves; by default the agent's own.
    """
    out = Path(tempfile.mkdtemp(prefix=f"{agent}-{town}-", dir=home)) / "run"
    command = [sys.executable, "-m", "virl", "run", agent, *options, "--out", str(out), "--quiet"]
    command += ["--invented-life"] if is_invented else []
    command += ["--set", f"limits.steps={steps}"] if steps else []
    environment = os.environ | {"VIRL_CACHE": str(home / "cache"), "OMP_NUM_THREADS": "1"}
    before, run = _core_s(), (agent, town, is_invented)
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Ended(*run, "no end within the limit of time", _core_s() - before)
    seconds = _core_s() - before
    if done.returncode:
        return Ended(*run, f"exit code {done.returncode}", seconds, told=done.stderr[-2000:])
    result = json.loads((out / "result.json").read_text("utf-8"))
    told = result["reason"]
    return Ended(*run, "" if told.strip() else "no result", seconds, result["outcome"]["kind"], told)


def table(found: Sequence[Ended]) -> str:
    """Return the ends as Markdown, after how many of them are none."""
    faults, mute = sum(bool(one.fault) for one in found), sum(one.says_nothing for one in found)
    seconds = sum(one.seconds for one in found)
    head = f"{len(found)} runs, {seconds:,.0f} s of a core; no end: {faults}; no word of the task: {mute}."
    columns = "| town | life | agent | seconds | end | result |\n| --- | --- | --- | --- | --- | --- |"
    return "\n".join([f"{head}\n", columns, *(one.row for one in found), ""])


def _core_s() -> float:
    """Return the seconds that all ended children took of a core."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
