"""Where parks and gardens have an edge on a street."""

from dataclasses import dataclass

import numpy as np
import shapely
from shapely import Polygon

from virl.platform.providers.offline.plan import Frontage, Point, StreetPlan

NO_FRONTAGE = -1  # a `Shop.frontage` that is no frontage: the edge of a whole park
MIN_EDGE_M = 6.0  # shorter edges bear no board
BOARDS = 3  # most boards a park has
BOARDS_APART_M = 60.0
INSIDE_M = 1.0  # a park's boards stand this far inside its edge


@dataclass(frozen=True, slots=True)
class Edge:
    """A stretch of a green's edge, `left` and `right` as seen from the street."""

    left: Point
    right: Point


@dataclass(frozen=True, slots=True)
class Green:
    """A park, garden or square."""

    edges: tuple[Edge, ...]
    """The edges at which it is entered, the main one first."""
    street: int
    number: int
    frontage: int
    """`NO_FRONTAGE` for a whole park."""


def greens(layout: StreetPlan, order: np.random.Generator, count: int) -> list[Green]:
    """Return all parks of a town, then gardens in random order, `count` together at most.

    Args:
        layout: of the town.
        order: source of chance.
        count: at most.
    """
    found = [green for park in layout.parks if (green := _park(layout, park))]
    gardens = [front for front in layout.frontages if front.building is None]
    for index in order.permutation(len(gardens)):
        front = gardens[index]
        found.append(Green((Edge(front.left, front.right),), front.street, front.number, front.id))
    return found[:count]


def _park(layout: StreetPlan, park: Polygon) -> Green | None:
    """Return a park as its longest edges, far enough from each other."""
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
    opposite = _nearest_front(layout, middles[picked[0]])
    edges = tuple(_edge(ring[index], ring[index + 1]) for index in picked[:BOARDS])
    return Green(edges, opposite.street, opposite.number, NO_FRONTAGE)


def _edge(start: np.ndarray, end: np.ndarray) -> Edge:
    """Return an edge of a counterclockwise ring, whose outside is to the right, moved inside a little."""
    dx, dy = (end - start) / np.linalg.norm(end - start)
    inside = INSIDE_M * np.array([-dy, dx])
    left, right = start + inside, end + inside
    return Edge((float(left[0]), float(left[1])), (float(right[0]), float(right[1])))


def _nearest_front(layout: StreetPlan, point: np.ndarray) -> Frontage:
    ends = np.array([(front.left, front.right) for front in layout.frontages])
    return layout.frontages[int(np.argmin(np.linalg.norm(ends.mean(axis=1) - point, axis=1)))]
