"""Made streets for the follower: avenues north, streets east, and a walker that must not peep."""

from collections.abc import Collection

from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.movers.discrete.actions import WalkState

BLOCK = 8
"""Links from one crossing to the next, both ways."""
STEP_DEG = 1e-4

Cell = tuple[int, int]


def name(cell: Cell) -> str:
    return f"{cell[0]}.{cell[1]}"


def avenues(
    side: int = 5, *, missing: Collection[Cell] = (), more: Collection[int] = (), yaw: float | None = 0.0
) -> NavigationGraph:
    """A square grid with `side` crossings a side, and more streets to the east; cells are (east, north)."""
    block = BLOCK
    size = (side - 1) * block + 1
    cells = [
        (x, y)
        for x in range(size)
        for y in range(size)
        if (x % block == 0 or y % block == 0 or y in more) and (x, y) not in missing
    ]
    number = {cell: index for index, cell in enumerate(cells)}
    ways = [(0, 1, 0.0), (1, 0, 90.0), (0, -1, 180.0), (-1, 0, 270.0)]
    links = [
        (number[x, y], number[x + dx, y + dy], heading)
        for x, y in cells
        for dx, dy, heading in ways
        if (x + dx, y + dy) in number
    ]
    return build_graph(
        [name(cell) for cell in cells],
        [y * STEP_DEG for _, y in cells],
        [x * STEP_DEG for x, _ in cells],
        [source for source, _, _ in links],
        [target for _, target, _ in links],
        heading=[heading for _, _, heading in links],
        length=[10.0] * len(links),
        yaw=None if yaw is None else [yaw] * len(cells),
    )


def at(graph: NavigationGraph, cell: Cell, heading: float = 0.0) -> WalkState:
    """Standing at a cell."""
    return WalkState(graph.number(name(cell)), heading)


def cell_of(graph: NavigationGraph, node: int) -> Cell:
    """The cell of a node."""
    x, y = graph.ids[node].split(".")
    return int(x), int(y)
