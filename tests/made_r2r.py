"""A made building in R2R's layout: two rows of six viewpoints, 2 m apart, joined at every second one.

a0 - a1 - a2 - a3 - a4 - a5      north
|         |         |
b0 - b1 - b2 - b3 - b4 - b5
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SCAN = "made"
VIEWPOINTS = [f"{row}{column}" for row in "ab" for column in range(6)]
LINKS = {(f"{row}{column}", f"{row}{column + 1}") for row in "ab" for column in range(5)}
LINKS |= {(f"a{column}", f"b{column}") for column in (0, 2, 4)}

Route = Mapping[str, Any]


def route(path_id: int | str, path: Sequence[str], instructions: Sequence[str] = (), **fields: Any) -> Route:
    """An entry of an R2R file."""
    said = list(instructions) or [
        f"Walk {path_id}, told in way {way}: end at {path[-1]}." for way in range(3)
    ]
    return {
        "path_id": path_id,
        "scan": SCAN,
        "heading": 0.0,
        "path": list(path),
        "instructions": said,
    } | fields


ROUTES = [
    route(1, ["a0", "a1", "a2"]),
    route(2, ["a0", "b0", "b1", "b2", "b3"]),
    route(3, ["b5", "b4", "a4", "a3"]),
    route(4, ["a5", "a4", "b4", "b3", "b2", "b1"]),
]


def write_r2r(folder: Path, routes: Sequence[Route] = ROUTES, split: str = "val_unseen") -> Path:
    """Write the building and a split; gives the folder."""
    connectivity = folder / "connectivity"
    connectivity.mkdir(parents=True, exist_ok=True)
    joined = LINKS | {(there, here) for here, there in LINKS}
    entries = []
    for viewpoint in VIEWPOINTS:
        x, y = 2.0 * int(viewpoint[1]), 2.0 if viewpoint[0] == "a" else 0.0
        entries.append(
            {
                "image_id": viewpoint,
                "pose": [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, 1.5, 0, 0, 0, 1],
                "included": True,
                "unobstructed": [(viewpoint, other) in joined for other in VIEWPOINTS],
            }
        )
    (connectivity / f"{SCAN}_connectivity.json").write_text(json.dumps(entries), encoding="utf-8")
    (folder / f"R2R_{split}.json").write_text(json.dumps(list(routes)), encoding="utf-8")
    return folder
