"""How things are spread: counted in hexagons of three sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10, sqrt

import numpy as np
import shapely

from virl.geo import Floats, Ints

LEVELS = ("City", "District", "Block")
"""The zoom levels; the hexagons of each are half as wide as those of the one before."""
ACROSS = 6.0  # chosen: so many of the largest hexagons lie across a region, or more
SMALLEST_M = 25.0  # chosen: between a street's two pavements and a block
LEAST_SHARE = 0.25  # chosen: a hexagon of which less lies in the region counts as if so much did


@dataclass(frozen=True, slots=True)
class Cell:
    """A hexagon in which something stands."""

    x: float
    y: float
    """Its middle, metres east and north."""
    hectares: float
    """Of it that lie in the region; a quarter of it at least."""
    counts: tuple[int, ...]
    """Things in it, by kind."""


@dataclass(frozen=True, slots=True)
class Level:
    """A zoom level."""

    name: str
    width: float
    """Of a hexagon, from side to side: metres."""
    cells: tuple[Cell, ...]


def heat(points: Floats, kinds: Sequence[int], of: int, region: shapely.Polygon) -> tuple[Level, ...]:
    """Count the things of a region in hexagons of each size.

    Args:
        points: metres east and north, shape (n, 2); those outside the region are left out.
        kinds: the number of the kind of each, below `of`.
        of: how many kinds there are.
        region: what was looked at, in the same metres: a hexagon at its edge is as large as the part inside.
    """
    shapely.prepare(region)
    inside = shapely.intersects_xy(region, points)
    points, kinds = points[inside], np.asarray(kinds, np.int64)[inside].tolist()
    widths = [widest(float(region.area)) / 2**number for number in range(len(LEVELS))]
    return tuple(
        Level(name, width, _cells(points, kinds, of, region, width))
        for name, width in zip(LEVELS, widths, strict=True)
    )


def widest(area_m2: float) -> float:
    """From side to side of a hexagon of the first level: 1, 2 or 5 times a power of ten, metres."""
    wanted = max(sqrt(area_m2) / ACROSS, SMALLEST_M * 2 ** (len(LEVELS) - 1))
    power = 10.0 ** floor(log10(wanted))
    return max(times * power for times in (1.0, 2.0, 5.0) if times * power <= wanted)


def hexagon(x: float, y: float, width: float) -> shapely.Polygon:
    """The hexagon around a point, a corner to the north.

    Args:
        x: metres.
        y: metres.
        width: from side to side, metres.
    """
    angle = np.radians(np.arange(30.0, 360.0, 60.0))
    radius = width / np.sqrt(3)
    return shapely.Polygon(np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1))


def nearest_cells(points: Floats, width: float) -> Ints:
    """The hexagon that each point lies in, as axial coordinates, shape (n, 2)."""
    row = points[:, 1] / (width * np.sqrt(3) / 2)
    column = points[:, 0] / width - row / 2
    cube = np.stack([column, row, -column - row], axis=1)
    rounded = np.rint(cube)
    # The three add up to 0: the one that was rounded most follows from the others.
    worst = np.argmax(np.abs(rounded - cube), axis=1)
    rows = np.arange(len(points))
    rounded[rows, worst] -= rounded.sum(axis=1)
    cells: Ints = rounded[:, :2].astype(np.int64)
    return cells


def middle(column: int, row: int, width: float) -> tuple[float, float]:
    """The middle of the hexagon with these axial coordinates, metres."""
    return width * (column + row / 2), width * float(np.sqrt(3)) / 2 * row


def _cells(
    points: Floats, kinds: Sequence[int], of: int, region: shapely.Polygon, width: float
) -> tuple[Cell, ...]:
    if not len(points):
        return ()
    where, number = np.unique(nearest_cells(points, width), axis=0, return_inverse=True)
    counts = np.zeros((len(where), of), np.int64)
    np.add.at(counts, (number.ravel(), np.asarray(kinds)), 1)
    cells = []
    for (column, row), counted in zip(where.tolist(), counts.tolist(), strict=True):
        x, y = middle(column, row, width)
        whole = hexagon(x, y, width)
        area = max(float(whole.intersection(region).area), LEAST_SHARE * float(whole.area))
        cells.append(Cell(x, y, area / 10_000, tuple(counted)))
    return tuple(cells)
