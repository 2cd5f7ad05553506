"""Writes a city in the layout of the public Touchdown and Map2seq data."""

import shutil
from dataclasses import asdict
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import numpy as np

from virl.datasets.export.episodes import ExportedEpisode, draw_episodes
from virl.datasets.export.files import (
    FORMAT_VERSION,
    exporting,
    is_finished,
    json_line,
    refuse_other_files,
    write_json,
    write_lines,
)
from virl.datasets.export.town import DECIMALS, Town, survey
from virl.datasets.export.wording import mentions
from virl.files.writing import refusals_in_a_line
from virl.platform.providers.planned import source_of
from virl.version import __version__

EPISODES = 400
"""Default number of episodes in each split. Chosen."""
SPLITS = ("map2seq_seen", "map2seq_unseen", "touchdown_unseen")
"""Names of the exported splits: the data set whose layout a split has, and the half of town it is in."""


def export_touchdown(
    city: str,
    folder: Path,
    *,
    episodes: int = EPISODES,
    seed: int = 0,
    radius: float | None = None,
) -> Path:
    """Write a city, or its middle within `radius` metres, as Touchdown data with 3 splits; return `folder`.

    The same arguments and version give the same bytes.

    Args:
        city: name of a made city, such as `"virlton"`, or a town of OpenStreetMap, by name or by the path of
            its extract.
        folder: where to; made if it is not there. An earlier export in it is overwritten.
        episodes: how many of each split.
        seed: what gold paths and wording are drawn from, 0 or more.
        radius: keep what lies within so many metres of the city's centre; all of it by default.

    Raises:
        UnknownName: there is no such city.
        BadInput: the city is another one, the folder holds something else, or the town has no room for so
            many episodes.
    """
    refuse_other_files(folder, "touchdown")
    source = source_of(city)
    town = survey(source, radius)
    # Drawn before anything is written: a town without room for them leaves the folder as it was.
    told = {split: _draw(town, split, episodes, seed) for split in SPLITS}
    with exporting(folder, source, "touchdown", "Touchdown and Map2seq, not their") as manifest:
        _write_graph(folder / "graph", town)
        for split, items in told.items():
            _write_split(folder / split, split, items)
        manifest |= {"seed": seed, "radius": radius, "panoramas": len(town.graph)}
        manifest["episodes"] = {f"{split}/dev": len(items) for split, items in told.items()}
    return folder


def exported_touchdown(cache: Path, *, episodes: int = EPISODES) -> Path:
    """Return the folder of Virlton's export in `cache`, which the first call makes in some seconds.

    Args:
        cache: folder to keep it in; made if it is not there. An export of another version stays beside it.
        episodes: how many of each split.
    """
    folder = cache / f"virlton-touchdown-{__version__}-{FORMAT_VERSION}-{episodes}-0"
    if is_finished(folder):
        return folder
    with refusals_in_a_line(cache, "run again"):
        cache.mkdir(parents=True, exist_ok=True)
        # Made beside its place and renamed at the end: no other process ever reads half an export.
        draft = Path(mkdtemp(prefix=f"{folder.name}.", dir=cache))
    try:
        export_touchdown("virlton", draft, episodes=episodes, seed=0)
        # mkdtemp makes folders that only their owner may read.
        draft.chmod(0o755)
        draft.rename(folder)
    except OSError:
        if not is_finished(folder):  # another process may have been faster
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _draw(town: Town, split: str, episodes: int, seed: int) -> list[ExportedEpisode]:
    """Return the episodes of a split, drawn in the seen or the unseen half of a town."""
    dataset, _, part = split.partition("_")
    where = town.unseen if part == "unseen" else ~town.unseen
    return draw_episodes(town, where, episodes, Random(f"{seed} {split}"), face=dataset == "touchdown")


def _write_graph(folder: Path, town: Town) -> None:
    """Write `nodes.txt` and `links.txt` of a town in Touchdown's layout."""
    graph = town.graph
    nodes = (
        f"{pano_id},{yaw:.0f},{lat:.{DECIMALS}f},{lng:.{DECIMALS}f},{'unseen' if unseen else 'seen'}"
        for pano_id, yaw, lat, lng, unseen in zip(
            graph.ids, graph.yaw, graph.lat, graph.lng, town.unseen, strict=True
        )
    )
    source = np.repeat(np.arange(len(graph)), graph.degree)
    links = (
        f"{graph.ids[start]},{heading:.0f},{graph.ids[end]}"
        for start, heading, end in zip(source, graph.heading, graph.target, strict=True)
    )
    write_lines(folder / "nodes.txt", nodes)
    write_lines(folder / "links.txt", links)


def _write_split(folder: Path, split: str, items: list[ExportedEpisode]) -> None:
    """Write the episodes of a split, and beside them their landmarks and clauses."""
    key = "route_id" if split.startswith("touchdown") else "id"
    records = [
        {
            key: number,
            "route_panoids": told.path,
            "navigation_text": told.instruction,
            "start_heading": told.heading,
        }
        for number, told in enumerate(items)
    ]
    write_lines(folder / "dev.jsonl", map(json_line, records))
    landmarks = {
        str(number): list(dict.fromkeys(mention.name for mention in mentions(told.clauses)))
        for number, told in enumerate(items)
    }
    write_json(folder / "landmarks_dev.json", landmarks, indent=0)
    clauses = {
        str(number): [
            {"say": type(clause).__name__.lower(), **_drop_missing(asdict(clause))} for clause in told.clauses
        ]
        for number, told in enumerate(items)
    }
    write_json(folder / "clauses_dev.json", clauses, indent=0)


def _drop_missing(fields: dict[str, object]) -> dict[str, object]:
    """Return fields without those that are `None`, also in nested objects."""
    return {
        name: _drop_missing(value) if isinstance(value, dict) else value
        for name, value in fields.items()
        if value is not None
    }
