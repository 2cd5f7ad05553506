"""A region: a polygon on the ground, with its arithmetic in metres."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, isfinite

import numpy as np
import shapely
from shapely import LineString, Polygon

from virl.errors import BadInput
from virl.geo.globe import LatLng, LocalFrame, distance, signed_turn

MAX_REACH_M = 10_000.0
"""Largest distance in metres of a region's corner from its middle, since flat metres are not exact far off.
Chosen: they are off by less than 0.5 % up to 70 degrees of latitude, tested against PROJ."""
MAX_GRID_POINTS = 1_000_000
"""Largest number of grid positions in a region's box; chosen: 100 times V-IRL's largest district at 20 m."""


@dataclass(frozen=True)
class Region:
    """A simple polygon on Earth that reaches at most 10 km from its middle.

    Raises:
        BadInput: it is no such polygon.
    """

    corners: tuple[LatLng, ...]
    """Corners in order, either way round, each once; a last one that repeats the first is dropped."""

    def __post_init__(self) -> None:
        """Raise `BadInput` for corners that form no region; drop a last one that repeats the first."""
        fault = region_fault(self.corners)
        if fault:
            raise BadInput(f"region: {fault}")
        object.__setattr__(self, "corners", _open_ring(self.corners))

    @cached_property
    def frame(self) -> LocalFrame:
        """Flat frame of metres east and north of the region's middle."""
        return _frame(self.corners)

    @cached_property
    def polygon(self) -> Polygon:
        """The region's polygon in metres of `frame`."""
        polygon = _flat(self.corners, self.frame)
        shapely.prepare(polygon)
        return polygon

    @property
    def area_m2(self) -> float:
        """Area of the region in square metres."""
        return float(self.polygon.area)

    @property
    def center(self) -> LatLng:
        """Position inside the region: its centroid if that is inside, else another."""
        middle = self.polygon.centroid
        inside = middle if self.polygon.contains(middle) else self.polygon.representative_point()
        return self.frame.position(inside.x, inside.y)

    def contains(self, position: LatLng) -> bool:
        """Return whether a position lies in the region or on its edge."""
        return bool(shapely.intersects_xy(self.polygon, *self.frame.point(position)))

    def grid(self, spacing: float) -> list[LatLng]:
        """Return the positions in the region on a grid, `spacing` metres apart to the north and to the east.

        Row by row from the south, each from the west. A region that lies between the grid's positions
        gives its `center`.

        Raises:
            BadInput: `spacing` is not above 0, or gives more than a million positions.
        """
        if not (isfinite(spacing) and spacing > 0):
            raise BadInput(f"grid spacing {spacing:g}: must be above 0 metres")
        west, south, east, north = self.polygon.bounds
        if ((east - west) / spacing + 1) * ((north - south) / spacing + 1) > MAX_GRID_POINTS:
            raise BadInput(
                f"grid spacing {spacing:g} m gives over {MAX_GRID_POINTS:,} positions: increase it"
            )
        columns = spacing * np.arange(ceil(west / spacing), floor(east / spacing) + 1)
        rows = spacing * np.arange(ceil(south / spacing), floor(north / spacing) + 1)
        x, y = (axis.ravel() for axis in np.meshgrid(columns, rows))
        inside = shapely.intersects_xy(self.polygon, x, y)
        lat, lng = self.frame.to_degrees(x[inside], y[inside])
        return list(map(LatLng, lat.tolist(), lng.tolist())) or [self.center]


@dataclass(frozen=True, slots=True)
class RegionFault:
    """A fault of corners that form no region, in words."""

    reason: str
    """The fault in words, without the corner's number."""
    corner: int | None = None
    """Index of the faulty corner, from 0; `None` if the fault is not one of a single corner."""

    def __str__(self) -> str:
        """Return the fault in words, after the faulty corner's number, from 1, if it has one."""
        return self.reason if self.corner is None else f"corner {self.corner + 1}: {self.reason}"


def region_fault(corners: Sequence[LatLng]) -> RegionFault | None:
    """Return the first fault that keeps corners from being a region; `None` if they are one."""
    for number, corner in enumerate(corners):
        reason = position_fault(corner)
        if reason:
            return RegionFault(reason, number)
    ring = _open_ring(corners)
    if len(set(ring)) < 3:
        return RegionFault(f"only {len(set(ring))} different corners: a region needs 3", len(corners) - 1)
    return _far_corner(ring) or _crossing_fault(ring)


def position_fault(position: LatLng) -> str | None:
    """Return in words why a latitude and longitude are no position on Earth; `None` if they are one."""
    lat, lng = position
    swapped = ": are latitude and longitude swapped?" if abs(lng) <= 90 and abs(lat) <= 180 else ""
    if not (isfinite(lat) and isfinite(lng)):
        return f"{lat}, {lng} is not a position"
    if abs(lat) > 90:
        return f"latitude {lat:g} is outside [-90, 90]{swapped}"
    if abs(lng) > 180:
        return f"longitude {lng:g} is outside [-180, 180]"
    return None


def _open_ring(corners: Sequence[LatLng]) -> tuple[LatLng, ...]:
    """Return the corners without a last one that repeats the first."""
    closed = len(corners) > 1 and corners[0] == corners[-1]
    return tuple(corners[:-1] if closed else corners)


def _frame(corners: Sequence[LatLng]) -> LocalFrame:
    """Return a frame of metres around the corners' median position, which one wrong corner hardly moves."""
    first = corners[0].lng
    turns = signed_turn(first, np.array([corner.lng for corner in corners]))
    lng = signed_turn(0.0, first + float(np.median(turns)))
    return LocalFrame(LatLng(float(np.median([corner.lat for corner in corners])), lng))


def _flat(corners: Sequence[LatLng], frame: LocalFrame) -> Polygon:
    """Return the polygon of some corners in metres of a flat frame."""
    return Polygon([frame.point(corner) for corner in corners])


def _far_corner(ring: Sequence[LatLng]) -> RegionFault | None:
    """Return the fault of the farthest corner if it lies over `MAX_REACH_M` from the middle; else `None`."""
    middle = _frame(ring).origin
    number = max(range(len(ring)), key=lambda each: distance(ring[each], middle))
    metres = distance(ring[number], middle)
    if metres <= MAX_REACH_M:
        return None
    lat, lng = ring[number]
    swapped = abs(lng) <= 90 and distance(LatLng(lng, lat), middle) <= MAX_REACH_M
    hint = "are latitude and longitude swapped?" if swapped else "a region reaches 10 km at most"
    return RegionFault(f"lies {metres / 1000:,.0f} km from the middle of the others: {hint}", number)


def _crossing_fault(ring: Sequence[LatLng]) -> RegionFault | None:
    """Return why a polygon is not simple, by its first two sides that meet, if any; `None` if it is."""
    # First the quick test: hardly any polygon has to be searched for the sides at fault.
    if _flat(ring, _frame(ring)).is_valid:
        return None
    points = [_frame(ring).point(corner) for corner in ring]
    ends = zip(points, [*points[1:], points[0]], strict=True)
    sides = [(number, LineString(side)) for number, side in enumerate(ends) if side[0] != side[1]]
    lines = [line for _, line in sides]
    meeting = shapely.STRtree(lines).query(lines, predicate="intersects").T.tolist()
    for i, j in sorted(pair for pair in meeting if pair[0] < pair[1]):
        (first, one), (second, other) = sides[i], sides[j]
        if one.intersection(other).length > 0:
            return RegionFault(f"its side runs along the side from corner {second + 1}", first)
        if j - i not in {1, len(sides) - 1}:
            return RegionFault(f"its side meets the side from corner {second + 1}", first)
    return RegionFault("the corners enclose no simple area")
