"""Scores finished trajectories from a file, and compares with the scores that it may hold."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from rich.console import Console

from virl.bench.metrics.paths import IndoorScore
from virl.bench.report.table import means_table
from virl.cli.guard import add_guard
from virl.console import SafeConsole, print_plain
from virl.errors import BadInput
from virl.files.json_reading import misfits
from virl.platform.city.graph import InstructionEpisode
from virl.platform.providers.graph.city import find_data

from .dataset import Building, gold_paths, open_buildings
from .published import METRICS, NAVGPT


class _Expected(BaseModel):
    """The scores that an entry of the file already has; any of them may be missing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trajectory_lengths: FiniteFloat | None = None
    nav_error: FiniteFloat | None = None
    oracle_error: FiniteFloat | None = None
    success: FiniteFloat | None = None
    oracle_success: FiniteFloat | None = None
    spl: FiniteFloat | None = None
    nDTW: FiniteFloat | None = None  # noqa: N815 - the published name
    SDTW: FiniteFloat | None = None
    CLS: FiniteFloat | None = None


class Trajectory(BaseModel):
    """An entry of the file: a walk to score; other fields are ignored."""

    model_config = ConfigDict(frozen=True)

    path_id: int | str
    scan: str
    trajectory: tuple[str, ...] = Field(min_length=1)
    """Ids of the viewpoints walked, the start first."""
    metrics: _Expected = _Expected()


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of a file of trajectories, and what was wrong with its entries."""

    scores: Mapping[int, IndoorScore]
    """Scores by the number of the entry, from 0."""
    differences: Mapping[tuple[int, str], float]
    """Absolute differences of expected values from ours, by (entry, metric)."""
    malformed: Mapping[int, str]
    """Faults of the entries that cannot be read, by number."""
    skipped: Mapping[int, str]
    """Reasons why other entries cannot be scored, by number."""
    jumps: int
    """Number of trajectories with successive viewpoints that no link joins."""


def score_file(file: Path, data: Path | None) -> Scored:
    """Return the scores of all entries of a file that can be scored.

    Args:
        file: a JSON list of `Trajectory`s.
        data: the folder of R2R; `None` to look in the user's data folder.

    Raises:
        BadInput: the data or the file is missing or is no such list.
    """
    entries, malformed = _read(file)
    folder = find_data("r2r", data)
    paths = gold_paths(folder)
    buildings = open_buildings(folder, {entry.scan for entry in entries.values()})
    scores: dict[int, IndoorScore] = {}
    skipped: dict[int, str] = {}
    jumps = 0
    for number, entry in entries.items():
        gold = paths.get(str(entry.path_id))
        if gold is None or (reason := _fault(entry, gold, buildings)):
            skipped[number] = reason if gold else f"no R2R file has the path {entry.path_id}"
            continue
        building = buildings[entry.scan]
        scores[number] = building.score(entry.trajectory, gold.path)
        jumps += _has_jump(building, entry.trajectory)
    differences = {
        (number, metric): abs(getattr(score, metric) - value)
        for number, score in scores.items()
        for metric, value in entries[number].metrics
        if value is not None
    }
    return Scored(scores, differences, malformed, skipped, jumps)


def _show(file: Path, scored: Scored, console: Console) -> None:
    """Print the table of scores, what was left out, and the largest difference from expected values."""
    if scored.scores:
        found = [score.finite() for score in scored.scores.values()]
        console.print(means_table(f"R2R: {file.name}", METRICS, file.stem, found, [NAVGPT]))
    counts = f"{len(scored.malformed)} malformed, {len(scored.skipped)} skipped"
    console.print(f"{len(scored.scores)} trajectories scored, {counts}", highlight=False)
    for kind, entries in (("malformed", scored.malformed), ("skipped", scored.skipped)):
        for number, reason in entries.items():
            print_plain(console, f"{file}, entry {number}: {kind}: {reason}")
    if scored.jumps:
        console.print(f"{scored.jumps} trajectories jump; the shortest way counts there", highlight=False)
    if scored.differences:
        (number, metric), largest = max(scored.differences.items(), key=lambda item: item[1])
        expected = f"the {len(scored.differences)} expected values"
        told = f"largest difference from {expected}: {largest:.3g} ({metric}, entry {number})"
        console.print(told, highlight=False)


@add_guard("Show tracebacks.")
def score(
    trajectories: Annotated[Path, typer.Option(help="JSON list of `path_id`, `scan` and `trajectory`.")],
    data: Annotated[Path | None, typer.Option(help="Folder of the data; by default yours.")] = None,
) -> None:
    """Score finished trajectories; where the file holds expected scores, tell the largest difference."""
    _show(trajectories, score_file(trajectories, data), SafeConsole())


def _read(file: Path) -> tuple[dict[int, Trajectory], dict[int, str]]:
    """Return (readable entries, faults of the others), both by the entry's number from 0."""
    try:
        items = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{file}: no such file") from None
    except (OSError, ValueError) as fault:
        raise BadInput(f"{file}: not a JSON file ({' '.join(str(fault).split())})") from fault
    if not isinstance(items, list) or not items:
        raise BadInput(f"{file}: must be a JSON list with at least one trajectory")
    good: dict[int, Trajectory] = {}
    bad: dict[int, str] = {}
    for number, item in enumerate(items):
        try:
            good[number] = Trajectory.model_validate(item)
        except ValidationError as fault:
            bad[number] = "; ".join(misfits(fault))
    return good, bad


def _fault(entry: Trajectory, gold: InstructionEpisode, buildings: Mapping[str, Building]) -> str:
    """Return the reason why an entry cannot be scored; empty if it can."""
    if entry.scan not in buildings:
        return f"there is no connectivity file of the scan {entry.scan!r}"
    if entry.scan != gold.scan:
        return f"path {entry.path_id} is in the scan {gold.scan!r}, not in {entry.scan!r}"
    viewpoints = set(buildings[entry.scan].graph.ids)
    for whose, path in (("trajectory", entry.trajectory), ("gold path", gold.path)):
        if unknown := [viewpoint for viewpoint in path if viewpoint not in viewpoints]:
            return f"the {whose}'s viewpoint {unknown[0]!r} is not in the scan {entry.scan!r}"
    if entry.trajectory[0] != gold.start:
        return f"the trajectory starts at {entry.trajectory[0]!r}, not at the path's start {gold.start!r}"
    return ""


def _has_jump(building: Building, trajectory: Sequence[str]) -> bool:
    """Return whether successive viewpoints of a trajectory are not linked."""
    graph = building.graph
    pairs = pairwise(map(graph.number, trajectory))
    return any(there != here and there not in graph.target[graph.links(here)] for here, there in pairs)
