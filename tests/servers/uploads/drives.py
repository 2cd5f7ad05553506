"""Drives through a town: sequences of captures along its panorama graph, as people upload them."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from virl.geo.globe import LatLng, LocalFrame, bearing, signed_turn
from virl.platform.city.graph import NavigationGraph

LONGEST = 120  # captures of a drive; chosen


@dataclass(frozen=True, slots=True)
class Roughness:
    """Errors of the captures of a drive."""

    position_m: float = 0.0
    """Standard deviation of east and of north, metres."""
    heading: float = 0.0
    """Standard deviation, degrees."""
    gaps: float = 0.0
    """Share of the captures that are missing."""
    again: float = 0.0
    """Share of the drives that somebody else repeats, some years before."""


@dataclass(frozen=True, slots=True)
class Capture:
    """One picture of a drive."""

    pano_id: str
    """The panorama of the town that it shows."""
    position: LatLng
    """Position as the uploader tells it."""
    heading: float
    """Heading of its middle column as the uploader tells it, degrees."""
    true_heading: float
    """True heading of its middle column, degrees."""


@dataclass(frozen=True, slots=True)
class Drive:
    """The captures of one drive, in their order."""

    captures: tuple[Capture, ...]
    again: bool
    """True for a drive that repeats another, some years before."""


def drives(graph: NavigationGraph, seed: int = 0, roughness: Roughness | None = None) -> list[Drive]:
    """Return drives that together pass every link of a graph, those that are repeated last.

    Args:
        graph: of the town.
        seed: of what is random.
        roughness: of the captures; by default they are true.
    """
    rough, rng = roughness or Roughness(), Random(f"drives {seed}")
    trails = list(_trails(graph))
    again = [trail for trail in trails if rng.random() < rough.again]
    first = [Drive(_driven(graph, trail, rough, rng), again=False) for trail in trails]
    second = [Drive(_driven(graph, trail[::-1], rough, rng), again=True) for trail in again]
    return [drive for drive in (*first, *second) if drive.captures]


def _trails(graph: NavigationGraph) -> Iterator[list[int]]:
    """Walks over nodes that use each link once, whichever way, and go straight on where they can."""
    left: dict[int, dict[int, float]] = {node: {} for node in range(len(graph))}
    for node in range(len(graph)):
        links = graph.links(node)
        ends = zip(graph.target[links].tolist(), graph.heading[links].tolist(), strict=True)
        left[node].update(ends)
    for node in range(len(graph)):
        for other in list(left[node]):
            left[other].setdefault(node, (left[node][other] + 180.0) % 360.0)
    order = sorted(left, key=lambda node: (len(left[node]) % 2 == 0, node))
    for start in order:
        while left[start]:
            trail, heading = [start], next(iter(left[start].values()))
            while left[trail[-1]] and len(trail) < LONGEST:
                here = trail[-1]
                ways = left[here]
                there = min(ways, key=lambda node: (abs(signed_turn(heading, ways[node])), node))
                heading = ways.pop(there)
                left[there].pop(here, None)
                trail.append(there)
            yield trail


def _driven(graph: NavigationGraph, trail: list[int], rough: Roughness, rng: Random) -> tuple[Capture, ...]:
    captures = []
    for index, node in enumerate(trail):
        before, after = trail[max(index - 1, 0)], trail[min(index + 1, len(trail) - 1)]
        facing = bearing(graph.position(before), graph.position(after))
        if rng.random() < rough.gaps:
            continue
        east, north = rng.gauss(0, rough.position_m), rng.gauss(0, rough.position_m)
        heading = (facing + rng.gauss(0, rough.heading)) % 360.0
        captures.append(
            Capture(graph.ids[node], LocalFrame(graph.position(node)).position(east, north), heading, facing)
        )
    return tuple(captures)
