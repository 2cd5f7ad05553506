"""The paper that maps are drawn on: metres, x to the east and y to the south."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from virl.geo.globe import LatLng, LocalFrame
from virl.pages.ground import Layer, MapGround, Name, layers_on, places_on

Point = tuple[float, float]
"""A point (x, y) on paper: metres east and south of the frame's origin."""
NO_GROUND = MapGround()

# The looks of a map, all chosen.
ARROW_EVERY_M = 45.0
"""Metres between arrows along a path."""
MOST_ARROWS = 1000  # arrows along one path
ACROSS_PX = 620.0
"""Approximate width in pixels at which a map is shown, if none is given."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Settings of how much ground a map shows around its points; all chosen."""

    aspect: float = 4 / 3
    """Ratio of the map's width to its height."""
    margin_m: float = 45.0
    """Metres shown around the points, so that the next street beyond them is seen."""
    smallest_m: float = 180.0
    """Least metres of the map's width, so that a path of a few steps does not fill the map."""
    beyond: float = 1.0
    """Width of the margin around a map in which streets are drawn too, as a multiple of the map's width."""
    scale: float = 1 / 5
    """Largest share of the map's width, [0, 1], that the scale bar takes."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow on a path: x metres east, y metres south, and its heading, degrees clockwise from north."""

    x: float
    y: float
    heading: float


@dataclass(frozen=True, slots=True)
class Paper:
    """A rectangle of ground, north up, in metres east (x) and south (y) of the frame's origin."""

    frame: LocalFrame
    """Frame in metres east and north; north is up, so that y is reversed on paper."""
    left: float
    """Western edge of the paper, in metres east of the frame's origin."""
    top: float
    """Northern edge of the paper, in metres south of the frame's origin; negative if north of it."""
    width: float
    height: float
    layers: tuple[Layer, ...]
    """Areas and ways in the order in which they are drawn."""
    names: tuple[Name, ...]
    """Names of streets and areas, those with the most room first."""
    scale_m: int
    """Length of the scale bar, a round number of metres."""
    across: float = ACROSS_PX
    """Approximate width in pixels at which the map is shown; scripts adapt it to other widths."""
    places: tuple[tuple[str, float, float], ...] = ()
    """Places, each as (symbol, x, y), those that go before others first."""

    def place(self, position: LatLng) -> Point:
        """Return a position's point on the paper: metres east and south of the frame's origin."""
        return on_paper(self.frame, *position)

    @property
    def scale_words(self) -> str:
        """Length of the scale bar in words, such as "200 m" or "2 km"."""
        return f"{self.scale_m} m" if self.scale_m < 1000 else f"{self.scale_m // 1000} km"

    @property
    def pixel(self) -> float:
        """Metres that one pixel covers."""
        return self.width / self.across


def lay_out(
    frame: LocalFrame,
    points: Sequence[Point],
    ground: MapGround = NO_GROUND,
    *,
    extent: Extent = Extent(),
    across: float = ACROSS_PX,
) -> Paper:
    """Return the paper that shows points, in metres, with a margin and the ground, `across` pixels wide.

    Args:
        frame: the frame of the map, metres east and north.
        points: points on the paper, at least one.
        ground: the ground; the parts far off are left out.
        extent: the size of the map around the points.
        across: approximate width in pixels at which it is shown.
    """
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    need_x, need_y = (high - low) + 2 * extent.margin_m
    width = float(max(need_x, need_y * extent.aspect, extent.smallest_m))
    height = width / extent.aspect
    x, y = ((low + high) / 2).tolist()
    left, top = x - width / 2, y - height / 2
    room = extent.beyond * width
    window = shapely.box(left - room, top - room, left + width + room, top + height + room)
    view = shapely.box(left, top, left + width, top + height)
    layers, names = layers_on(ground, frame, window, width / across, view)
    scale, places = round_length(width * extent.scale), places_on(ground, frame, window)
    return Paper(frame, left, top, width, height, layers, names, scale, across, places)


def on_paper(frame: LocalFrame, lat: float, lng: float) -> Point:
    """Return a position's point on paper: metres east and south of the frame's origin.

    Args:
        frame: the frame of the map.
        lat: latitude, WGS84 degrees.
        lng: longitude, WGS84 degrees.
    """
    x, y = frame.point(LatLng(lat, lng))
    return x, -y


def arrows_along(points: Sequence[Point], every: float = ARROW_EVERY_M) -> tuple[Arrow, ...]:
    """Return arrows along a path, `every` metres apart, or farther if they would exceed `MOST_ARROWS`."""
    x, y = np.transpose(points)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    every = max(every, along[-1] / MOST_ARROWS)
    middles = np.arange(every / 3, along[-1], every)
    # By the way a metre before and after it, an arrow in a corner points midway.
    before, after = middles - 1.0, middles + 1.0
    east = np.interp(after, along, x) - np.interp(before, along, x)
    south = np.interp(after, along, y) - np.interp(before, along, y)
    headings = np.degrees(np.arctan2(east, -south))
    where = zip(np.interp(middles, along, x).tolist(), np.interp(middles, along, y).tolist(), strict=True)
    return tuple(Arrow(*point, heading) for point, heading in zip(where, headings.tolist(), strict=True))


def svg_points(points: Iterable[Point], decimals: int = 1) -> str:
    """Return points as the value of SVG's attribute `points`, rounded to `decimals`."""
    return " ".join(f"{x:.{decimals}f},{y:.{decimals}f}" for x, y in points)


def round_length(metres: float) -> int:
    """Return the greatest of 1, 2, 5, 10, 20, 50 ... metres that is not above `metres`, at least 1."""
    power = 10 ** int(np.floor(np.log10(max(metres, 1.0))))
    return int(max(step * power for step in (1, 2, 5) if step * power <= max(metres, 1.0)))
