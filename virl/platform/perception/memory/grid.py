"""Which objects are near a position: a hash grid on the globe.

Cells are about equally large everywhere: each row of latitudes has as many columns as its circle needs.
Objects can be added and moved at any time, which bulk-loaded trees (shapely's, SciPy's) do not allow.
"""

from collections import defaultdict
from collections.abc import Iterator
from math import ceil, cos, degrees, floor, pi, radians

import numpy as np

from virl.geo import MEAN_RADIUS_M, LatLng, distances

CELL_M = 50.0  # chosen: about the radius of most questions
_ROW_DEG = degrees(CELL_M / MEAN_RADIUS_M)
_Cell = tuple[int, int]


class PositionIndex:
    """Ids with positions."""

    def __init__(self) -> None:
        self._cells: defaultdict[_Cell, set[str]] = defaultdict(set)
        self._positions: dict[str, LatLng] = {}

    def put(self, name: str, position: LatLng) -> None:
        """Add an id, or move it."""
        self.remove(name)
        self._positions[name] = position
        self._cells[_cell(position)].add(name)

    def remove(self, name: str) -> None:
        """Forget an id; harmless if it is not there."""
        if name in self._positions:
            self._cells[_cell(self._positions.pop(name))].discard(name)

    def near(self, position: LatLng, radius: float) -> list[str]:
        """The ids within `radius` metres, nearest first, equally near ones by id."""
        names = [name for cell in _cells_within(position, radius) for name in self._cells.get(cell, ())]
        if not names:
            return []
        lat, lng = np.array([self._positions[name] for name in names]).T
        away = distances(position.lat, position.lng, lat, lng)
        return [name for metres, name in sorted(zip(away.tolist(), names, strict=True)) if metres <= radius]


def _cell(position: LatLng) -> _Cell:
    row = floor(position.lat / _ROW_DEG)
    return row, _column(row, position.lng)


def _columns(row: int) -> int:
    """How many cells go once around the Earth."""
    circle = 2 * pi * MEAN_RADIUS_M * cos(radians(min(abs((row + 0.5) * _ROW_DEG), 90.0)))
    return max(1, floor(circle / CELL_M))


def _column(row: int, lng: float) -> int:
    columns = _columns(row)
    return floor((lng + 180.0) / 360.0 * columns) % columns


def _cells_within(position: LatLng, radius: float) -> Iterator[_Cell]:
    reach = degrees(radius / MEAN_RADIUS_M) * 1.01  # the sphere here, the ellipsoid in `distances`
    for row in range(floor((position.lat - reach) / _ROW_DEG), floor((position.lat + reach) / _ROW_DEG) + 1):
        columns, middle = _columns(row), _column(row, position.lng)
        aside = ceil(radius * 1.01 / CELL_M) + 2
        if 2 * aside + 1 >= columns:
            yield from ((row, column) for column in range(columns))
        else:
            yield from ((row, column % columns) for column in range(middle - aside, middle + aside + 1))
