"""The density map of counted things: how many of each kind stand in each hexagon of a region."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import shapely

from virl.geo.globe import Floats, Ints
from virl.pages.paper import round_length

_LEVELS = ("City", "District", "Block")
"""Names of the density map's zoom levels, coarsest first; each has hexagons half as wide as the last."""
_ACROSS = 6.0  # chosen: so many of the largest hexagons lie across a region, or more
_SMALLEST_M = 25.0  # chosen: between a street's two pavements and a block
LEAST_SHARE = 0.25  # chosen: a hexagon of which less lies in the region counts as if so much did


@dataclass(frozen=True, slots=True)
class Cell:
    """A hexagon of the density map, with the counts of the things in it."""

    x: float
    """Position of the hexagon's middle, in metres east of the map's origin."""
    y: float
    """Position of the hexagon's middle, in metres north of the map's origin."""
    hectares: float
    """Hectares of the hexagon inside the region, taken as at least a quarter of the whole hexagon's."""
    counts: tuple[int, ...]
    """Number of things in the hexagon, by kind."""


@dataclass(frozen=True, slots=True)
class Level:
    """A zoom level of the density map, with the hexagons that hold things."""

    name: str
    width: float
    """Width of a hexagon between opposite sides, in metres."""
    cells: tuple[Cell, ...]


def heat(points: Floats, kinds: Sequence[int], kind_count: int, region: shapely.Polygon) -> tuple[Level, ...]:
    """Return the density map's zoom levels: counts in hexagons of things at `points`, metres east and north.

    Args:
        points: positions of the things, metres east and north, shape (n, 2); those outside are left out.
        kinds: index of each thing's kind, below `kind_count`.
        kind_count: number of kinds.
        region: region that was looked at, in the same metres; of a hexagon, only the part in it counts.
    """
    shapely.prepare(region)
    inside = shapely.intersects_xy(region, points)
    points, kinds = points[inside], np.asarray(kinds, np.int64)[inside].tolist()
    widths = [largest_width(float(region.area)) / 2**number for number in range(len(_LEVELS))]
    return tuple(
        Level(name, width, _cells(points, kinds, kind_count, region, width))
        for name, width in zip(_LEVELS, widths, strict=True)
    )


def largest_width(area_m2: float) -> float:
    """Return the width in metres of the largest hexagons for an area: 1, 2 or 5 times a power of ten."""
    wanted = max(sqrt(area_m2) / _ACROSS, _SMALLEST_M * 2 ** (len(_LEVELS) - 1))
    return float(round_length(wanted))


def hexagon(x: float, y: float, width: float) -> shapely.Polygon:
    """Return the hexagon, `width` metres wide, around a point in metres, with a corner to the north.

    Args:
        x: metres east.
        y: metres north.
        width: metres between opposite sides.
    """
    angle = np.radians(np.arange(30.0, 360.0, 60.0))
    radius = width / np.sqrt(3)
    return shapely.Polygon(np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1))


def nearest_cells(points: Floats, width: float) -> Ints:
    """Return the axial coordinates (column, row) of each point's hexagon, as shape (n, 2)."""
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


def hexagon_middle(column: int, row: int, width: float) -> tuple[float, float]:
    """Return the middle (east, north), in metres, of the hexagon at a column and row, `width` metres wide.

    Args:
        column: axial coordinate of the hexagon.
        row: axial coordinate of the hexagon.
        width: metres between opposite sides.
    """
    return width * (column + row / 2), width * float(np.sqrt(3)) / 2 * row


def _cells(
    points: Floats, kinds: Sequence[int], kind_count: int, region: shapely.Polygon, width: float
) -> tuple[Cell, ...]:
    """Return the hexagons, `width` metres wide, that hold points, with their counts by kind."""
    if not len(points):
        return ()
    where, number = np.unique(nearest_cells(points, width), axis=0, return_inverse=True)
    counts = np.zeros((len(where), kind_count), np.int64)
    np.add.at(counts, (number.ravel(), np.asarray(kinds)), 1)
    cells = []
    for (column, row), counted in zip(where.tolist(), counts.tolist(), strict=True):
        x, y = hexagon_middle(column, row, width)
        whole = hexagon(x, y, width)
        area = max(float(whole.intersection(region).area), LEAST_SHARE * float(whole.area))
        cells.append(Cell(x, y, area / 10_000, tuple(counted)))
    return tuple(cells)
