"""The edges of parks and gardens on streets, where their boards stand."""

from dataclasses import dataclass

import numpy as np
import shapely
from shapely import Polygon

from virl.towns.plan.town_plan import Point, StreetPlan

NO_FRONTAGE = -1
"""Value of `Shop.frontage` for a whole park, which has no frontage."""
MIN_EDGE_M = 6.0
"""Least length in metres of a park's edge that bears a board."""
BOARDS = 3
"""Largest number of boards of a park."""
BOARDS_APART_M = 60.0
"""Least distance in metres between two boards of a park."""
INSIDE_M = 1.0
"""Distance in metres from a park's edge to its boards, which stand inside."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A stretch of the edge of a park or garden along a street."""

    left: Point
    """Left end as seen from the street, (east, north) in metres."""
    right: Point
    """Right end as seen from the street, (east, north) in metres."""


@dataclass(frozen=True, slots=True)
class Green:
    """A park, garden or square with its address."""

    edges: tuple[Edge, ...]
    """Edges along which the green's boards stand, the longest first."""
    street: int
    """Index of the street in the green's address."""
    number: int
    """House number in the green's address."""
    frontage: int
    """Index of the green's frontage; `NO_FRONTAGE` for a whole park."""


def greens(layout: StreetPlan, order: np.random.Generator, count: int) -> list[Green]:
    """Return up to `count` greens of a town: all parks, then gardens in random order.

    Args:
        layout: parks and frontages of the town.
        order: source of chance.
        count: largest number of greens.
    """
    found = [green for park in layout.parks if (green := _park(layout, park))]
    gardens = [front for front in layout.frontages if front.building is None]
    for index in order.permutation(len(gardens)):
        front = gardens[index]
        found.append(Green((Edge(front.left, front.right),), front.street, front.number, front.id))
    return found[:count]


def _park(layout: StreetPlan, park: Polygon) -> Green | None:
    """Return a park as a green, with its longest edges that are far apart; `None` if all are too short."""
    # Simplified, for the edge of a park is drawn in short pieces along bent streets.
    ring = shapely.get_coordinates(shapely.orient_polygons(shapely.simplify(park, 1.0)))
    lengths = np.linalg.norm(np.diff(ring, axis=0), axis=1)
    picked: list[int] = []
    middles = (ring[:-1] + ring[1:]) / 2
    for index in np.argsort(-lengths, kind="stable"):
        far = all(np.linalg.norm(middles[index] - middles[other]) >= BOARDS_APART_M for other in picked)
        if lengths[index] >= MIN_EDGE_M and far:
            picked.append(int(index))
    if not picked or not layout.frontages:
        return None
    ends = np.array([(front.left, front.right) for front in layout.frontages])
    gaps = np.linalg.norm(ends.mean(axis=1) - middles[picked[0]], axis=1)
    opposite = layout.frontages[int(np.argmin(gaps))]
    edges = tuple(_edge(ring[index], ring[index + 1]) for index in picked[:BOARDS])
    return Green(edges, opposite.street, opposite.number, NO_FRONTAGE)


def _edge(start: np.ndarray, end: np.ndarray) -> Edge:
    """Return the edge between two corners of a counterclockwise ring, moved `INSIDE_M` metres inside."""
    dx, dy = (end - start) / np.linalg.norm(end - start)
    inside = INSIDE_M * np.array([-dy, dx])
    left, right = start + inside, end + inside
    return Edge((float(left[0]), float(left[1])), (float(right[0]), float(right[1])))
