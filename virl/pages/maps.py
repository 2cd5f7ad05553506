"""A map as numbers and text: its ground, paths and marks, with as many labels as have room.

It knows no city. `virl.pages.map_svg` draws it for pages, `virl.pages.map_picture` as a picture, and
`templates/maps.js` lets readers pan, zoom and go through its time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import cos, radians, sin
from typing import NamedTuple

import numpy as np

from virl.geo.globe import LatLng, LocalFrame
from virl.pages.exhibits import MapExhibit, MapLine
from virl.pages.ground import MapGround, Name
from virl.pages.paper import ARROW_EVERY_M, Arrow, Extent, Paper, Point, arrows_along, lay_out
from virl.pages.theme import shapes

# The looks of a map, in pixels on the page; all chosen.
NARROW, WIDE = 560.0, 1130.0  # how wide it is shown, beside something and alone
WIDE_ASPECT = 2.0
LETTER, LINE = 7.2, 15.0  # about how wide a letter, and how high a line is set
NAME_LETTER = 6.2  # about how wide a letter of a street's name is set
ROOM = 2.0  # around a mark
LONGEST_LABEL = 28
ARROWS = 18  # most that the width of a map would hold
CORNER = (170.0, 34.0)  # room of the scale bar, at the lower left
TOOLS = (46.0, 122.0)  # room of the buttons, at the upper left

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom, pixels."""
_RANK = ("start", "pick", "stop", "landmark", "candidate")
"""Styles of points in the order in which they get labels and lie on top."""


class LabelAnchor(NamedTuple):
    """A position of a label beside its mark, pixels from the mark."""

    name: str
    x: float
    y: float
    share: float
    """Share of the label's width that is left of the position."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at a point of the paper."""

    x: float
    y: float
    kind: str
    """Classes of its style; the last word names its colour."""
    title: str
    """Text shown when the mark is pointed at."""
    shape: str = "disc"
    """Name of its shape in `looks.shapes`."""
    sign: str = ""
    """A character or two shown inside it."""
    label: str = ""
    """Text beside the mark where there is room."""
    href: str = ""
    """Address that the mark links to."""
    is_minor: bool = False
    """True for a mark that the keyboard passes over."""
    radius_m: float = 0.0
    """Radius of the circle around it, metres, such as its uncertainty; 0 for none."""
    heading: float | None = None
    """Heading of its view, degrees clockwise from north; `None` for none."""
    colour: str = ""
    """Colour, such as `#24a1b0`; by default that of its kind."""
    side: LabelAnchor | None = None
    """Position of its label; `None` without room for it."""


@dataclass(frozen=True, slots=True)
class MapPath:
    """A path on the paper, with its arrows."""

    points: Sequence[Point]
    kind: str = "main"
    """Classes of its style; the last word names its colour."""
    label: str = ""
    arrows: tuple[Arrow, ...] = ()


@dataclass(frozen=True, slots=True)
class MapFigure:
    """A map as numbers and text: paths, marks, names and legend, with the labels placed."""

    title: str
    paper: Paper
    paths: tuple[MapPath, ...]
    """Paths, those that matter most last."""
    marks: tuple[Mark, ...]
    """Marks, those that matter most last."""
    names: tuple[tuple[Name, bool], ...]
    """Names of the ground, each with whether there is room for it."""
    legend: tuple[tuple[str, str], ...] = ()
    """Style classes and words of each line of the legend."""
    notice: str = ""
    """Names that the map has to credit."""


def map_figure(
    title: str,
    paper: Paper,
    paths: Iterable[MapPath],
    marks: Iterable[Mark],
    *,
    legend: Iterable[tuple[str, str]] = (),
    notice: str = "",
) -> MapFigure:
    """Return a map with labels placed: first those of marks, then names of streets.

    Args:
        title: what it shows, for those who do not see it.
        paper: a piece of the ground.
        paths: those that matter most last.
        marks: those that matter most last.
        legend: classes and words of each line.
        notice: whom the map has to name.
    """
    shown = tuple(marks)
    room = _Room(paper.across, paper.height / paper.pixel)
    for mark in shown:
        left, top, right, bottom = extent_of(mark.shape)
        x, y = _pixels(paper, (mark.x, mark.y))
        room.taken.append((x + left - ROOM, y + top - ROOM, x + right + ROOM, y + bottom + ROOM))
    labelled = [_add_label(paper, mark, room) for mark in reversed(shown)]
    names = tuple((name, _has_room(paper, name, room)) for name in paper.names)
    return MapFigure(title, paper, tuple(paths), tuple(reversed(labelled)), names, tuple(legend), notice)


class _Room:
    """The rectangles of a map, pixels, that are already written on.

    Args:
        width: of the map.
        height: of the map.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.taken: list[Rectangle] = [(0, 0, *TOOLS), (0, height - CORNER[1], CORNER[0], height)]

    def take(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Return whether a rectangle is free, and take it if so."""
        if left < 0 or top < 0 or right > self.width or bottom > self.height:
            return False
        if any(left < x1 and x0 < right and top < y1 and y0 < bottom for x0, y0, x1, y1 in self.taken):
            return False
        self.taken.append((left, top, right, bottom))
        return True


def _add_label(paper: Paper, mark: Mark, room: _Room) -> Mark:
    """Return a mark with its label placed where there is room."""
    if not mark.label:
        return mark
    x, y = _pixels(paper, (mark.x, mark.y))
    width = LETTER * min(len(mark.label), LONGEST_LABEL)
    for side in sides_of(mark.shape):
        left, base = x + side.x - side.share * width, y + side.y
        if room.take(left, base - LINE * 0.8, left + width, base + LINE * 0.2):
            return replace(mark, side=side)
    return mark


def sides_of(shape: str) -> tuple[LabelAnchor, ...]:
    """Return the positions of a label beside a shape, the best first."""
    left, top, right, bottom = extent_of(shape)
    middle = (top + bottom) / 2 + 4
    return (
        LabelAnchor("below", 0, bottom + LINE + ROOM, 0.5),
        LabelAnchor("above", 0, top - LINE * 0.2 - 2 * ROOM, 0.5),
        LabelAnchor("to-right", right + 2 * ROOM + 1, middle, 0.0),
        LabelAnchor("to-left", left - 2 * ROOM - 1, middle, 1.0),
    )


def extent_of(shape: str) -> Rectangle:
    """Return the box around a shape, pixels from its place."""
    known = shapes()[shape]
    if isinstance(known, tuple):
        (left, top), (right, bottom) = np.min(known, axis=0).tolist(), np.max(known, axis=0).tolist()
        return left, top, right, bottom
    return -known, -known, known, known


def _has_room(paper: Paper, name: Name, room: _Room) -> bool:
    """Return whether a name of the ground has room, and take it if so."""
    width = NAME_LETTER * len(name.text)
    if width > name.room / paper.pixel:
        return False
    x, y = _pixels(paper, (name.x, name.y))
    turn = radians(name.turn)
    half_x = (width * abs(cos(turn)) + LINE * abs(sin(turn))) / 2
    half_y = (width * abs(sin(turn)) + LINE * abs(cos(turn))) / 2
    return room.take(x - half_x, y - half_y, x + half_x, y + half_y)


def _pixels(paper: Paper, place: Point) -> Point:
    """Return a point on paper, metres, as pixels from the upper left corner."""
    return (place[0] - paper.left) / paper.pixel, (place[1] - paper.top) / paper.pixel


def draw_map(exhibit: MapExhibit, ground: MapGround, *, wide: bool) -> MapFigure | None:
    """Return an exhibit as a map over the ground of a city; `None` if there is nothing on it.

    Args:
        exhibit: what lies on it.
        ground: what is far off is left out.
        wide: whether it has the whole width of the page.
    """
    where = [(point.lat, point.lng) for point in exhibit.points]
    where += [position for line in exhibit.lines for position in line.points]
    if not where:
        return None
    frame = LocalFrame(LatLng(*where[0]))
    paper = lay_out(
        frame,
        [(x, -y) for x, y in (frame.point(LatLng(*position)) for position in where)],
        ground,
        extent=Extent(aspect=WIDE_ASPECT) if wide else Extent(),
        across=WIDE if wide else NARROW,
    )
    lines = sorted(exhibit.lines, key=lambda line: line.style == "main")
    return map_figure(
        exhibit.title,
        paper,
        exhibit_paths(paper, lines),
        exhibit_marks(paper, exhibit),
        legend=exhibit_legend(exhibit, lines),
    )


def exhibit_paths(paper: Paper, lines: Iterable[MapLine]) -> Iterator[MapPath]:
    """Yield the lines of an exhibit as paths on paper, main ones with arrows."""
    for line in lines:
        if line.points:
            points = [paper.place(LatLng(*position)) for position in line.points]
            every = max(ARROW_EVERY_M, paper.width / ARROWS)
            arrows = arrows_along(points, every) if line.style == "main" else ()
            yield MapPath(points, line.style, line.label, arrows)


def exhibit_marks(paper: Paper, exhibit: MapExhibit) -> list[Mark]:
    """Return the points of an exhibit as marks on paper, the most important last."""
    ranked = sorted(exhibit.points, key=lambda point: _RANK.index(point.style), reverse=True)
    labels = without_common_end([point.label for point in ranked])
    return [
        Mark(
            *paper.place(LatLng(point.lat, point.lng)),
            f"spot {point.style}",
            ": ".join(part for part in (point.label or point.style, point.text) if part),
            shape="disc" if point.mark else "diamond",
            sign=point.mark,
            label=label,
        )
        for point, label in zip(ranked, labels, strict=True)
    ]


def exhibit_legend(exhibit: MapExhibit, lines: Sequence[MapLine]) -> list[tuple[str, str]]:
    """Return classes and words of the legend: styles of points if several, and lines if few."""
    styles = [style for style in _RANK if any(point.style == style for point in exhibit.points)]
    named = [(f"line {line.style}", line.label) for line in lines if line.label]
    return [(style, style) for style in styles if len(styles) > 1] + (named if len(named) <= 4 else [])


def without_common_end(labels: Sequence[str]) -> list[str]:
    """Return labels without the city's name where several end in it."""
    ends = [label.rpartition(", ")[2] for label in labels if ", " in label]
    shared = f", {ends[0]}" if len(ends) > 1 and len(set(ends)) == 1 else ""
    return [label.removesuffix(shared) if shared else label for label in labels]
