"""The map of a walk: its steps, the places considered, and the way between."""

from collections.abc import Sequence
from dataclasses import dataclass

from virl.geo import LatLng, LocalFrame
from virl.journal.records import PlaceRecord, StepRecord
from virl.journal.story import kind_of, title_of
from virl.pages.exhibits import MapExhibit
from virl.pages.maps import DrawnMap, draw_over
from virl.pages.paper import Arrow, Paper, Point, arrows_along, lay_out, on_paper, svg_points


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
class Sketch:
    """All that the map of a walk draws."""

    paper: Paper
    path: str
    """SVG points of the way walked."""
    arrows: tuple[Arrow, ...]
    marks: tuple[Mark, ...]
    """The ones that matter most last, so that they lie on top."""
    pins: tuple[Pin, ...]
    start: Point
    end: Point
    overlay: DrawnMap | None = None
    """The points of the result's map and its other ways, drawn on this one."""

    @property
    def end_label_above(self) -> bool:
        """Whether a place below the end needs the room under it."""
        return any(pin.seen_from == self.end and pin.y > self.end[1] for pin in self.pins)


def sketch(
    steps: Sequence[StepRecord],
    streets: Sequence[Sequence[LatLng]],
    around: Sequence[LatLng] = (),
    exhibit: MapExhibit | None = None,
) -> Sketch:
    """Lay out the map around the way walked.

    Args:
        steps: at least one.
        streets: centre lines; those far off are left out.
        around: what else shall be on the map.
        exhibit: the map of the result, whose points and other ways are drawn on this one.
    """
    frame = LocalFrame(LatLng(steps[0].pose.lat, steps[0].pose.lng))
    points = [on_paper(frame, step.pose.lat, step.pose.lng) for step in steps]
    pins = [
        Pin(place, *on_paper(frame, place.lat, place.lng), point, step.step)
        for step, point in zip(steps, points, strict=True)
        for place in step.places
    ]
    others = [on_paper(frame, *position) for position in around]
    if exhibit:
        others += [on_paper(frame, point.lat, point.lng) for point in exhibit.points]
    paper = lay_out(frame, [*points, *((pin.x, pin.y) for pin in pins), *others], streets)
    return Sketch(
        paper,
        path=svg_points(points),
        arrows=arrows_along(points),
        marks=_marks(steps, points),
        pins=tuple(pins),
        start=points[0],
        end=points[-1],
        overlay=draw_over(exhibit, paper) if exhibit else None,
    )


def _marks(steps: Sequence[StepRecord], points: Sequence[Point]) -> tuple[Mark, ...]:
    rank = ("walk", "crossing", "closer", "continue", "enter")
    marks = [
        Mark(step.step, *point, kind_of(step), title_of(step))
        for step, point in zip(steps, points, strict=True)
    ]
    return tuple(sorted(marks, key=lambda mark: rank.index(mark.kind)))
