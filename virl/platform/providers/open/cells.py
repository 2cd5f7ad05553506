"""The squares in which pictures and places are asked for: those of web maps, which split into four."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan, degrees, floor, log, pi, radians, sinh, tan

from virl.geo.globe import LatLng, LocalFrame, distance, signed_turn
from virl.osm.box import Box

ZOOM = 16
"""Zoom level of the squares that are asked first: 610 m wide at the equator, 400 at 49 degrees."""
SMALLEST_ZOOM = 22
"""Zoom level of the smallest squares that a full one is split into: 6 m wide at 49 degrees."""
MOST_LAT = 85.0
"""Largest latitude in degrees, north or south, of the grid of squares."""


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """A square of the grid of web maps (EPSG:3857)."""

    zoom: int
    """Zoom level of web maps: the Earth has 2 to the power of it squares across."""
    x: int
    """Column of the square, from the west."""
    y: int
    """Row of the square, from the north."""

    @property
    def name(self) -> str:
        """Name of the square for file names: zoom level, column and row."""
        return f"{self.zoom}-{self.x}-{self.y}"

    @property
    def box(self) -> Box:
        """Box of the square, in degrees."""
        west, north = _corner(self.zoom, self.x, self.y)
        east, south = _corner(self.zoom, self.x + 1, self.y + 1)
        return Box(south, west, north, east)

    @property
    def degrees(self) -> tuple[float, float, float, float]:
        """Sides (west, south, east, north) of the square in degrees, as in GeoJSON."""
        box = self.box
        return box.west, box.south, box.east, box.north

    def parts(self) -> "tuple[Cell, Cell, Cell, Cell]":
        """Return the four squares of the next zoom level that this one is made of."""
        zoom, x, y = self.zoom + 1, 2 * self.x, 2 * self.y
        return Cell(zoom, x, y), Cell(zoom, x + 1, y), Cell(zoom, x, y + 1), Cell(zoom, x + 1, y + 1)

    def contains(self, position: LatLng) -> bool:
        """Return whether a position is in the square; squares of one zoom level never overlap."""
        return cell_at(position, self.zoom) == self

    def metres_to(self, position: LatLng) -> float:
        """Return the metres from a position to the nearest point of the square; 0 inside."""
        south, west, north, east = self.box.degrees
        middle, half = (west + east) / 2, (east - west) / 2
        aside = min(max(signed_turn(middle, position.lng), -half), half)  # of the middle, either way round
        nearest = LatLng(min(max(position.lat, south), north), middle + aside)
        return distance(position, nearest)


def cell_at(position: LatLng, zoom: int = ZOOM) -> Cell:
    """Return the square of a zoom level that a position is in."""
    lat = radians(max(-MOST_LAT, min(MOST_LAT, position.lat)))
    count = 2**zoom
    x = (position.lng + 180.0) / 360.0 * count
    y = (1.0 - log(tan(pi / 4 + lat / 2)) / pi) / 2.0 * count
    return Cell(zoom, min(max(floor(x), 0), count - 1), min(max(floor(y), 0), count - 1))


def cells_around(position: LatLng, reach_m: float, zoom: int = ZOOM) -> set[Cell]:
    """Return the squares of a zoom level touched by the area `reach_m` metres to each side of a position.

    Args:
        position: middle of the area.
        reach_m: half the side of the area in metres.
        zoom: zoom level of the squares.
    """
    frame = LocalFrame(position)
    north_west, south_east = frame.position(-reach_m, reach_m), frame.position(reach_m, -reach_m)
    return set(_cells_between(north_west, south_east, zoom))


def cells_of(box: Box, zoom: int = ZOOM) -> set[Cell]:
    """Return the squares of a zoom level that a box touches."""
    return set(_cells_between(LatLng(box.north, box.west), LatLng(box.south, box.east), zoom))


def _cells_between(north_west: LatLng, south_east: LatLng, zoom: int) -> Iterator[Cell]:
    """Yield the squares between two corners, also across longitude 180."""
    first, last = cell_at(north_west, zoom), cell_at(south_east, zoom)
    # Across longitude 180 the columns go on counting, and are wrapped below.
    around = 2**zoom if north_west.lng > south_east.lng else 0
    for x in range(first.x, last.x + around + 1):
        for y in range(first.y, last.y + 1):
            yield Cell(zoom, x % 2**zoom, y)


def _corner(zoom: int, x: int, y: int) -> tuple[float, float]:
    """Return (longitude, latitude) in degrees of the north-western corner of a square."""
    count = 2**zoom
    return x / count * 360.0 - 180.0, degrees(atan(sinh(pi * (1 - 2 * y / count))))
