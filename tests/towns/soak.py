"""Every agent in seven towns, without a key, with and without invented life: each ends with a result.

`make soak`, or `python tests/towns/soak.py --report towns.md --towns vaduz,coast --agents noor,ling`.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from towns.seven import seven_towns

from virl.agent.character_file import agent_names

LIMIT_S = 900.0
"""Seconds after which a run is ended and counts as a fault."""
WORDLESS = ("No decision or move is left",)
"""Beginnings of reasons that say nothing about a task."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A run of an agent in a town."""

    agent: str
    town: str
    is_invented: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run."""

    sent: Sent
    code: int | None
    """Exit code; `None` for a run that was ended after its limit of time."""
    seconds: float
    """Seconds that it took of a core."""
    outcome: str = ""
    told: str = ""
    """Its result in words, or the error."""

    @property
    def fault(self) -> str:
        """The reason why this is no proper end; empty for one that is."""
        if self.code is None:
            return "no end within the limit of time"
        return f"exit code {self.code}" if self.code else "" if self.told.strip() else "no result"

    @property
    def says_nothing(self) -> bool:
        """Whether the result has no word of the task."""
        return self.told.startswith(WORDLESS)


def every_run(towns: Sequence[str], who: Sequence[str] = ()) -> list[Sent]:
    """Return the runs of agents, by default all, in towns, without and with invented life."""
    every = product(towns, (False, True), who or agent_names())
    return [Sent(agent, town, is_invented) for town, is_invented, agent in every]


def end_of_run(
    sent: Sent,
    town: Sequence[str],
    home: Path,
    *,
    limit_s: float = LIMIT_S,
    fields: Sequence[str] = (),
) -> Ended:
    """Run an agent in a town.

    Args:
        sent: the run.
        town: options of the command that name the town.
        home: a folder for the run and the cache.
        limit_s: seconds after which it is ended.
        fields: fields of the character to set, such as `limits.steps=20`.
    """
    out = Path(tempfile.mkdtemp(prefix=f"{sent.agent}-{sent.town}-", dir=home)) / "run"
    command = [sys.executable, "-m", "virl", "run", sent.agent, *town, "--out", str(out), "--quiet"]
    command += ["--invented-life"] if sent.is_invented else []
    for field in fields:
        command += ["--set", field]
    environment = os.environ | {"VIRL_CACHE": str(home / "cache"), "OMP_NUM_THREADS": "1"}
    before = _core_s()
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return Ended(sent, None, _core_s() - before)
    seconds = _core_s() - before
    if done.returncode:
        return Ended(sent, done.returncode, seconds, told=done.stderr[-2000:])
    result = json.loads((out / "result.json").read_text("utf-8"))
    return Ended(sent, 0, seconds, result["outcome"]["kind"], result["reason"])


def _core_s() -> float:
    """Return the seconds that all ended children took of a core: a busy machine does not lengthen them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ends(
    runs: Sequence[Sent], towns: Mapping[str, Sequence[str]], home: Path, *, limit_s: float = LIMIT_S
) -> Iterator[Ended]:
    """Make runs one after another; yields the end of each, and prints it."""
    for number, sent in enumerate(runs, start=1):
        ended = end_of_run(sent, towns[sent.town], home, limit_s=limit_s)
        sys.stdout.write(f"{number} of {len(runs)} {row(ended)}\n")
        sys.stdout.flush()
        yield ended


def row(ended: Ended) -> str:
    """Return the row of an end in the table."""
    told = f"**{ended.fault}** {ended.told}" if ended.fault else ended.told
    told = " ".join(told.replace("|", "/").split())
    sent, life = ended.sent, "invented" if ended.sent.is_invented else "mapped"
    told = told if len(told) <= 240 else f"{told[:237]}..."
    return f"| {sent.town} | {life} | {sent.agent} | {ended.seconds:.0f} | {ended.outcome} | {told} |"


def table(found: Sequence[Ended]) -> str:
    """Return the ends as Markdown, the faults counted first."""
    faults, mute = sum(bool(one.fault) for one in found), sum(one.says_nothing for one in found)
    seconds = sum(one.seconds for one in found)
    lines = [
        f"{len(found)} runs, {seconds:,.0f} s of a core; no end: {faults}; no word of the task: {mute}.",
        "",
        "| town | life | agent | seconds | end | result |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *map(row, found), ""])


def _names(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--towns", default=[], type=_names)
    parser.add_argument("--agents", default=[], type=_names)
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds of a run at most")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--home", type=Path, default=None)
    given = parser.parse_args()
    home = given.home or Path(tempfile.mkdtemp(prefix="towns-"))
    towns = seven_towns(home)
    runs = every_run(given.towns or list(towns), given.agents)
    found: list[Ended] = []
    for ended in ends(runs, towns, home, limit_s=given.limit):
        found.append(ended)
        if given.report:
            given.report.write_text(table(found), encoding="utf-8")
    sys.stdout.write(table(found))


if __name__ == "__main__":
    main()
