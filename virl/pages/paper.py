"""The paper that maps are drawn on: metres, x to the east and y to the south."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from virl.geo import LatLng, LocalFrame

Point = tuple[float, float]

# The looks of a map, all chosen.
ARROW_EVERY_M = 45.0
MOST_ARROWS = 1000
ACROSS_PX = 620.0  # how wide a map is shown, about
MARK_PX = 10.0  # radius of a mark


@dataclass(frozen=True, slots=True)
class Extent:
    """How a piece of the ground is cut out around what a map shows; all chosen."""

    aspect: float = 4 / 3
    """Width over height."""
    margin_m: float = 45.0
    """Around what is shown: the next street beyond it can be seen."""
    smallest_m: float = 180.0
    """Least width: a path of a few steps does not fill the map."""
    beyond: float = 1.0
    """Map widths of streets drawn around the map, for those who pan."""
    scale: float = 1 / 5
    """Longest share of the width that the scale bar takes."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """The way of a path at a point; degrees clockwise from north."""

    x: float
    y: float
    heading: float


@dataclass(frozen=True, slots=True)
class Paper:
    """A piece of the ground, north up, with its streets."""

    frame: LocalFrame
    """Metres east and north; north is up, so y is the other way round on paper."""
    left: float
    top: float
    width: float
    height: float
    streets: tuple[str, ...]
    """SVG points of each street."""
    scale_m: int
    """A round length for the scale bar."""
    across: float = ACROSS_PX
    """Pixels across at which it is shown, about; scripts set marks and letters right for any other width."""

    def place(self, position: LatLng) -> Point:
        """Where a position lies on the paper, metres."""
        return on_paper(self.frame, *position)

    @property
    def pixel(self) -> float:
        """Metres."""
        return self.width / self.across

    @property
    def mark_radius(self) -> float:
        """Metres."""
        return MARK_PX * self.pixel


def lay_out(
    frame: LocalFrame,
    points: Sequence[Point],
    streets: Sequence[Sequence[tuple[float, float]]],
    *,
    extent: Extent = Extent(),
    across: float = ACROSS_PX,
    decimals: int = 1,
) -> Paper:
    """The paper that shows all of some points, with room around.

    Args:
        frame: metres east and north.
        points: on the paper; at least one.
        streets: centre lines, WGS84 degrees; those far off are left out.
        extent: how the ground is cut out around the points.
        across: pixels at which it is shown, about.
        decimals: to which streets are written, as `svg_points`.
    """
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    need_x, need_y = (high - low) + 2 * extent.margin_m
    width = float(max(need_x, need_y * extent.aspect, extent.smallest_m))
    height = width / extent.aspect
    x, y = ((low + high) / 2).tolist()
    left, top = x - width / 2, y - height / 2
    room = extent.beyond * width
    window = shapely.box(left - room, top - room, left + width + room, top + height + room)
    lines = [[on_paper(frame, *position) for position in street] for street in streets if len(street) > 1]
    near = tuple(svg_points(line, decimals) for line in lines if window.intersects(shapely.LineString(line)))
    return Paper(frame, left, top, width, height, near, _round_length(width * extent.scale), across)


def on_paper(frame: LocalFrame, lat: float, lng: float) -> Point:
    """Where a position lies."""
    x, y = frame.point(LatLng(lat, lng))
    return x, -y


def arrows_along(points: Sequence[Point], every: float = ARROW_EVERY_M) -> tuple[Arrow, ...]:
    """Arrows along a path.

    Args:
        points: of the path; at least one.
        every: metres from arrow to arrow; more where there would be more than `MOST_ARROWS`.
    """
    x, y = np.transpose(points)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    every = max(every, along[-1] / MOST_ARROWS)
    middles = np.arange(every / 3, along[-1], every)
    before, after = middles - 1.0, middles + 1.0
    east = np.interp(after, along, x) - np.interp(before, along, x)
    south = np.interp(after, along, y) - np.interp(before, along, y)
    headings = np.degrees(np.arctan2(east, -south))
    where = zip(np.interp(middles, along, x).tolist(), np.interp(middles, along, y).tolist(), strict=True)
    return tuple(Arrow(*point, heading) for point, heading in zip(where, headings.tolist(), strict=True))


def svg_points(points: Iterable[Point], decimals: int = 1) -> str:
    """The `points` of a polyline, written to so many decimals."""
    return " ".join(f"{x:.{decimals}f},{y:.{decimals}f}" for x, y in points)


def _round_length(metres: float) -> int:
    """The longest of 1, 2, 5, 10, 20, 50 ... that fits."""
    power = 10 ** int(np.floor(np.log10(metres)))
    return int(max(step * power for step in (1, 2, 5) if step * power <= metres))
