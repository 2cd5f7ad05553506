"""The street network of Touchdown and Map2seq: `nodes.txt` and `links.txt`, and the episodes on it."""

import json
from pathlib import Path
from typing import Literal

import numpy as np

from virl.platform.episodes import Episode
from virl.platform.graph import NavigationGraph, build_graph

Dataset = Literal["touchdown", "map2seq"]


def read_touchdown(folder: Path) -> NavigationGraph:
    """Read `nodes.txt` and `links.txt` of a folder such as `touchdown/graph`."""
    nodes = [line.split(",") for line in (folder / "nodes.txt").read_text(encoding="utf-8").splitlines()]
    links = [line.split(",") for line in (folder / "links.txt").read_text(encoding="utf-8").splitlines()]
    number = {node[0]: index for index, node in enumerate(nodes)}
    yaw, lat, lng = (np.array([float(node[column]) for node in nodes]) for column in (1, 2, 3))
    return build_graph(
        [node[0] for node in nodes],
        lat,
        lng,
        [number[link[0]] for link in links],
        [number[link[2]] for link in links],
        [float(link[1]) for link in links],
        yaw=yaw,
    )


def read_episodes(file: Path) -> list[Episode]:
    """Read a file of episodes, one JSON object a line, as Touchdown or as Map2seq writes them."""
    items = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Episode(
            id=str(item["route_id"] if "route_id" in item else item["id"]),
            instruction=item["navigation_text"],
            path=tuple(item["route_panoids"]),
            heading=float(item["start_heading"]) % 360.0,
        )
        for item in items
    ]
