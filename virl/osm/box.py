"""A part of the map: a box to fetch or to copy, and the part of an extract that is read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame, signed_turn
from virl.geo.region import Region, position_fault
from virl.resources import data_home

LARGEST_KM2 = 4.0
"""Largest box in square kilometres that a public server is asked for at once."""
LARGEST_COPY_KM2 = 400.0
"""Largest area in square kilometres that is copied of an extract; chosen: a city and its suburbs."""
SMALLEST_KM2 = 0.04
"""Smallest box in square kilometres, 200 m square; chosen: less has hardly a street."""
SIDE_M = 2000.0
"""Side in metres of the square that is downloaded around the middle of a place."""
DATA = "osm"
"""Name of the folder of extracts in the user's data folder."""
SUFFIXES = (".osm.pbf", ".osm", ".osm.gz", ".osm.bz2")
"""Endings of the file names of OpenStreetMap extracts."""
RADIUS_M = 600.0
"""Default distance in metres from a position to which an extract is read; chosen: a walk of ten minutes."""
MAX_RADIUS_M = 5000.0
"""Largest distance in metres around a position to read; chosen: opens in a minute, metres stay exact."""
BUSY_KEYS = ("shop", "amenity")
"""Keys of tags: named objects with any of them are counted around towns to find a file's busiest town."""


@dataclass(frozen=True, slots=True)
class ExtractPart:
    """A choice of an extract's file, the region of it to read, and the data to invent there."""

    file: Path
    """Path of the extract's file."""
    title: str
    """Name of the town for people."""
    part: Region | None = None
    """The region to read; `None` for all of the file, or for the busiest town of a large one."""
    radius: float = RADIUS_M
    """Half the side in metres of the square that is read around the busiest town of a large file."""
    names: str = ""
    """Language of the names of places and streets, such as `en`; empty for the local ones."""
    life: Literal["mapped", "invented"] = "mapped"
    """Kind of reviews, ratings, prices and homes to rent: none for `mapped`, or `invented` ones."""
    seed: int = 0
    """Seed of the random numbers from which reviews, prices and homes are invented."""


def find_extract(extract: Path) -> Path:
    """Return an extract's path: in the user's data folder if it exists there alone, else as given.

    The one in the data folder may have another suffix: a downloaded `helsinki.osm.gz` serves for
    `helsinki.osm.pbf`.
    """
    if extract.exists():
        return extract
    kept = data_home() / DATA / extract
    stem = next((kept.name.removesuffix(one) for one in SUFFIXES if kept.name.endswith(one)), kept.name)
    others = (kept.with_name(stem + suffix) for suffix in SUFFIXES)
    return next((path for path in (kept, *others) if path.exists()), extract)


def region_around(middle: LatLng, radius: float) -> Region:
    """Return the square around a position, `radius` metres to each side."""
    frame = LocalFrame(middle)
    corners = ((-radius, -radius), (radius, -radius), (radius, radius), (-radius, radius))
    return Region(tuple(frame.position(*corner) for corner in corners))


@dataclass(frozen=True, slots=True)
class Box:
    """A box of degrees; if its west is more than its east, it crosses longitude 180."""

    south: float
    """Latitude of the south side in degrees."""
    west: float
    """Longitude of the west side in degrees."""
    north: float
    """Latitude of the north side in degrees."""
    east: float
    """Longitude of the east side in degrees."""

    def __str__(self) -> str:
        """Return "south,west,north,east" in degrees, as `box_of` reads it."""
        return ",".join(f"{degrees:.6f}".rstrip("0").rstrip(".") for degrees in self.degrees)

    @property
    def degrees(self) -> tuple[float, float, float, float]:
        """Degrees (south, west, north, east), in the order of Overpass."""
        return self.south, self.west, self.north, self.east

    @property
    def middle(self) -> LatLng:
        """Position of the centre of the box."""
        return LatLng((self.south + self.north) / 2, signed_turn(0.0, self.west + self.width / 2))

    @property
    def width(self) -> float:
        """Degrees of longitude from the west to the east side."""
        return self.east - self.west + (360.0 if self.west > self.east else 0.0)

    @property
    def parts(self) -> "tuple[Box, ...]":
        """The box alone, or the two boxes on both sides of longitude 180 where the box crosses it."""
        if self.west <= self.east:
            return (self,)
        return Box(self.south, self.west, self.north, 180.0), Box(self.south, -180.0, self.north, self.east)

    @property
    def region(self) -> Region:
        """The region whose outline is the four corners of the box."""
        south, west, north, east = self.degrees
        return Region((LatLng(south, west), LatLng(south, east), LatLng(north, east), LatLng(north, west)))

    def grow(self, metres: float) -> "Box":
        """Return the box made larger by `metres` on each side, but not beyond the poles."""
        frame = LocalFrame(self.middle)
        west, south = frame.point(LatLng(self.south, self.west))
        east, north = frame.point(LatLng(self.north, self.east))
        low = frame.position(west - metres, south - metres)
        high = frame.position(east + metres, north + metres)
        return Box(max(low.lat, -90.0), low.lng, min(high.lat, 90.0), high.lng)

    @property
    def size_km(self) -> tuple[float, float]:
        """(width, height) of the box in kilometres, on a flat map around its middle."""
        frame = LocalFrame(self.middle)
        west, south = frame.point(LatLng(self.south, self.west))
        east, north = frame.point(LatLng(self.north, self.east))
        return (east - west) / 1000, (north - south) / 1000

    @property
    def area_km2(self) -> float:
        """Area in square kilometres, rounded to two decimals."""
        across, up = self.size_km
        return round(across * up, 2)

    @property
    def fits(self) -> bool:
        """Return whether the box is neither too large nor too small to ask a public server for."""
        return SMALLEST_KM2 <= self.area_km2 <= LARGEST_KM2


def box_of(text: str, *, is_copied: bool = False) -> Box:
    """Return the box of a text `S,W,N,E` in degrees; one copied from a file (`is_copied`) may be larger.

    Raises:
        BadInput: it is no box, or too large or too small.
    """
    what = f"--box {text!r}"
    try:
        south, west, north, east = (float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"{what}: must be S,W,N,E in degrees, such as 60.16,24.93,60.175,24.955") from None
    for corner in (LatLng(south, west), LatLng(north, east)):
        if fault := position_fault(corner):
            raise BadInput(f"{what}: {fault}: the order is south, west, north, east")
    if south >= north:
        raise BadInput(f"{what}: south {south:g} must be less than north {north:g}: the order is S,W,N,E")
    box = Box(south, west, north, east)
    if west == east or (west > east and box.width > 180):  # else it crosses longitude 180
        raise BadInput(f"{what}: west {west:g} must be less than east {east:g}: the order is S,W,N,E")
    if is_copied and box.area_km2 > LARGEST_COPY_KM2:
        raise BadInput(
            f"{what}: {box.area_km2:,.0f} km2 is more than {LARGEST_COPY_KM2:g} km2: give a smaller box"
        )
    if not is_copied and box.area_km2 > LARGEST_KM2:
        raise BadInput(
            f"{what}: {box.area_km2:,.2f} km2 is more than {LARGEST_KM2:g} km2, the limit of a download: "
            "give a smaller box, or get an extract of the region and choose a part with --around"
        )
    if box.area_km2 < SMALLEST_KM2:
        raise BadInput(
            f"{what}: smaller than {SMALLEST_KM2:g} km2, a square of 200 metres: give a larger box"
        )
    return box


def square_around(middle: LatLng, side_m: float = SIDE_M) -> Box:
    """Return the square box with sides of `side_m` metres around a position."""
    frame, half = LocalFrame(middle), side_m / 2
    low, high = frame.position(-half, -half), frame.position(half, half)
    return Box(*(round(degrees, 6) for degrees in (*low, *high)))


def box_around(region: Region) -> Box:
    """Return the smallest box that holds a region."""
    origin = region.frame.origin.lng
    lats = [corner.lat for corner in region.corners]
    lngs = sorted((corner.lng for corner in region.corners), key=lambda lng: signed_turn(origin, lng))
    return Box(min(lats), lngs[0], max(lats), lngs[-1])
