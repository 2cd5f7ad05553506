"""The paper that maps are drawn on: metres, x to the east and y to the south."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from virl.geo import LatLng, LocalFrame

Point = tuple[float, float]

# The looks of a map, all chosen.
MARGIN_M = 45.0  # the next street beyond what is shown can be seen
SMALLEST_M = 180.0  # a path of a few steps does not fill the map
ASPECT = 4 / 3  # width over height
ARROW_EVERY_M = 45.0
ACROSS_PX = 620.0  # how wide a map is shown, about
MARK_PX = 10.0  # radius of a mark
BEYOND = 1.0  # map widths of streets drawn around the map, for those who pan


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
    streets: Sequence[Sequence[LatLng]],
    *,
    aspect: float = ASPECT,
    across: float = ACROSS_PX,
    beyond: float = BEYOND,
) -> Paper:
    """The paper that shows all of some points, with room around.

    Args:
        frame: metres east and north.
        points: on the paper; at least one.
        streets: centre lines; those far off are left out.
        aspect: width over height.
        across: pixels at which it is shown, about.
        beyond: map widths of streets around it.
    """
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    need_x, need_y = (high - low) + 2 * MARGIN_M
    width = float(max(need_x, need_y * aspect, SMALLEST_M))
    height = width / aspect
    x, y = ((low + high) / 2).tolist()
    left, top = x - width / 2, y - height / 2
    room = beyond * width
    window = shapely.box(left - room, top - room, left + width + room, top + height + room)
    lines = [[on_paper(frame, *position) for position in street] for street in streets if len(street) > 1]
    near = tuple(svg_points(line) for line in lines if window.intersects(shapely.LineString(line)))
    return Paper(frame, left, top, width, height, near, _round_length(width / 5), across)


def on_paper(frame: LocalFrame, lat: float, lng: float) -> Point:
    """Where a position lies."""
    x, y = frame.point(LatLng(lat, lng))
    return x, -y


def arrows_along(points: Sequence[Point], every: float = ARROW_EVERY_M) -> tuple[Arrow, ...]:
    """Arrows along a path.

    Args:
        points: of the path; at least one.
        every: metres from arrow to arrow.
    """
    x, y = np.transpose(points)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    middles = np.arange(every / 3, along[-1], every)
    before, after = middles - 1.0, middles + 1.0
    east = np.interp(after, along, x) - np.interp(before, along, x)
    south = np.interp(after, along, y) - np.interp(before, along, y)
    headings = np.degrees(np.arctan2(east, -south))
    where = zip(np.interp(middles, along, x).tolist(), np.interp(middles, along, y).tolist(), strict=True)
    return tuple(Arrow(*point, heading) for point, heading in zip(where, headings.tolist(), strict=True))


def svg_points(points: Sequence[Point]) -> str:
    """The `points` of a polyline."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _round_length(metres: float) -> int:
    """The longest of 1, 2, 5, 10, 20, 50 ... that fits."""
    power = 10 ** int(np.floor(np.log10(metres)))
    return int(max(step * power for step in (1, 2, 5) if step * power <= metres))
