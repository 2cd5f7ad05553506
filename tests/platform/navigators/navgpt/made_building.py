"""A building made up by hand: a hall with rooms around it, and stairs to an upper floor."""

from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.movers.discrete.actions import WalkState

NAMES = ("hall", "kitchen", "bath", "stairs", "landing", "attic")
# Metres east, north and up of each.
PLACES = (
    (0.0, 0.0, 0.0),
    (0.3, 2.5, 0.0),
    (-2.0, -0.1, 0.0),
    (1.0, -2.0, 0.5),
    (1.5, -4.0, 2.6),
    (4.0, -4.1, 2.6),
)
WAYS = (
    ("hall", "kitchen"),
    ("hall", "bath"),
    ("hall", "stairs"),
    ("stairs", "landing"),
    ("landing", "attic"),
)
IDS = {name: f"{number:02x}{'ab' * 15}" for number, name in enumerate(NAMES, start=1)}
PER_DEGREE = 111_194.9  # metres a degree near the equator


def made_building() -> NavigationGraph:
    number = {name: index for index, name in enumerate(NAMES)}
    both = [*WAYS, *((b, a) for a, b in WAYS)]
    return build_graph(
        [IDS[name] for name in NAMES],
        [north / PER_DEGREE for _, north, _ in PLACES],
        [east / PER_DEGREE for east, _, _ in PLACES],
        [number[a] for a, _ in both],
        [number[b] for _, b in both],
        height=[up for _, _, up in PLACES],
    )


def start_at(graph: NavigationGraph, name: str, heading: float = 0.0) -> WalkState:
    return WalkState(graph.number(IDS[name]), heading)
