"""The squares of a map in which places are asked for: tiles of the web's usual grid, of about a mile."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import asinh, atan, cos, degrees, hypot, pi, radians, sinh, tan

from virl.geo import LatLng, distance
from virl.platform.providers.osm.box import Box

ZOOM = 14
"""Chosen: a tile is 1.6 km wide at 48 degrees, and holds a few thousand places of a dense city."""
_MOST_LAT = 85.0  # of the grid


@dataclass(frozen=True, slots=True, order=True)
class MapSquare:
    """A square of the grid."""

    x: int
    """From 180 degrees west, to the east."""
    y: int
    """From the north."""

    @property
    def box(self) -> Box:
        """Its edges, in degrees."""
        (north, west), (south, east) = _corner(self.x, self.y), _corner(self.x + 1, self.y + 1)
        return Box(south, west, north, east)

    def away(self, position: LatLng) -> float:
        """Metres from a position to the nearest point of the tile; 0 inside."""
        south, west, north, east = self.box.degrees
        nearest = LatLng(min(max(position.lat, south), north), min(max(position.lng, west), east))
        return distance(position, nearest)


def tile_of(position: LatLng) -> MapSquare:
    """The tile in which a position lies."""
    lat = min(max(position.lat, -_MOST_LAT), _MOST_LAT)
    count = 1 << ZOOM
    x = int((position.lng + 180) / 360 * count)
    y = int((1 - asinh(tan(radians(lat))) / pi) / 2 * count)
    return MapSquare(min(max(x, 0), count - 1), min(max(y, 0), count - 1))


def tiles_around(position: LatLng, radius: float) -> list[MapSquare]:
    """The tiles that a circle touches, the nearest first.

    Args:
        position: the centre.
        radius: metres.
    """
    up = radius / 111_000
    across = up / max(cos(radians(position.lat)), 0.01)
    low = tile_of(LatLng(position.lat + up, position.lng - across))
    high = tile_of(LatLng(position.lat - up, position.lng + across))
    touched = [(tile.away(position), tile) for tile in _between(low, high)]
    return [tile for away, tile in sorted(touched) if away <= radius]


def tiles_of(box: Box) -> list[MapSquare]:
    """The tiles that a box touches, the nearest to its middle first."""
    between = _between(tile_of(LatLng(box.north, box.west)), tile_of(LatLng(box.south, box.east)))
    middle = tile_of(box.middle)
    return sorted(between, key=lambda tile: (hypot(tile.x - middle.x, tile.y - middle.y), tile))


def _between(low: MapSquare, high: MapSquare) -> Iterator[MapSquare]:
    for x in range(low.x, high.x + 1):
        for y in range(low.y, high.y + 1):
            yield MapSquare(x, y)


def _corner(x: int, y: int) -> tuple[float, float]:
    count = 1 << ZOOM
    return degrees(atan(sinh(pi * (1 - 2 * y / count)))), x / count * 360 - 180
