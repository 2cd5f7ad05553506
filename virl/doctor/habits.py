"""How often Hiro does what costs something, counted from the journals of his runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from virl.errors import BadInput
from virl.journal.journal import read_journal
from virl.journal.records import StepRecord


@dataclass(frozen=True, slots=True)
class Habits:
    """Counts over some runs."""

    source: str
    """Description of what was counted."""
    runs: int
    steps: int
    """Panoramas at which he looked around, the first of each run included."""
    closer: int
    """Closer looks."""
    crossings: int
    """Panoramas at which he looked down roads."""
    roads: int
    """Number of looks down a road."""
    nearby: int
    """Panoramas at which he found something, and so asked for the places nearby."""
    details: int
    """Places he read about."""

    def a_step(self, count: int) -> float:
        """Return the average number of times that something is done at one panorama."""
        return count / self.steps


MEASURED = Habits(
    "15 runs in Virlton", runs=15, steps=274, closer=28, crossings=44, roads=108, nearby=37, details=25
)
"""Counts of what Hiro does that costs something, in 15 runs in Virlton.

Measured with rules and the sign detector, at most 60 moves, from the first 15 starts that
`benchmarks.exploration` draws with seed 0. Real streets and other detectors differ: `--runs` counts those."""


def count_runs(folders: Iterable[Path]) -> Habits:
    """Count the habits of an agent that walks as Hiro does.

    Args:
        folders: of runs, or folders that hold such folders.

    Raises:
        BadInput: there are no runs, or none that kept its views.
        JournalBroken: a journal cannot be read.
    """
    given = list(folders)
    journals = sorted({path for folder in given for path in folder.rglob("journal.jsonl")})
    steps = [record for path in journals for record in read_journal(path) if isinstance(record, StepRecord)]
    names = ", ".join(map(str, given))
    if not any(step.views for step in steps):
        raise BadInput(f"{names}: no steps with views: give folders of runs with their views")
    looks = [[view.purpose for view in step.views] for step in steps]
    return Habits(
        source=f"{len(journals)} runs in {names}",
        runs=len(journals),
        steps=len(steps),
        closer=sum(purposes.count("closer") for purposes in looks),
        crossings=sum("road" in purposes for purposes in looks),
        roads=sum(purposes.count("road") for purposes in looks),
        nearby=sum(any(view.detections for view in step.views if view.purpose == "look") for step in steps),
        details=sum(len(step.places) for step in steps),
    )
