"""Scores finished walks from a file, and compares with the scores that it may hold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from rich.console import Console

from virl.bench.report.table import means_table
from virl.bench.walks import WalkScores, as_walked
from virl.cli.guard import add_guard
from virl.console import SafeConsole, print_plain
from virl.errors import BadInput, NoStreetView
from virl.files.json_reading import misfits
from virl.platform.providers.graph.touchdown import Dataset

from .dataset import Data, Scenario, Selection, open_data
from .score import METRICS, score_walk

PUBLISHED_NAMES = {"kpa": "kpa_published"}
"""Our names of metrics in published files, whose key point accuracy is the published code's."""


class _WalkEntry(BaseModel):
    """An entry of the file: a walk to score; other fields are ignored."""

    model_config = ConfigDict(frozen=True)

    id: int | str
    pano_path: tuple[str, ...] = Field(min_length=1)
    """Ids of the panoramas walked, the start first."""
    metrics: Mapping[str, FiniteFloat] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of a file of walks, and what was wrong with its entries."""

    scores: Mapping[str, WalkScores]
    """Scores by the id of the episode."""
    differences: Mapping[tuple[str, str], float]
    """Absolute differences of expected values from ours, by (episode's id, metric)."""
    left_out: Mapping[str, str]
    """Reasons why other entries are not scored, by their place in the file."""


def _score_walks(file: Path, data: Data) -> Scored:
    """Return the scores of all walks of a file that can be scored.

    The file is JSON with a list `instances` of objects with `id` and `pano_path`, and maybe `metrics`; or
    such objects, one a line; or the `records.jsonl` of a run.
    """
    scores: dict[str, WalkScores] = {}
    differences: dict[tuple[str, str], float] = {}
    left_out: dict[str, str] = {}
    for place, item in _entries(file).items():
        try:
            walked = _WalkEntry.model_validate(as_walked(item))
            episode = data.episodes[str(walked.id)]
            nodes = [data.graph.number(node) for node in walked.pano_path]
        except ValidationError as fault:
            left_out[place] = "; ".join(misfits(fault))
        except KeyError as unknown:
            left_out[place] = f"the split has no episode {unknown}"
        except NoStreetView as fault:
            left_out[place] = str(fault)
        else:
            found = scores[episode.id] = score_walk(data.graph, episode, nodes)
            for name, value in walked.metrics.items():
                if (ours := found.get(PUBLISHED_NAMES.get(name, name))) is not None:
                    differences[episode.id, name] = abs(ours - value)
    return Scored(scores, differences, left_out)


@add_guard()
def score(
    walks: Annotated[
        Path, typer.Option(help="File of walks with `id` and `pano_path`, as JSON or JSON lines.")
    ],
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data. By default, your installed data.")
    ] = None,
    dataset: Annotated[Dataset, typer.Option(help="Data set of the instructions.")] = "map2seq",
    scenario: Annotated[
        Scenario, typer.Option(help="Scenario: which part of the city is for training.")
    ] = "unseen",
    split: Annotated[str, typer.Option(help="Split of the scenario.")] = "dev",
) -> None:
    """Score finished walks; if the file holds expected scores, print the largest difference."""
    chosen = Selection(data, dataset, scenario, split)
    _print_scores(walks, chosen, _score_walks(walks, open_data(chosen)), SafeConsole())


def _print_scores(file: Path, chosen: Selection, scored: Scored, console: Console) -> None:
    """Print the scores of a file, what was left out, and the largest difference from expected values."""
    if scored.scores:
        title = f"{chosen.dataset}, {chosen.scenario} {chosen.split}"
        console.print(means_table(title, METRICS, file.stem, list(scored.scores.values())))
    for place, reason in scored.left_out.items():
        print_plain(console, f"{file}, {place}: not scored: {reason}")
    console.print(f"{len(scored.scores)} walks scored, {len(scored.left_out)} left out", highlight=False)
    if scored.differences:
        (episode, metric), largest = max(scored.differences.items(), key=lambda item: item[1])
        expected = f"the {len(scored.differences)} expected values"
        told = f"largest difference from {expected}: {largest:.3g} ({metric}, episode {episode})"
        console.print(told, highlight=False)


def _entries(file: Path) -> dict[str, Any]:
    """Return the entries of a file by their place in it, such as "line 3"."""
    try:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".jsonl":
            lines = enumerate(text.splitlines(), 1)
            found = {f"line {number}": json.loads(line) for number, line in lines if line.strip()}
        else:
            items = json.loads(text)
            found = {f"entry {number}": item for number, item in enumerate(items["instances"])}
    except FileNotFoundError:
        raise BadInput(f"{file}: no such file") from None
    except (OSError, ValueError, TypeError, KeyError) as fault:
        raise BadInput(
            f"{file}: contains no walks, as JSON with `instances` or JSON lines ({fault})"
        ) from fault
    if not found:
        raise BadInput(f"{file}: contains no walks")
    return found
