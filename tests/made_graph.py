"""Small street graphs and buildings, written as the data sets write them."""

import json
from pathlib import Path

NODES = (
    "a,10,40.7000,-74.0000,seen",
    "b,10,40.7001,-74.0000,seen",
    "c,10,40.7002,-74.0000,seen",
    "d,100,40.7001,-73.9999,unseen",
)
LINKS = ("b,0,c", "b,90,d", "b,180,a", "a,0,b", "c,180,b", "d,270,b")


def write_graph(folder: Path, nodes: tuple[str, ...] = NODES, links: tuple[str, ...] = LINKS) -> Path:
    """A street from a over b to c, and d east of b."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nodes.txt").write_text("".join(f"{line}\n" for line in nodes), encoding="utf-8")
    (folder / "links.txt").write_text("".join(f"{line}\n" for line in links), encoding="utf-8")
    return folder


def episode_line(**fields: object) -> str:
    """A line as Map2seq writes it, with some fields other than usual."""
    item: dict[str, object] = {
        "id": 7,
        "navigation_text": "Go to the corner and stop.",
        "route_panoids": ["a", "b", "d"],
        "start_heading": 0,
    }
    return json.dumps(item | fields)


def viewpoint(
    name: str, x: float, y: float, z: float, ways: list[bool], **fields: object
) -> dict[str, object]:
    """An entry of a connectivity file: a camera turned about the vertical, which does not matter."""
    pose = [0, -1, 0, x, 1, 0, 0, y, 0, 0, 1, z, 0, 0, 0, 1]
    return {
        "image_id": name,
        "pose": pose,
        "included": True,
        "visible": ways,
        "unobstructed": ways,
        "height": 1.5,
    } | fields


def building() -> list[dict[str, object]]:
    """Four viewpoints: east and north of the first, the last one left out."""
    return [
        viewpoint("home", 0, 0, 1.0, [False, True, True, True]),
        viewpoint("east", 3, 0, 1.0, [True, False, False, False]),
        viewpoint("stairs", 0, 4, 4.0, [True, False, False, False]),
        viewpoint("gone", 9, 9, 1.0, [True, False, False, False], included=False),
    ]
