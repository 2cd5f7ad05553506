"""Writes the middle of a city in the layout of R2R, as if it were one building of Matterport3D."""

from math import radians
from pathlib import Path
from random import Random

import numpy as np

from virl.datasets.export.episodes import ExportedEpisode, draw_episodes
from virl.datasets.export.files import exporting, refuse_other_files, write_json
from virl.datasets.export.town import Town, survey
from virl.datasets.export.wording import word
from virl.geo.globe import Flags
from virl.platform.providers.planned import source_of

EPISODES = 100
"""Default number of paths in each split. Chosen."""
RADIUS_M = 220.0  # connectivity files grow with the square of the number of viewpoints
"""Default radius in metres around the city's centre within which panoramas are exported. Chosen."""
INSTRUCTIONS = 3
"""Number of instructions of each path, as in R2R."""
FIRST_PATH = {"val_seen": 1, "val_unseen": 100_001}
"""Id of the first path by split, far enough apart that the ids of two splits, which count up, differ."""


def export_r2r(
    city: str, folder: Path, *, episodes: int = EPISODES, seed: int = 0, radius: float = RADIUS_M
) -> Path:
    """Write the middle of a city as an R2R data set with two splits into `folder`, and return it.

    The scan is named after the city. The same arguments and version give the same bytes.

    Args:
        city: name of a made city, such as `"virlton"`, or a town of OpenStreetMap, by name or by the path of
            its extract.
        folder: where to; made if it is not there. An earlier export in it is overwritten.
        episodes: how many paths of each split, each with three instructions.
        seed: what gold paths and wording are drawn from, 0 or more.
        radius: keep what lies within so many metres of the city's centre.

    Raises:
        UnknownName: there is no such city.
        BadInput: the city is another one, the folder holds something else, or the town has no room for so
            many episodes.
    """
    refuse_other_files(folder, "r2r")
    source = source_of(city)
    town = survey(source, radius)
    parts = {"val_seen": ~town.unseen, "val_unseen": town.unseen}
    told = {split: _routes(town, source.name, split, part, episodes, seed) for split, part in parts.items()}
    with exporting(folder, source, "r2r", "R2R, not its") as manifest:
        write_json(folder / "connectivity" / f"{source.name}_connectivity.json", _viewpoints(town))
        for split, routes in told.items():
            write_json(folder / f"R2R_{split}.json", routes, indent=1)
        manifest |= {"seed": seed, "radius": radius, "viewpoints": len(town.graph)}
        manifest["paths"] = {split: len(routes) for split, routes in told.items()}
    return folder


def _viewpoints(town: Town) -> list[dict[str, object]]:
    """Return the connectivity entry of each panorama in R2R's layout; all poses have no rotation."""
    linked = np.zeros((len(town.graph), len(town.graph)), dtype=bool)
    linked[np.repeat(np.arange(len(town.graph)), town.graph.degree), town.graph.target] = True
    return [
        {
            "image_id": pano_id,
            "pose": [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            "included": True,
            "visible": row.tolist(),
            "unobstructed": row.tolist(),
            "height": 0.0,
        }
        for pano_id, (x, y), row in zip(town.graph.ids, town.xy.tolist(), linked, strict=True)
    ]


def _routes(
    town: Town, scan: str, split: str, allowed: Flags, episodes: int, seed: int
) -> list[dict[str, object]]:
    """Return a split's paths, drawn on the nodes that `allowed` marks, with instructions in R2R's layout."""
    rng = Random(f"{seed} r2r {split}")
    told = draw_episodes(town, allowed, episodes, rng, face=False)
    return [
        {
            "distance": round(_metres(town, one), 2),
            "scan": scan,
            "path_id": FIRST_PATH[split] + number,
            "path": one.path,
            "heading": round(radians(one.heading), 4),
            "instructions": [one.instruction, *(word(one.clauses, rng) for _ in range(INSTRUCTIONS - 1))],
        }
        for number, one in enumerate(told)
    ]


def _metres(town: Town, told: ExportedEpisode) -> float:
    """Return the length of an episode's gold path in metres, from panorama to panorama."""
    xy = town.xy[[town.graph.number(pano_id) for pano_id in told.path]]
    return float(np.linalg.norm(np.diff(xy, axis=0), axis=1).sum())
