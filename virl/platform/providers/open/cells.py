"""The squares that pictures are asked for by: those of web maps, which split into four."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan, degrees, floor, log, pi, radians, sinh, tan

from virl.geo import LatLng, LocalFrame
from virl.region import Region

ZOOM = 16
"""Of the squares that are asked for first: 610 metres a side at the equator, 400 at 49 degrees."""
SMALLEST_ZOOM = 22
"""Of the smallest squares that a full one is split into: 6 metres a side at 49 degrees."""
MOST_LAT = 85.0


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """A square of the grid of web maps (EPSG:3857)."""

    zoom: int
    x: int
    y: int
    """Counted from the north."""

    @property
    def name(self) -> str:
        """Of a file."""
        return f"{self.zoom}-{self.x}-{self.y}"

    @property
    def degrees(self) -> tuple[float, float, float, float]:
        """West, south, east and north."""
        west, north = _corner(self.zoom, self.x, self.y)
        east, south = _corner(self.zoom, self.x + 1, self.y + 1)
        return west, south, east, north

    def parts(self) -> "tuple[Cell, Cell, Cell, Cell]":
        """The four squares that it is made of."""
        zoom, x, y = self.zoom + 1, 2 * self.x, 2 * self.y
        return Cell(zoom, x, y), Cell(zoom, x + 1, y), Cell(zoom, x, y + 1), Cell(zoom, x + 1, y + 1)

    def contains(self, position: LatLng) -> bool:
        """Whether a position is in it; each is in one square of a zoom."""
        return cell_at(position, self.zoom) == self


def cell_at(position: LatLng, zoom: int = ZOOM) -> Cell:
    """The square of a position."""
    lat = radians(max(-MOST_LAT, min(MOST_LAT, position.lat)))
    count = 2**zoom
    x = (position.lng + 180.0) / 360.0 * count
    y = (1.0 - log(tan(pi / 4 + lat / 2)) / pi) / 2.0 * count
    return Cell(zoom, min(max(floor(x), 0), count - 1), min(max(floor(y), 0), count - 1))


def cells_around(position: LatLng, reach_m: float) -> set[Cell]:
    """The squares that the square of so many metres to each side of a position touches."""
    frame = LocalFrame(position)
    return set(_between(frame.position(-reach_m, reach_m), frame.position(reach_m, -reach_m)))


def cells_of(region: Region) -> set[Cell]:
    """The squares that a region may touch: those of its box."""
    lats = [corner.lat for corner in region.corners]
    lngs = [corner.lng for corner in region.corners]
    return set(_between(LatLng(max(lats), min(lngs)), LatLng(min(lats), max(lngs))))


def _between(north_west: LatLng, south_east: LatLng) -> Iterator[Cell]:
    first, last = cell_at(north_west), cell_at(south_east)
    for x in range(first.x, last.x + 1):
        for y in range(first.y, last.y + 1):
            yield Cell(ZOOM, x, y)


def _corner(zoom: int, x: int, y: int) -> tuple[float, float]:
    count = 2**zoom
    return x / count * 360.0 - 180.0, degrees(atan(sinh(pi * (1 - 2 * y / count))))
