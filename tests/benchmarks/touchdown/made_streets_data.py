"""A made street network with episodes, written to a folder in the format of Touchdown and Map2seq."""

import json
import random
from pathlib import Path

SIDE, BLOCK, STEP_DEG = 5, 4, 1e-4
"""Crossings a side, panoramas from one crossing to the next, degrees between panoramas."""

Cell = tuple[int, int]


def name(cell: Cell) -> str:
    return f"p{cell[0]:02}x{cell[1]:02}"


def cells() -> list[Cell]:
    """Panoramas: on every street of a square grid, x to the east, y to the north."""
    size = (SIDE - 1) * BLOCK + 1
    return [(x, y) for x in range(size) for y in range(size) if x % BLOCK == 0 or y % BLOCK == 0]


def neighbours(cell: Cell) -> dict[int, Cell]:
    """The next panoramas by heading."""
    x, y = cell
    around = {0: (x, y + 1), 90: (x + 1, y), 180: (x, y - 1), 270: (x - 1, y)}
    there = set(cells())
    return {heading: other for heading, other in around.items() if other in there}


def random_path(chance: random.Random, length: int) -> list[Cell]:
    """A path that never turns back, from inside a block."""
    path = [chance.choice([cell for cell in cells() if len(neighbours(cell)) == 2])]
    path.append(chance.choice(list(neighbours(path[0]).values())))
    while len(path) < length:
        path.append(chance.choice([cell for cell in neighbours(path[-1]).values() if cell != path[-2]]))
    return path


def heading_of(start: Cell, end: Cell) -> int:
    return next(heading for heading, cell in neighbours(start).items() if cell == end)


def write_made_data(folder: Path, episodes: int, *, seed: int = 0) -> Path:
    """Write `graph/` and `map2seq_unseen/dev.jsonl`; instructions are `Walk number N.`."""
    (folder / "graph").mkdir(parents=True)
    (folder / "map2seq_unseen").mkdir()
    nodes = [
        f"{name(cell)},0,{40 + cell[1] * STEP_DEG:.6f},{-74 + cell[0] * STEP_DEG:.6f},unseen"
        for cell in cells()
    ]
    links = [
        f"{name(cell)},{heading},{name(other)}"
        for cell in cells()
        for heading, other in neighbours(cell).items()
    ]
    (folder / "graph" / "nodes.txt").write_text("\n".join(nodes) + "\n")
    (folder / "graph" / "links.txt").write_text("\n".join(links) + "\n")
    chance = random.Random(seed)
    lines = []
    for number in range(episodes):
        path = random_path(chance, chance.randint(4, 9))
        lines.append(
            json.dumps(
                {
                    "id": 1000 + number,
                    "navigation_text": f"Walk number {number}.",
                    "route_panoids": [name(cell) for cell in path],
                    "start_heading": heading_of(path[0], path[1]),
                }
            )
        )
    (folder / "map2seq_unseen" / "dev.jsonl").write_text("\n".join(lines) + "\n")
    return folder
