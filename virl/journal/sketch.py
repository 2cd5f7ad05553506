"""The map of a report: where things lie on the paper, in metres, x to the east and y to the south."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from virl.geo import LatLng, LocalFrame
from virl.journal.records import PlaceRecord, StepRecord
from virl.journal.story import kind_of, title_of

Point = tuple[float, float]

# The looks of the map, all chosen.
MARGIN_M = 45.0  # the next street beyond the path shows
SMALLEST_M = 180.0  # a path of a few steps does not fill the map
ASPECT = 4 / 3  # width over height, as the page lays it out
ARROW_EVERY_M = 45.0
MARK_SIZE = 1 / 62  # radius of a mark over the map's width
BEYOND = 1.0  # map widths of streets drawn around the map, for those who pan


@dataclass(frozen=True, slots=True)
class Mark:
    """A step on the map."""

    step: int
    x: float
    y: float
    kind: str
    """As `story.kind_of` tells."""
    title: str


@dataclass(frozen=True, slots=True)
class Pin:
    """A place that was considered, and the step from which."""

    place: PlaceRecord
    x: float
    y: float
    seen_from: Point
    step: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """The way of the path at a point; degrees clockwise from north."""

    x: float
    y: float
    heading: float


@dataclass(frozen=True, slots=True)
class Sketch:
    """All that the map draws."""

    frame: LocalFrame
    """Metres east and north; north is up, so y is the other way round on paper."""
    left: float
    top: float
    width: float
    height: float
    streets: tuple[str, ...]
    """SVG points of each street."""
    path: str
    """SVG points of the way walked."""
    arrows: tuple[Arrow, ...]
    marks: tuple[Mark, ...]
    """The ones that matter most last, so that they lie on top."""
    pins: tuple[Pin, ...]
    start: Point
    end: Point
    scale_m: int
    """A round length for the scale bar."""

    def place(self, position: LatLng) -> Point:
        """Where a position lies on the paper, metres."""
        return _paper(self.frame, *position)

    @property
    def mark_radius(self) -> float:
        """Metres."""
        return self.width * MARK_SIZE

    @property
    def end_label_above(self) -> bool:
        """Whether a place below the end needs the room under it."""
        return any(pin.seen_from == self.end and pin.y > self.end[1] for pin in self.pins)


def sketch(
    steps: Sequence[StepRecord], streets: Sequence[Sequence[LatLng]], around: Sequence[LatLng] = ()
) -> Sketch:
    """Lay out the map around the way walked.

    Args:
        steps: at least one.
        streets: centre lines; those far off are left out.
        around: what else shall be on the map.
    """
    frame = LocalFrame(LatLng(steps[0].pose.lat, steps[0].pose.lng))
    points = [_paper(frame, step.pose.lat, step.pose.lng) for step in steps]
    pins = [
        Pin(place, *_paper(frame, place.lat, place.lng), point, step.step)
        for step, point in zip(steps, points, strict=True)
        for place in step.places
    ]
    others = [_paper(frame, *position) for position in around]
    left, top, width, height = _extent([*points, *((pin.x, pin.y) for pin in pins), *others])
    return Sketch(
        frame,
        left,
        top,
        width,
        height,
        streets=_streets(frame, streets, (left, top, width, height)),
        path=_svg(points),
        arrows=_arrows(points),
        marks=_marks(steps, points),
        pins=tuple(pins),
        start=points[0],
        end=points[-1],
        scale_m=_round_length(width / 5),
    )


def _marks(steps: Sequence[StepRecord], points: Sequence[Point]) -> tuple[Mark, ...]:
    rank = ("walk", "crossing", "closer", "continue", "enter")
    marks = [
        Mark(step.step, *point, kind_of(step), title_of(step))
        for step, point in zip(steps, points, strict=True)
    ]
    return tuple(sorted(marks, key=lambda mark: rank.index(mark.kind)))


def _paper(frame: LocalFrame, lat: float, lng: float) -> Point:
    x, y = frame.point(LatLng(lat, lng))
    return x, -y


def _extent(points: Sequence[Point]) -> tuple[float, float, float, float]:
    """Left, top, width and height of a map of the page's aspect around the points."""
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    need_x, need_y = (high - low) + 2 * MARGIN_M
    width = float(max(need_x, need_y * ASPECT, SMALLEST_M))
    height = width / ASPECT
    x, y = (low + high) / 2
    return float(x) - width / 2, float(y) - height / 2, width, height


def _streets(
    frame: LocalFrame, streets: Sequence[Sequence[LatLng]], extent: tuple[float, float, float, float]
) -> tuple[str, ...]:
    left, top, width, height = extent
    beyond = BEYOND * width
    window = shapely.box(left - beyond, top - beyond, left + width + beyond, top + height + beyond)
    lines = [[_paper(frame, *position) for position in street] for street in streets if len(street) > 1]
    return tuple(_svg(line) for line in lines if window.intersects(shapely.LineString(line)))


def _arrows(points: Sequence[Point]) -> tuple[Arrow, ...]:
    x, y = np.transpose(points)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    middles = np.arange(ARROW_EVERY_M / 3, along[-1], ARROW_EVERY_M)
    before, after = middles - 1.0, middles + 1.0
    east = np.interp(after, along, x) - np.interp(before, along, x)
    south = np.interp(after, along, y) - np.interp(before, along, y)
    headings = np.degrees(np.arctan2(east, -south))
    where = zip(np.interp(middles, along, x).tolist(), np.interp(middles, along, y).tolist(), strict=True)
    return tuple(Arrow(*point, heading) for point, heading in zip(where, headings.tolist(), strict=True))


def _svg(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _round_length(metres: float) -> int:
    """The longest of 1, 2, 5, 10, 20, 50 ... that fits."""
    power = 10 ** int(np.floor(np.log10(metres)))
    return int(max(step * power for step in (1, 2, 5) if step * power <= metres))
