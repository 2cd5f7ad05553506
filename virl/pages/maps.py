"""A map of points and ways, with as many labels as have room."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import shapely

from virl.geo import LatLng, LocalFrame
from virl.pages.exhibits import MapExhibit, MapLine, MapPoint
from virl.pages.paper import (
    ARROW_EVERY_M,
    Arrow,
    Extent,
    Paper,
    Point,
    arrows_along,
    lay_out,
    on_paper,
    svg_points,
)

# The looks of a map, in pixels on the page; all chosen.
NARROW, WIDE = 560.0, 1130.0  # how wide it is shown, beside something and alone
WIDE_ASPECT = 2.0
LETTER, LINE = 7.2, 15.0  # about how wide a letter, and how high a line is set
MARK = 12.0  # radius of a mark with some room
LONGEST_LABEL = 28
ARROWS = 18  # most that the width of a map would hold

_RANK = ("start", "pick", "stop", "landmark", "candidate")
"""The ones that are labelled first, and lie on top."""


class Side(NamedTuple):
    """Where a label stands from its point: the place of its anchor, in pixels, and the share left of that."""

    name: str
    dx: float
    dy: float
    share: float


SIDES = (
    Side("below", 0, 27, 0.5),
    Side("above", 0, -17, 0.5),
    Side("to-right", 15, 4, 0.0),
    Side("to-left", -15, 4, 1.0),
)


@dataclass(frozen=True, slots=True)
class Spot:
    """A point on the paper."""

    x: float
    y: float
    point: MapPoint
    label: str
    """Without what all labels of the map end in, such as the city."""
    side: Side | None
    """Where its label stands; `None` if there is no room for it."""


@dataclass(frozen=True, slots=True)
class Way:
    """A line on the paper."""

    points: str
    """SVG points."""
    label: str
    style: str
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True, slots=True)
class DrawnMap:
    """A map laid out."""

    exhibit: MapExhibit
    paper: Paper
    ways: tuple[Way, ...]
    """Those that matter most last."""
    spots: tuple[Spot, ...]
    """Those that matter most last."""
    styles: tuple[str, ...]
    """The styles of the points, those that matter most first."""


def draw_map(exhibit: MapExhibit, streets: Sequence[Sequence[LatLng]], *, wide: bool) -> DrawnMap | None:
    """Lay out a map over the streets of a city; `None` if there is nothing on it.

    Args:
        exhibit: what lies on it.
        streets: centre lines; those far off are left out.
        wide: whether it has the whole width of the page.
    """
    where = [(point.lat, point.lng) for point in exhibit.points]
    where += [position for line in exhibit.lines for position in line.points]
    if not where:
        return None
    frame = LocalFrame(LatLng(*where[0]))
    paper = lay_out(
        frame,
        [on_paper(frame, *position) for position in where],
        streets,
        extent=Extent(aspect=WIDE_ASPECT) if wide else Extent(),
        across=WIDE if wide else NARROW,
    )
    lines = sorted(exhibit.lines, key=lambda line: line.style == "main")
    return _drawn(exhibit, paper, lines)


def draw_over(exhibit: MapExhibit, paper: Paper) -> DrawnMap:
    """Draw a map on the paper of a walk, without its main ways, which are the walk itself."""
    return _drawn(exhibit, paper, [line for line in exhibit.lines if line.style != "main"])


def _drawn(exhibit: MapExhibit, paper: Paper, lines: Sequence[MapLine]) -> DrawnMap:
    ranked = sorted(exhibit.points, key=lambda point: _RANK.index(point.style))
    return DrawnMap(
        exhibit,
        paper,
        tuple(_way(paper, line) for line in lines if line.points),
        tuple(reversed(list(_spots(paper, ranked)))),
        tuple(dict.fromkeys(point.style for point in ranked)),
    )


def _way(paper: Paper, line: MapLine) -> Way:
    points = [paper.place(LatLng(*position)) for position in line.points]
    every = max(ARROW_EVERY_M, paper.width / ARROWS)
    arrows = arrows_along(points, every) if line.style == "main" else ()
    return Way(svg_points(points), line.label, line.style, arrows)


def _spots(paper: Paper, points: Sequence[MapPoint]) -> Iterator[Spot]:
    """The points, each with its label where none before it and no mark is in the way."""
    places = [paper.place(LatLng(point.lat, point.lng)) for point in points]
    taken = [_mark(paper, place) for place in places]
    sheet = shapely.box(0, 0, paper.width / paper.pixel, paper.height / paper.pixel)
    labels = without_common_end([point.label for point in points])
    for point, place, label in zip(points, places, labels, strict=True):
        side = None
        for one in SIDES if label else ():
            box = _label(paper, place, one, label)
            if sheet.covers(box) and not any(box.intersects(other) for other in taken):
                taken.append(box)
                side = one
                break
        yield Spot(*place, point, label, side)


def without_common_end(labels: Sequence[str]) -> list[str]:
    """Labels without the city, where several end in it: `"9 Elm Walk, Virlton"` becomes `"9 Elm Walk"`."""
    ends = [label.rpartition(", ")[2] for label in labels if ", " in label]
    shared = f", {ends[0]}" if len(ends) > 1 and len(set(ends)) == 1 else ""
    return [label.removesuffix(shared) if shared else label for label in labels]


def _mark(paper: Paper, place: Point) -> shapely.Polygon:
    x, y = _pixels(paper, place)
    return shapely.box(x - MARK, y - MARK, x + MARK, y + MARK)


def _label(paper: Paper, place: Point, side: Side, label: str) -> shapely.Polygon:
    x, y = _pixels(paper, place)
    width = LETTER * min(len(label), LONGEST_LABEL)
    left = x + side.dx - side.share * width
    base = y + side.dy
    return shapely.box(left, base - LINE * 0.8, left + width, base + LINE * 0.2)


def _pixels(paper: Paper, place: Point) -> Point:
    return (place[0] - paper.left) / paper.pixel, (place[1] - paper.top) / paper.pixel
